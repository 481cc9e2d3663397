//! Search in what terminals have shown: from a real session to the command line.

use serde_json::Value;

use crate::fixture::Fixture;
use crate::process::wait_until;

/// The answer, as soon as the runner has read the recording and answers in time.
fn found(fixture: &Fixture, text: &str) -> Value {
    let mut found = Value::Null;
    wait_until(&format!("`{text}` is found"), || {
        found = fixture.json(&["search", text])["terminals"].clone();
        found["hits"].as_array().is_some_and(|hits| !hits.is_empty())
    });
    found
}

#[test]
fn what_a_terminal_has_shown_is_found_and_a_silent_runner_is_counted() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn(r"for i in $(seq 1 100); do echo line $i; done; echo the narwhal swims; exit 0");
    fixture.wait_for(&session, "exited");
    let id = session["id"].as_str().unwrap();
    let terminals = found(&fixture, "NARWHAL swim");
    let hit = &terminals["hits"][0];
    assert_eq!((hit["session"].as_str(), hit["open"].as_bool()), (Some(id), Some(false)), "{terminals}");
    let line: String = hit["line"].as_array().unwrap().iter().map(|piece| piece["text"].as_str().unwrap()).collect();
    assert_eq!((line.as_str(), terminals["unanswered"].as_u64()), ("the narwhal swims", Some(0)));
    let mut text = String::new();
    wait_until("the list has the line", || {
        text = fixture.text(&["search", "narw", "--kind", "terminal"]);
        text.contains("the narwhal swims")
    });
    assert!(text.starts_with("Terminals\nterminal"), "{text}");
    assert!(text.contains(&format!("{id} at 00:00:0")) && text.contains("Parser"), "{text}");
    assert!(fixture.json(&["search", "narw", "--kind", "message"])["terminals"].is_null());

    // Without its runner, the answer is partial and says so.
    let pid = rustix::process::Pid::from_raw(fixture.runner_pid().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let ended = fixture.run(&["search", "narw"]);
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    assert!(ended.code == 0 && ended.stderr.contains("1 runner did not answer"), "{} {}", ended.stdout, ended.stderr);
}
