//! Recipes from a file to an execution that is over, as a person at a terminal sees them.

use serde_json::{Value, json};

use crate::fixture::Fixture;
use crate::process::{Running, wait_until};

const RELEASE: &str = "\
name: release
description: Tells, waits, asks and tells
inputs:
  version: {type: string, description: What is released}
  count: {type: integer, default: 1}
outputs:
  note: steps.ask.output.data.note
steps:
  - id: announce
    notify: {to: chat, text: \"Releasing {{ inputs.version }}, {{ inputs.count + 1 }} places\"}
  - id: breathe
    wait: {for: 1s}
  - id: ask
    approve:
      question: \"Release {{ inputs.version }}?\"
      form: {schema: {type: object, properties: {note: {type: string}}, required: [note]}}
  - id: tell
    notify: {to: chat, text: \"Released: {{ steps.ask.output.data.note }}\"}
";

/// Saves a text as a file of the test, and returns its path.
fn file(fixture: &Fixture, name: &str, text: &str) -> String {
    std::fs::write(fixture.path(name), text).unwrap();
    fixture.path(name).display().to_string()
}

/// A hub with the project `Calc` and this recipe.
fn with_recipe(text: &str) -> Fixture {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    add(&fixture, text);
    fixture
}

fn add(fixture: &Fixture, text: &str) -> Value {
    let path = file(fixture, "recipe.yaml", text);
    fixture.json(&["recipe", "add", &path, "--project", "Calc"])
}

fn start(fixture: &Fixture, args: &[&str]) -> String {
    let started = fixture.json(&[&["recipe", "run"], args].concat());
    started["id"].as_str().unwrap().to_owned()
}

fn status(fixture: &Fixture, id: &str) -> String {
    let shown = fixture.json(&["execution", "show", id]);
    shown["execution"]["status"].as_str().unwrap().to_owned()
}

fn wait_for(fixture: &Fixture, id: &str, wanted: &str) {
    wait_until(&format!("the execution is {wanted}"), || status(fixture, id) == wanted);
}

fn wait_for_question(fixture: &Fixture, id: &str) {
    let asks = || fixture.json(&["execution", "show", id])["execution"]["needs_person"] == true;
    wait_until("a person is asked", asks);
}

#[test]
fn every_error_of_a_recipe_is_told_with_its_place() {
    let fixture = Fixture::empty();
    let path =
        file(&fixture, "a.yaml", "name: a\nsteps:\n  - id: one\n    notfy: {to: chat, text: x}\n    timeout: 5\n");
    let checked = fixture.run(&["recipe", "check", &path]);
    assert_eq!((checked.code, checked.stderr.as_str()), (2, ""), "{checked:?}");
    let lines: Vec<&str> = checked.stdout.lines().collect();
    assert!(lines[0].starts_with(&format!("{path}:4:5: ")) && lines[0].contains("`notify`"), "{lines:?}");
    assert!(lines[1].starts_with(&format!("{path}:5:14: ")) && lines[1].contains("write `5s`"), "{lines:?}");
    assert!(lines.last().unwrap().ends_with("errors"), "{lines:?}");
    let checked = fixture.run(&["recipe", "check", &path, "--json"]);
    let checked: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_eq!((checked["ok"].as_bool(), checked["errors"][0]["line"].as_u64()), (Some(false), Some(4)));
    assert!(fixture.fail(2, &["recipe", "check", "nowhere.yaml"]).contains("could not read nowhere.yaml"));
    let refused = fixture.fail(2, &["recipe", "add", &path, "--project", "Calc"]);
    assert!(refused.contains(&format!("{path}:4:5: ")), "an error is told before a hub is needed: {refused}");
}

#[test]
fn templates_are_written_once_and_have_no_errors() {
    let fixture = Fixture::empty();
    let listed = fixture.text(&["recipe", "new", "--list"]);
    let names = fixture.json(&["recipe", "templates"]);
    let names: Vec<&str> = names.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 6);
    for name in names {
        assert!(listed.contains(name), "{listed}");
        let path = fixture.path(name).with_extension("yaml").display().to_string();
        fixture.text(&["recipe", "new", "--template", name, &path]);
        assert!(fixture.text(&["recipe", "check", &path]).contains("no errors"), "{name}");
        let there = fixture.fail(4, &["recipe", "new", "--template", name, &path]);
        assert!(there.contains("exists, and nothing was changed"), "{there}");
    }
    let mut command = fixture.command();
    let written = command.args(["recipe", "new", "--template", "fix-issue"]).current_dir(fixture.path("")).output();
    assert!(written.unwrap().status.success() && fixture.path("recipes/fix-issue.yaml").exists());
    assert!(fixture.fail(2, &["recipe", "new", "--template", "fix-isue"]).contains("did you mean `fix-issue`?"));
    assert!(fixture.fail(2, &["recipe", "new", "--template", "fix-issue", "a.toml"]).contains("is YAML"));
    assert!(fixture.json(&["recipe", "schema"])["properties"]["steps"].is_object());
}

#[test]
fn a_recipe_runs_to_its_end_while_a_person_watches() {
    let fixture = with_recipe(RELEASE);
    let listed = fixture.text(&["recipe", "list", "--project", "Calc"]);
    assert!(listed.contains("release") && listed.contains("version [count]"), "{listed}");
    let missing = fixture.fail(2, &["recipe", "run", "release"]);
    assert!(missing.contains("input `version` is missing: What is released"), "{missing}");
    let wrong = fixture.fail(2, &["recipe", "run", "release", "--input", "version=1", "--input", "count=many"]);
    assert!(wrong.contains("count"), "{wrong}");
    let inputs = file(&fixture, "inputs.json", r#"{"version": "1.0", "count": 7}"#);
    let version = file(&fixture, "version.txt", "2.0\n");
    let given = format!("version=@{version}");
    let line = ["recipe", "run", "release", "--project", "Calc", "--input-file", &inputs, "--input", &given, "--watch"];
    let watch = Running::spawn(fixture.command().args(line));
    let head = watch.line();
    assert!(head.contains("release (version 1)") && head.starts_with("exe_"), "{head}");
    watch.wait_for_note("ask asks:");
    let command = watch.wait_for_note("execution approve");
    assert!(command.contains(" ask --data JSON`"), "{command}");
    let listed = fixture.text(&["execution", "list", "--open"]);
    assert!(listed.contains("waiting, needs you"), "{listed}");
    let shown = fixture.text(&["execution", "show", "release"]);
    for part in ["announce", "● succeeded", "◔ waiting", "○ pending", "asks: Release 2.0?", "Needs you", "count: 7"]
    {
        assert!(shown.contains(part), "`{part}` is not in:\n{shown}");
    }
    let refused = fixture.fail(2, &["execution", "approve", "release", "--data", "fine"]);
    assert!(refused.contains("is not JSON"), "{refused}");
    fixture.text(&["execution", "approve", "release", "--data", r#"{"note": "fine"}"#, "--comment", "ship it"]);
    let mut last = String::new();
    while !last.contains("● completed") {
        last = watch.line();
    }
    assert_eq!(watch.wait(), Some(0));
    let id = head.split(' ').next().unwrap();
    let detail = fixture.json(&["execution", "show", id]);
    assert_eq!(detail["outputs"], json!({"note": "fine"}));
    let end = &id[id.len() - 8..];
    assert!(fixture.text(&["execution", "show", end, "ask"]).contains("\"comment\": \"ship it\""));
    let log = fixture.text(&["execution", "log", end]);
    assert!(log.contains("step `announce` succeeded") && log.contains("approved step `ask`: ship it"), "{log}");
    let replayed = fixture.text(&["execution", "replay", end]);
    assert!(replayed.contains("no difference"), "{replayed}");
    let chat = fixture.text(&["chat", "list", "--project", "Calc"]);
    assert!(chat.contains("Releasing 2.0, 8 places") && chat.contains("Released: fine"), "{chat}");
    let again = fixture.fail(4, &["execution", "approve", id]);
    assert!(again.contains("no step asks anything now") && again.contains("completed"), "{again}");
    let none = fixture.fail(3, &["execution", "show", "0000"]);
    assert!(none.contains("no execution `0000` found"), "{none}");
}

#[test]
fn a_person_pauses_rejects_skips_rewinds_and_cancels() {
    let fixture = with_recipe(RELEASE);
    let id = start(&fixture, &["release", "--input", "version=1.0"]);
    fixture.text(&["execution", "pause", &id, "--reason", "lunch"]);
    assert_eq!(status(&fixture, &id), "paused");
    let changed = fixture.fail(4, &["execution", "inputs", &id, "--input", "version=3.0", "--reason", "late"]);
    assert!(changed.contains("version"), "it is in the chat already: {changed}");
    fixture.text(&["execution", "resume", &id]);
    wait_for_question(&fixture, &id);
    fixture.text(&[
        "execution",
        "answer",
        &id,
        "--reject",
        "--comment",
        "not on a Friday",
        "--data",
        r#"{"note": ""}"#,
    ]);
    wait_for(&fixture, &id, "failed");
    let watched = fixture.run(&["execution", "watch", &id]);
    assert_eq!(watched.code, 1, "{watched:?}");
    assert!(watched.stdout.contains("✗ failed"), "{watched:?}");
    let shown = fixture.text(&["execution", "show", &id]);
    assert!(shown.contains(&format!("`shopfloor execution retry {id} ask`")), "{shown}");
    let log = fixture.text(&["execution", "log", &id]);
    assert!(log.contains("paused: lunch") && log.contains("not on a Friday"), "{log}");
    fixture.text(&["execution", "skip", &id, "--output", r#"{"data": {"note": "anyway"}}"#, "--reason", "decided"]);
    wait_for(&fixture, &id, "completed");
    let rewound = fixture.json(&["execution", "rewind", &id, "ask", "--reason", "again"]);
    let again = rewound["id"].as_str().unwrap();
    assert_eq!(rewound["parent"], json!(id));
    wait_for_question(&fixture, again);
    fixture.text(&["execution", "cancel", again, "--reason", "enough"]);
    wait_for(&fixture, again, "cancelled");
    for one in [&id, again] {
        fixture.text(&["execution", "replay", one]);
    }
    assert_eq!(fixture.json(&["execution", "list", "--recipe", "release"]).as_array().unwrap().len(), 2);
    assert_eq!(fixture.json(&["execution", "list", "--open"]), json!([]));
}

#[test]
fn versions_are_kept_compared_and_swapped() {
    let fixture = with_recipe(RELEASE);
    let id = start(&fixture, &["release", "--input", "version=1.0"]);
    wait_for_question(&fixture, &id);
    let same = add(&fixture, &RELEASE.replace("count: {type: integer", "# a comment\n  count: {type: integer"));
    assert_eq!(same["number"], 1, "a comment is no new version");
    let changed = add(&fixture, &RELEASE.replace("Released: ", "Out: "));
    assert_eq!(changed["number"], 2);
    assert_eq!(fixture.json(&["recipe", "versions", "release"]).as_array().unwrap().len(), 2);
    for diff in [
        fixture.text(&["recipe", "diff", "release"]),
        fixture.text(&["recipe", "diff", "release", "1", "2", "--project", "Calc"]),
        fixture.text(&["execution", "swap", &id, "--diff"]),
    ] {
        assert!(diff.contains("version 1 → 2"), "{diff}");
        assert!(diff.contains("-     notify: {to: chat, text: \"Released: "), "{diff}");
        assert!(diff.contains("+     notify: {to: chat, text: \"Out: "), "{diff}");
    }
    let first = fixture.text(&["recipe", "show", "release", "--version", "1", "--text"]);
    assert_eq!(first.trim_end(), RELEASE.trim_end());
    assert!(fixture.text(&["recipe", "show", "release"]).contains("What is released"));
    let swapped = fixture.json(&["execution", "swap", &id, "--reason", "a better word"]);
    assert_eq!(swapped["number"], 2);
    fixture.text(&["execution", "approve", &id, "ask", "--data", r#"{"note": "2"}"#]);
    wait_for(&fixture, &id, "completed");
    assert!(fixture.text(&["chat", "list", "--project", "Calc"]).contains("Out: 2"));
    fixture.text(&["execution", "replay", &id]);
    fixture.text(&["recipe", "disable", "release"]);
    let refused = fixture.fail(4, &["execution", "start", "release", "--input", "version=1"]);
    assert!(refused.contains("disabled"), "{refused}");
    fixture.text(&["recipe", "enable", "release"]);
    start(&fixture, &["release", "--input", "version=1", "--version", "1"]);
}

#[test]
fn prompts_beside_a_recipe_become_part_of_it() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Calc"]);
    std::fs::create_dir(fixture.path("prompts")).unwrap();
    file(&fixture, "prompts/fix.md", "Fix {{ inputs.what }}.\nThen test.\n");
    let text = "name: fix\ninputs: {what: string}\nsteps:\n  - id: fix\n    agent: {agent: codex, prompt_file: prompts/fix.md}\n";
    add(&fixture, text);
    let shown = fixture.json(&["recipe", "show", "fix"]);
    assert_eq!(shown["model"]["steps"][0]["action"]["prompt"], "Fix {{ inputs.what }}.\nThen test.\n");
}

/// Commands in a real repository: the second finds what the first has left.
#[test]
fn commands_run_in_one_workspace_of_the_repository() {
    let fixture = Fixture::at_work();
    let text = "\
name: build
outputs: {said: steps.look.output.text}
steps:
  - id: make
    run: [sh, -c, \"cat README > made && echo made it\"]
  - id: look
    run: [cat, made]
";
    let path = file(&fixture, "build.yaml", text);
    fixture.text(&["recipe", "add", &path, "--project", "Parser"]);
    let watched = fixture.run(&["recipe", "run", "build", "--watch"]);
    assert_eq!(watched.code, 0, "{watched:?}");
    let id = watched.stdout.split(' ').next().unwrap();
    let detail = fixture.json(&["execution", "show", id]);
    assert_eq!(detail["outputs"]["said"].as_str().map(str::trim), Some("hello"), "{detail:#}");
    let workspaces: Vec<&Value> =
        detail["attempts"].as_array().unwrap().iter().map(|attempt| &attempt["workspace"]).collect();
    assert!(workspaces.len() == 2 && workspaces[0].is_string() && workspaces[0] == workspaces[1], "{workspaces:?}");
    let shown = fixture.text(&["execution", "show", id]);
    assert!(shown.contains("`shopfloor session log ses_") && shown.contains("make: attempt 1 succeeded"), "{shown}");
    let failing =
        file(&fixture, "fail.yaml", "name: fail\nsteps:\n  - id: no\n    run: [sh, -c, \"echo oh no; exit 3\"]\n");
    fixture.text(&["recipe", "add", &failing, "--project", "Parser"]);
    let watched = fixture.run(&["recipe", "run", "fail", "--watch"]);
    assert_eq!(watched.code, 1, "{watched:?}");
    assert!(watched.stdout.contains("exited with 3: oh no"), "{watched:?}");
}
