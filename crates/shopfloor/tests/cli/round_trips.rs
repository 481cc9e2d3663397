//! Every noun, there and back, as JSON and as people see it.

use serde_json::Value;

use crate::fixture::Fixture;

fn id(view: &Value) -> &str {
    view["id"].as_str().unwrap()
}

fn length(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

#[test]
fn projects() {
    let fixture = Fixture::up();
    let made = fixture.json(&[
        "project",
        "create",
        "Parser\n\ngoals",
        "--visibility",
        "read-write",
        "--repository",
        "h:u#main",
    ]);
    assert_eq!((made["name"].as_str(), made["visibility"].as_str()), (Some("Parser"), Some("read-write")));
    assert_eq!(made["repositories"][0]["base_branch"], "main");
    assert_eq!(fixture.json(&["project", "list"])[0], made);
    assert_eq!(fixture.json(&["project", "show", "parser"]), made, "a name is enough");
    let text =
        fixture.run_with_input(&["project", "update", id(&made), "-", "--expected-version", "1"], "Lexer\nmore\n");
    assert_eq!(text.code, 0, "{}", text.stderr);
    std::fs::write(fixture.path("text"), "Lexer\nless\n").unwrap();
    let file = fixture.path("text").display().to_string();
    let updated =
        fixture.json(&["project", "update", "--project", id(&made), "--file", &file, "--retention-days", "30"]);
    assert_eq!((updated["content"].as_str(), updated["version"].as_u64()), (Some("Lexer\nless"), Some(3)));
    assert_eq!(updated["retention_days"], 30);
    assert_eq!(
        fixture.json(&["project", "update", id(&made), "--retention-days", "never"])["retention_days"],
        Value::Null
    );
    assert_eq!(length(&fixture.json(&["project", "history", "Lexer"])), 3);
    let diff = fixture.text(&["project", "diff", "Lexer", "--from", "2"]);
    assert_eq!(diff, "version 2 → 3\n  Lexer\n- more\n+ less\n");
    let list = fixture.text(&["project", "list"]);
    assert!(list.starts_with("ID ") && list.contains(id(&made)) && list.contains("Lexer"), "{list}");
    fixture.text(&["project", "delete", "Lexer", "--yes"]);
    assert_eq!(length(&fixture.json(&["project", "list"])), 0);
    assert_eq!(fixture.text(&["project", "list"]), "no projects yet\n");
}

#[test]
fn activities() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let made = fixture.json(&[
        "activity",
        "create",
        "--project",
        "Parser",
        "Lexer",
        "--status",
        "blocked",
        "--link",
        "branch=lexer",
    ]);
    assert_eq!((made["status"].as_str(), made["links"][0]["target"].as_str()), (Some("blocked"), Some("lexer")));
    let updated = fixture.json(&["activity", "update", "Lexer", "--status", "active", "--no-links"]);
    assert_eq!((updated["status"].as_str(), length(&updated["links"])), (Some("active"), 0));
    fixture.text(&["activity", "create", "Parser", "Grammar"]);
    assert_eq!(length(&fixture.json(&["activity", "list", "--project", "Parser"])), 2);
    assert_eq!(length(&fixture.json(&["activity", "list", "--status", "completed"])), 0);
    assert!(fixture.text(&["activity", "list"]).contains("Parser"), "the project's name, not its id");
    assert!(fixture.text(&["activity", "show", "Lexer"]).contains("status"), "details");
    assert_eq!(length(&fixture.json(&["activity", "history", "Lexer"])), 1);
    assert_eq!(fixture.json(&["activity", "diff", "Lexer"])["to"], 1);
}

#[test]
fn chat() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let activity = fixture.json(&["activity", "create", "Parser", "Lexer"]);
    let name = fixture.json(&["user", "list"])[0]["name"].as_str().unwrap().to_owned();
    let sent = fixture.json(&["chat", "send", "Parser", &format!("see #{} @{name}", id(&activity))]);
    assert_eq!((sent["number"].as_u64(), &sent["references"][0]), (Some(1), &activity["id"]));
    assert_eq!(length(&sent["mentions"]), 1);
    let edited = fixture.json(&["chat", "edit", id(&sent), "better"]);
    assert_eq!(edited["content"], "better");
    fixture.text(&["chat", "send", "--project", "Parser", "second"]);
    assert_eq!(fixture.json(&["chat", "list", "Parser", "--limit", "1"])[0]["content"], "second");
    assert!(fixture.text(&["chat", "list", "Parser"]).contains("  better\n"));
    assert_eq!(fixture.json(&["chat", "mark-read", "--project", "Parser"])["read"], 2);
    assert_eq!(fixture.json(&["chat", "unread"])[0]["count"], 0);
    fixture.text(&["chat", "delete", id(&sent), "--yes"]);
    assert!(fixture.text(&["chat", "list", "Parser"]).contains("(deleted)"));
}

