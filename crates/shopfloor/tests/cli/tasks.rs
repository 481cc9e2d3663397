//! Tasks from adding to finishing, with scripts as workers.

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::Running;
use crate::pseudo_terminal::PseudoTerminal;

fn id(view: &Value) -> &str {
    view["id"].as_str().unwrap()
}

fn project() -> Fixture {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    fixture
}

/// Adds the tasks of a Markdown list.
fn add(fixture: &Fixture, list: &str) -> Value {
    std::fs::write(fixture.path("plan.md"), list).unwrap();
    let file = fixture.path("plan.md").display().to_string();
    fixture.json(&["task", "add", "--project", "Parser", "--file", &file])
}

/// Takes the next task as `worker`; returns its id and fence.
fn take(fixture: &Fixture, worker: &str) -> (String, String) {
    let taken = fixture.json(&["task", "take", "--project", "Parser", "--worker", worker])["taken"].clone();
    (id(&taken["task"]).to_owned(), taken["lease"]["fence"].to_string())
}

fn status(fixture: &Fixture, task: &str) -> String {
    fixture.json(&["task", "show", task])["task"]["status"].as_str().unwrap().to_owned()
}

const LIST: &str = "\
- [ ] Write the lexer {#lexer}
  Keep trivia.
  - files: src/lexer.rs
  - priority: 7
- [ ] Write the parser
  - after: lexer
";

#[test]
fn a_list_is_added_and_done() {
    let fixture = project();
    let added = add(&fixture, LIST);
    let (lexer, parser) = (id(&added["tasks"][0]).to_owned(), id(&added["tasks"][1]).to_owned());
    assert_eq!(
        (added["tasks"][0]["status"].as_str(), added["tasks"][1]["status"].as_str()),
        (Some("ready"), Some("blocked"))
    );
    assert_eq!(added["names"][0]["name"], "lexer");
    let listed = fixture.text(&["task", "list", "--project", "Parser"]);
    assert!(
        listed.contains("○ ready") && listed.contains("⊘ blocked") && listed.contains("Write the lexer"),
        "{listed}"
    );
    assert_eq!(fixture.json(&["task", "list", "--status", "ready"]).as_array().unwrap().len(), 1);
    let graph = fixture.text(&["task", "graph", "--project", "Parser"]);
    assert!(
        graph.starts_with("⊘ blocked  Write the parser") && graph.contains("└─ ○ ready  Write the lexer"),
        "{graph}"
    );
    assert!(fixture.text(&["task", "graph", "--dot"]).contains(&format!("{lexer} -> {parser};")));
    let (task, fence) = take(&fixture, "ann-1");
    assert_eq!(task, lexer, "the parser waits for it");
    let none = fixture.run(&["task", "take", "--project", "Parser", "--worker", "ann-2", "--json"]);
    assert_eq!(none.code, 3, "{none:?}");
    assert!(none.stderr.contains("no task") && none.stdout.contains("why_not"), "{none:?}");
    fixture.json(&["task", "heartbeat", &task, "--fence", &fence, "--progress", "half way"]);
    let shown = fixture.text(&["task", "show", "Write the lexer"]);
    assert!(shown.contains("half way") && shown.contains("Keep trivia.") && shown.contains("ann-1"), "{shown}");
    let report = fixture.json(&[
        "task",
        "report",
        &task,
        "--fence",
        &fence,
        "done",
        "--deliverable",
        "src/lexer.rs",
        "--context-score",
        "4",
    ]);
    assert_eq!((report["verdict"].as_str(), report["context_score"].as_u64()), (Some("accepted"), Some(4)));
    assert_eq!((status(&fixture, &lexer), status(&fixture, &parser)), ("done".into(), "ready".into()));
    let zombie = fixture.fail(4, &["task", "heartbeat", &task, "--fence", &fence]);
    assert!(zombie.contains("error: "), "{zombie}");
    let listed = fixture.run(&["task", "list", "--project", "Parser"]);
    assert!(!listed.stdout.contains("Write the lexer") && listed.stderr.contains("1 done or cancelled"), "{listed:?}");
}

