//! Kills and cuts: nothing is lost, nothing is done twice.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::SessionStatus;
use protocol::link::{DesiredSession, ToRunner};
use rand::Rng as _;

use crate::hub::FakeHub;
use crate::sessions::states;
use crate::support::{TestRunner, output, shell, stopped};

/// Lines with numbers, until a file appears.
fn numbered(folder: &std::path::Path, name: &str) -> DesiredSession {
    let stop = folder.join(name);
    shell(&format!(
        "i=0; while [ ! -e '{}' ]; do i=$((i+1)); echo \"line $i of {name}\"; sleep 0.01; done; echo \"end $i\"",
        stop.display()
    ))
}

/// Every line is there once, in order.
fn check_lines(shown: &[u8], name: &str) {
    let shown = String::from_utf8_lossy(shown).replace('\r', "");
    let mut lines = shown.lines();
    let last = lines.next_back().unwrap().strip_prefix("end ").unwrap_or_else(|| panic!("no end in {shown}"));
    let expected: Vec<_> = (1..=last.parse::<u64>().unwrap()).map(|i| format!("line {i} of {name}")).collect();
    assert_eq!(lines.collect::<Vec<_>>(), expected);
}

#[tokio::test]
async fn sessions_survive_runner_kills_and_facts_arrive_once_in_order() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let names = ["one", "two", "three"];
    let sessions: Vec<_> = names.iter().map(|name| numbered(runner.folder.path(), name)).collect();
    hub.desire(sessions.clone());
    for session in &sessions {
        hub.state(session.session, |state| state.status == SessionStatus::Working).await;
    }
    for round in 0..6 {
        match round % 3 {
            0 => runner.kill().await,
            1 => {
                hub.acknowledge(false);
                runner.end().await;
            }
            _ => {
                hub.cut();
                runner.kill().await;
            }
        }
        runner.spawn();
        hub.connected(round + 2).await;
        hub.acknowledge(true);
        // In some rounds it adopts them before it is killed again.
        if round % 2 == 0 {
            for session in &sessions {
                hub.log_has(session.session, "line 1 ").await;
            }
        }
    }
    for name in names {
        std::fs::write(runner.folder.path().join(name), "").unwrap();
    }
    for (session, name) in sessions.iter().zip(names) {
        let end = hub.over(session.session).await;
        assert_eq!((end.status, end.code), (SessionStatus::Exited, Some(0)), "{end:?}");
        check_lines(&output(&runner.session_dir(session.session)), name);
        // The hub itself checks the numbers; here: nothing is reported again.
        assert_eq!(states(&hub, session.session), [SessionStatus::Working, SessionStatus::Exited]);
    }
    // Each runner requests one token for each session that it finds; the first one, to start it.
    let mut asked = hub.tokens();
    asked.sort_unstable();
    let once: BTreeSet<_> = asked.iter().copied().collect();
    assert_eq!(asked, once.into_iter().collect::<Vec<_>>(), "twice for the same session");
    for session in &sessions {
        let of: Vec<usize> = asked.iter().filter(|(of, _)| *of == session.session).map(|(_, on)| *on).collect();
        assert!(of.first() == Some(&1) && of.len() <= 7, "{of:?}");
    }
}

#[tokio::test]
async fn a_session_starts_at_most_once_despite_runner_kills() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let marks = runner.folder.path().join("marks");
    std::fs::create_dir(&marks).unwrap();
    let mut all = Vec::new();
    for round in 0..24 {
        let mark = marks.join(round.to_string());
        let session = shell(&format!("echo started >> {}; sleep 0.2", mark.display()));
        all.push((session.clone(), mark));
        let wanted: Vec<_> = all.iter().map(|(session, _)| session.clone()).collect();
        hub.desire(wanted);
        // Anywhere between the wish and the running process.
        let delay = Duration::from_micros(rand::rng().random_range(0..120_000));
        tokio::time::sleep(delay).await;
        runner.kill().await;
        runner.spawn();
        hub.connected(round + 2).await;
    }
    for (session, mark) in &all {
        let end = hub.over(session.session).await;
        assert_eq!((end.status, end.code), (SessionStatus::Exited, Some(0)), "{end:?}");
        assert_eq!(std::fs::read_to_string(mark).unwrap(), "started\n");
    }
}

#[tokio::test]
async fn sessions_run_without_a_hub_and_are_reported_later() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = numbered(runner.folder.path(), "alone");
    hub.desire(vec![session.clone()]);
    hub.state(session.session, |state| state.status == SessionStatus::Working).await;
    hub.refuse(true);
    hub.cut();
    std::fs::write(runner.folder.path().join("alone"), "").unwrap();
    let exit = runner.session_dir(session.session).join("exit.json");
    testkit::wait_until("it has ended", || async { exit.exists().then_some(()) }).await;
    // Killed with the end only in the journal, or not even there.
    runner.kill().await;
    runner.spawn();
    hub.refuse(false);
    let end = hub.over(session.session).await;
    assert_eq!((end.status, end.code), (SessionStatus::Exited, Some(0)));
    check_lines(&output(&runner.session_dir(session.session)), "alone");
}

#[tokio::test]
async fn an_older_generation_is_refused() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (first, second) = (shell("sleep 1000"), shell("true"));
    hub.desire(vec![first.clone()]);
    hub.desire(vec![first.clone()]);
    hub.state(first.session, |state| state.status == SessionStatus::Working).await;
    for restart in [false, true] {
        if restart {
            runner.kill().await;
            runner.spawn();
            hub.connected(2).await;
        }
        let stale = ToRunner::Desired {
            generation: 1,
            sessions: vec![stopped(&first), second.clone()],
            keep: vec![],
            checks: vec![],
            heartbeat_seconds: None,
            retention: vec![],
            answers: vec![],
            merges: vec![],
            forks: vec![],
        };
        hub.send(&stale);
        let log = || async { (runner.log().matches("is older than").count() > usize::from(restart)).then_some(()) };
        testkit::wait_until("the runner refuses", log).await;
    }
    assert_eq!(states(&hub, first.session), [SessionStatus::Working]);
    assert_eq!(states(&hub, second.session), []);
    hub.desire(vec![stopped(&first)]);
    hub.over(first.session).await;
}

#[tokio::test]
async fn unacknowledged_facts_are_repeated_and_unlisted_sessions_kept() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let (ends, goes_on) = (shell("exit 4"), shell("sleep 1000"));
    hub.desire(vec![ends.clone(), goes_on.clone()]);
    hub.over(ends.session).await;
    hub.state(goes_on.session, |state| state.status == SessionStatus::Working).await;
    // A session that exited before its start was reported is reported only as exited.
    let told = states(&hub, ends.session).len();
    // Another wish for an exited session, as from a hub that lost its last minutes.
    hub.desire(vec![ends.clone()]);
    testkit::wait_until("it is reported again", || async { (states(&hub, ends.session).len() > told).then_some(()) })
        .await;
    assert_eq!(states(&hub, ends.session).last(), Some(&SessionStatus::Exited));
    assert_eq!(states(&hub, goes_on.session), [SessionStatus::Working]);
    hub.desire(vec![stopped(&goes_on)]);
    hub.over(goes_on.session).await;
}
