//! The example is created, played and removed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

fn git(path: &Path, args: &[&str]) -> String {
    let ended = Command::new("git").current_dir(path).args(args).output().unwrap();
    assert!(ended.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).unwrap()
}

fn count(list: &Value) -> usize {
    list.as_array().unwrap().len()
}

fn repository(fixture: &Fixture) -> PathBuf {
    fixture.data_dir().join("demo/units")
}

/// Nothing of the example is left.
fn check_gone(fixture: &Fixture) {
    assert_eq!(count(&fixture.json(&["task", "list", "--all"])), 0);
    assert_eq!(count(&fixture.json(&["worker", "list"])), 0);
    assert_eq!(count(&fixture.json(&["workspace", "list", "--all"])), 0);
    assert_eq!(count(&fixture.json(&["user", "list"])), 1, "the second person is gone");
    assert_eq!(count(&fixture.json(&["invite", "list"])), 0);
    assert!(!fixture.data_dir().join("demo").exists(), "the repository is gone");
    assert!(!fixture.data_dir().join("demo.json").exists());
}

#[test]
fn the_examples_work_lands_on_main_and_everything_is_removed() {
    let fixture = Fixture::with_runner();
    fixture.fail(3, &["demo", "--remove"]);
    let ended = fixture.run(&["demo", "--json"]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let made: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(count(&made), 3);
    // The plan: what the script can do landed, and what it cannot waits for people.
    let tasks = fixture.json(&["task", "list", "--all"]);
    let with = |status: &str| tasks.as_array().unwrap().iter().filter(|task| task["status"] == status).count();
    assert_eq!((with("done"), with("escalated"), with("blocked"), with("ready")), (4, 1, 1, 1), "{tasks}");
    let main = git(&repository(&fixture), &["log", "--format=%s", "main"]);
    for subject in
        ["Convert kilometres to miles", "Convert Celsius to Fahrenheit", "List all conversions in the README"]
    {
        assert!(main.contains(subject), "{subject} is not on main:\n{main}");
    }
    let converted = Command::new("sh").args(["convert.sh", "100", "C", "F"]).current_dir(repository(&fixture)).output();
    assert_eq!(String::from_utf8(converted.unwrap().stdout).unwrap(), "212.00\n", "the checkout follows main");
    // Real sessions, with recordings.
    let recordings = fixture.json(&["recording", "list"]);
    assert!(count(&recordings) >= 4, "{recordings}");
    // Two people: one owns a project and writes in the chat of the other's.
    let users = fixture.json(&["user", "list"]);
    assert_eq!(count(&users), 2, "{users}");
    let units = made[0]["id"].as_str().unwrap();
    let chat = fixture.json(&["chat", "list", "--project", units]);
    let mut authors: Vec<&str> =
        chat.as_array().unwrap().iter().map(|one| one["author"]["id"].as_str().unwrap()).collect();
    authors.sort_unstable();
    authors.dedup();
    assert_eq!(authors.len(), 2, "{chat}");
    // The answer to the question lets the rest land.
    let question = fixture.json(&["escalation", "list"])[0]["id"].as_str().unwrap().to_owned();
    fixture.text(&["escalation", "answer", &question, "--option", "2"]);
    wait_until("the recipe is on main", || {
        git(&repository(&fixture), &["log", "--format=%s", "main"]).contains("Convert a whole recipe")
    });
    // Again is not twice.
    assert_eq!(count(&fixture.json(&["demo"])), 3);
    assert_eq!(count(&fixture.json(&["project", "list"])), 3);
    let own = fixture.json(&["project", "create", "Mine"]);
    fixture.text(&["demo", "--remove"]);
    let left = fixture.json(&["project", "list"]);
    assert_eq!((count(&left), &left[0]["id"]), (1, &own["id"]), "exactly the example is gone");
    check_gone(&fixture);
    assert!(fixture.fail(4, &["demo"]).contains("--force"), "the floor is not empty");
}

#[test]
fn without_a_runner_the_example_waits() {
    let fixture = Fixture::up();
    let ended = fixture.run(&["demo"]);
    assert!(ended.code == 0 && ended.stderr.contains("no runner of yours"), "{}", ended.stderr);
    assert!(count(&fixture.json(&["activity", "list"])) >= 8);
    assert_eq!(count(&fixture.json(&["task", "list", "--all"])), 7);
    fixture.text(&["demo", "--remove"]);
    assert_eq!(count(&fixture.json(&["project", "list"])), 0);
    check_gone(&fixture);
}

#[test]
fn a_killed_example_starts_over() {
    let fixture = Fixture::up();
    for written in ["\"token\": \"", "\"units\": \"prj", "\"search\": \"prj"] {
        let mut demo = fixture.command().args(["demo"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let record = fixture.data_dir().join("demo.json");
        wait_until("the example has begun", || {
            std::fs::read_to_string(&record).is_ok_and(|text| text.contains(written))
        });
        demo.kill().unwrap();
        demo.wait().unwrap();
    }
    let made = fixture.json(&["demo"]);
    assert_eq!((count(&made), count(&fixture.json(&["project", "list"]))), (3, 3), "nothing is there twice");
    assert_eq!(count(&fixture.json(&["user", "list"])), 2);
    fixture.text(&["demo", "--remove"]);
    check_gone(&fixture);
}
