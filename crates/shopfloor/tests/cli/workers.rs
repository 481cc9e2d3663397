//! Workers on a real runner, and how a project hands out its tasks.

use serde_json::Value;

use crate::floor::Floor;
use crate::process::wait_until;

fn id(view: &Value) -> &str {
    view["id"].as_str().unwrap()
}

#[test]
fn settings_are_shown_and_changed() {
    let floor = Floor::up();
    floor.text(&["project", "create", "Parser"]);
    let settings = floor.text(&["work", "settings", "--project", "Parser"]);
    assert!(settings.contains("strategy") && settings.contains("not by itself"), "{settings}");
    let changed = floor.json(&[
        "work",
        "configure",
        "--project",
        "Parser",
        "--strategy",
        "least_loaded",
        "--budget",
        "12.50",
        "--lease",
        "45",
    ]);
    assert_eq!((changed["strategy"].as_str(), changed["lease_seconds"].as_u64()), (Some("least_loaded"), Some(45)));
    assert_eq!(changed["budget_micros"], 12_500_000);
    assert!(floor.text(&["work", "settings", "--project", "Parser"]).contains("$12.50"));
    assert!(floor.fail(2, &["work", "configure", "--project", "Parser"]).contains("nothing to change"));
    assert_eq!(floor.text(&["worker", "list"]), "no workers; start some with `shopfloor worker start`\n");
    let said = floor.fail(4, &["worker", "start", "--project", "Parser", "--", "true"]);
    assert!(said.contains("runner"), "{said}");
    assert!(floor.text(&["metrics", "--project", "Parser"]).contains("tasks              none"));
    assert!(floor.text(&["work", "doing", "--project", "Parser"]).contains("nobody"));
}

#[test]
fn workers_work_tasks_off_are_stopped_and_thawed() {
    let floor = Floor::at_work();
    let tasks: String = ["one", "two", "three"].iter().map(|name| format!("- [ ] Write {name}\n")).collect();
    let added = floor.run_with_input(&["task", "add", "--project", "Parser", "--file", "-"], &tasks);
    assert_eq!(added.code, 0, "{added:?}");
    let script = "echo working on it; sleep 1";
    let started = floor.json(&[
        "worker",
        "start",
        "--project",
        "Parser",
        "--count",
        "2",
        "--budget",
        "5",
        "--json",
        "--",
        "sh",
        "-c",
        script,
    ]);
    assert_eq!(started.as_array().unwrap().len(), 2);
    let watched = floor.run(&["task", "watch", "--project", "Parser", "--until-done"]);
    assert_eq!(watched.code, 0, "{watched:?}");
    let list = floor.text(&["worker", "list", "--project", "Parser"]);
    assert!(list.contains("$0.00 of $5.00") && list.contains("command"), "{list}");
    let shown = floor.text(&["worker", "show", id(&started[0])]);
    assert!(shown.contains("What it had") && shown.contains("accepted"), "{shown}");
    assert!(floor.text(&["worker", "status"]).contains("workers: 2 idle"));
    let metrics = floor.text(&["metrics", "--project", "Parser"]);
    assert!(metrics.contains("3 done") && metrics.contains("speed-up"), "{metrics}");
    let renamed = floor.json(&["worker", "update", id(&started[0]), "--name", "first", "--budget", "7.00"]);
    assert_eq!((renamed["name"].as_str(), renamed["budget_micros"].as_u64()), (Some("first"), Some(7_000_000)));
    let frozen = floor.json(&["stop-everything", "--project", "Parser"]);
    assert_eq!((frozen["frozen"].as_bool(), frozen["workers"].as_u64()), (Some(true), Some(2)));
    assert!(floor.text(&["work", "settings", "--project", "Parser"]).contains("frozen"));
    assert!(floor.text(&["thaw", "--project", "Parser"]).contains("thawed"));
    floor.text(&["worker", "stop", "first"]);
    wait_until("the worker is stopped", || floor.json(&["worker", "show", "first"])["worker"]["status"] == "stopped");
    floor.text(&["worker", "restart", "first"]);
    floor.text(&["worker", "stop-all", "--project", "Parser", "--force"]);
    wait_until("all workers are stopped", || {
        floor.json(&["worker", "list"]).as_array().unwrap().iter().all(|worker| worker["status"] == "stopped")
    });
    floor.text(&["worker", "remove", "first"]);
    assert_eq!(floor.json(&["worker", "list"]).as_array().unwrap().len(), 1);
    assert!(floor.json(&["worker", "log", "--project", "Parser"]).is_array());
}
