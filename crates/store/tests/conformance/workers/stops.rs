//! A person stops a worker's session, and with it the worker.

use domain::{AttemptOutcome, SessionStatus, TaskStatus, WorkerStatus};
use protocol::{Freeze, SessionStop, WorkerStop, verbs};

use super::{Shop, checked, plain};
use crate::fixture::Fixture;

both!(
    stopping_a_session_stops_its_worker_and_frees_its_task,
    a_session_whose_report_is_being_checked_just_exits,
    the_log_names_the_person_who_stopped_a_worker,
);

async fn stop(shop: &Shop, session: domain::SessionId, force: bool) {
    shop.fixture.done(&shop.fixture.ada, verbs::SessionStop { session, input: SessionStop { force } }).await;
}

async fn stopping_a_session_stops_its_worker_and_frees_its_task(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let first = shop.start(1).await.remove(0);
    let task = shop.add(vec![plain("Go astray")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    stop(&shop, session, false).await;
    let detail = shop.detail(task).await;
    assert_eq!((detail.task.status, detail.task.reason.as_deref()), (TaskStatus::Ready, Some("stopped by Ada")));
    let attempt = &detail.attempts[0];
    assert_eq!((attempt.outcome, attempt.reason.as_deref()), (AttemptOutcome::Released, Some("stopped by Ada")));
    let stopping = shop.worker(first.id).await;
    assert_eq!((stopping.status, stopping.failures, stopping.failed), (WorkerStatus::Stopping, 0, 0));
    assert_eq!(shop.dispatch().await, 0, "there is no other worker");
    stop(&shop, session, true).await;
    shop.exits(session, 0).await;
    let stopped = shop.worker(first.id).await;
    assert_eq!((stopped.status, stopped.reason.as_deref()), (WorkerStatus::Stopped, Some("stopped by Ada")));
    assert_eq!(shop.detail(task).await.attempts.len(), 1);
    assert_eq!(shop.dispatch().await, 0, "it is not handed the same task again");
    let said = shop.log().await.into_iter().find(|entry| entry.what.word() == "stopped").expect("it is logged");
    assert_eq!((said.worker, said.task), (Some(first.id), Some(task)));
    assert!(said.reason.contains("Ada") && said.reason.contains("restart"), "{}", said.reason);
    let second = shop.start(1).await.remove(0);
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.task(task).await.assigned_to, Some(second.id), "others may take it");
    let session = shop.session(task).await;
    stop(&shop, session, false).await;
    shop.exits(session, 0).await;
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerRestart { worker: first.id }).await;
    assert_eq!(shop.dispatch().await, 1);
    assert_eq!(shop.task(task).await.assigned_to, Some(first.id), "a person restarted it");
}

async fn a_session_whose_report_is_being_checked_just_exits(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await.remove(0);
    let task = shop.add(vec![checked("Write out.txt")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let held = shop.task(task).await;
    let fence = held.lease.unwrap().fence;
    shop.fixture.done(&shop.fixture.ada, crate::tasks::report(task, fence, "Here it is.")).await;
    stop(&shop, session, false).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Reported, "its report counts");
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Working);
    shop.exits(session, 0).await;
    shop.found(task, true, "it is there", None).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Done);
    assert_eq!(shop.worker(worker.id).await.status, WorkerStatus::Idle);
}

async fn the_log_names_the_person_who_stopped_a_worker(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let workers = shop.start(4).await;
    let task = shop.add(vec![plain("A job")]).await[0];
    shop.dispatch().await;
    let held = shop.task(task).await.assigned_to.unwrap();
    let (ada, project) = (&shop.fixture.ada, shop.project.id);
    let stopping = |worker, force| verbs::WorkerStop { worker, input: WorkerStop { force } };
    shop.fixture.done(ada, stopping(held, false)).await;
    let other = workers.iter().map(|worker| worker.id).find(|id| *id != held).unwrap();
    shop.fixture.done(ada, stopping(other, true)).await;
    let said = async || -> Vec<_> {
        let log = shop.log().await.into_iter();
        log.filter(|entry| entry.what.word() == "stopped")
            .map(|entry| (entry.worker, entry.task, entry.reason))
            .collect()
    };
    let expected = [
        (Some(held), Some(task), "Ada stopped it: it takes no tasks until it is restarted".to_owned()),
        (Some(other), None, "Ada stopped it by force: it takes no tasks until it is restarted".to_owned()),
    ];
    assert_eq!(said().await, expected);
    shop.fixture.done(ada, verbs::WorkerStopAll { project, input: WorkerStop { force: false } }).await;
    assert_eq!(said().await.len(), 4, "only for workers that were not stopped already");

    let input = Freeze { project: Some(project) };
    shop.fixture.done(ada, verbs::FloorFreeze { input: input.clone() }).await;
    shop.fixture.done(ada, verbs::FloorFreeze { input: input.clone() }).await;
    shop.fixture.done(ada, verbs::FloorThaw { input: input.clone() }).await;
    shop.fixture.done(ada, verbs::FloorThaw { input }).await;
    let log = shop.log().await;
    let frozen: Vec<&str> = log
        .iter()
        .filter(|entry| ["frozen", "thawed"].contains(&entry.what.word()))
        .map(|e| e.reason.as_str())
        .collect();
    let expected = [
        "Ada stopped everything of theirs: no worker takes tasks until Ada thaws it",
        "Ada thawed what they had stopped: none of their workers waited for it",
    ];
    assert_eq!(frozen, expected, "once for each, and not for workers that were stopped before");
}
