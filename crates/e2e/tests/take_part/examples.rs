//! The example projects, with their scripted agents, on a real runner.

use std::process::Stdio;

use domain::TaskStatus;
use protocol::{Call, TaskFilter, TaskLine};
use tokio::process::Command;

use crate::hub::{Hub, examples};

async fn runs(name: &str, tasks: usize) {
    let hub = Hub::open().await;
    let runner = hub.runner(&[]).await;
    let mut command = Command::new(examples().join("run"));
    command.arg(name).env("SHOPFLOOR_BIN", testkit::binary()).env("EXAMPLE_DIR", hub.path("example"));
    command.env("SHOPFLOOR_HUB", &hub.url).env("SHOPFLOOR_TOKEN", &hub.token).stdin(Stdio::null()).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{}\n{}", hub.log(), runner.log_text());
    let lines: Vec<TaskLine> = hub.ann.ask(Call::TaskList { filter: TaskFilter::default() }).await.unwrap();
    assert_eq!(lines.len(), tasks);
    for line in &lines {
        assert_eq!(line.status, TaskStatus::Done, "{line:?}\n{said}\n{}", runner.log_text());
    }
    runner.kill().await;
}

#[tokio::test]
async fn file_summaries() {
    runs("file-summaries", 4).await;
}

#[tokio::test]
async fn test_generation() {
    runs("test-generation", 3).await;
}

#[tokio::test]
async fn rule_checks() {
    runs("rule-checks", 4).await;
}
