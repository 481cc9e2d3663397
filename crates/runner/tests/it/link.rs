//! The link itself: access, silence, repetition.

use domain::SessionStatus;

use crate::hub::FakeHub;
use crate::support::{TestRunner, exe, shell};

#[tokio::test]
async fn a_runner_listens_on_no_port() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo ready; sleep 1000");
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    let host = std::fs::read_to_string(runner.session_dir(session.session).join("host.pid")).unwrap();
    for pid in [runner.pid(), host.trim().parse().unwrap()] {
        assert_eq!(listening(pid), Vec::<String>::new(), "of {pid}");
    }
    // The check itself can fail: this test's own hub listens.
    assert!(!listening(std::process::id()).is_empty());
}

/// The TCP and UDP sockets on which a process listens.
fn listening(pid: u32) -> Vec<String> {
    let links = std::fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let own: Vec<String> = links
        .filter_map(|link| std::fs::read_link(link.path()).ok()?.to_str().map(str::to_owned))
        .filter_map(|target| Some(target.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
        .collect();
    let mut found = Vec::new();
    for (table, state) in [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")] {
        for line in std::fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default().lines().skip(1) {
            let fields: Vec<_> = line.split_whitespace().collect();
            if fields[3] == state && own.iter().any(|inode| inode == fields[9]) {
                found.push(line.to_owned());
            }
        }
    }
    found
}

#[tokio::test]
async fn a_refused_token_is_retried_and_logged() {
    let hub = FakeHub::start().await;
    hub.refuse(true);
    let runner = TestRunner::start(&hub);
    let said = || async { runner.log().contains("refuses this runner").then_some(()) };
    testkit::wait_until("the log says so", said).await;
    hub.refuse(false);
    hub.connected(1).await;
    assert!(!runner.log().contains(crate::hub::TOKEN));
}

#[tokio::test]
async fn facts_are_repeated_until_they_are_acknowledged() {
    let hub = FakeHub::start().await;
    hub.acknowledge(false);
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("exit 0");
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    let before = hub.facts();
    for times in 2..4 {
        hub.cut();
        hub.connected(times).await;
        let again = || async { (hub.repeated() >= before.len() * (times - 1)).then_some(()) };
        testkit::wait_until("all of it comes again", again).await;
    }
    hub.acknowledge(true);
    hub.cut();
    hub.connected(4).await;
    let other = shell("exit 1");
    hub.desire(vec![other.clone()]);
    let end = hub.over(other.session).await;
    assert_eq!(end.status, SessionStatus::Exited);
}

#[tokio::test]
async fn a_silent_hub_is_disconnected() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    hub.freeze(true);
    // The runner reconnects by itself.
    hub.connected(2).await;
    hub.freeze(false);
}

#[tokio::test]
async fn two_runners_do_not_share_a_folder() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let second = std::process::Command::new(exe())
        .args(["runner", &hub.url, crate::hub::TOKEN])
        .arg(runner.data_dir())
        .output()
        .unwrap();
    assert!(!second.status.success());
    assert!(String::from_utf8_lossy(&second.stderr).contains("in use by another runner"));
}

#[tokio::test]
async fn news_about_a_runner_needs_no_new_link() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::new(&hub);
    let (bin, go) = (runner.folder.path().join("bin"), runner.folder.path().join("go"));
    std::fs::create_dir_all(&bin).unwrap();
    // It tells its version only once the runner is connected.
    let codex = format!("#!/bin/sh\nuntil [ -e '{}' ]; do sleep 0.05; done\necho codex-cli 9.8.7\n", go.display());
    std::fs::write(bin.join("codex"), codex).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bin.join("codex"), mode).unwrap();
    runner.set("PATH", &format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
    runner.spawn();
    hub.connected(1).await;
    std::fs::write(&go, "").unwrap();
    let (version, connections) = hub.version_of("codex").await;
    assert!(version.contains("9.8.7") && connections == 1, "{version}, {connections} connections");
}
