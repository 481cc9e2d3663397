//! Outputs that look done and are not: every one of them is caught, with a reason that helps.

use acceptance::check;

use crate::support::{Bench, Case, case, criteria, each, runs};

const REPORT: &str = r#"[{"kind":"file_exists","path":"report.md"}]"#;
const JSON: &str = r#"[{"kind":"file_matches","path":"out.json","parses":"json"}]"#;
const JSONL: &str = r#"[{"kind":"file_matches","path":"out.jsonl","parses":"jsonl"}]"#;
const TOML: &str = r#"[{"kind":"file_matches","path":"out.toml","parses":"toml"}]"#;
const YAML: &str = r#"[{"kind":"file_matches","path":"out.yaml","parses":"yaml"}]"#;
const CSV: &str = r#"[{"kind":"file_matches","path":"out.csv","parses":"csv"}]"#;
const XML: &str = r#"[{"kind":"file_matches","path":"out.xml","parses":"xml"}]"#;
const TEXT: &str = r#"[{"kind":"file_matches","path":"out.txt","parses":"text"}]"#;
const SCHEMA: &str = r#"[{"kind":"file_matches","path":"out.json","json_schema":{"type":"object",
    "required":["name","count"],"additionalProperties":false,
    "properties":{"name":{"type":"string"},"count":{"type":"integer","minimum":1}}}}]"#;
const TESTS: &str = r#"[{"kind":"command","argv":["sh","tests/run.sh"],"timeout_seconds":20}]"#;
const DOCS: &str = r#"[{"kind":"only_touches","globs":["docs/**"]}]"#;
const COMMITTED: &str = r#"[{"kind":"committed"}]"#;
const REPORTED: &str = r#"[{"kind":"file_exists","path":"report.md"},{"kind":"committed"}]"#;
const MERGES: &str = r#"[{"kind":"no_conflict_with_base"}]"#;

