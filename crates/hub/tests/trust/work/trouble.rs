//! Workers that fail, vanish, cost too much or must wait; and stopping everything.

use domain::{AttemptOutcome, SessionStatus, TaskStatus, WorkerStatus};
use protocol::link::{FactBody, ToRunner};
use protocol::{Call, Freeze, Usage, WorkConfigure, WorkerStart, WorkerUpdate};
use testkit::wait_until;

use super::{Shop, plain, session_of};
use crate::support::{FakeRunner, view};

#[tokio::test]
async fn a_worker_whose_link_is_lost_loses_its_task_to_another() {
    let mut shop = Shop::new().await;
    let short = WorkConfigure { lease_seconds: Some(2), heartbeat_seconds: Some(1), ..Default::default() };
    shop.configure(short).await;
    let first = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Precious work")]).await[0];
    let old = shop.session_of(task, &[]).await.session;
    shop.runner.at(old, SessionStatus::Working).await;
    let mut spare = FakeRunner::start(&shop.hub, &shop.olga, "spare").await;
    let input = WorkerStart { agent: "codex".into(), runner: Some(spare.id), ..Default::default() };
    view!(&shop.hub, &shop.olga, Workers, Call::WorkerStart { project: shop.project, input });
    // As long as the link is there, the lease is kept: this outlives several of them.
    let lease = shop.task(task).await.task.lease.expect("it is held").expires_at;
    let mut held = lease;
    while held <= lease.plus_millis(2_500) {
        shop.runner.beats(&[]).await;
        held = shop.task(task).await.task.lease.expect("it is held while its runner is there").expires_at;
    }
    shop.runner.stream.close(None).await.ok();
    let taken = session_of(&mut spare, task, &[]).await;
    let detail = shop.task(task).await;
    assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Lost);
    assert!(taken.task.as_ref().is_some_and(|of| of.fence == 2 && of.brief.contains("had this task")));
    assert!(shop.decided("lease_lost").await);
    assert_eq!(shop.worker(first.id).await.status, WorkerStatus::Lost);
    // It returns: it is ordered to stop, and its report does not count.
    shop.runner.again(shop.hub.url()).await;
    shop.runner.hello(8).await;
    let stops = |frame: &ToRunner| match frame {
        ToRunner::Desired { sessions, .. } => sessions.iter().any(|plan| plan.session == old && !plan.run),
        _ => false,
    };
    shop.runner.told("that it is to stop", stops).await;
    shop.exits(old, 0).await;
    let after = shop.task(task).await;
    assert_eq!((after.task.status, after.reports.len()), (detail.task.status, 0));
    wait_until("it takes tasks again", async || {
        (shop.worker(first.id).await.status == WorkerStatus::Idle).then_some(())
    })
    .await;
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_silent_runner_loses_its_task_and_gets_no_other() {
    let mut shop = Shop::new().await;
    let short = WorkConfigure { lease_seconds: Some(2), heartbeat_seconds: Some(1), ..Default::default() };
    shop.configure(short).await;
    let first = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Unplugged work")]).await[0];
    let old = shop.session_of(task, &[]).await.session;
    shop.runner.at(old, SessionStatus::Working).await;
    // Nobody says anything on the link, which stays open.
    wait_until("its lease is lost", async || (shop.worker(first.id).await.status == WorkerStatus::Lost).then_some(()))
        .await;
    let mut spare = FakeRunner::start(&shop.hub, &shop.olga, "spare").await;
    let input = WorkerStart { agent: "codex".into(), runner: Some(spare.id), ..Default::default() };
    view!(&shop.hub, &shop.olga, Workers, Call::WorkerStart { project: shop.project, input });
    let taken = session_of(&mut spare, task, &[]).await;
    assert!(taken.task.as_ref().is_some_and(|of| of.fence == 2 && of.lease_seconds == Some(2)), "{:?}", taken.task);
    let detail = shop.task(task).await;
    let outcomes: Vec<_> = detail.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Lost, AttemptOutcome::Open]);
    assert_eq!(shop.worker(first.id).await.failures, 0, "its agent did not fail");
    assert!(!shop.decided("restarted").await, "it is not there");
    // It is heard again: it takes tasks again.
    shop.runner.beats(&[]).await;
    wait_until("it takes tasks again", async || {
        (shop.worker(first.id).await.status == WorkerStatus::Idle).then_some(())
    })
    .await;
    assert!(shop.decided("restarted").await);
    shop.hub.stop().await;
}