#[test]
fn credentials() {
    let fixture = Fixture::up();
    let token = fixture.json(&["token", "create", "ci", "--expires", "7d"]);
    let secret = token["secret"].as_str().unwrap();
    let elsewhere = ["--hub", fixture.url.as_str(), "--token", secret, "user", "list"];
    assert_eq!(length(&fixture.json(&elsewhere)), 1, "the new token works");
    let (file, hub) = (fixture.path("ci.token"), fixture.url.as_str());
    std::fs::write(&file, format!("{secret}\n")).unwrap();
    let in_file = ["--hub", hub, "--token-file", file.to_str().unwrap(), "user", "list"];
    assert_eq!(length(&fixture.json(&in_file)), 1, "also from a file, which no command line shows");
    fixture.text(&["project", "create", "Words"]);
    let said = fixture.run_with_input(
        &["--hub", hub, "--token-file", "-", "--json", "chat", "send", "Words", "-"],
        &format!("{secret}\nand this is the message"),
    );
    assert!(said.stdout.contains("and this is the message") && !said.stdout.contains(secret), "{}", said.stdout);
    let said = fixture.run_with_input(&["--hub", hub, "--token-file", "-", "user", "list"], "\n");
    assert!(said.stderr.contains("the first line of standard input is not a token"), "{}", said.stderr);
    fixture.text(&["project", "delete", "Words", "--yes"]);
    fixture.text(&["token", "revoke", "ci", "--yes"]);
    fixture.fail(3, &elsewhere);
    assert!(fixture.text(&["token", "create", "plain"]).starts_with("sf_"), "only the secret is on standard output");
    let link = fixture.text(&["login"]);
    assert!(link.starts_with(&format!("{}/login#", fixture.url)), "{link}");
    assert_eq!(length(&fixture.json(&["login", "list"])), 0);
    fixture.text(&["login", "revoke-all", "--yes"]);
    let invite = fixture.json(&["invite", "create", "bo"]);
    assert!(invite["link"].as_str().unwrap().contains("/join#"));
    assert_eq!(length(&fixture.json(&["invite", "list"])), 1);
    fixture.text(&["invite", "revoke", "bo", "--yes"]);
    fixture.text(&["project", "create", "Parser"]);
    let observer = fixture.json(&["observer", "create", "Parser", "boss", "--expires", "1h"]);
    assert!(observer["link"].as_str().unwrap().contains("/observe#"));
    assert_eq!(length(&fixture.json(&["observer", "list", "--project", "Parser"])), 1);
    fixture.text(&["observer", "revoke", id(&observer["observer"]), "--yes"]);
    assert_eq!(length(&fixture.json(&["observer", "list", "Parser"])), 0);
}

#[test]
fn people_runners_and_the_trail() {
    let fixture = Fixture::up();
    assert_eq!(fixture.json(&["user", "rename", "ann"])["name"], "ann");
    assert_eq!(fixture.json(&["user", "show", "Ann"])["hub_owner"], true);
    let runner = fixture.json(&["runner", "create", "laptop"]);
    assert!(runner["secret"].as_str().is_some());
    assert_eq!(length(&fixture.json(&["runner", "list"])), 1);
    fixture.text(&["runner", "remove", "laptop", "--yes"]);
    let trail = fixture.json(&["audit", "list", "--limit", "2"]);
    assert_eq!((length(&trail), trail[0]["verb"].as_str()), (2, Some("runner.remove")));
    assert!(fixture.text(&["audit", "list"]).contains("me.rename"));
    assert!(fixture.json(&["presence"]).is_array());
    assert!(fixture.json(&["openapi"])["openapi"].as_str().unwrap().starts_with("3."));
    assert!(fixture.text(&["completions", "zsh"]).starts_with("#compdef shopfloor"));
    assert!(fixture.text(&["man"]).contains("EXIT STATUS"));
    let dir = fixture.path("man").display().to_string();
    fixture.text(&["man", "--dir", &dir]);
    assert!(fixture.path("man/shopfloor-project-create.1").exists());
}
