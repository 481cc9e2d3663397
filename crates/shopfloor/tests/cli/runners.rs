//! Runners: beside a hub, alone, killed and found again.

use std::os::unix::fs::PermissionsExt;

use crate::floor::Floor;
use crate::process::{Running, signal, wait_until};

#[test]
fn a_killed_runner_comes_back_to_its_sessions() {
    let floor = Floor::at_work();
    let session = floor.spawn("echo ready; read line; echo got $line; read line");
    let id = session["id"].as_str().unwrap();
    floor.wait_for_log(&session, "ready");
    let killed = floor.runner_pid();
    signal(killed, "KILL");
    wait_until("another runner runs", || floor.runner_pid() != killed);
    floor.wait_until_connected();
    wait_until("the session is known", || floor.run(&["session", "send", id, "again"]).code == 0);
    floor.wait_for_log(&session, "got again");
    let mode = |name: &str| {
        std::fs::metadata(floor.data_dir().join("runner").join(name)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(""), mode("token"), mode("registration.json"), mode("runner.log")), (0o700, 0o600, 0o600, 0o600));
    assert_eq!(floor.json(&["runner", "list"]).as_array().unwrap().len(), 1, "it registered once");
}

#[test]
fn a_runner_survives_its_killed_hub() {
    let mut floor = Floor::at_work();
    let session = floor.spawn("echo ready; read line; echo got $line; read line");
    let id = session["id"].as_str().unwrap();
    floor.wait_for_log(&session, "ready");
    let runner = floor.runner_pid();
    let listen = floor.url.strip_prefix("http://").unwrap().to_owned();
    floor.hub().kill();
    floor.start(&listen);
    floor.wait_until_connected();
    assert_eq!(floor.runner_pid(), runner, "it was left alone");
    wait_until("the session is known", || floor.run(&["session", "send", id, "again"]).code == 0);
    floor.wait_for_log(&session, "got again");
    // Another address: the runner of the old address is replaced.
    floor.hub().kill();
    floor.start("127.0.0.1:0");
    wait_until("another runner runs", || floor.runner_pid() != runner);
    floor.wait_until_connected();
    wait_until("the session goes on", || floor.json(&["session", "show", id])["session"]["state"]["status"] != "lost");
    let runner = floor.runner_pid();
    let (code, _) = floor.hub().terminate();
    assert_eq!(code, Some(0));
    assert!(!std::path::Path::new(&format!("/proc/{runner}")).exists(), "the runner ends with `up`");
    let host = std::fs::read_to_string(floor.data_dir().join("runner/sessions").join(id).join("host.pid")).unwrap();
    assert!(std::path::Path::new(&format!("/proc/{}", host.trim())).exists(), "the session does not");
}

#[test]
fn a_runner_runs_alone_with_its_own_token() {
    let floor = Floor::up();
    let made = floor.json(&["runner", "create", "laptop"]);
    let dir = floor.path("laptop").display().to_string();
    let secret = made["secret"].as_str().unwrap();
    let args = ["runner", "--hub", &floor.url, "--token", secret, "--name", "laptop", "--data-dir", &dir];
    let options = ["--label", "gpu", "--label", "linux"];
    let runner = Running::spawn(floor.command().args(args).args(options).env("SHOPFLOOR_CAPACITY", "3"));
    runner.wait_for_note("runner laptop of");
    floor.wait_until_connected();
    let shown = floor.json(&["runner", "show", "laptop"]);
    assert_eq!((shown["about"]["capacity"].as_u64(), shown["about"]["labels"][0].as_str()), (Some(3), Some("gpu")));
    let text = floor.text(&["runner", "show", "laptop"]);
    assert!(text.contains("connected") && text.contains("gpu, linux") && text.contains("codex"), "{text}");
    assert!(floor.text(&["runner", "list"]).contains("gpu, linux"));
    let said = floor.fail(4, &args);
    assert!(said.contains("already running in") && said.contains("--data-dir"), "{said}");
    assert_eq!(runner.terminate().0, Some(0));
    wait_until("it is gone", || floor.json(&["runner", "show", "laptop"])["connected"] == false);
    assert!(floor.text(&["runner", "list"]).contains("unreachable since"));
    let said = floor.fail(2, &["runner", "update", "laptop"]);
    assert!(said.contains("nothing to change"), "{said}");
    let said = floor.fail(2, &["runner", "update", "laptop", "--policy", "everybody"]);
    assert!(said.contains("project-owner") && said.contains("sandbox-only"), "{said}");
    let changed = floor.json(&["runner", "update", "laptop", "--policy", "project-owner", "--sandbox-others"]);
    assert_eq!((changed["policy"].as_str(), changed["sandbox_others"].as_bool()), (Some("project-owner"), Some(true)));
    assert!(floor.text(&["runner", "show", "laptop"]).contains("project-owner: What the project's owner wrote"));
    assert_eq!(floor.json(&["approval", "list"]).as_array().map(Vec::len), Some(0));
    assert!(floor.text(&["approval", "list"]).contains("no requests"));
    assert!(floor.fail(3, &["approval", "allow", "nonesuch"]).contains("nonesuch"));
}