#[test]
fn a_task_from_the_command_line_and_a_similar_one_are_added() {
    let fixture = project();
    let first = fixture.json(&[
        "task",
        "add",
        "--project",
        "Parser",
        "Fix the login page on mobile Safari",
        "--accept",
        "text: It works",
        "--priority",
        "9",
        "--files",
        "a,b",
    ]);
    let task = fixture.json(&["task", "show", id(&first["tasks"][0])])["task"].clone();
    assert_eq!((task["priority"].as_u64(), task["files"][1].as_str()), (Some(9), Some("b")));
    assert_eq!(task["acceptance"][0]["kind"], "text");
    let again = fixture.run(&[
        "task",
        "add",
        "--project",
        "Parser",
        "fix the login page on mobile safari!",
        "--dep",
        id(&task),
    ]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(again.stderr.contains("is similar to") && again.stdout.contains("blocked"), "{again:?}");
    assert!(again.stderr.contains("1 task has no acceptance criteria: any report is accepted"), "{again:?}");
    let twins = "- [ ] Write a lexer for the parser\n- [ ] Write the lexer for the parser\n";
    let twins =
        fixture.run_with_input(&["task", "add", "--project", "Parser", "--file", "-", "--format", "markdown"], twins);
    assert_eq!(twins.stderr.matches("is similar to").count(), 1, "said once: {twins:?}");
    let listed = fixture.text(&["task", "list"]);
    assert!(listed.contains("waits for PARS-1 `Fix the login page on mobile Safari`"), "{listed}");
    let from_input =
        fixture.run_with_input(&["task", "add", "--project", "Parser", "-"], "Write docs\n\nAll of them.\n");
    assert_eq!(from_input.code, 0, "{from_input:?}");
    assert!(fixture.text(&["task", "show", "Write docs"]).contains("All of them."));
    let unknown =
        fixture.fail(2, &["task", "add", "--project", "Parser", "x", "--dep", "tsk_00000000000000000000000000000000"]);
    assert!(unknown.contains("there is no task"), "{unknown}");
    assert!(fixture.fail(3, &["task", "show", "nothing"]).contains("no task"));
}

#[test]
fn exported_tasks_can_be_added_again() {
    let fixture = project();
    add(&fixture, LIST);
    let ended = fixture.run(&["task", "export", "--project", "Parser"]);
    assert_eq!((ended.code, ended.stdout.lines().count()), (0, 2), "{ended:?}");
    fixture.text(&["project", "create", "Copy"]);
    let added = fixture.run_with_input(&["task", "add", "--project", "Copy", "--file", "-", "--json"], &ended.stdout);
    let added: Value = serde_json::from_str(&added.stdout).unwrap();
    assert_eq!(added["tasks"][1]["deps"][0], added["tasks"][0]["id"]);
    assert_eq!(added["tasks"][0]["priority"], 7);
    let (task, fence) = take(&fixture, "ann");
    fixture.text(&["task", "report", &task, "--fence", &fence, "done"]);
    let open = fixture.run(&["task", "export", "--project", "Parser", "--open"]).stdout;
    let line: Value = serde_json::from_str(open.trim()).unwrap();
    assert_eq!(
        (line["description"].as_str(), line.get("deps")),
        (Some("Write the parser"), None),
        "what is done is done"
    );
}

#[test]
fn more_than_a_page_is_exported_in_order() {
    let fixture = project();
    let lines: String = (0..205).map(|n| format!("{{\"description\": \"Weigh anchor number {n}\"}}\n")).collect();
    let added = fixture.run_with_input(&["task", "add", "--project", "Parser", "--file", "-"], &lines);
    assert_eq!(added.code, 0, "{added:?}");
    let exported = fixture.run(&["task", "export", "--project", "Parser"]).stdout;
    let numbers: Vec<usize> = exported
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["description"].as_str().unwrap().to_owned())
        .map(|text| text.rsplit(' ').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!(numbers, (0..205).collect::<Vec<_>>());
}

#[test]
fn a_person_is_asked_and_answers() {
    let fixture = project();
    add(&fixture, "- [ ] Choose a parser\n");
    let (task, fence) = take(&fixture, "ann");
    let asked = fixture.json(&[
        "task",
        "ask",
        &task,
        "--fence",
        &fence,
        "Which one?",
        "--option",
        "hand-written",
        "--option",
        "generated",
    ]);
    let list = fixture.text(&["escalation", "list"]);
    assert!(list.contains("Which one?") && list.contains("needs you"), "{list}");
    let chat = fixture.run(&["chat", "list", "Parser"]).stderr;
    assert!(chat.contains("needs you: Which one? (shopfloor escalation answer esc_"), "{chat}");
    let shown = fixture.text(&["escalation", "show", "Which"]);
    assert!(shown.contains("1. hand-written") && shown.contains("2. generated"), "{shown}");
    assert!(fixture.fail(2, &["escalation", "answer", id(&asked)]).contains("give an answer"));
    let answered = fixture.json(&["escalation", "answer", id(&asked), "--option", "1", "it is smaller"]);
    assert!(answered["answer"].as_str().unwrap().contains("hand-written"), "{answered}");
    assert!(fixture.text(&["task", "show", &task]).contains("hand-written"), "the answer is in the task");
    assert_eq!(fixture.text(&["escalation", "list"]), "no open questions\n");
    fixture.fail(4, &["escalation", "answer", id(&asked), "again"]);
    fixture.text(&["task", "release", &task, "--fence", &fence]);
    fixture.text(&["task", "cancel", &task]);
    fixture.text(&["task", "add", "--project", "Parser", "Something to judge", "--accept", "It is good"]);
    let (task, fence) = take(&fixture, "ann");
    let asked = fixture.json(&["task", "ask", &task, "--fence", &fence, "Good for whom?"]);
    let said = fixture.text(&["escalation", "answer", id(&asked), "for us"]);
    assert!(said.contains("answered (tell); `Something to judge` is assigned"), "{said}");
    let pending = fixture.run(&["task", "report", &task, "--fence", &fence, "done", "--wait", "600"]);
    assert_eq!(pending.code, 1, "no verdict comes before a person has decided: {pending:?}");
    assert!(pending.stdout.contains("pending"), "{pending:?}");
}

#[test]
fn tasks_are_cancelled_retried_and_released() {
    let fixture = project();
    let added = add(&fixture, LIST);
    let lexer = id(&added["tasks"][0]);
    let (task, fence) = take(&fixture, "ann");
    let released = fixture.json(&["task", "release", &task, "--fence", &fence, "--reason", "no time"]);
    assert_eq!(released["status"], "ready");
    let said = fixture.text(&["task", "cancel", lexer, "--reason", "not wanted"]);
    assert!(said.contains("cancelled"), "{said}");
    let blocked = fixture.text(&["task", "list", "--status", "blocked"]);
    assert!(blocked.contains("Write the parser"), "{blocked}");
    let ended = fixture.run(&["task", "watch", "--project", "Parser", "--until-done"]);
    assert_eq!(ended.code, 1, "{ended:?}");
    assert!(ended.stderr.contains("0 failed, 1 blocked"), "{ended:?}");
    assert_eq!(fixture.json(&["task", "retry", lexer])["status"], "ready");
    let (task, fence) = take(&fixture, "ann");
    let failed = fixture.json(&["task", "report", &task, "--fence", &fence, "--failed", "it cannot be done"]);
    assert_eq!(failed["summary"], "it cannot be done");
}

#[test]
fn a_watch_prints_changes_and_ends_when_all_is_done() {
    let fixture = project();
    add(&fixture, LIST);
    let watch = Running::spawn(fixture.command().args(["task", "watch", "--project", "Parser", "--until-done"]));
    assert_eq!(watch.line(), "2 tasks: ⊘ 1 blocked, ○ 1 ready");
    for title in ["Write the lexer", "Write the parser"] {
        let (task, fence) = take(&fixture, "ann");
        fixture.text(&["task", "report", &task, "--fence", &fence, "done"]);
        loop {
            let line = watch.line();
            if line.contains(&format!("done  {title}")) {
                break;
            }
        }
    }
    let mut last = watch.line();
    while !last.starts_with("2 tasks") {
        last = watch.line();
    }
    assert_eq!(last, "2 tasks: ● 2 done");
    assert_eq!(watch.wait(), Some(0));
    assert_eq!(fixture.text(&["task", "watch", "--until-done", "--project", "Parser", "--json"]).lines().count(), 2);
}

#[test]
fn a_terminal_shows_bars() {
    let fixture = project();
    add(&fixture, LIST);
    let watch = PseudoTerminal::run(&fixture, &["task", "watch", "--until-done"], 80, 24);
    watch.wait_for("0 of 2 done, 0 %");
    for done in 1..=2 {
        let (task, fence) = take(&fixture, "ann");
        fixture.text(&["task", "heartbeat", &task, "--fence", &fence, "--progress", &format!("step {done}")]);
        watch.wait_for(&format!("step {done}"));
        let waited = fixture.run(&["task", "report", &task, "--fence", &fence, "done", "--wait", "30"]);
        assert_eq!(waited.code, 0, "{waited:?}");
    }
    let (code, shown) = watch.ended();
    assert_eq!(code, Some(0));
    assert!(shown.contains('█') && shown.contains("ann") && shown.contains("2 of 2 done, 100 %"), "{shown}");
    assert!(shown.contains("\x1b[38;5;"), "workers have their colours: {shown:?}");
}

#[test]
fn open_tasks_are_exported_without_cancelled_dependencies() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    fixture.text(&["project", "create", "Other"]);
    let list = "- [ ] Write the lexer {#lexer}\n- [ ] Write the parser\n  - deps: lexer\n";
    let added = fixture.run_with_input(&["task", "add", "--project", "Parser", "--file", "-"], list);
    assert_eq!(added.code, 0, "{added:?}");
    fixture.text(&["task", "cancel", "Write the lexer"]);
    let exported = fixture.run(&["task", "export", "--project", "Parser", "--open"]);
    assert!(exported.stderr.contains("1 dependency on a cancelled task was left out"), "{exported:?}");
    let again = ["task", "add", "--project", "Other", "--file", "-", "--format", "jsonl", "--json"];
    let again = fixture.run_with_input(&again, &exported.stdout);
    assert_eq!(again.code, 0, "{again:?}");
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["tasks"][0]["status"], "ready", "{again}");
    let why = fixture.text(&["task", "list", "--project", "Other"]);
    assert!(why.contains("no worker: start one with"), "{why}");
}
