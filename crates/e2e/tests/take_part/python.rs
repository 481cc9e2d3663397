//! The example worker in Python against the real hub.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use domain::TaskStatus;
use protocol::{Call, Taken, TaskDetail, TaskTake, WorkConfigure, WorkSettings, Worker, WorkerFilter};
use serde_json::json;
use testkit::wait_until;
use tokio::process::Command;

use crate::hub::{Hub, examples};

/// The example's Python, with the hub that it works for.
fn python(url: &str, token: &str) -> Command {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin/python");
    assert!(python.exists(), "the example worker's Python is missing: run scripts/tools");
    let mut command = Command::new(python);
    command.env("SHOPFLOOR_HUB", url).env("SHOPFLOOR_TOKEN", token).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Lets what a command says go to a file.
fn said_to(command: &mut Command, path: &Path) -> PathBuf {
    let file = std::fs::File::create(path).unwrap();
    command.stdout(file.try_clone().unwrap()).stderr(file);
    path.to_owned()
}

#[tokio::test]
async fn the_python_worker_does_a_graph_of_tasks() {
    let hub = Hub::open().await;
    hub.add(json!([
        { "id": "a", "description": "First" },
        { "id": "b", "description": "Second", "deps": ["a"] },
        { "description": "Third", "deps": ["a", "b"] },
    ]))
    .await;
    let mut command = python(&hub.url, &hub.token);
    command.arg(examples().join("worker.py")).args(["--project", &hub.project.id.to_string(), "--until-empty"]);
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches(": accepted").count(), 3, "{said}");
    hub.check_done_once().await;
}

#[tokio::test]
async fn the_waiting_python_worker_survives_a_hub_kill() {
    let hub = Hub::open().await;
    let project = hub.project.id;
    let mut command = python(&hub.url, &hub.token);
    command.arg(examples().join("worker.py")).args(["--project", &project.to_string()]);
    said_to(&mut command, &hub.folder().join("worker.log"));
    let mut worker = command.spawn().unwrap();
    wait_until("it waits for a task", async || {
        let filter = WorkerFilter { project: Some(project) };
        let workers: Vec<Worker> = hub.ann.ask(Call::WorkerList { filter }).await.ok()?;
        (!workers.is_empty()).then_some(())
    })
    .await;
    let hub = hub.killed_and_started_again().await;
    let task = hub.add(json!([{ "description": "After the fall" }])).await[0].id;
    wait_until("the task is done", async || {
        let detail: TaskDetail = hub.ann.ask(Call::TaskShow { task }).await.ok()?;
        (detail.task.status == TaskStatus::Done).then_some(())
    })
    .await;
    worker.kill().await.unwrap();
}

#[tokio::test]
async fn the_python_worker_stops_when_the_lease_is_lost() {
    let hub = Hub::open().await;
    let input = WorkConfigure { heartbeat_seconds: Some(1), ..WorkConfigure::default() };
    hub.ann.ask::<WorkSettings>(Call::WorkConfigure { project: hub.project.id, input }).await.unwrap();
    let task = hub.add(json!([{ "description": "Takes for ever" }])).await[0].id;
    let script = "
import asyncio, worker

async def work(task, brief):
    print('at work', flush=True)
    try:
        await asyncio.Event().wait()
    finally:
        print('work ended', flush=True)

worker.work = work
asyncio.run(worker.main())
";
    let mut command = python(&hub.url, &hub.token);
    command.args(["-c", script, "--project", &hub.project.id.to_string(), "--name", "slow"]);
    command.env("PYTHONPATH", examples()).env("PYTHONDONTWRITEBYTECODE", "1");
    let said = said_to(&mut command, &hub.folder().join("worker.log"));
    let said = || std::fs::read_to_string(&said).unwrap();
    let mut worker = command.spawn().unwrap();
    wait_until("it is at work", async || said().contains("at work").then_some(())).await;
    // The same worker from elsewhere gets the task under a new fence.
    let input = TaskTake { worker: Some("slow".into()), task: None, abilities: Vec::new(), wait_seconds: None };
    let taken: Taken = hub.ann.ask(Call::TaskTake { project: hub.project.id, input }).await.unwrap();
    assert_eq!(taken.taken.map(|taken| taken.task.id), Some(task));
    wait_until("its work is ended", async || said().contains("work ended").then_some(())).await;
    worker.kill().await.unwrap();
}
