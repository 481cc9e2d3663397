//! Task files without a hub: the schema, checks, and instructions.

use crate::fixture::Fixture;

fn written(fixture: &Fixture, name: &str, text: &[u8]) -> String {
    std::fs::write(fixture.path(name), text).unwrap();
    fixture.path(name).display().to_string()
}

#[test]
fn the_schema_is_printed_and_valid_files_pass() {
    let fixture = Fixture::empty();
    let schema = fixture.json(&["task", "schema"]);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["$defs"]["TaskAdd"]["required"][0], "description");
    let plan = written(&fixture, "plan.md", b"- [ ] Lexer {#lexer}\n- [ ] Parser\n  - after: lexer\n");
    let said = fixture.text(&["task", "check", &plan]);
    let note = "note: 2 tasks have no acceptance criteria: any report is accepted";
    assert_eq!(said, format!("{plan}: {note}\n{plan}: 2 tasks, no errors\n"));
    let checked = fixture.json(&["task", "check", &plan]);
    assert_eq!((checked["tasks"].as_u64(), checked["errors"].as_array().map(Vec::len)), (Some(2), Some(0)));
}

#[test]
fn every_error_is_reported_without_a_hub() {
    let fixture = Fixture::empty();
    let file = written(&fixture, "a.json", b"[{\"description\": \"a\",\n \"deps\": [\"b\"]},\n {\"prio\": 1}]");
    let ended = fixture.run(&["task", "check", &file]);
    assert_eq!(ended.code, 2);
    let expected = format!(
        "{file}:2: tasks[0].deps[0]: `b` is neither the name of a task in this file nor an existing task (CALC-12, tsk_…)\n\
         {file}:3: tasks[1].description: is missing\n"
    );
    assert!(ended.stdout.starts_with(&expected), "{}", ended.stdout);
    assert!(ended.stdout.ends_with(&format!("{file}: 3 errors\n")), "{}", ended.stdout);
    let said = fixture.fail(2, &["task", "add", "--project", "P", "--file", &file]);
    assert!(said.contains("3 errors; nothing was added") && said.contains("line 3, tasks[1].prio: "), "{said}");
    let problem: protocol::Problem =
        serde_json::from_str(&fixture.fail(2, &["task", "add", "--project", "P", "--file", &file, "--json"])).unwrap();
    assert_eq!(problem.errors.len(), 3);
    assert!(fixture.fail(2, &["task", "check", "/nothing/here"]).contains("could not read"));
    let from_input = fixture.run_with_input(&["task", "check", "-", "--format", "jsonl"], "{\"description\": 1}\n");
    assert_eq!(from_input.code, 2);
    assert!(from_input.stdout.starts_with("standard input:1: tasks[0].description: is a number"), "{from_input:?}");
    let binary = written(&fixture, "b.md", b"- [ ] \xff\xff");
    assert!(fixture.run(&["task", "check", &binary]).stdout.contains("not UTF-8"));
}

#[test]
fn instructions_come_ready_made() {
    let fixture = Fixture::empty();
    let ended = fixture.run(&["instructions", "worker", "--for", "claude"]);
    assert!(ended.stdout.contains("take_task") && ended.stderr.contains("CLAUDE.md"), "{ended:?}");
    assert_eq!(
        fixture.json(&["instructions", "coordinator", "--for", "cursor"])["file"],
        ".cursor/rules/shopfloor.mdc"
    );
}

#[test]
fn instructions_tell_remote_workers_to_push_their_branch() {
    let fixture = Fixture::empty();
    for agent in ["claude", "codex", "cursor", "agents-md"] {
        let said = fixture.run(&["instructions", "worker", "--for", agent]).stdout;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains("push the branch to the project's repository, and name it as `branch`"), "{said}");
        assert!(said.contains("In a session that Shopfloor started"), "it says when that is not needed: {said}");
    }
}

#[test]
fn a_file_with_too_many_tasks_is_refused() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let task = |at: usize| format!("{{\"description\": \"task {at} {}\"}}\n", "x".repeat(60_000));
    let file = written(&fixture, "large.jsonl", (0..30).map(task).collect::<String>().as_bytes());
    let said = fixture.fail(2, &["task", "add", "--project", "Parser", "--file", &file]);
    assert!(said.contains("split the file"), "{said}");
    assert_eq!(fixture.json(&["task", "list"]).as_array().unwrap().len(), 0);
}
