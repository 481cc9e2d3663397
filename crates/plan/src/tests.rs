//! Files as people and programs write them, right and wrong.

use proptest::prelude::*;
use protocol::Criterion;

use super::*;

fn tasks(name: &str, text: &str) -> Vec<TaskAdd> {
    let file = read(text.as_bytes(), name, None);
    assert_eq!(file.faults, [], "{text}");
    file.tasks
}

/// The faults, each as it is shown.
fn faults(name: &str, text: &str) -> Vec<String> {
    read(text.as_bytes(), name, None).faults.iter().map(ToString::to_string).collect()
}

fn check_fault(name: &str, text: &str, parts: &[&str]) {
    let faults = faults(name, text);
    assert_eq!(faults.len(), parts.len(), "{text}: {faults:#?}");
    for (fault, part) in faults.iter().zip(parts) {
        assert!(fault.contains(part), "`{fault}` does not say `{part}`");
    }
}

#[test]
fn json_has_three_forms() {
    assert_eq!(tasks("a.json", r#"{"description": "one"}"#).len(), 1);
    assert_eq!(tasks("a.json", r#"[{"description": "one"}, {"description": "quite another"}]"#).len(), 2);
    let file = tasks("a", r#"{"tasks": [{"id": "a", "description": "one", "deps": [], "priority": 9}]}"#);
    assert_eq!((file[0].id.as_deref(), file[0].priority), (Some("a"), Some(9)));
    let lines =
        "\u{feff}{\"id\": \"a\", \"description\": \"one\"}\r\n\r\n{\"description\": \"next\", \"deps\": [\"a\"]}\r\n";
    assert_eq!(tasks("a.jsonl", lines)[1].deps, ["a"]);
    assert_eq!(tasks("-", lines.trim_start_matches('\u{feff}')).len(), 2, "lines are known without a name");
}

#[test]
fn every_error_is_said_with_its_place() {
    let text = r#"[
  {"desciption": "one", "priority": 12},
  {"description": " ", "deps": ["nobody", 3],
   "acceptance": [{"kind": "comand", "argv": []},
     {"kind": "command", "argv": []},
     {"kind": "file_matches", "path": "../x", "regex": "("}, 3]},
  {"description": "x", "priority": 1.5, "activity": "act_1", "description": "y"}
]"#;
    check_fault(
        "a.json",
        text,
        &[
            "line 2, tasks[0].description: is missing",
            "line 2, tasks[0].desciption: unknown field; did you mean `description`?",
            "line 2, tasks[0].priority: is 12; expected a number from 0 to 9",
            "line 3, tasks[1].description: is empty",
            "line 3, tasks[1].deps[1]: is a number; expected a string",
            "line 3, tasks[1].deps[0]: `nobody` is neither the name",
            "line 4, tasks[1].acceptance[0].kind: `comand` is not one of: file_exists, file_matches, command",
            "line 5, tasks[1].acceptance[1].argv: is empty",
            "line 6, tasks[1].acceptance[3]: is a number; expected a line such as \"command: make test\", or an object",
            "line 6, tasks[1].acceptance[2].path: `../x` is outside",
            "line 6, tasks[1].acceptance[2].regex: is not a regular expression",
            "line 7, tasks[2].priority: is a number; expected a whole number",
            "line 7, tasks[2].activity: does not match",
            "line 7, tasks[2].description: occurs twice",
        ],
    );
}

#[test]
fn criteria_in_json_are_lines_or_objects() {
    let object = r#"{"kind": "command", "argv": ["make", "test"]}"#;
    for list in [
        r#""acceptance": ["command: make test", "committed", "It reads well"]"#.to_owned(),
        r#""accept": ["command: make test", "committed", "It reads well"]"#.to_owned(),
        format!(r#""acceptance": [{object}, "committed", {{"kind": "text", "text": "It reads well"}}]"#),
    ] {
        let line = format!(r#"{{"description": "x", {list}}}"#);
        let written = "- [ ] x\n  - accept: command: make test\n  - accept: committed\n  - accept: It reads well\n";
        for name in ["a.json", "a.jsonl"] {
            assert_eq!(tasks(name, &line)[0].acceptance, tasks("a.md", written)[0].acceptance, "{line}");
        }
    }
    check_fault(
        "a.json",
        "[{\"description\": \"x\", \"acceptance\": [\"committed\",\n\"cmd: make\",\n\"file_exists: ../y\", \"\"]},\n\
         {\"description\": \"y\", \"accept\": [\"performance: good\"], \"acceptance\": []},\n\
         {\"description\": \"z\", \"accept\": \"committed\"}]",
        &[
            "line 2, tasks[0].acceptance[1]: `cmd` is not a kind of criterion; did you mean `command`?",
            "line 3, tasks[0].acceptance[3]: it is empty",
            "line 3, tasks[0].acceptance[2].path: `../y` is outside",
            "line 4, tasks[1].acceptance[0]: `performance` is not a kind of criterion; known: file_exists,",
            "line 4, tasks[1].acceptance: occurs twice",
            "line 5, tasks[2].acceptance: is a string; expected a list",
        ],
    );
}

#[test]
fn labels_are_short_names() {
    let read = &tasks("a.md", "- [ ] x\n  - labels: ui, `area/web`\n  - label: v1.2\n")[0];
    assert_eq!(read.labels, ["ui", "area/web", "v1.2"]);
    assert_eq!(tasks("a.json", r#"{"description": "x", "labels": ["ui"]}"#)[0].labels, ["ui"]);
    let many: Vec<String> = (0..11).map(|at| format!("l{at}")).collect();
    check_fault(
        "a.md",
        &format!("- [ ] x\n  - labels: {}\n", many.join(",")),
        &["labels: 11 are given; the limit is 10"],
    );
    check_fault(
        "a.json",
        &serde_json::json!({ "description": "x", "labels": many }).to_string(),
        &["labels: has 11; the limit is 10"],
    );
    check_fault("a.md", "- [ ] x\n  - tags: ui\n", &["tags: unknown field; did you mean `labels`?"]);
    check_fault(
        "a.md",
        "- [ ] x\n  - labels: ui, two words\n",
        &["line 2, tasks[0].labels[1]: white space cannot be in a label"],
    );
    check_fault(
        "a.json",
        r#"{"description": "x", "labels": ["ui", 3, "ui"]}"#,
        &["labels[1]: is a number", "labels[2]: `ui` is given twice"],
    );
}

#[test]
fn names_dependencies_and_patterns_are_checked() {
    check_fault(
        "a.jsonl",
        "{\"id\": \"lexer\", \"description\": \"x\", \"deps\": [\"parser\"]}\n\
         {\"id\": \"parser\", \"description\": \"y\", \"deps\": [\"docs\", \"tsk_00000000000000000000000000000000\"]}\n\
         {\"id\": \"docs\", \"description\": \"z\", \"deps\": [\"lexer\"]}\n\
         {\"id\": \"docs\", \"description\": \"v\", \"deps\": [\"lexers\"]}\n\
         {\"description\": \"w\", \"files\": [\"/etc\"], \"acceptance\": [{\"kind\": \"file_matches\", \"path\": \"a\"},\
         {\"kind\": \"file_matches\", \"path\": \"a\", \"regex\": \"(\"}, {\"kind\": \"only_touches\", \"globs\": [\"[\"]}]}",
        &[
            "line 1, tasks[0].deps: these tasks depend on each other in a cycle: lexer → parser → docs → lexer",
            "line 4, tasks[3].id: `docs` is already the name of tasks[2] on line 3",
            "line 4, tasks[3].deps[0]: `lexers` is neither the name of a task in this file nor an existing task (CALC-12, tsk_…); did you mean `lexer`?",
            "line 5, tasks[4].files[0]: `/etc` is outside",
            "line 5, tasks[4].acceptance[0]: has no condition",
            "line 5, tasks[4].acceptance[1].regex: is not a regular expression: unclosed group",
            "line 5, tasks[4].acceptance[2].globs: is not a pattern",
        ],
    );
    check_fault("a.json", r#"{"id": "a", "description": "x", "deps": ["a"]}"#, &["a → a"]);
}

#[test]
fn a_json_schema_that_cannot_be_used_is_refused() {
    let task = |schema: &str| {
        format!(
            r#"{{"description": "x", "acceptance": [{{"kind": "file_matches", "path": "a.json", "json_schema": {schema}}}]}}"#
        )
    };
    let wrong = "acceptance[0].json_schema: is not a usable JSON Schema: `/type`";
    check_fault("a.json", &task(r#"{"type": "objekt"}"#), &[wrong]);
    check_fault("a.json", &task(r#"{"$ref": "https://example.org/x.json"}"#), &["acceptance[0].json_schema"]);
    tasks("a.json", &task(r#"{"type": "object", "required": ["name"]}"#));
}

#[test]
fn non_plan_files_are_refused_with_a_reason() {
    check_fault("a.json", "", &["invalid JSON"]);
    check_fault("a.json", "[]", &["the file has no task"]);
    check_fault("a.json", "3", &["line 1: is a number; expected a task"]);
    check_fault(
        "a.json",
        "{\"description\": \"cut",
        &["line 1: invalid JSON: EOF while parsing a string, at column 20; the file seems"],
    );
    check_fault("a.json", "{\"description\": \"a\"}\n{\"description\": \"b\"}", &["--format jsonl"]);
    check_fault("a.json", r#"{"tasks": {}, "x": 1}"#, &["x: unknown field", "tasks: is an object; expected a list"]);
    check_fault("a.jsonl", "[\n{\"description\": \"a\"}\n]", &["--format json"]);
    check_fault(
        "a.jsonl",
        "{\"description\": \"a\"}\nnonsense\n{\"description\": \"other thing\"}",
        &["line 2, tasks[1]: invalid JSON"],
    );
    check_fault("a.md", "# Plan\n\nSome words.\n- a bullet\n", &["begin each task with `- [ ]`"]);
    check_fault("a.md", "- [x] done\n", &["ticked off"]);
    let said = |bytes: &[u8]| read(bytes, "a.md", None).faults[0].to_string();
    assert_eq!(said(b"- [ ] ok\n- [ ] \xff\n"), "line 2: the file is not UTF-8 from byte 15 on");
    assert!(said(b"\xff\xfe-\0").contains("UTF-16"));
}

const LIST: &str = "\
# Parser

Words for people.

- [ ] Write the lexer {#lexer}
  Keep trivia.

  - one detail
  - files: `src/lexer.rs`, src/token.rs
  - priority: 7
  - accept: command: `cargo test lexer`
  - accept:
    - file_exists: src/lexer.rs
    - Somebody new understands it
      at once
  - context: the old one is in git
    under v1
- [ ] Write the parser
  - after: lexer, setup
  - needs: rust
  * [ ] Grammar of expressions

        let x = 1;
  * [ ] Grammar of statements {#statements}
      - deps: lexer
  * [x] Grammar of types
  More about the parser.
- [X] Set up {#setup}
1. [ ] Write docs
   ```md
   - [ ] an example, no task
   ```
";

#[test]
fn a_markdown_list_is_read_with_its_details() {
    for text in [LIST.to_owned(), format!("\u{feff}{}", LIST.replace('\n', "\r\n"))] {
        let tasks = tasks("plan.md", &text);
        let titles: Vec<&str> = tasks.iter().map(|task| task.description.lines().next().unwrap()).collect();
        assert_eq!(
            titles,
            ["Write the lexer", "Write the parser", "Grammar of expressions", "Grammar of statements", "Write docs"]
        );
        let lexer = &tasks[0];
        assert_eq!(lexer.description, "Write the lexer\n\nKeep trivia.\n\n- one detail");
        assert_eq!(lexer.files, ["src/lexer.rs", "src/token.rs"]);
        assert_eq!((lexer.id.as_deref(), lexer.priority), (Some("lexer"), Some(7)));
        assert_eq!(lexer.context, "the old one is in git\nunder v1");
        let argv = ["cargo", "test", "lexer"].map(str::to_owned).to_vec();
        assert_eq!(
            lexer.acceptance,
            [
                Criterion::Command { argv, exit_code: None, timeout_seconds: None },
                Criterion::FileExists { path: "src/lexer.rs".into() },
                Criterion::Text { text: "Somebody new understands it at once".into() },
            ]
        );
        let parser = &tasks[1];
        assert_eq!(parser.description, "Write the parser\n\nMore about the parser.");
        assert_eq!(parser.needs, ["rust"]);
        let expressions = tasks[2].id.clone().unwrap();
        assert_eq!(parser.deps, ["lexer", &expressions, "statements"], "parts come first, and what is done is done");
        assert_eq!(tasks[2].description, "Grammar of expressions\n\nlet x = 1;");
        assert_eq!(tasks[3].deps, ["lexer"]);
        assert!(tasks[4].description.contains("- [ ] an example"), "{}", tasks[4].description);
    }
    let notes = read(LIST.as_bytes(), "plan.md", None).notes;
    assert_eq!(
        notes,
        [
            "skipped 2 ticked-off items",
            "ignored line 3: it belongs to no item",
            "4 tasks have no acceptance criteria: any report is accepted",
        ]
    );
}

#[test]
fn a_wrong_list_says_where() {
    check_fault(
        "a.md",
        "- [ ]\n- [ ] x\n  - priority: high\n  - accept: comand: x\n  - deps: y\n  - id: a\n  - id: b\n\t- [ ] tab\n\t\t- deps: z",
        &[
            "line 1, tasks[0].description: the item has no title",
            "line 3, tasks[1].priority: is `high`",
            "line 4, tasks[1].acceptance[0]: `comand` is not a kind",
            "line 5, tasks[1].deps[0]: `y` is neither the name",
            "line 7, tasks[1].id: the task already has a name",
            "line 9, tasks[2].deps[0]: `z` is neither the name",
        ],
    );
}

#[test]
fn a_criterion_in_a_list_needs_no_accept_before_it() {
    let text =
        "- [ ] x\n  - file_exists: a.txt\n  - command: cargo test\n  - committed\n  - committed people like it\n";
    let task = &tasks("a.md", text)[0];
    assert_eq!(
        task.acceptance,
        [
            Criterion::FileExists { path: "a.txt".into() },
            Criterion::Command { argv: vec!["cargo".into(), "test".into()], exit_code: None, timeout_seconds: None },
            Criterion::Committed {},
        ]
    );
    assert_eq!(task.description, "x\n\n- committed people like it");
    check_fault(
        "a.md",
        "- [ ] x\n  - file_exists:\n",
        &["line 2, tasks[0].acceptance[0]: `file_exists:` needs a path"],
    );
}

#[test]
fn a_field_s_name_that_is_misspelt_is_no_description() {
    check_fault(
        "a.md",
        "- [ ] x\n  - accpet: committed\n  - **Priorty**: 3\n  - Note: this is fine\n  fils: so is this\n",
        &[
            "line 2, tasks[0].accpet: unknown field; did you mean `accept`?",
            "line 3, tasks[0].Priorty: unknown field; did you mean `priority`?",
        ],
    );
}

#[test]
fn a_field_that_is_unknown_is_no_description() {
    check_fault(
        "a.md",
        "- [ ] x {#x}\n- [ ] y\n  - depends: x\n  - Depends on: x\n  depends_on: x\n  - owner: Ada\n",
        &[
            "line 3, tasks[1].depends: unknown field; did you mean `after`? Known fields: id, context, accept, files, after",
            "line 4, tasks[1].Depends on: unknown field; did you mean `after`?",
            "line 5, tasks[1].depends_on: unknown field; did you mean `after`?",
            "line 6, tasks[1].owner: unknown field. Known fields: id,",
        ],
    );
    let words = "- [ ] x\n  See https://example.org: there\n  - Windows: keep CRLF\n  - the parser: keep it\n  - std::io is fine\n    - nested: too\n  note: this, too\n";
    assert_eq!(tasks("a.md", words)[0].description.lines().count(), 8, "words remain words");
}

#[test]
fn places_are_right_after_a_fault() {
    check_fault(
        "a.md",
        "- [ ] x\n  - accept: comand: x\n  - accept: file_exists: ../y\n",
        &["line 2, tasks[0].acceptance[0]: `comand`", "line 3, tasks[0].acceptance[1].path: `../y` is outside"],
    );
    check_fault(
        "a.json",
        r#"{"description": "x", "files": [1, "/etc"]}"#,
        &["files[0]: is a number", "files[1]: `/etc` is outside"],
    );
}

#[test]
fn the_same_said_twice_is_pointed_out() {
    let file = read(b"- [ ] Fix the login page\n- [ ] Write docs\n- [ ] fix the login page!\n", "a.md", None);
    assert_eq!(file.similar, ["tasks[2] is similar to tasks[0]"]);
    assert_eq!(file.notes, ["3 tasks have no acceptance criteria: any report is accepted"]);
    assert_eq!((file.faults.len(), file.tasks.len()), (0, 3));
}

#[test]
fn large_and_deep_files_are_no_trouble() {
    let deep: String = (0..5_000).map(|depth| format!("{}- [ ] task {depth}\n", " ".repeat(depth))).collect();
    let tasks = tasks("a.md", &deep);
    assert_eq!((tasks.len(), tasks[0].deps.len(), tasks[4_999].deps.len()), (5_000, 1, 0));
    let many: String =
        (0..50_000).map(|at| format!("{{\"id\": \"t{at}\", \"description\": \"task {at}\"}}\n")).collect();
    let file = read(many.as_bytes(), "a.jsonl", None);
    assert_eq!((file.tasks.len(), file.faults.len()), (50_000, 1), "more than a hub takes at once is said");
    let long = format!("{{\"description\": \"{}\", \"needs\": [{}]}}", "é".repeat(40_000), vec!["\"a\""; 21].join(","));
    check_fault(
        "a.json",
        &long,
        &["description: has 80000 bytes; the limit is 65536", "needs: has 21; the limit is 20"],
    );
}

proptest! {
    #[test]
    fn no_input_ends_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200), format in 0u8..4) {
        let format = [Some(Format::Json), Some(Format::Jsonl), Some(Format::Markdown), None][usize::from(format)];
        read(&bytes, "a", format);
    }

    #[test]
    fn no_list_ends_the_reader(lines in proptest::collection::vec("[ \t]{0,6}(- |\\* |1. |)(\\[[ x]\\] |)[a-z:`#{},é ]{0,12}", 0..20)) {
        let file = read(lines.join("\n").as_bytes(), "a.md", None);
        let titles = lines.iter().filter(|line| line.contains("[ ]")).count();
        prop_assert!(file.tasks.len() <= titles);
    }

    #[test]
    fn what_is_written_as_json_is_read_as_it_was(description in "[ -~]*[!-~][ -~]*", files in proptest::collection::vec("[a-z]{1,9}", 0..3)) {
        let task = TaskAdd { description, files, ..TaskAdd::default() };
        let text = serde_json::to_string(&task).unwrap();
        prop_assert_eq!(&read(text.as_bytes(), "a.json", None).tasks, std::slice::from_ref(&task));
        prop_assert_eq!(&read(text.as_bytes(), "a.jsonl", None).tasks, std::slice::from_ref(&task));
    }
}