#[test]
fn a_runner_gets_the_name_that_it_is_started_with() {
    let floor = Floor::up();
    let secret = |name: &str| floor.json(&["runner", "create", name])["secret"].as_str().unwrap().to_owned();
    let names = || {
        let list = floor.json(&["runner", "list"]);
        let mut names: Vec<_> = list.as_array().unwrap().iter().map(|one| one["name"].to_string()).collect();
        names.sort();
        names.join(" ")
    };
    let start = |secret: &str, name: &[&str], dir: &str| {
        let dir = floor.path(dir).display().to_string();
        let args = ["runner", "--hub", &floor.url, "--token", secret, "--data-dir", &dir];
        Running::spawn(floor.command().args(args).args(name))
    };
    let (first, second) = (secret("laptop"), secret("other"));
    let runner = start(&first, &["--name", "desk"], "first");
    runner.wait_for_note("registered as `laptop`; its name is now `desk`");
    assert_eq!(names(), r#""desk" "other""#);
    let trail = floor.json(&["audit", "list"]);
    assert!(trail.to_string().contains("runner `laptop` is called `desk`"), "{trail}");
    let taken = start(&second, &["--name", "desk"], "second");
    let said = taken.wait_for_note("shown as `other`, not as `desk`");
    assert!(said.contains("another runner `desk`"), "{said}");
    assert_eq!(names(), r#""desk" "other""#);
    assert_eq!((runner.terminate().0, taken.terminate().0), (Some(0), Some(0)));
    let runner = start(&first, &[], "first");
    runner.wait_for_note("linked to the hub");
    assert_eq!(names(), r#""desk" "other""#, "without a name, it stays");
}

#[test]
fn a_runner_registers_itself_once() {
    let floor = Floor::up();
    for _ in 0..2 {
        let runner = Running::spawn(floor.command().args(["runner", "--name", "desk"]));
        floor.wait_until_connected();
        assert_eq!(runner.terminate().0, Some(0));
        wait_until("it is gone", || floor.json(&["runner", "show", "desk"])["connected"] == false);
    }
    assert_eq!(floor.json(&["runner", "list"]).as_array().unwrap().len(), 1);
    let said =
        floor.fail(3, &["runner", "--hub", "http://127.0.0.1:1", "--data-dir", floor.path("x").to_str().unwrap()]);
    assert!(said.contains("--token-file"), "{said}");
}

#[test]
fn a_disconnected_runner_returns() {
    let floor = Floor::up();
    floor.text(&["project", "create", "Parser"]);
    let runner = Running::spawn(floor.command().args(["runner", "--name", "desk"]));
    floor.wait_until_connected();
    let session = floor.spawn("echo ready; read line");
    floor.wait_for_log(&session, "ready");
    runner.kill();
    wait_until("the runner is unreachable", || floor.json(&["runner", "list"])[0]["connected"] == false);
    let listed = floor.text(&["session", "list"]);
    assert!(listed.contains("last seen working") || listed.contains("last seen idle"), "{listed}");
    let runner = Running::spawn(floor.command().args(["runner", "--name", "desk"]));
    floor.wait_until_connected();
    wait_until("it is seen again", || !floor.text(&["session", "list"]).contains("last seen"));
    drop(runner);
}

#[test]
fn the_disk_usage_of_a_runners_workspaces_is_summed() {
    let floor = Floor::at_work();
    assert!(floor.text(&["runner", "list"]).lines().nth(1).unwrap().trim_end().ends_with('-'), "nothing yet");
    for _ in 0..2 {
        let session = floor.spawn("head -c 3000000 /dev/urandom > big; exit 0");
        floor.wait_for(&session, "exited");
    }
    let measured = || {
        let list = floor.json(&["workspace", "list"]);
        list.as_array().unwrap().iter().map(|one| one["disk_bytes"].as_u64()).sum::<Option<u64>>()
    };
    wait_until("both are measured", || measured().is_some());
    let sum = measured().unwrap();
    assert!(sum >= 6_000_000, "{sum}");
    let words = format!("{}.{} MiB", sum >> 20, ((sum % (1 << 20)) * 10) >> 20);
    let list = floor.text(&["runner", "list"]);
    assert!(list.contains("DISK") && list.contains(&words), "{words}: {list}");
    let name = floor.json(&["runner", "list"])[0]["name"].as_str().unwrap().to_owned();
    assert!(floor.text(&["runner", "show", &name]).contains(&words));
}