const BAD: &[Case] = &[
    // Missing.
    case("nothing was done", "true", REPORT, "does not exist"),
    case("a name in another case", "echo hi > Report.md", REPORT, "does not exist"),
    case("in another folder", "mkdir out; echo hi > out/report.md", REPORT, "does not exist"),
    case("a folder instead", "mkdir report.md; echo hi > report.md/x", REPORT, "is a folder"),
    case(
        "a file where a folder should be",
        "echo hi > out",
        r#"[{"kind":"file_exists","path":"out/report.md"}]"#,
        "not a folder",
    ),
    // Empty.
    case("empty", ": > report.md", REPORT, "is empty"),
    case("nothing but blanks", r"printf ' \n\n\t\n' > report.md", REPORT, "white space"),
    // Links and what is no file.
    case("a link out of the tree", "ln -s /etc/passwd report.md", REPORT, "outside the workspace"),
    case("a relative link out", "ln -s ../../../../../../../../etc/passwd report.md", REPORT, "outside the workspace"),
    case("two links out", "ln -s inner report.md; ln -s /etc/passwd inner", REPORT, "outside the workspace"),
    case(
        "a folder that is a link out",
        "echo hi > \"$OUT/report.md\"; ln -s \"$OUT\" out",
        r#"[{"kind":"file_exists","path":"out/report.md"}]"#,
        "outside the workspace",
    ),
    case("a device by a link", "ln -s /dev/zero report.md", REPORT, "outside the workspace"),
    case("a loop of links", "ln -s b report.md; ln -s report.md b", REPORT, "loop"),
    case("a link to nothing", "ln -s nowhere report.md", REPORT, "does not exist"),
    case("a link into .git", "ln -s .git/HEAD report.md", REPORT, ".git"),
    case("a pipe", "mkfifo report.md", REPORT, "pipe"),
    case("a pipe to be read", "mkfifo out.txt", TEXT, "pipe"),
    case("far too large", "truncate -s 3G out.txt", TEXT, "bytes"),
    // Wrong or broken formats.
    case("JSON cut off", r#"printf '{"a": [1, 2' > out.json"#, JSON, "invalid JSON"),
    case("JSON with a comma too many", r#"printf '{"a": 1,}' > out.json"#, JSON, "invalid JSON"),
    case("JSON in a fence", r#"printf '```json\n{"a": 1}\n```\n' > out.json"#, JSON, "invalid JSON"),
    case("JSON in UTF-16", r#"printf '\377\376{\000}\000' > out.json"#, JSON, "not UTF-8"),
    case("two JSON values", r#"printf '{}\n{}' > out.json"#, JSON, "invalid JSON"),
    case("JSON lines with a broken one", r#"printf '{"a":1}\n{"a":\n{"a":3}\n' > out.jsonl"#, JSONL, "line 2"),
    case("JSON lines that are one pretty list", r#"printf '[\n  1,\n  2\n]\n' > out.jsonl"#, JSONL, "line 1"),
    case("JSON lines with a gap", r#"printf '{"a":1}\n\n{"a":3}\n' > out.jsonl"#, JSONL, "line 2"),
    case("TOML that is INI", r#"printf '[a]\nb = plain words\n' > out.toml"#, TOML, "invalid TOML"),
    case("TOML with a key twice", r#"printf 'a = 1\na = 2\n' > out.toml"#, TOML, "invalid TOML"),
    case("YAML cut off", r#"printf 'a:\n  b: [1, 2\n' > out.yaml"#, YAML, "invalid YAML"),
    case("YAML with tabs", r#"printf 'a:\n\tb: 1\n' > out.yaml"#, YAML, "invalid YAML"),
    case("YAML that is prose", "echo 'I have written the file as you asked.' > out.yaml", YAML, "a single value"),
    case("CSV with a row too short", r#"printf 'a,b,c\n1,2,3\n4,5\n' > out.csv"#, CSV, "invalid CSV"),
    case("CSV cut off in quotes", r#"printf 'a,b\n1,"tw' > out.csv"#, CSV, "quote"),
    case("CSV with semicolons", r#"printf 'a;b\n1;2\n' > out.csv"#, CSV, "no comma"),
    case("XML cut off", "printf '<a><b>x</b>' > out.xml", XML, "invalid XML"),
    case("XML with two roots", "printf '<a/><b/>' > out.xml", XML, "invalid XML"),
    case("XML that is HTML", "printf '<p>one<br>two</p>' > out.xml", XML, "invalid XML"),
    case("text that is binary", r"printf 'abc\000def' > out.txt", TEXT, "control character"),
    case("text cut off in a letter", r"printf 'gr\303' > out.txt", TEXT, "not UTF-8"),
    // Contents.
    case(
        "a section is missing",
        "echo '# Title' > report.md",
        r#"[{"kind":"file_matches","path":"report.md","regex":"^## Result"}]"#,
        "does not match",
    ),
    case(
        "something is left to do",
        r"printf 'a\nTODO: the rest\n' > report.md",
        r#"[{"kind":"file_matches","path":"report.md","not_regex":"TODO"}]"#,
        "line 2",
    ),
    case(
        "too short",
        "echo 'it works - - - - -' > report.md",
        r#"[{"kind":"file_matches","path":"report.md","min_words":5}]"#,
        "2 words",
    ),
    case("a property is missing", r#"printf '{"name":"x"}' > out.json"#, SCHEMA, "count"),
    case("a wrong type", r#"printf '{"name":"x","count":"3"}' > out.json"#, SCHEMA, "count"),
    case("a property too many", r#"printf '{"name":"x","count":3,"more":1}' > out.json"#, SCHEMA, "more"),
    case(
        "one of two parts fails",
        r#"printf 'hello' > out.json"#,
        r#"[{"kind":"file_matches","path":"out.json","regex":"hello","parses":"json"}]"#,
        "invalid JSON",
    ),
    // Commands.
    case("a failing test", r"printf '#!/bin/sh\necho $(($1 - $2))\n' > src/add.sh", TESTS, "exited with 1"),
    case(
        "a test that never ends",
        "echo 'sleep 600' > tests/run.sh",
        r#"[{"kind":"command","argv":["sh","tests/run.sh"],"timeout_seconds":1}]"#,
        "longer than 1 s",
    ),
    case("no such program", "true", r#"[{"kind":"command","argv":["./build.sh"]}]"#, "could not be started"),
    case("a test that crashes", "echo 'kill -9 $$' > tests/run.sh", TESTS, "signal 9"),
    case(
        "success where failure was wanted",
        "true",
        r#"[{"kind":"command","argv":["true"],"exit_code":3}]"#,
        "instead of 3",
    ),
    case("a word for a shell", "true", r#"[{"kind":"command","argv":["true; true"]}]"#, "could not be started"),
    // Files that were not to be touched.
    case("another file changed", "echo x >> docs/guide.md; echo x >> README.md", DOCS, "README.md"),
    case("another file committed", "echo x >> README.md; git commit -qam x", DOCS, "README.md"),
    case("another file deleted", "rm src/add.sh", DOCS, "src/add.sh"),
    case("a file moved in from elsewhere", "git mv src/add.sh docs/add.sh", DOCS, "src/add.sh"),
    case("a new file elsewhere", "echo x > src/new.sh", DOCS, "src/new.sh"),
    case(
        "committed, then only deleted",
        "echo x > secret.pem; git add -A; git commit -qm x; rm secret.pem",
        DOCS,
        "secret.pem",
    ),
    case("a mode changed", "chmod +x README.md", DOCS, "README.md"),
    case("hidden by a new rule", "echo '/src/' >> .gitignore; echo x > src/new.sh", DOCS, ".gitignore"),
    case(
        "hidden by the agent's own rule",
        "mkdir -p .git/info; echo '/evil/' >> .git/info/exclude; mkdir evil; echo x > evil/x",
        DOCS,
        "evil/x",
    ),
    case(
        "an ignored file by force",
        "mkdir -p target; echo x > target/x; git add -f target/x; git commit -qm x",
        DOCS,
        "target/x",
    ),
    case("a link out in an allowed folder", "ln -s /etc docs/etc", DOCS, "outside the workspace"),
    case("a link out whose name is not text", r#"ln -s /etc "$(printf 'docs/\377')""#, DOCS, "outside the workspace"),
    case("a file replaced by a link", "rm README.md; ln -s docs/guide.md README.md", DOCS, "README.md"),
    case("a name that only begins alike", "mkdir docs2; echo x > docs2/x", DOCS, "docs2/x"),
    // Claimed, but not committed.
    case("claimed but not committed", "echo x >> README.md", COMMITTED, "README.md"),
    case("only staged", "echo x >> README.md; git add -A", COMMITTED, "not committed"),
    case("half committed", "echo x >> README.md; git commit -qam x; echo y > new", COMMITTED, "new"),
    case("committed nothing", "git commit -q --allow-empty -m done", COMMITTED, "change nothing"),
    case("no commit at all", "true", COMMITTED, "nothing was committed"),
    case("put away", "echo x >> README.md; git stash -q", COMMITTED, "nothing was committed"),
    case("on no branch", "git checkout -q --detach; echo x >> README.md; git commit -qam x", COMMITTED, "no branch"),
    case("history thrown away", "rm -rf .git; echo x >> README.md", COMMITTED, "could not read the commits"),
    case(
        "hidden from git",
        "echo x >> README.md; git commit -qam x; git update-index --assume-unchanged docs/guide.md; echo y >> docs/guide.md",
        COMMITTED,
        "docs/guide.md",
    ),
    case(
        "ignored by a new rule instead of committed",
        "echo x > report.md; echo /report.md >> .gitignore; git add -A; git commit -qm x",
        REPORTED,
        "not in the commit: `report.md`",
    ),
    case(
        "in a folder that was ignored before",
        "mkdir target; echo '{}' > target/out.json; echo x >> README.md; git commit -qam x",
        r#"[{"kind":"committed"},{"kind":"file_matches","path":"./target//out.json","parses":"json"}]"#,
        "not in the commit: `target/out.json`",
    ),
    case(
        "a committed link to an ignored file",
        "mkdir target; echo x > target/x; ln -s target/x report.md; git add -A; git commit -qm x",
        REPORTED,
        "not in the commit: `target/x`",
    ),
    case(
        "an ignored link to a committed file",
        "ln -s README.md a.log; echo x >> README.md; git commit -qam x",
        r#"[{"kind":"file_exists","path":"a.log"},{"kind":"committed"}]"#,
        "not in the commit: `a.log`",
    ),
    case(
        "committed in a repository of its own",
        "git init -q out; cd out; echo x > r.md; git add -A; git commit -qm x; cd ..; git -c advice.addEmbeddedRepo=false add -A; git commit -qm y",
        r#"[{"kind":"file_exists","path":"out/r.md"},{"kind":"committed"}]"#,
        "out/r.md",
    ),
    // Conflicts with the base.
    case(
        "a conflict with the base",
        "echo mine > README.md; git commit -qam x; cd \"$SEED\"; echo theirs > README.md; git commit -qam y; git push -q origin main",
        MERGES,
        "README.md",
    ),
    case(
        "the base deleted what was changed",
        "echo more >> docs/guide.md; git commit -qam x; cd \"$SEED\"; git rm -q docs/guide.md; git commit -qm y; git push -q origin main",
        MERGES,
        "docs/guide.md",
    ),
    case(
        "both added the same file",
        "echo a > new; git add -A; git commit -qm x; cd \"$SEED\"; echo b > new; git add -A; git commit -qm y; git push -q origin main",
        MERGES,
        "new",
    ),
    case(
        "a conflict that is not committed",
        "echo mine > README.md; cd \"$SEED\"; echo theirs > README.md; git commit -qam y; git push -q origin main",
        MERGES,
        "README.md",
    ),
    case(
        "another history",
        "git checkout -q --orphan fresh; echo x > README.md; git add -A; git commit -qm x",
        MERGES,
        "merge",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_bad_output_is_caught_and_the_reason_says_why() {
    assert!(BAD.len() >= 50);
    let mut missed = Vec::new();
    for (case, results) in each(BAD).await {
        let caught = results.iter().any(|result| result.passed == Some(false) && result.reason.contains(case.says));
        if !caught {
            missed.push(format!("{} (should say {:?}): {results:?}", case.name, case.says));
        }
    }
    println!("{} of {} bad outputs were caught", BAD.len() - missed.len(), BAD.len());
    assert!(missed.is_empty(), "not caught:\n{}", missed.join("\n"));
}

#[tokio::test]
async fn a_file_that_a_report_names_must_be_committed_where_work_must_be() {
    let bench = Bench::new().await;
    bench.work("echo x > build.log; git rm -q docs/guide.md; git commit -qm x");
    let site = bench.site(runs(&bench.path())).await;
    let committed = criteria(COMMITTED);
    let named = ["README.md", "build.log"].map(str::to_owned);
    let caught = check(&committed, &named, &site).await.remove(0);
    assert!(
        caught.passed == Some(false) && caught.reason.starts_with("not in the commit: `build.log`"),
        "{}",
        caught.reason
    );
    let named = ["README.md", "docs/guide.md", "docs", "/etc/passwd", "../elsewhere"].map(str::to_owned);
    let passed = check(&committed, &named, &site).await.remove(0);
    assert_eq!(passed.passed, Some(true), "{}", passed.reason);
}
