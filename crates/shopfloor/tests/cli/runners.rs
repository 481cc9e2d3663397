//! Runners: beside a hub, alone, killed and found again.

use std::os::unix::fs::PermissionsExt;

use crate::fixture::Fixture;
use crate::process::{Running, signal, wait_until};

#[test]
fn a_killed_runner_comes_back_to_its_sessions() {
    let fixture = Fixture::at_work();
    let session = fixture.spawn("echo ready; read line; echo got $line; read line");
    let id = session["id"].as_str().unwrap();
    fixture.wait_for_log(&session, "ready");
    let killed = fixture.runner_pid();
    signal(killed, "KILL");
    wait_until("another runner runs", || fixture.runner_pid() != killed);
    fixture.wait_until_connected();
    wait_until("the session is known", || fixture.run(&["session", "send", id, "again"]).code == 0);
    fixture.wait_for_log(&session, "got again");
    let mode = |name: &str| {
        std::fs::metadata(fixture.data_dir().join("runner").join(name)).unwrap().permissions().mode() & 0o777
    };
    assert_eq!((mode(""), mode("token"), mode("registration.json"), mode("runner.log")), (0o700, 0o600, 0o600, 0o600));
    assert_eq!(fixture.json(&["runner", "list"]).as_array().unwrap().len(), 1, "it registered once");
}

#[test]
fn a_runner_survives_its_killed_hub() {
    let mut fixture = Fixture::at_work();
    let session = fixture.spawn("echo ready; read line; echo got $line; read line");
    let id = session["id"].as_str().unwrap();
    fixture.wait_for_log(&session, "ready");
    let runner = fixture.runner_pid();
    let listen = fixture.url.strip_prefix("http://").unwrap().to_owned();
    fixture.hub().kill();
    fixture.start(&listen);
    fixture.wait_until_connected();
    assert_eq!(fixture.runner_pid(), runner, "it was left alone");
    wait_until("the session is known", || fixture.run(&["session", "send", id, "again"]).code == 0);
    fixture.wait_for_log(&session, "got again");
    // Another address: the runner of the old address is replaced.
    fixture.hub().kill();
    fixture.start("127.0.0.1:0");
    wait_until("another runner runs", || fixture.runner_pid() != runner);
    fixture.wait_until_connected();
    wait_until("the session goes on", || {
        fixture.json(&["session", "show", id])["session"]["state"]["status"] != "lost"
    });
    let runner = fixture.runner_pid();
    let (code, _) = fixture.hub().terminate();
    assert_eq!(code, Some(0));
    assert!(!std::path::Path::new(&format!("/proc/{runner}")).exists(), "the runner ends with `up`");
    let host = std::fs::read_to_string(fixture.data_dir().join("runner/sessions").join(id).join("host.pid")).unwrap();
    assert!(std::path::Path::new(&format!("/proc/{}", host.trim())).exists(), "the session does not");
}

#[test]
fn a_runner_runs_alone_with_its_own_token() {
    let fixture = Fixture::up();
    let made = fixture.json(&["runner", "create", "laptop"]);
    let dir = fixture.path("laptop").display().to_string();
    let secret = made["secret"].as_str().unwrap();
    let args = ["runner", "--hub", &fixture.url, "--token", secret, "--name", "laptop", "--data-dir", &dir];
    let options = ["--label", "gpu", "--label", "linux"];
    let runner = Running::spawn(fixture.command().args(args).args(options).env("SHOPFLOOR_CAPACITY", "3"));
    runner.wait_for_note("runner laptop of");
    fixture.wait_until_connected();
    let shown = fixture.json(&["runner", "show", "laptop"]);
    assert_eq!((shown["about"]["capacity"].as_u64(), shown["about"]["labels"][0].as_str()), (Some(3), Some("gpu")));
    let text = fixture.text(&["runner", "show", "laptop"]);
    assert!(text.contains("connected") && text.contains("gpu, linux") && text.contains("codex"), "{text}");
    assert!(fixture.text(&["runner", "list"]).contains("gpu, linux"));
    let said = fixture.fail(4, &args);
    assert!(said.contains("already running in") && said.contains("--data-dir"), "{said}");
    assert_eq!(runner.terminate().0, Some(0));
    wait_until("it is gone", || fixture.json(&["runner", "show", "laptop"])["connected"] == false);
    assert!(fixture.text(&["runner", "list"]).contains("unreachable since"));
    let said = fixture.fail(2, &["runner", "update", "laptop"]);
    assert!(said.contains("nothing to change"), "{said}");
    let said = fixture.fail(2, &["runner", "update", "laptop", "--policy", "everybody"]);
    assert!(said.contains("project-owner") && said.contains("sandbox-only"), "{said}");
    let changed = fixture.json(&["runner", "update", "laptop", "--policy", "project-owner", "--sandbox-others"]);
    assert_eq!((changed["policy"].as_str(), changed["sandbox_others"].as_bool()), (Some("project-owner"), Some(true)));
    assert!(fixture.text(&["runner", "show", "laptop"]).contains("project-owner: The project owner's text"));
    assert_eq!(fixture.json(&["approval", "list"]).as_array().map(Vec::len), Some(0));
    assert!(fixture.text(&["approval", "list"]).contains("no requests"));
    assert!(fixture.fail(3, &["approval", "allow", "nonesuch"]).contains("nonesuch"));
}