#[tokio::test]
async fn an_unresponsive_session_is_killed_and_restarted() {
    let mut shop = Shop::new().await;
    let short = WorkConfigure { heartbeat_seconds: Some(1), lease_seconds: Some(60), ..Default::default() };
    shop.configure(short).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Frozen work")]).await[0];
    let old = shop.session_of(task, &[]).await.session;
    shop.runner.at(old, SessionStatus::Working).await;
    let began = std::time::Instant::now();
    while shop.task(task).await.attempts[0].outcome == AttemptOutcome::Open {
        let silent = u64::try_from(began.elapsed().as_millis()).expect("a test is short");
        shop.runner.beats(&[(old, silent)]).await;
    }
    let forced = |frame: &ToRunner| match frame {
        ToRunner::Desired { sessions, .. } => {
            sessions.iter().any(|plan| plan.session == old && !plan.run && plan.force)
        }
        _ => false,
    };
    shop.runner.told("that it is to stop by force", forced).await;
    shop.runner.at(old, SessionStatus::Lost).await;
    let next = shop.session_of(task, &[old]).await;
    assert_eq!(next.task.map(|of| of.fence), Some(2));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Working);
    assert!(shop.decided("lease_lost").await && shop.decided("restarted").await);
    shop.hub.stop().await;
}

#[tokio::test]
async fn three_failures_take_a_worker_offline_and_a_trial_brings_it_back() {
    let mut shop = Shop::new().await;
    let settings = WorkConfigure { workers_per_task: Some(20), breaker_seconds: Some(1), ..Default::default() };
    shop.configure(settings).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Cursed work")]).await[0];
    let mut tried = Vec::new();
    for _ in 0..3 {
        let session = shop.session_of(task, &tried).await.session;
        tried.push(session);
        shop.exits(session, 1).await;
    }
    assert!(shop.decided("breaker_open").await);
    let trial = shop.session_of(task, &tried).await.session;
    assert!(shop.decided("breaker_trial").await);
    shop.exits(trial, 0).await;
    let healed = shop.worker(worker.id).await;
    assert_eq!((healed.status, healed.failures, healed.done), (WorkerStatus::Idle, 0, 1));
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_limit_pauses_a_worker_until_its_reset() {
    let mut shop = Shop::new().await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Chatty work")]).await[0];
    let session = shop.session_of(task, &[]).await.session;
    let fact =
        FactBody::SessionLimited { session, retry_after_seconds: Some(1), cause: None, message: None, login: None };
    shop.runner.fact(fact).await;
    assert!(shop.decided("paused").await);
    shop.exits(session, 1).await;
    let next = shop.session_of(task, &[session]).await.session;
    assert!(shop.decided("resumed").await);
    assert_eq!(shop.worker(worker.id).await.failures, 0);
    shop.exits(next, 0).await;
    shop.hub.stop().await;
}

#[tokio::test]
async fn a_budget_stops_a_worker_before_it_is_overrun() {
    let mut shop = Shop::new().await;
    let input = WorkerStart { agent: "codex".into(), budget_micros: Some(1_000_000), ..Default::default() };
    let workers = view!(&shop.hub, &shop.olga, Workers, Call::WorkerStart { project: shop.project, input });
    let worker = workers[0].id;
    let task = shop.add(vec![plain("Costly work")]).await[0];
    let session = shop.session_of(task, &[]).await.session;
    for micros in [300_000, 600_000, 900_000] {
        let usage = Usage { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_micros: Some(micros) };
        shop.runner.fact(FactBody::SessionUsage { session, usage, model: None, conversation: None }).await;
    }
    let stops = |frame: &ToRunner| match frame {
        ToRunner::Desired { sessions, .. } => sessions.iter().any(|plan| plan.session == session && !plan.run),
        _ => false,
    };
    shop.runner.told("that it is to stop", stops).await;
    assert_eq!(shop.worker(worker).await.status, WorkerStatus::Spent);
    assert_eq!(shop.task(task).await.task.status, TaskStatus::Ready);
    shop.exits(session, 0).await;
    let input = WorkerUpdate { budget_micros: Some(9_000_000), ..Default::default() };
    view!(&shop.hub, &shop.olga, Worker, Call::WorkerUpdate { worker, input });
    shop.session_of(task, &[session]).await;
    shop.hub.stop().await;
}

#[tokio::test]
async fn everything_stops_when_frozen_and_resumes_when_thawed() {
    let mut shop = Shop::new().await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Some work")]).await[0];
    let session = shop.session_of(task, &[]).await.session;
    let call = Call::FloorFreeze { input: Freeze { project: None } };
    let frozen = view!(&shop.hub, &shop.olga, Frozen, call);
    assert_eq!((frozen.frozen, frozen.workers, frozen.sessions), (true, 1, 1));
    let stops = |frame: &ToRunner| match frame {
        ToRunner::Desired { sessions, .. } => sessions.iter().any(|plan| plan.session == session && !plan.run),
        _ => false,
    };
    shop.runner.told("that it is to stop", stops).await;
    shop.exits(session, 0).await;
    assert_eq!(shop.task(task).await.task.status, TaskStatus::Ready);
    let call = Call::FloorThaw { input: Freeze { project: None } };
    assert!(!view!(&shop.hub, &shop.olga, Frozen, call).frozen);
    let next = shop.session_of(task, &[session]).await.session;
    shop.exits(next, 0).await;
    assert_eq!(shop.task(task).await.task.status, TaskStatus::Done);
    shop.hub.stop().await;
}
