//! Tasks that change: edited, reopened, cancelled and retried together, and added again from their plan.

use crate::fixture::Fixture;
use crate::pseudo_terminal::PseudoTerminal;

const LIST: &str = "- [ ] Write the lexer {#lexer}\n- [ ] Write the parser {#parser}\n  - after: lexer\n";

fn project() -> Fixture {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser", "--key", "calc"]);
    add(&fixture, LIST, &[]);
    fixture
}

/// Adds a plan; returns what was said.
fn add(fixture: &Fixture, list: &str, more: &[&str]) -> crate::process::Ended {
    let arguments = [&["task", "add", "--project", "Parser", "--file", "-", "--format", "markdown"], more].concat();
    fixture.run_with_input(&arguments, list)
}

fn field(fixture: &Fixture, task: &str, field: &str) -> String {
    let value = fixture.json(&["task", "show", task])["task"][field].clone();
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[test]
fn a_task_is_edited_by_its_short_name() {
    let fixture = project();
    let said =
        fixture.text(&["task", "edit", "calc-2", "--priority", "8", "--description", "Write it all", "--no-after"]);
    assert!(said.starts_with("CALC-2") && said.contains("ready"), "{said}");
    assert_eq!(field(&fixture, "CALC-2", "priority"), "8");
    let round = fixture.fail(2, &["task", "edit", "CALC-2", "--after", "CALC-2"]);
    assert!(round.contains("in a cycle: CALC-2 → CALC-2"), "{round}");
    assert!(fixture.fail(2, &["task", "edit", "CALC-2"]).contains("nothing to change"));
    assert!(fixture.fail(3, &["task", "edit", "CALC-9", "--priority", "1"]).contains("no task `CALC-9` found"));
}

#[test]
fn a_task_is_edited_in_the_editor() {
    let fixture = project();
    let script = fixture.path("editor");
    std::fs::write(
        &script,
        "#!/bin/sh\nsed -i 's/Write the lexer/Write the scanner/; s/priority: 5/priority: 2/' \"$1\"\n",
    )
    .unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let (editor, program) = (format!("EDITOR={}", script.display()), fixture.command());
    let program = program.get_program().to_str().unwrap();
    let arguments = [editor.as_str(), program, "task", "edit", "CALC-1"];
    let terminal = PseudoTerminal::run_program("/usr/bin/env".as_ref(), &fixture, &arguments, 100, 30);
    terminal.wait_for("Write the scanner");
    assert_eq!(terminal.ended().0, Some(0));
    assert_eq!(field(&fixture, "CALC-1", "priority"), "2");
}

#[test]
fn a_done_task_is_reopened_with_words() {
    let fixture = project();
    let taken = fixture.json(&["task", "take", "--project", "Parser", "--worker", "ann"])["taken"].clone();
    let fence = taken["lease"]["fence"].to_string();
    assert!(fixture.fail(4, &["task", "reopen", "CALC-1", "more"]).contains("not done: edit it instead"));
    fixture.text(&["task", "report", "CALC-1", "--fence", &fence, "done"]);
    let said = fixture.text(&["task", "reopen", "CALC-1", "now also comments"]);
    assert!(said.contains("ready") && said.contains("now also comments"), "{said}");
    assert_eq!(field(&fixture, "CALC-2", "status"), "blocked", "it builds on the reopened one");
    let again = fixture.text(&["task", "take", "--project", "Parser", "--worker", "ann"]);
    assert!(again.contains("# Task CALC-1 (tsk_") && again.contains("now also comments"), "{again}");
}

#[test]
fn many_tasks_are_cancelled_and_retried() {
    let fixture = project();
    fixture.text(&["task", "cancel", "CALC-1", "calc-2"]);
    assert_eq!(field(&fixture, "CALC-2", "status"), "cancelled");
    let unasked = fixture.fail(2, &["task", "retry", "--status", "cancelled"]);
    assert!(unasked.contains("this would retry 2 tasks") && unasked.contains("--yes"), "{unasked}");
    fixture.text(&["task", "retry", "--project", "Parser", "--yes"]);
    assert_eq!(
        (field(&fixture, "CALC-1", "status"), field(&fixture, "CALC-2", "status")),
        ("ready".into(), "blocked".into())
    );
    assert!(fixture.fail(2, &["task", "cancel"]).contains("which tasks to cancel?"));
    assert!(fixture.fail(3, &["task", "cancel", "--status", "failed", "--yes"]).contains("no task to cancel"));
}

#[test]
fn a_plan_that_is_added_again_updates_its_tasks() {
    let fixture = project();
    let more =
        "- [ ] Write the lexer {#lexer}\n  Keep comments.\n  - priority: 9\n- [ ] Document it\n  - after: lexer\n";
    let refused = add(&fixture, more, &[]);
    assert_eq!(refused.code, 4, "{refused:?}");
    assert!(
        refused.stderr.contains("1 task of this file (CALC-1)") && refused.stderr.contains("--update"),
        "{refused:?}"
    );
    let updated = add(&fixture, more, &["--update"]);
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(updated.stderr.contains("updated CALC-1") && updated.stdout.contains("CALC-3"), "{updated:?}");
    assert_eq!(field(&fixture, "CALC-1", "priority"), "9");
    assert!(field(&fixture, "CALC-1", "description").contains("Keep comments."));
    assert_eq!(field(&fixture, "CALC-3", "status"), "blocked", "new tasks wait for those that were there");
    let again = add(&fixture, more, &["--again"]);
    assert!(again.code == 0 && again.stdout.contains("CALC-4") && again.stdout.contains("CALC-5"), "{again:?}");
}

#[test]
fn a_plan_that_is_added_again_does_not_double_what_is_done() {
    let fixture = project();
    let taken = fixture.json(&["task", "take", "--project", "Parser", "--worker", "ann"])["taken"].clone();
    fixture.text(&["task", "report", "CALC-1", "--fence", &taken["lease"]["fence"].to_string(), "done"]);
    assert_eq!(field(&fixture, "CALC-1", "status"), "done");
    let more = "- [ ] Write the lexer {#lexer}\n  Keep comments.\n- [ ] Document it\n  - after: lexer\n";
    assert!(add(&fixture, more, &[]).stderr.contains("1 task of this file (CALC-1)"));
    let updated = add(&fixture, more, &["--update"]);
    assert_eq!(updated.code, 0, "{updated:?}");
    assert!(updated.stderr.contains("CALC-1 is done and stays as it is"), "{updated:?}");
    assert_eq!(field(&fixture, "CALC-3", "status"), "ready", "its dependency is done");
    assert!(fixture.fail(3, &["task", "show", "CALC-4"]).contains("no task"), "nothing is doubled");
}
