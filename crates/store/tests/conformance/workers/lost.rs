//! Workers that fall silent.

use domain::{AttemptOutcome, SessionStatus, TaskStatus, Timestamp, WorkerStatus};
use protocol::WorkConfigure;
use store::{Caller, Dispatch, ExpireLeases, GraceLeases, LastHeard, RenewLeases};

use super::{Shop, plain};
use crate::execution::{runner, show};
use crate::fixture::Fixture;

both!(
    a_linked_runner_keeps_its_leases_and_a_lost_one_loses_them,
    missed_heartbeats_end_a_lease_early,
    a_restarted_hub_gives_runners_time_to_reconnect,
    a_lease_counts_from_the_last_sign_of_its_runner,
    only_the_silent_session_of_a_runner_loses_its_lease,
    a_silent_runner_counts_as_no_failure_and_returns_when_it_reconnects,
    a_session_without_its_host_is_lost_and_not_failed,
    a_task_whose_sessions_are_lost_repeatedly_goes_to_a_person,
    a_runner_gets_its_heartbeat_interval,
    a_worker_that_hangs_loses_its_lease,
);

fn hub() -> Caller {
    Caller::hub("foreman")
}

/// The shop's runner was last heard from this many milliseconds ago.
fn heard(shop: &Shop, ago_ms: u32) -> RenewLeases {
    RenewLeases { runners: vec![LastHeard { ago_ms, ..LastHeard::now(shop.runner) }] }
}

async fn a_linked_runner_keeps_its_leases_and_a_lost_one_loses_them(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Patient work")]).await[0];
    shop.dispatch().await;
    let old = shop.session(task).await;
    shop.at(old, SessionStatus::Working).await;
    assert_eq!(shop.fixture.store.work_due(&[shop.runner], Timestamp::from_millis(0)).await.unwrap().renew, Some(30));
    for _ in 0..5 {
        shop.fixture.pass(60_000);
        assert_eq!(shop.fixture.done(&hub(), heard(&shop, 0)).await, 1);
        assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, []);
    }
    let late = heard(&shop, 5_000);
    shop.fixture.done(&hub(), late).await;
    let lease = shop.task(task).await.lease.unwrap().expires_at;
    assert_eq!(lease, shop.fixture.store.now().plus_millis(90_000), "a late heartbeat does not shorten the lease");
    let other = runner(&shop.fixture, &shop.fixture.ada, "other", 4).await;
    assert_eq!(shop.fixture.done(&hub(), RenewLeases { runners: vec![LastHeard::now(other)] }).await, 0);
    shop.fixture.pass(89_999);
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, []);
    shop.fixture.pass(1);
    let due = shop.fixture.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert!(due.lease.is_some_and(|lease| lease <= shop.fixture.store.now()));
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, [task]);
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Lost));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Lost);
    assert!(shop.decided("lease_lost").await);
    let (sessions, _) = shop.desired().await;
    let plan = sessions.iter().find(|plan| plan.session == old).unwrap();
    assert!(!plan.run, "a returning runner is ordered to stop it");
    assert_eq!(shop.dispatch_with(&[]).await, 0);
    assert_eq!(shop.dispatch().await, 1, "its runner is back");
    assert!(shop.decided("restarted").await);
    let detail = shop.detail(task).await;
    assert_eq!(detail.attempts.len(), 2);
    let metrics = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert_eq!(metrics.detection_ms, Some(90_000));
}

async fn missed_heartbeats_end_a_lease_early(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let settings =
        WorkConfigure { lease_seconds: Some(600), heartbeat_seconds: Some(10), missed: Some(3), ..Default::default() };
    shop.configure(settings).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Silent work")]).await[0];
    shop.dispatch().await;
    shop.fixture.pass(29_999);
    shop.dispatch_with(&[]).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Assigned);
    let due = shop.fixture.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert_eq!(due.projects, [(shop.project.id, shop.fixture.store.now().plus_millis(1))]);
    shop.fixture.pass(1);
    shop.dispatch_with(&[]).await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Lost));
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Lost);
}

