//! Handoffs on the command line: a session that runs a command goes on in a fresh one.

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

fn state(fixture: &Fixture, id: &str) -> (String, String) {
    let shown = fixture.json(&["handoff", "show", id]);
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    (word(&shown["handoff"]["status"]), word(&shown["handoff"]["step"]))
}

#[test]
fn a_session_is_handed_off_edited_and_acknowledged() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("sleep 600");
    fixture.wait_for(&session, "working");
    let session = session["id"].as_str().unwrap().to_owned();
    let edit = ["handoff", &session, "--goal", "finish it", "--edit", "--no-wait"];
    let id = fixture.json(&edit)["id"].as_str().unwrap().to_owned();
    wait_until("the document waits", || state(&fixture, &id).0 == "editing");
    let listed = fixture.text(&["handoff", "list"]);
    assert!(listed.contains("waits for you to edit the document"), "{listed}");
    let compared = fixture.text(&["handoff", "compare", &id]);
    assert!(compared.contains("nobody edited the document"), "{compared}");
    fixture.text(&["handoff", "edit", &id, "--as-it-is"]);
    wait_until("the fresh session runs", || state(&fixture, &id).1 == "acknowledge");
    let shown = fixture.json(&["handoff", "show", &id]);
    assert_eq!(shown["handoff"]["session"], session.as_str());
    let document = shown["document"].as_str().unwrap();
    assert!(
        document.contains("it is a command, not an agent") && document.contains("goal: \"finish it\""),
        "{document}"
    );
    let hash = shown["handoff"]["hash"].as_str().unwrap();
    let done = fixture.text(&["handoff", "ack", &id, hash]);
    assert!(done.contains("done, continued by ses_"), "{done}");
    let fresh = shown["handoff"]["successor"].as_str().unwrap();
    let other = fixture.json(&["handoff", fresh, "--goal", "test it", "--no-wait"])["id"].as_str().unwrap().to_owned();
    wait_until("the next session runs", || state(&fixture, &other).1 == "acknowledge");
    let compared = fixture.text(&["handoff", "compare", &id, &other]);
    assert!(compared.contains("- goal: finish it\n+ goal: test it"), "{compared}");
    fixture.text(&["handoff", "cancel", &other]);
    let shown = fixture.json(&["handoff", "show", &other]);
    let fresh = shown["handoff"]["successor"].as_str().unwrap();
    fixture.text(&["session", "stop", fresh, "--force"]);
    wait_until("it has ended", || fixture.json(&["session", "show", fresh])["session"]["state"]["status"] == "exited");
}
