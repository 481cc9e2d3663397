//! From a task to its session, and from the session's facts to the end of the task.

use domain::{AttemptOutcome, HoldUp, SessionStatus, TaskStatus, Timestamp, WorkerStatus};
use protocol::{WorkerStop, verbs};

use super::{Shop, plain};
use crate::execution::show;
use crate::fixture::Fixture;

both!(
    a_final_message_becomes_the_report_and_the_next_task_follows,
    a_failed_session_fails_its_attempt_and_another_worker_is_next,
    a_stopped_worker_releases_its_task_and_its_workspace_is_kept,
    a_providers_limit_pauses_a_worker_until_it_ends,
    sessions_of_a_worker_that_lost_its_task_change_nothing,
    all_workers_stop_at_once,
);

async fn a_final_message_becomes_the_report_and_the_next_task_follows(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let tasks = shop.add(vec![plain("Say hello"), plain("Wave goodbye")]).await;
    assert_eq!(shop.dispatch().await, 1);
    let session = shop.session(tasks[0]).await;
    shop.at(session, SessionStatus::Working).await;
    assert_eq!(shop.task(tasks[0]).await.status, TaskStatus::Running);
    shop.costs(session, 400).await;
    shop.costs(session, 1_000).await;
    shop.says(session, "I said hello to everybody.").await;
    shop.exits(session, 0).await;
    shop.looked_at(tasks[0], None).await;
    let detail = shop.detail(tasks[0]).await;
    assert_eq!(detail.task.status, TaskStatus::Done);
    let report = &detail.reports[0];
    assert!(report.collected);
    assert_eq!(report.summary, "I said hello to everybody.");
    let attempt = &detail.attempts[0];
    assert_eq!((attempt.outcome, attempt.sessions.as_slice()), (AttemptOutcome::Accepted, [session].as_slice()));
    assert_eq!(attempt.usage.cost_micros, Some(1_000));
    let after = shop.worker(worker.id).await;
    assert_eq!((after.status, after.done, after.usage.cost_micros), (WorkerStatus::Idle, 1, Some(1_000)));
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.task(tasks[1]).await.assigned_to, Some(worker.id));
}

async fn a_failed_session_fails_its_attempt_and_another_worker_is_next(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let task = shop.add(vec![plain("Do the impossible")]).await[0];
    shop.dispatch().await;
    let first = shop.task(task).await.assigned_to.unwrap();
    let session = shop.session(task).await;
    shop.exits(session, 3).await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.status, TaskStatus::Ready);
    assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Failed);
    assert!(detail.attempts[0].reason.as_deref().unwrap().contains("exited with 3"));
    assert_eq!(shop.worker(first).await.failures, 1);
    assert_eq!(shop.dispatch().await, 1);
    let second = shop.task(task).await.assigned_to.unwrap();
    assert_ne!(first, second, "a worker that failed is skipped while there are others");
    assert!(workers.iter().any(|worker| worker.id == second));
    let session = shop.session(task).await;
    shop.exits(session, 3).await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.status, TaskStatus::Escalated, "two workers tried: a person decides");
    assert_eq!(detail.escalations.len(), 1);
}

async fn a_stopped_worker_releases_its_task_and_its_workspace_is_kept(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Long work")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let input = WorkerStop { force: false };
    let stopped = shop.fixture.done(&shop.fixture.ada, verbs::WorkerStop { worker: worker.id, input }).await;
    assert_eq!(stopped.status, WorkerStatus::Stopping);
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.task.session), (TaskStatus::Ready, None));
    assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Released);
    assert!(show(&shop.fixture, &shop.fixture.ada, session).await.stopping);
    let other = shop.start(1).await.remove(0);
    assert_eq!(shop.dispatch().await, 1, "at once");
    let detail = shop.detail(task).await;
    assert_eq!(detail.task.assigned_to, Some(other.id));
    assert_eq!(detail.attempts[1].workspace, detail.attempts[0].workspace, "it continues in the other's workspace");
    let next = detail.task.session.unwrap();
    let wanted = |sessions: &[protocol::link::DesiredSession]| sessions.iter().any(|plan| plan.session == next);
    assert!(!wanted(&shop.desired().await.0), "not before the other session has exited");
    shop.exits(session, 0).await;
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Stopped);
    let (sessions, _) = shop.desired().await;
    assert!(wanted(&sessions));
    let brief = &sessions.iter().find(|plan| plan.session == next).unwrap().task.as_ref().unwrap().brief;
    assert!(brief.contains("`codex 1` had this task"), "{brief}");
    assert_eq!(shop.task(task).await.status, TaskStatus::Assigned, "the old session's end is no news");
}

async fn a_providers_limit_pauses_a_worker_until_it_ends(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Ask the model a lot")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.held_up(session, HoldUp::RateLimit, Some(120)).await;
    let paused = shop.worker(worker.id).await;
    assert_eq!(paused.status, WorkerStatus::Paused);
    assert_eq!(paused.until, Some(shop.fixture.store.now().plus_millis(120_000)));
    shop.exits(session, 1).await;
    let detail = shop.detail(task).await;
    assert_eq!(detail.attempts[0].outcome, AttemptOutcome::Released, "a limit counts as no failure");
    assert_eq!(shop.worker(worker.id).await.failures, 0);
    assert_eq!(shop.dispatch().await, 0);
    let due = shop.fixture.store.work_due(&[], Timestamp::from_millis(0)).await.unwrap();
    assert_eq!(due.projects, [(shop.project.id, paused.until.unwrap())]);
    shop.fixture.pass(120_000);
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Working);
    assert!(shop.decided("paused").await && shop.decided("resumed").await);
}

async fn sessions_of_a_worker_that_lost_its_task_change_nothing(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let task = shop.add(vec![plain("Contested")]).await[0];
    shop.dispatch().await;
    let (first, old) = (shop.task(task).await.assigned_to.unwrap(), shop.session(task).await);
    let input = WorkerStop { force: true };
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerStop { worker: first, input }).await;
    shop.dispatch().await;
    let before = shop.task(task).await;
    assert_eq!(before.assigned_to, workers.iter().map(|worker| worker.id).find(|id| *id != first));
    shop.at(old, SessionStatus::Working).await;
    shop.says(old, "I am not dead.").await;
    shop.exits(old, 0).await;
    let after = shop.detail(task).await;
    assert_eq!(after.task, before);
    assert!(after.reports.is_empty());
}

async fn all_workers_stop_at_once(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(3).await;
    let tasks = shop.add(vec![plain("One"), plain("Two of a kind")]).await;
    assert_eq!(shop.dispatch().await, 2);
    let command = verbs::WorkerStopAll { project: shop.project.id, input: WorkerStop { force: false } };
    let stopped = shop.fixture.done(&shop.fixture.ada, command).await;
    assert_eq!(stopped.iter().filter(|worker| worker.status == WorkerStatus::Stopping).count(), 2);
    assert_eq!(stopped.iter().filter(|worker| worker.status == WorkerStatus::Stopped).count(), 1);
    for task in tasks {
        assert_eq!(shop.task(task).await.status, TaskStatus::Ready);
    }
    assert_eq!(shop.dispatch().await, 0);
}