async fn a_restarted_hub_gives_runners_time_to_reconnect(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Steady work")]).await[0];
    shop.dispatch().await;
    shop.fixture.pass(3_600_000);
    shop.fixture.done(&hub(), GraceLeases { seconds: 10 }).await;
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, []);
    shop.dispatch().await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Assigned);
    shop.fixture.pass(89_999);
    let message = "a worker that was answered just before the hub stopped relies on its lease";
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, [], "{message}");
    shop.fixture.pass(1);
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, [task]);
}

async fn a_lease_counts_from_the_last_sign_of_its_runner(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let settings = WorkConfigure { lease_seconds: Some(6), heartbeat_seconds: Some(2), ..Default::default() };
    shop.configure(settings).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Cut off")]).await[0];
    shop.dispatch().await;
    shop.fixture.pass(10_000);
    shop.fixture.done(&hub(), heard(&shop, 4_000)).await;
    let lease = shop.task(task).await.lease.unwrap().expires_at;
    assert_eq!(lease, shop.fixture.store.now().plus_millis(2_000), "not from now");
    shop.fixture.pass(2_000);
    shop.fixture.done(&hub(), heard(&shop, 6_000)).await;
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, [task]);
    let metrics = shop.fixture.store.metrics(&shop.fixture.ada, shop.project.id, Default::default()).await.unwrap();
    assert_eq!(metrics.detection_ms, Some(6_000), "counted from its last heartbeat");
}

async fn only_the_silent_session_of_a_runner_loses_its_lease(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let tasks = shop.add(vec![plain("Lively work"), plain("Frozen work")]).await;
    assert_eq!(shop.dispatch().await, 2);
    let frozen = shop.session(tasks[1]).await;
    let all = |silent: u32| RenewLeases {
        runners: vec![LastHeard { silent: vec![(frozen, silent)], ..LastHeard::now(shop.runner) }],
    };
    for ms in [30_000, 60_000] {
        shop.fixture.pass(30_000);
        assert_eq!(shop.fixture.done(&hub(), all(ms)).await, 2);
        assert_eq!(shop.dispatch().await, 0);
    }
    shop.fixture.pass(30_000);
    shop.fixture.done(&hub(), all(90_000)).await;
    assert_eq!(shop.dispatch().await, 0, "three heartbeats were missed");
    assert_eq!(shop.dispatch().await, 1, "it starts over");
    let lively = shop.detail(tasks[0]).await;
    assert_eq!((lively.attempts.len(), lively.attempts[0].outcome), (1, AttemptOutcome::Open));
    let detail = shop.detail(tasks[1]).await;
    let outcomes: Vec<_> = detail.attempts.iter().map(|attempt| attempt.outcome).collect();
    assert_eq!(outcomes, [AttemptOutcome::Lost, AttemptOutcome::Open]);
    let (sessions, _) = shop.desired().await;
    let plan = sessions.iter().find(|plan| plan.session == frozen).unwrap();
    assert!(!plan.run && plan.force, "it is stopped by force");
    let mut failures = 0;
    for worker in workers {
        failures += shop.worker(worker.id).await.failures;
    }
    assert_eq!(failures, 1, "its runner was connected: the failure counts");
}

async fn a_silent_runner_counts_as_no_failure_and_returns_when_it_reconnects(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Out of reach")]).await[0];
    for lost in 1..=4 {
        assert_eq!(shop.dispatch().await, 1);
        shop.fixture.pass(90_000);
        assert_eq!(shop.fixture.done(&hub(), ExpireLeases::default()).await, [task]);
        let gone = shop.worker(worker.id).await;
        assert_eq!((gone.status, gone.failures, gone.failed), (WorkerStatus::Lost, 0, lost));
        assert!(gone.reason.unwrap().contains("the runner of `"));
        let (project, connected) = (shop.project.id, vec![shop.runner]);
        let blind = Dispatch { project, connected, heard: Vec::new() };
        assert_eq!(shop.fixture.done(&hub(), blind).await.handed, 0, "it is connected, but silent");
        assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Lost);
    }
    assert!(!shop.decided("breaker_open").await);
    assert_eq!(shop.dispatch().await, 1);
}

