//! The Inspector over HTTP: each call is a connection of its own, and the hub remembers what the token has in hand.

use domain::TaskStatus;

use crate::floor::{Floor, TOOLS, names};

#[tokio::test]
async fn a_task_is_taken_and_reported_without_repeating_any_number() {
    let floor = Floor::open().await;
    let line = floor.add("Write a").await;
    let token = &floor.token;
    let list = floor.over_http(token, &["--method", "tools/list"]).await.unwrap();
    assert_eq!(names(&list), TOOLS);
    let call = ["--method", "tools/call", "--tool-name"];
    let taken = floor.over_http(token, &[&call[..], &["take_task"]].concat()).await.unwrap();
    assert_eq!(taken["structuredContent"]["task"], line.id.to_string(), "{taken}");
    let again = floor.over_http(token, &[&call[..], &["take_task"]].concat()).await.unwrap();
    assert_eq!(again["structuredContent"]["fence"], taken["structuredContent"]["fence"], "{again}");
    let progress = ["heartbeat", "--tool-arg", "progress=half"];
    floor.over_http(token, &[&call[..], &progress].concat()).await.unwrap();
    assert_eq!(floor.tasks().await[0].progress.as_deref(), Some("half"));
    let report = ["report", "--tool-arg", "summary=Done", "--tool-arg", "context_score=5"];
    let reported = floor.over_http(token, &[&call[..], &report].concat()).await.unwrap();
    assert_eq!(reported["structuredContent"]["verdict"], "accepted", "{reported}");
    let detail = floor.show(&line).await;
    assert_eq!(detail.task.status, TaskStatus::Done);
    assert_eq!((detail.reports.len(), detail.reports[0].context_score), (1, Some(5)));
}
