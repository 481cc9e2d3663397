//! Changes as they happen, across the hub's death.

use protocol::{Change, Delta};

use crate::fixture::Fixture;
use crate::process::Running;

fn delta(watch: &Running) -> Delta {
    serde_json::from_str(&watch.line()).unwrap()
}

#[test]
fn a_watch_survives_the_hub() {
    let mut fixture = Fixture::up();
    let watch = Running::spawn(fixture.command().args(["watch", "--json"]));
    watch.wait_for_note("watching");
    fixture.text(&["project", "create", "Parser"]);
    let first = delta(&watch);
    assert!(matches!(&first.change, Change::Project { project } if project.name == "Parser"), "{first:?}");
    fixture.hub().kill();
    watch.wait_for_note("connection lost");
    let address = fixture.url.replace("http://", "");
    fixture.start(&address);
    fixture.text(&["project", "create", "Lexer"]);
    watch.wait_for_note("reconnected; resumed after");
    let second = delta(&watch);
    assert!(matches!(&second.change, Change::Project { project } if project.name == "Lexer"), "{second:?}");
    assert!(second.seq > first.seq);
}

#[test]
fn a_watch_starts_where_requested_and_filters_by_project() {
    let fixture = Fixture::up();
    let project = fixture.json(&["project", "create", "Parser"]);
    fixture.text(&["project", "create", "Other"]);
    fixture.text(&["chat", "send", "Parser", "hello"]);
    let all = Running::spawn(fixture.command().args(["watch", "--json", "--since", "0"]));
    let mut seqs = Vec::new();
    loop {
        let delta = delta(&all);
        seqs.push(delta.seq.0);
        if matches!(delta.change, Change::Message { .. }) {
            break;
        }
    }
    assert!(seqs.is_sorted_by(|a, b| a < b), "{seqs:?}");
    // Before the other project and the message.
    let since = (seqs[seqs.len() - 2] - 1).to_string();
    let some = Running::spawn(fixture.command().args(["watch", "--since", &since, "--project", "Parser"]));
    let line = some.line();
    assert!(line.contains("message") && line.contains("in \"Parser\": hello"), "{line}");
    fixture.text(&["project", "delete", project["id"].as_str().unwrap(), "--yes"]);
    assert!(some.line().contains("was deleted"));
}

#[test]
fn a_watch_without_access_ends() {
    let fixture = Fixture::up();
    let secret = fixture.text(&["token", "create", "short"]);
    let mut command = fixture.command();
    let watch = Running::spawn(command.args(["--hub", &fixture.url, "--token", secret.trim(), "watch"]));
    watch.wait_for_note("watching");
    fixture.text(&["token", "revoke", "short", "--yes"]);
    watch.wait_for_note("error: ");
    assert_eq!(watch.wait(), Some(3));
}