#[test]
fn a_runner_gets_the_name_that_it_is_started_with() {
    let fixture = Fixture::up();
    let secret = |name: &str| fixture.json(&["runner", "create", name])["secret"].as_str().unwrap().to_owned();
    let names = || {
        let list = fixture.json(&["runner", "list"]);
        let mut names: Vec<_> = list.as_array().unwrap().iter().map(|one| one["name"].to_string()).collect();
        names.sort();
        names.join(" ")
    };
    let start = |secret: &str, name: &[&str], dir: &str| {
        let dir = fixture.path(dir).display().to_string();
        let args = ["runner", "--hub", &fixture.url, "--token", secret, "--data-dir", &dir];
        Running::spawn(fixture.command().args(args).args(name))
    };
    let (first, second) = (secret("laptop"), secret("other"));
    let runner = start(&first, &["--name", "desk"], "first");
    runner.wait_for_note("registered as `laptop`; its name is now `desk`");
    assert_eq!(names(), r#""desk" "other""#);
    let trail = fixture.json(&["audit", "list"]);
    assert!(trail.to_string().contains("runner `laptop` is called `desk`"), "{trail}");
    let taken = start(&second, &["--name", "desk"], "second");
    let said = taken.wait_for_note("name is `other`, not `desk`");
    assert!(said.contains("another runner `desk`"), "{said}");
    assert_eq!(names(), r#""desk" "other""#);
    assert_eq!((runner.terminate().0, taken.terminate().0), (Some(0), Some(0)));
    let runner = start(&first, &[], "first");
    runner.wait_for_note("linked to the hub");
    assert_eq!(names(), r#""desk" "other""#, "without a name, it stays");
}

#[test]
fn a_runner_registers_itself_once() {
    let fixture = Fixture::up();
    for _ in 0..2 {
        let runner = Running::spawn(fixture.command().args(["runner", "--name", "desk"]));
        fixture.wait_until_connected();
        assert_eq!(runner.terminate().0, Some(0));
        wait_until("it is gone", || fixture.json(&["runner", "show", "desk"])["connected"] == false);
    }
    assert_eq!(fixture.json(&["runner", "list"]).as_array().unwrap().len(), 1);
    let said =
        fixture.fail(3, &["runner", "--hub", "http://127.0.0.1:1", "--data-dir", fixture.path("x").to_str().unwrap()]);
    assert!(said.contains("--token-file"), "{said}");
}

#[test]
fn a_disconnected_runner_returns() {
    let fixture = Fixture::up();
    fixture.text(&["project", "create", "Parser"]);
    let runner = Running::spawn(fixture.command().args(["runner", "--name", "desk"]));
    fixture.wait_until_connected();
    let session = fixture.spawn("echo ready; read line");
    fixture.wait_for_log(&session, "ready");
    runner.kill();
    wait_until("the runner is unreachable", || fixture.json(&["runner", "list"])[0]["connected"] == false);
    let listed = fixture.text(&["session", "list"]);
    assert!(listed.contains("last seen working") || listed.contains("last seen idle"), "{listed}");
    let runner = Running::spawn(fixture.command().args(["runner", "--name", "desk"]));
    fixture.wait_until_connected();
    wait_until("it is seen again", || !fixture.text(&["session", "list"]).contains("last seen"));
    drop(runner);
}

#[test]
fn the_disk_usage_of_a_runners_workspaces_is_summed() {
    let fixture = Fixture::at_work();
    assert!(fixture.text(&["runner", "list"]).lines().nth(1).unwrap().trim_end().ends_with('-'), "nothing yet");
    for _ in 0..2 {
        let session = fixture.spawn("head -c 3000000 /dev/urandom > big; exit 0");
        fixture.wait_for(&session, "exited");
    }
    let measured = || {
        let list = fixture.json(&["workspace", "list"]);
        list.as_array().unwrap().iter().map(|one| one["disk_bytes"].as_u64()).sum::<Option<u64>>()
    };
    wait_until("both are measured", || measured().is_some());
    let sum = measured().unwrap();
    assert!(sum >= 6_000_000, "{sum}");
    let words = format!("{}.{} MiB", sum >> 20, ((sum % (1 << 20)) * 10) >> 20);
    let list = fixture.text(&["runner", "list"]);
    assert!(list.contains("DISK") && list.contains(&words), "{words}: {list}");
    let name = fixture.json(&["runner", "list"])[0]["name"].as_str().unwrap().to_owned();
    assert!(fixture.text(&["runner", "show", &name]).contains(&words));
}
