//! Sessions of tasks whose host or hub is silent.

use std::path::Path;

use domain::{SessionStatus, TaskId};
use protocol::link::{DesiredSession, DesiredTask};
use rustix::process::{Pid, Signal, kill_process};
use testkit::wait_until;

use crate::hub::FakeHub;
use crate::support::{TestRunner, shell};

/// Notes who it is, and lives.
const AGENT: &str = "sleep 600 & echo $! > child; echo $$ > pid.new; mv pid.new pid; echo work > file; wait";

fn for_task(mut session: DesiredSession, lease_seconds: u32) -> DesiredSession {
    let (task, brief) = (TaskId::generate(), "Live.".to_owned());
    session.task = Some(DesiredTask { task, fence: 1, brief, lease_seconds: Some(lease_seconds), progress_told: true });
    session
}

/// The process whose number is in a file, as soon as it is.
async fn noted(path: &Path) -> u32 {
    wait_until("a process notes who it is", async || std::fs::read_to_string(path).ok()?.trim().parse().ok()).await
}

fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rfind(')').is_some_and(|end| !stat[end + 1..].trim_start().starts_with(['Z', 'X']))
}

fn signal(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid as i32).unwrap(), signal).unwrap();
}

#[tokio::test]
async fn a_silent_host_is_reported_and_killed_with_its_descendants() {
    let hub = FakeHub::start().await;
    let runner = TestRunner::start(&hub);
    hub.connected(1).await;
    hub.wants_to_hear(1);
    let (frozen, lively) = (for_task(shell(AGENT), 600), for_task(shell(AGENT), 600));
    hub.desire(vec![frozen.clone(), lively.clone()]);
    let path = hub.workspace(&frozen).await;
    let (agent, child) = (noted(&Path::new(&path).join("pid")).await, noted(&Path::new(&path).join("child")).await);
    let host = noted(&runner.session_dir(frozen.session).join("host.pid")).await;
    for pid in [host, agent, child] {
        signal(pid, Signal::STOP);
    }
    hub.misses(frozen.session).await;
    assert!(!hub.silent().contains(&lively.session), "the other one answers");
    let forced = DesiredSession { run: false, force: true, ..frozen.clone() };
    hub.desire(vec![forced, lively.clone()]);
    let state = hub.over(frozen.session).await;
    assert_eq!(state.status, SessionStatus::Lost, "{state:?}");
    wait_until("nothing of it is left", async || [host, agent, child].into_iter().all(|pid| !lives(pid)).then_some(()))
        .await;
}

#[tokio::test]
async fn a_stopped_agent_is_silent_until_it_continues() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    hub.wants_to_hear(1);
    let (stopped, lively) = (for_task(shell(AGENT), 600), for_task(shell(AGENT), 600));
    hub.desire(vec![stopped.clone(), lively.clone()]);
    let path = hub.workspace(&stopped).await;
    let agent = noted(&Path::new(&path).join("pid")).await;
    signal(agent, Signal::STOP);
    let state = hub.state(stopped.session, |state| state.status == SessionStatus::Waiting).await;
    assert!(state.detail.as_deref().unwrap().contains("SIGCONT"), "{state:?}");
    hub.misses(stopped.session).await;
    assert!(!hub.silent().contains(&lively.session), "the other one is as quiet, but not stopped");
    signal(agent, Signal::CONT);
    let since = state.since;
    hub.state(stopped.session, |state| state.status == SessionStatus::Working && state.since > since).await;
    wait_until("it is not named any more", async || (!hub.silent().contains(&stopped.session)).then_some(())).await;
    signal(agent, Signal::STOP);
    let forced = DesiredSession { run: false, ..stopped.clone() };
    hub.desire(vec![forced, lively]);
    hub.over(stopped.session).await;
}

#[tokio::test]
async fn task_session_stops_before_its_lease_ends_without_the_hub() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    hub.wants_to_hear(1);
    let (task, own) = (for_task(shell(AGENT), 4), shell(AGENT));
    hub.desire(vec![task.clone(), own.clone()]);
    let (path, owns) = (hub.workspace(&task).await, hub.workspace(&own).await);
    let agent = noted(&Path::new(&path).join("pid")).await;
    let mine = noted(&Path::new(&owns).join("pid")).await;
    hub.refuse(true);
    hub.cut();
    wait_until("the task's agent is gone", async || (!lives(agent)).then_some(())).await;
    assert!(lives(mine), "a session without a task continues");
    hub.refuse(false);
    let state = hub.over(task.session).await;
    assert_eq!(state.status, SessionStatus::Lost, "{state:?}");
    assert!(state.detail.as_deref().unwrap().contains("the hub had not answered"), "{state:?}");
    assert!(Path::new(&path).join("file").exists());
}

#[tokio::test]
async fn task_session_stops_before_its_lease_ends_without_its_runner() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    hub.wants_to_hear(1);
    for killed in [true, false] {
        let (task, own) = (for_task(shell(AGENT), 4), shell(AGENT));
        hub.desire(vec![task.clone(), own.clone()]);
        let (path, owns) = (hub.workspace(&task).await, hub.workspace(&own).await);
        let agent = noted(&Path::new(&path).join("pid")).await;
        let mine = noted(&Path::new(&owns).join("pid")).await;
        if killed {
            runner.kill().await;
        } else {
            signal(runner.pid(), Signal::STOP);
        }
        wait_until("the task's agent is gone", async || (!lives(agent)).then_some(())).await;
        assert!(lives(mine), "a session without a task continues");
        if killed {
            runner.spawn();
        } else {
            signal(runner.pid(), Signal::CONT);
        }
        let state = hub.over(task.session).await;
        assert_eq!(state.status, SessionStatus::Lost, "{state:?}");
        assert!(state.detail.as_deref().unwrap().contains("another worker may"), "{state:?}");
        assert!(Path::new(&path).join("file").exists());
    }
}

#[tokio::test]
async fn a_hub_back_before_the_lease_ends_interrupts_nothing() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    hub.wants_to_hear(1);
    let task = for_task(shell("echo $$ > pid.new; mv pid.new pid; while [ ! -e go ]; do sleep 0.05; done"), 600);
    hub.desire(vec![task.clone()]);
    let path = hub.workspace(&task).await;
    noted(&Path::new(&path).join("pid")).await;
    hub.refuse(true);
    hub.cut();
    hub.refuse(false);
    hub.connected(2).await;
    std::fs::write(Path::new(&path).join("go"), "").unwrap();
    let state = hub.over(task.session).await;
    assert_eq!((state.status, state.code), (SessionStatus::Exited, Some(0)));
}
