//! Commands that delete: they take the exact name, name what goes, and ask.

use crate::fixture::Fixture;
use crate::pseudo_terminal::PseudoTerminal;

#[test]
fn a_deletion_takes_the_exact_name_and_needs_a_yes() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    fixture.text(&["activity", "create", "--project", "Parser", "Lexer"]);
    fixture.text(&["activity", "create", "--project", "Parser", "Grammar"]);
    fixture.text(&["task", "add", "--project", "Parser", "One"]);
    fixture.text(&["chat", "send", "--project", "Parser", "hello"]);
    for near in ["parser", "Pars", "Parser tests"] {
        let said = fixture.fail(3, &["project", "delete", near, "--yes"]);
        assert!(said.contains("has exactly the id or name"), "{near}: {said}");
    }
    assert!(fixture.fail(3, &["project", "delete", "Pars", "--yes"]).contains("similar:\n  prj_"));
    let said = fixture.fail(2, &["project", "delete", "Parser"]);
    assert!(said.contains("`Parser`") && said.contains("2 activities, 1 task, 1 message"), "{said}");
    assert!(said.contains("pass --yes if you are sure"), "{said}");
    fixture.text(&["project", "delete", "Parser", "--yes"]);
    assert_eq!(fixture.text(&["project", "list"]), "no projects yet\n");
}

#[test]
fn every_deletion_refuses_without_a_terminal() {
    let fixture = Fixture::up();
    fixture.text(&["token", "create", "ci"]);
    fixture.text(&["invite", "create", "bo"]);
    fixture.text(&["runner", "create", "laptop"]);
    fixture.text(&["project", "create", "Parser"]);
    let message = fixture.json(&["chat", "send", "--project", "Parser", "hello"]);
    let secret = fixture.json(&["notify", "add", "webhook", "https://example.org/hook", "--name", "my hook"]);
    assert!(secret["secret"].is_string());
    let observer = fixture.json(&["observer", "create", "--project", "Parser", "boss"]);
    let id = |view: &serde_json::Value| view["id"].as_str().unwrap().to_owned();
    for (command, what) in [
        (vec!["token", "revoke", "ci"], "revoke token `ci`"),
        (vec!["invite", "revoke", "bo"], "revoke the invitation of `bo`"),
        (vec!["runner", "remove", "laptop"], "remove runner `laptop`"),
        (vec!["observer", "revoke", &id(&observer["observer"])], "of `boss` to project `Parser`"),
        (vec!["chat", "delete", &id(&message)], "delete your message"),
        (vec!["notify", "remove", "my hook"], "remove webhook channel `my hook` at example.org"),
        (vec!["login", "revoke-all"], "log all your browsers (0 logins) out"),
        (vec!["project", "delete", "Parser"], "delete project `Parser`"),
    ] {
        let said = fixture.fail(2, &command);
        assert!(said.contains("nothing was changed") && said.contains(what), "{command:?}: {said}");
        assert!(said.contains("--yes"), "{said}");
    }
    for near in [
        ["token", "revoke", "c"],
        ["invite", "revoke", "Bo"],
        ["runner", "remove", "lapt"],
        ["notify", "remove", "my h"],
    ] {
        let said = fixture.fail(3, &[&near[..], &["--yes"]].concat());
        assert!(said.contains("exactly"), "{near:?}: {said}");
    }
    fixture.text(&["notify", "remove", "my hook", "--yes"]);
    assert_eq!(fixture.json(&["notify", "list"]), serde_json::json!([]));
}

#[test]
fn a_person_is_asked() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    for (answer, left) in [("n\r", 1), ("y\r", 0)] {
        let terminal = PseudoTerminal::run(&fixture, &["project", "delete", "Parser"], 100, 30);
        terminal.wait_for("Continue? [y/N]");
        terminal.type_keys(answer);
        terminal.ended();
        assert_eq!(fixture.json(&["project", "list"]).as_array().unwrap().len(), left, "{answer:?}");
    }
}
