//! Outputs that are as they should be, some of them unusual: none is turned away.

use protocol::Criterion;

use crate::support::{Case, case, criteria, each};

const TREE: &str = r##"[{"kind":"file_matches","path":"out.json","json_schema":{"$ref":"#/$defs/node","$defs":{"node":
    {"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^[a-z]+$"},
    "parts":{"type":"array","items":{"$ref":"#/$defs/node"}}}}}}}]"##;

const GOOD: &[Case] = &[
    case("a report", "echo '# Done' > report.md", r#"[{"kind":"file_exists","path":"report.md"}]"#, ""),
    case(
        "a path with a dot before it",
        "mkdir out; echo x > out/r",
        r#"[{"kind":"file_exists","path":"./out/r"}]"#,
        "",
    ),
    case(
        "a link inside",
        "mkdir out; echo hi > out/a.md; ln -s out/a.md report.md; ln -s out o",
        r#"[{"kind":"file_exists","path":"report.md"},{"kind":"file_exists","path":"o/a.md"}]"#,
        "",
    ),
    case(
        "a link up and down again",
        "mkdir -p a/b; echo hi > r; ln -s ../../r a/b/r",
        r#"[{"kind":"file_exists","path":"a/b/r"}]"#,
        "",
    ),
    case(
        "an odd name",
        "echo x > 'Ein Bericht, für \"Ann\".md'",
        r#"[{"kind":"file_exists","path":"Ein Bericht, für \"Ann\".md"}]"#,
        "",
    ),
    case(
        "an ignored file",
        "mkdir target; echo x > target/x",
        r#"[{"kind":"file_exists","path":"target/x"},{"kind":"only_touches","globs":[]}]"#,
        "",
    ),
    case(
        "JSON",
        r#"printf '\357\273\277{"a":[1,2,{"b":null}]}\n' > a.json"#,
        r#"[{"kind":"file_matches","path":"a.json","parses":"json","regex":"\"b\""}]"#,
        "",
    ),
    case(
        "JSON lines",
        r#"printf '{"a":1}\r\n"x"\r\n3\r\n' > a.jsonl"#,
        r#"[{"kind":"file_matches","path":"a.jsonl","parses":"jsonl"}]"#,
        "",
    ),
    case(
        "TOML",
        r#"printf '[a]\nb = { c = [1, 2] }\n[[d]]\n' > a.toml"#,
        r#"[{"kind":"file_matches","path":"a.toml","parses":"toml"}]"#,
        "",
    ),
    case(
        "TOML with a comment full of brackets",
        r#"(printf '# '; head -c 20000 /dev/zero | tr '\0' '['; printf '\na = 1\n') > a.toml"#,
        r#"[{"kind":"file_matches","path":"a.toml","parses":"toml"}]"#,
        "",
    ),
    case(
        "YAML of two documents",
        r#"printf -- '---\na: &x {b: 1}\nc: *x\n---\n- 1\n' > a.yaml"#,
        r#"[{"kind":"file_matches","path":"a.yaml","parses":"yaml"}]"#,
        "",
    ),
    case(
        "CSV with quotes",
        r#"printf 'a,b\n"1, and\nmore","say ""hi"""\n' > a.csv"#,
        r#"[{"kind":"file_matches","path":"a.csv","parses":"csv"}]"#,
        "",
    ),
    case(
        "XML with a type",
        r#"printf '<?xml version="1.0"?>\n<!DOCTYPE a [<!ENTITY e "x">]>\n<a b="1">&e;<c/></a>\n' > a.xml"#,
        r#"[{"kind":"file_matches","path":"a.xml","parses":"xml"}]"#,
        "",
    ),
    case(
        "XML with arrows in values",
        r#"(printf '<testsuite>'; for n in $(seq 300); do printf '<testcase name="x -> y"/>'; done; printf '</testsuite>') > a.xml"#,
        r#"[{"kind":"file_matches","path":"a.xml","parses":"xml"}]"#,
        "",
    ),
    case(
        "XML with code in it",
        r#"(printf '<log><!-- <a> <b> --><![CDATA['; for n in $(seq 300); do printf 'Vec<String> = "\n'; done; printf ']]></log>') > a.xml"#,
        r#"[{"kind":"file_matches","path":"a.xml","parses":"xml"}]"#,
        "",
    ),
    case(
        "XML with many entities and prefixes",
        r#"(printf '<!DOCTYPE a [<!-- " --><!ELEMENT a ANY><!ENTITY who "<b>you &amp;&i;</b>"><!ENTITY i "me">]><a'; for n in $(seq 50); do printf ' xmlns:p%s="urn:%s"' $n $n; done; printf '>'; for n in $(seq 2000); do printf '<p7:c xmlns:d="urn:d" d:e="&i;">&who;</p7:c>'; done; printf '</a>') > a.xml"#,
        r#"[{"kind":"file_matches","path":"a.xml","parses":"xml"}]"#,
        "",
    ),
    case(
        "text",
        r#"printf 'Größe:\t1 µm\r\n日本\n' > a.txt"#,
        r#"[{"kind":"file_matches","path":"a.txt","parses":"text","min_words":3}]"#,
        "",
    ),
    case(
        "a section with other line ends",
        r#"printf '# A\r\n\r\n## Result\r\nfine\r\n' > r.md"#,
        r###"[{"kind":"file_matches","path":"r.md","regex":"^## Result$","not_regex":"TODO|FIXME"}]"###,
        "",
    ),
    case("a recursive schema", r#"printf '{"name":"a","parts":[{"name":"b","parts":[]}]}' > out.json"#, TREE, ""),
    case("a passing test", "true", r#"[{"kind":"command","argv":["sh","tests/run.sh"]}]"#, ""),
    case("a wanted failure", "true", r#"[{"kind":"command","argv":["sh","-c","exit 3"],"exit_code":3}]"#, ""),
    case(
        "a test that prints a lot",
        "true",
        r#"[{"kind":"command","argv":["sh","-c","yes line | head -n 200000"]}]"#,
        "",
    ),
    case(
        "an argument that looks like a shell's",
        "true",
        r#"[{"kind":"command","argv":["test","$(id)","=","$(id)"]}]"#,
        "",
    ),
    case(
        "only what was allowed",
        "echo x >> docs/guide.md; git commit -qam x; git mv docs/guide.md docs/g.md; mkdir -p docs/a/b; echo x > docs/a/b/c; ln -s ../README.md docs/l",
        r#"[{"kind":"only_touches","globs":["docs/**"]}]"#,
        "",
    ),
    case(
        "a folder without a wildcard",
        "echo x > docs/new; echo x >> README.md",
        r#"[{"kind":"only_touches","globs":["./docs/","READ*.md"]}]"#,
        "",
    ),
    case(
        "changed and changed back",
        "echo x >> README.md; git checkout -q README.md; echo x > docs/x",
        r#"[{"kind":"only_touches","globs":["docs/*"]}]"#,
        "",
    ),
    case(
        "committed",
        "echo x >> README.md; git commit -qam x; git rm -q docs/guide.md; git commit -qm y",
        r#"[{"kind":"committed"},{"kind":"no_conflict_with_base"}]"#,
        "",
    ),
    case(
        "an ignored file, committed by force, and a link",
        "mkdir target; echo x > target/x; ln -s ../target/x docs/x; git add -A; git add -f target/x; git commit -qm x",
        r#"[{"kind":"file_exists","path":"target/x"},{"kind":"file_exists","path":"./docs/x"},{"kind":"file_matches","path":"README.md","regex":"hello"},{"kind":"committed"}]"#,
        "",
    ),
    case(
        "on a branch of its own",
        "git checkout -qb mine; echo x >> README.md; git commit -qam x",
        r#"[{"kind":"committed"}]"#,
        "",
    ),
    case(
        "the base went on elsewhere",
        "echo mine > README.md; git commit -qam x; cd \"$SEED\"; echo y > new; git add -A; git commit -qm y; git push -q origin main",
        r#"[{"kind":"committed"},{"kind":"no_conflict_with_base"},{"kind":"only_touches","globs":["README.md"]}]"#,
        "",
    ),
    case(
        "the base was merged",
        "echo mine >> README.md; git commit -qam x; (cd \"$SEED\"; echo y > new; git add -A; git commit -qm y; git push -q origin main); git fetch -q; git merge -q --no-edit origin/main",
        r#"[{"kind":"committed"},{"kind":"no_conflict_with_base"},{"kind":"only_touches","globs":["README.md"]}]"#,
        "",
    ),
    case(
        "names that are not text",
        "printf x > \"$(printf 'docs/\\377\\376')\"",
        r#"[{"kind":"only_touches","globs":["docs/*"]}]"#,
        "",
    ),
    case(
        "all together, with words for a person",
        "printf 'one two three\\n' > docs/r.md; git add -A; git commit -qm x",
        r#"[{"kind":"file_exists","path":"docs/r.md"},{"kind":"text","text":"it reads well"},{"kind":"command","argv":["grep","-q","two","docs/r.md"]},{"kind":"only_touches","globs":["docs"]},{"kind":"committed"}]"#,
        "",
    ),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_good_output_passes_and_words_are_left_to_people() {
    assert!(GOOD.len() >= 20);
    let mut turned_away = Vec::new();
    for (case, results) in each(GOOD).await {
        let wanted = criteria(case.criteria);
        assert_eq!(results.len(), wanted.len());
        for (index, (criterion, result)) in wanted.iter().zip(&results).enumerate() {
            assert_eq!(result.criterion as usize, index);
            let expected = if matches!(criterion, Criterion::Text { .. }) { None } else { Some(true) };
            if result.passed != expected {
                turned_away.push(format!("{}: {result:?}", case.name));
            }
        }
    }
    assert!(turned_away.is_empty(), "turned away:\n{}", turned_away.join("\n"));
}
