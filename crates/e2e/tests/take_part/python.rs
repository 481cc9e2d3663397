//! The example worker in Python against the real hub.

use std::path::Path;

use serde_json::json;
use tokio::process::Command;

use crate::hub::{Hub, examples};

#[tokio::test]
async fn the_worker_in_python_works_off_a_graph_of_tasks() {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/python/bin/python");
    assert!(python.exists(), "the example worker's Python is missing: run scripts/tools");
    let hub = Hub::open().await;
    hub.add(json!([
        { "id": "a", "description": "First" },
        { "id": "b", "description": "Second", "deps": ["a"] },
        { "description": "Third", "deps": ["a", "b"] },
    ]))
    .await;
    let mut command = Command::new(python);
    command.arg(examples().join("worker.py")).args(["--project", &hub.project.id.to_string(), "--until-empty"]);
    command.env("SHOPFLOOR_HUB", &hub.url).env("SHOPFLOOR_TOKEN", &hub.token).kill_on_drop(true);
    let output = command.output().await.unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches(": accepted").count(), 3, "{said}");
    hub.check_done_once().await;
}
