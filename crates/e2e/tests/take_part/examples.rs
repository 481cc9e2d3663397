//! The example projects, with their scripted agents, on a real runner.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use domain::TaskStatus;
use protocol::{Call, Escalation, Taken, TaskFilter, TaskLine};
use serde_json::{Value, json};
use testkit::wait_until;
use tokio::process::Command;

use crate::hub::{Hub, examples};

fn example(hub: &Hub, name: &str, program: &Path) -> Command {
    let mut command = Command::new(examples().join("run"));
    command.arg(name).env("SHOPFLOOR_BIN", program).env("EXAMPLE_DIR", hub.path("example"));
    command.env("SHOPFLOOR_HUB", &hub.url).env("SHOPFLOOR_TOKEN", &hub.token).stdin(Stdio::null()).kill_on_drop(true);
    command
}

async fn runs(name: &str, tasks: usize) {
    let hub = Hub::open().await;
    let runner = hub.runner(&[]).await;
    let output = example(&hub, name, &testkit::binary()).output().await.unwrap();
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

/// The program with no workers: what happens to the tasks is up to the test.
fn without_workers(hub: &Hub) -> std::path::PathBuf {
    let path = hub.path("program").join("shopfloor");
    let real = testkit::binary();
    std::fs::write(&path, format!("#!/bin/sh\n[ \"$1\" = worker ] || exec '{}' \"$@\"\n", real.display())).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// Takes a task of the project and gives it up, and a person says that it failed.
async fn fail_one(hub: &Hub, line: &TaskLine) {
    let call = |call: Value| serde_json::from_value::<Call>(call).unwrap();
    let take = json!({"verb": "task.take", "project": line.project, "input": {"task": line.id}});
    let taken: Taken = hub.ann.ask(call(take)).await.unwrap();
    let fence = taken.taken.unwrap().lease.fence;
    let ask = json!({"fence": fence, "question": "It cannot be done: what now?", "give_up": true});
    let ask = json!({"verb": "task.ask", "task": line.id, "input": ask});
    let asked: Escalation = hub.ann.ask(call(ask)).await.unwrap();
    let answer = json!({"verb": "escalation.answer", "escalation": asked.id, "input": {"act": "fail"}});
    let _: Escalation = hub.ann.ask(call(answer)).await.unwrap();
}

#[tokio::test]
async fn an_example_whose_tasks_failed_ends_and_says_so() {
    let hub = Hub::open().await;
    let running =
        example(&hub, "rule-checks", &without_workers(&hub)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let lines: Vec<TaskLine> = wait_until("the tasks are there", async || {
        let lines: Vec<TaskLine> = hub.ann.ask(Call::TaskList { filter: TaskFilter::default() }).await.ok()?;
        (lines.len() == 4).then_some(lines)
    })
    .await;
    for line in lines.iter().filter(|line| line.deps.is_empty()) {
        fail_one(&hub, line).await;
    }
    let ended = tokio::time::timeout(std::time::Duration::from_secs(60), running.unwrap().wait_with_output()).await;
    let output = ended.expect("it waits for what never comes").unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("nothing moves any more: 1 blocked") && said.contains(" failed"), "{said}");
}
