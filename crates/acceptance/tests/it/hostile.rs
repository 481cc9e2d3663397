//! Criteria and files that are made to hurt the checker: it answers, soon, and lives.

use std::time::Duration;

use acceptance::check;
use protocol::Criterion;
use testkit::wait_until;

use crate::support::{Bench, criteria, runs};

async fn one(bench: &Bench, criterion: &str) -> protocol::CriterionResult {
    bench.check(&criteria(&format!("[{criterion}]"))).await.remove(0)
}

fn matches(path: &str, more: &str) -> String {
    format!(r#"{{"kind":"file_matches","path":"{path}",{more}}}"#)
}

#[tokio::test]
async fn paths_never_leave_the_workspace() {
    let bench = Bench::new().await;
    std::fs::write(bench.path().join("secret"), "secret").unwrap();
    bench.work("mkdir sub; ln -s .. sub/up; ln -s . dot; ln -s sub/up/../../../secret far");
    for path in [
        "../secret",
        "../../secret",
        "/etc/passwd",
        "",
        ".",
        "..",
        "sub/up/../../secret",
        "far",
        "sub/../../secret",
        "README.md/../../../secret",
        ".git/config",
        ".GIT/config",
        "dot/.git/config",
        "a\0b",
        "....//secret",
        "sub//../..//secret",
        "~/.bashrc",
        "$HOME/x",
    ] {
        let results = bench.check(&[Criterion::FileExists { path: path.to_owned() }]).await;
        assert_eq!(results[0].passed, Some(false), "{path:?}: {}", results[0].reason);
        let wanted = Criterion::FileMatches {
            path: path.to_owned(),
            regex: Some("secret".into()),
            not_regex: None,
            min_words: None,
            json_schema: None,
            parses: None,
        };
        let results = bench.check(&[wanted]).await;
        assert_eq!(results[0].passed, Some(false), "{path:?}: {}", results[0].reason);
    }
    let long = "x/".repeat(5000);
    assert_eq!(bench.check(&[Criterion::FileExists { path: long }]).await[0].passed, Some(false));
}

#[tokio::test]
async fn expressions_that_explode_do_not() {
    let bench = Bench::new().await;
    bench.work("head -c 1000000 /dev/zero | tr '\\0' 'a' > a.txt");
    for pattern in ["(a*)*b", "(a|aa)+$b", "(.*){1,50}b", "a{0,200}a{0,200}b"] {
        let result = one(&bench, &matches("a.txt", &format!(r#""regex":"{pattern}""#))).await;
        assert_ne!(result.passed, Some(true), "{pattern}: {}", result.reason);
    }
    for pattern in ["(", "a{1000}{1000}{1000}", r"\\w{5000}", r"(?=a)b"] {
        let result = one(&bench, &matches("a.txt", &format!(r#""regex":"{pattern}""#))).await;
        assert_eq!(result.passed, None, "{pattern}: {}", result.reason);
        assert!(result.reason.contains("is invalid"), "{}", result.reason);
    }
}

#[tokio::test]
async fn documents_that_nest_without_end_are_refused() {
    let bench = Bench::new().await;
    bench.work(
        "nest() { head -c 3000000 /dev/zero | sed \"s/\\x00/$1/g\"; }
         nest '[' > a.json; cp a.json a.yaml; cp a.json a.jsonl
         (printf 'a = '; nest '[') > a.toml; (printf 'a = '; nest '{a=') > b.toml
         nest '<a>' > a.xml; nest '{a: ' > b.yaml; nest '- ' > c.yaml; nest '? ' > d.yaml",
    );
    let files = [
        ("a.json", "json"),
        ("a.jsonl", "jsonl"),
        ("a.yaml", "yaml"),
        ("b.yaml", "yaml"),
        ("c.yaml", "yaml"),
        ("d.yaml", "yaml"),
        ("a.toml", "toml"),
        ("b.toml", "toml"),
        ("a.xml", "xml"),
    ];
    for (file, format) in files {
        let result = one(&bench, &matches(file, &format!(r#""parses":"{format}""#))).await;
        assert_eq!(result.passed, Some(false), "{file}: {}", result.reason);
    }
    let laughs = "printf '<!DOCTYPE a [<!ENTITY a \"xxxxxxxxxx\">' > l.xml; p=a; for n in b c d e f g h i j k l m; do \
                  printf '<!ENTITY %s \"&%s;&%s;&%s;&%s;&%s;&%s;&%s;&%s;&%s;&%s;\">' $n $p $p $p $p $p $p $p $p $p $p >> l.xml; p=$n; done; \
                  printf ']><a>&m;</a>' >> l.xml";
    bench.work(laughs);
    let result = one(&bench, &matches("l.xml", r#""parses":"xml""#)).await;
    assert_eq!(result.passed, Some(false), "{}", result.reason);
}

#[tokio::test]
async fn xml_is_parsed_however_deep_it_is() {
    let bench = Bench::new().await;
    let deep = format!("{}{}", "<a>".repeat(100_000), "</a>".repeat(100_000));
    std::fs::write(bench.made.path.join("deep.xml"), deep).unwrap();
    let result = one(&bench, &matches("deep.xml", r#""parses":"xml""#)).await;
    assert_eq!(result.passed, Some(true), "{}", result.reason);
}

#[tokio::test]
async fn xml_that_grows_when_it_is_parsed_is_refused() {
    let bench = Bench::new().await;
    let big = format!("<!ENTITY big \"{}\">", "x".repeat(100_000));
    let many = |n: usize, what: &dyn Fn(usize) -> String| (0..n).map(what).collect::<String>();
    let refs = "&big;".repeat(200);
    let declared = many(300, &|n| format!(" xmlns:p{n}='{n}'"));
    let documents = [
        (format!("<!DOCTYPE a [{big}]><a>{refs}</a>"), "entities"),
        (format!("\u{feff}\u{feff}<!DOCTYPE a [{big}]><a>{refs}</a>"), "entities"),
        (format!("<!DOCTYPE a [{big}]><a b='{refs}'/>"), "entities"),
        (format!("<!DOCTYPE a [{big}<!ENTITY % all '{refs}'>]><a>&all;</a>"), "entities"),
        (
            format!("<?xml version='?>'?><!-- > --><!DOCTYPE a SYSTEM '[' [<!NOTATION '>{big}]><a>{refs}</a>"),
            "entities",
        ),
        (format!("<!DOCTYPE a [{}]><a/>", many(2000, &|n| format!("<!ENTITY e{n} ''>"))), "entities"),
        (format!("<a{}/>", many(3000, &|n| format!(" b{n}='>'"))), "attributes"),
        (
            format!("<!DOCTYPE a [<!ENTITY e \"<a{}/>\">]><a>&e;</a>", many(3000, &|n| format!(" b{n}=''"))),
            "attributes",
        ),
        (format!("<a{declared}>{}</a>", many(20_000, &|n| format!("<b xmlns:c='{n}'/>"))), "namespaces"),
        (
            format!("<!DOCTYPE a [<!ENTITY e \"<b xmlns:c=''/>\">]><a{declared}>{}</a>", "&e;".repeat(9000)),
            "namespaces",
        ),
    ];
    for (document, says) in documents {
        std::fs::write(bench.made.path.join("a.xml"), &document).unwrap();
        let result = one(&bench, &matches("a.xml", r#""parses":"xml""#)).await;
        let start: String = document.chars().take(40).collect();
        assert!(result.passed == Some(false) && result.reason.contains(says), "{start}: {}", result.reason);
    }
}

#[tokio::test]
async fn schemas_reach_nothing_and_end() {
    let bench = Bench::new().await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::fs::write(bench.path().join("out/schema.json"), "{}").unwrap();
    bench.work("printf '{\"a\":{\"a\":{}}}' > a.json");
    let file = bench.path().join("out/schema.json");
    let outside = [
        format!(r#"{{"$ref":"http://127.0.0.1:{port}/s.json"}}"#),
        format!(r#"{{"$ref":"file://{}"}}"#, file.display()),
        r##"{"$ref":"#/nowhere"}"##.to_owned(),
        r#"{"type":"nothing"}"#.to_owned(),
        r#"{"pattern":"(?=a)b"}"#.to_owned(),
    ];
    for schema in outside {
        let result = one(&bench, &matches("a.json", &format!(r#""json_schema":{schema}"#))).await;
        assert_eq!(result.passed, None, "{schema}: {}", result.reason);
    }
    // Whatever is said of these: it is said, and the stack is not used up.
    for schema in [
        r##"{"$ref":"#"}"##,
        r##"{"allOf":[{"$ref":"#"}]}"##,
        r##"{"not":{"$ref":"#"}}"##,
        r##"{"unevaluatedProperties":false,"allOf":[{"$ref":"#"}]}"##,
        r##"{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}"##,
        r##"{"$ref":"#x","$defs":{"a":{"$anchor":"x","if":{"$ref":"#x"}}}}"##,
        r##"{"$id":"urn:a","$ref":"urn:a"}"##,
        r##"{"$id":"urn:a","allOf":[{"$ref":"urn:a#/$defs/b"}],"$defs":{"b":{"$ref":"urn:a"}}}"##,
        r##"{"$dynamicRef":"#m","$dynamicAnchor":"m"}"##,
        r##"{"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$recursiveRef":"#"}"##,
        r##"{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"a":{"$ref":"#"}}}"##,
        r##"{"dependentSchemas":{"a":{"$ref":"#"}}}"##,
        r##"{"if":{"$ref":"#"},"then":{"$ref":"#"},"else":{"$ref":"#"}}"##,
    ] {
        let result = one(&bench, &matches("a.json", &format!(r#""json_schema":{schema}"#))).await;
        assert!(!result.reason.is_empty(), "{schema}");
    }
    assert!(listener.accept().is_err(), "somebody was asked");
    let schema = r##"{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##;
    let result = one(&bench, &matches("a.json", &format!(r#""json_schema":{schema}"#))).await;
    assert_eq!(result.passed, Some(true), "{}", result.reason);
}

/// A schema that checks each level of its input twice, and a file with this many levels.
const DOUBLES: &str = r##"{"properties":{"a":{"allOf":[{"$ref":"#"},{"$ref":"#"}]}}}"##;

fn levels(many: usize) -> String {
    format!("{}{{}}{}", r#"{"a":"#.repeat(many), "}".repeat(many))
}

#[tokio::test]
async fn a_schema_whose_references_double_is_refused_unread() {
    let bench = Bench::new().await;
    bench.work("echo '{}' > a.json");
    let level = |n: usize| {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, n + 1);
        format!(r#""d{n}":{{"allOf":[{next},{next}]}}"#)
    };
    let defs: Vec<String> = (0..45).map(level).collect();
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d45":{{"type":"object"}}}}}}"##, defs.join(","));
    let result = one(&bench, &matches("a.json", &format!(r#""json_schema":{schema}"#))).await;
    assert_eq!(result.passed, None, "{}", result.reason);
    assert!(result.reason.contains("is not usable"), "{}", result.reason);
}

#[tokio::test]
async fn a_schema_that_would_take_for_ever_is_ended_and_left_to_a_person() {
    let bench = Bench::new().await;
    bench.work("echo x > src/a");
    std::fs::write(bench.made.path.join("a.json"), levels(60)).unwrap();
    let hostile = matches("a.json", &format!(r#""json_schema":{}"#, DOUBLES));
    let all = criteria(&format!(
        r#"[{hostile},{},{{"kind":"file_exists","path":"src/a"}}]"#,
        matches("src/a", r#""regex":"x""#)
    ));
    let mut site = bench.site(runs(&bench.path())).await;
    site.judge.patience = Duration::from_secs(2);
    let results = check(&all, &[], &site).await;
    assert_eq!(results[0].passed, None, "{}", results[0].reason);
    assert!(results[0].reason.contains("longer than 2 s"), "{}", results[0].reason);
    // All looks of one report share its time: what comes after that is left to a person, too, and nothing hangs.
    assert!(results[1].reason.contains("longer than 2 s"), "{}", results[1].reason);
    wait_until("the judge is gone", || async { judges().is_empty().then_some(()) }).await;
}

#[tokio::test]
async fn a_judge_has_a_lower_priority_than_who_asks_it() {
    let bench = Bench::new().await;
    std::fs::write(bench.made.path.join("a.json"), levels(60)).unwrap();
    let criteria = criteria(&format!("[{}]", matches("a.json", &format!(r#""json_schema":{}"#, DOUBLES))));
    let site = bench.site(runs(&bench.path())).await;
    let nice = |pid: &str| -> Option<i32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        stat.rsplit(')').next()?.split_whitespace().nth(16)?.parse().ok()
    };
    let lowered = (nice("self").unwrap() + worktree::NICE).min(19);
    tokio::select! {
        results = check(&criteria, &[], &site) => panic!("{results:?}"),
        () = wait_until("a judge of a lower priority is there", || async {
            judges().iter().any(|pid| nice(&pid.to_string()) == Some(lowered)).then_some(())
        }) => {}
    }
}

#[tokio::test]
async fn a_check_that_nobody_wants_any_more_leaves_no_process() {
    let bench = Bench::new().await;
    std::fs::write(bench.made.path.join("a.json"), levels(60)).unwrap();
    let criteria = criteria(&format!("[{}]", matches("a.json", &format!(r#""json_schema":{}"#, DOUBLES))));
    let site = bench.site(runs(&bench.path())).await;
    {
        let mut checking = std::pin::pin!(check(&criteria, &[], &site));
        tokio::select! {
            results = &mut checking => panic!("{results:?}"),
            () = wait_until("a judge is there", || async { (!judges().is_empty()).then_some(()) }) => {}
        }
    }
    wait_until("the judge is gone", || async { judges().is_empty().then_some(()) }).await;
}

#[tokio::test]
async fn a_file_that_takes_too_much_memory_ends_its_judge_only() {
    let bench = Bench::new().await;
    bench.work("printf '[' > a.json; yes '[],' | head -c 8000000 >> a.json; printf '[]]' >> a.json");
    let mut site = bench.site(runs(&bench.path())).await;
    site.judge.memory = 64 << 20;
    let schema = matches("a.json", r#""json_schema":{"type":"array"}"#);
    let results = check(&criteria(&format!("[{schema}]")), &[], &site).await;
    assert_eq!(results[0].passed, None, "{}", results[0].reason);
    assert!(results[0].reason.contains("64 MiB"), "{}", results[0].reason);
    site.judge.memory = 1 << 30;
    let results = check(&criteria(&format!("[{schema}]")), &[], &site).await;
    assert_eq!(results[0].passed, Some(true), "{}", results[0].reason);
}

/// The judges that this process has.
fn judges() -> Vec<u32> {
    let own = std::process::id().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let after = stat.rsplit(')').next().unwrap_or_default();
        let mut fields = after.split_whitespace();
        let (state, parent) = (fields.next(), fields.next());
        stat.contains("(check-file)") && parent == Some(&own) && state != Some("Z")
    })
    .collect()
}

#[tokio::test]
async fn patterns_that_cannot_be_used_are_left_to_a_person() {
    let bench = Bench::new().await;
    bench.work("echo x > a");
    for glob in ["[", "a{b", "!src/**"] {
        let result = one(&bench, &format!(r#"{{"kind":"only_touches","globs":["{glob}"]}}"#)).await;
        assert_eq!(result.passed, None, "{glob}: {}", result.reason);
    }
}

#[tokio::test]
async fn names_of_files_cannot_forge_a_reason() {
    let bench = Bench::new().await;
    bench.work("printf x > \"$(printf 'a\\nall is well\\033[2J')\"");
    let result = one(&bench, r#"{"kind":"only_touches","globs":["docs/**"]}"#).await;
    assert_eq!(result.passed, Some(false));
    assert!(!result.reason.contains('\n') && !result.reason.contains('\u{1b}'), "{}", result.reason);
}
