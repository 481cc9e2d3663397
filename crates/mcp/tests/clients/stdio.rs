//! The Inspector over standard input and output.

use domain::{AttemptOutcome, TaskStatus};
use serde_json::json;
use testkit::wait_until;

use crate::fixture::{Fixture, TOOLS, names};

#[tokio::test]
async fn the_inspector_lists_tools_adds_tasks_and_returns_unfinished_ones() {
    let fixture = Fixture::open().await;
    let list = fixture.over_stdio(&["--method", "tools/list"]).await.unwrap();
    assert_eq!(names(&list), TOOLS);
    for tool in list["tools"].as_array().unwrap() {
        assert_eq!(tool["inputSchema"]["additionalProperties"], false, "{tool}");
    }
    let tasks = json!([{ "id": "a", "description": "Write a" }, { "description": "Write b", "deps": ["a"] }]);
    let arguments = format!("tasks={tasks}");
    let call = ["--method", "tools/call", "--tool-name"];
    let added = fixture.over_stdio(&[&call[..], &["add_tasks", "--tool-arg", &arguments]].concat()).await.unwrap();
    assert_eq!(added["structuredContent"]["tasks"][1]["status"], "blocked", "{added}");
    let taken = fixture.over_stdio(&[&call[..], &["take_task"]].concat()).await.unwrap();
    assert!(taken["structuredContent"]["brief"].as_str().unwrap().contains("Write a"), "{taken}");
    // The Inspector exits after each call: its task must return before the lease ends.
    let first = wait_until("the task was returned", async || {
        let first = fixture.tasks().await.into_iter().next().unwrap();
        (first.status == TaskStatus::Ready).then_some(first)
    })
    .await;
    assert_eq!(fixture.show(&first).await.attempts[0].outcome, AttemptOutcome::Released);
    let wrong = fixture.over_stdio(&[&call[..], &["report", "--tool-arg", "sumary=done"]].concat()).await.unwrap();
    assert_eq!(wrong["isError"], true);
    let text = wrong["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("Did you mean `summary`?"), "{text}");
}