async fn a_session_without_its_host_is_lost_and_not_failed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Unlucky work")]).await[0];
    for times in 1..=3 {
        assert_eq!(shop.dispatch().await, 1);
        let session = shop.session(task).await;
        shop.at(session, SessionStatus::Working).await;
        shop.at(session, SessionStatus::Lost).await;
        let detail = shop.detail(task).await;
        assert_eq!((detail.task.status, detail.attempts.len()), (TaskStatus::Ready, times));
        assert!(detail.attempts.iter().all(|attempt| attempt.outcome == AttemptOutcome::Lost));
        assert_eq!(shop.worker(worker.id).await.failures, 0);
    }
    assert_eq!(shop.dispatch().await, 1, "the same worker continues");
}

async fn a_task_whose_sessions_are_lost_repeatedly_goes_to_a_person(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Eats all memory")]).await[0];
    for times in 1..=5 {
        assert_eq!(shop.dispatch().await, 1);
        let session = shop.session(task).await;
        shop.at(session, SessionStatus::Lost).await;
        let after = shop.task(task).await.status;
        assert_eq!(after, if times < 5 { TaskStatus::Ready } else { TaskStatus::Escalated });
    }
    let detail = shop.detail(task).await;
    assert!(detail.attempts.iter().all(|attempt| attempt.outcome == AttemptOutcome::Lost));
    let question = &detail.escalations[0].question;
    assert!(question.starts_with("5 workers in a row were lost while they worked on this task"), "{question}");
    assert_eq!(shop.dispatch().await, 0);
}

async fn a_runner_gets_its_heartbeat_interval(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let desired = async || shop.fixture.store.desired(shop.runner).await.unwrap().unwrap();
    assert_eq!(desired().await.heartbeat_seconds, None, "no lease depends on it");
    shop.start(1).await;
    shop.add(vec![plain("Timed work")]).await;
    shop.dispatch().await;
    let usual = desired().await;
    assert_eq!(usual.heartbeat_seconds, Some(10));
    assert_eq!(usual.sessions[0].task.as_ref().unwrap().lease_seconds, Some(90));
    let settings = WorkConfigure { lease_seconds: Some(6), heartbeat_seconds: Some(2), ..Default::default() };
    shop.configure(settings).await;
    let short = desired().await;
    assert_eq!(short.heartbeat_seconds, Some(2));
    assert_eq!(short.sessions[0].task.as_ref().unwrap().lease_seconds, Some(6));
    assert!(short.generation > usual.generation, "the runner gets it at once");
}

async fn a_worker_that_hangs_loses_its_lease(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.configure(WorkConfigure { task_minutes: Some(5), ..Default::default() }).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Wait for a socket that is dead")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    for _ in 0..5 {
        assert_eq!(shop.fixture.done(&hub(), ExpireLeases { heard: vec![shop.runner] }).await, []);
        shop.fixture.pass(60_000);
        shop.fixture.done(&hub(), heard(&shop, 0)).await;
    }
    assert_eq!(shop.fixture.done(&hub(), ExpireLeases { heard: vec![shop.runner] }).await, [task]);
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.attempts[0].outcome), (TaskStatus::Ready, AttemptOutcome::Lost));
    assert_eq!(detail.task.reason, Some(format!("`{}` had the task for 5 min, the longest allowed", worker.name)));
    assert!(show(&shop.fixture, &shop.fixture.ada, session).await.stopping);
}
