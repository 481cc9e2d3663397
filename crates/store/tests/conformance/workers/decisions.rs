//! What is decided about a worker is in its history, with the reason.

use domain::{Actor, AuthorKind, SessionId, SessionStatus, TaskStatus, WorkerId, WorkerStatus};
use protocol::{AuditPage, Freeze, TaskReason, TasksAdd, VersionPage, WorkerStart, WorkerUpdate};
use store::{AddTasks, Caller, CancelTask, FreezeFloor, ThawFloor, UpdateWorker, Who};

use super::{Shop, checked, plain};
use crate::floor::{Floor, id};

both!(
    a_failed_session_sends_its_task_to_another_worker,
    a_lost_session_sends_its_task_back,
    a_refused_report_goes_back,
    whoever_stops_everything_or_thaws_is_in_the_history,
    a_raised_budget_lets_a_worker_go_on,
    a_reason_is_of_the_status_that_it_stands_at,
    a_program_that_is_not_there_is_named,
    the_text_of_a_tasks_activity_is_its_authors,
);

impl Shop {
    /// Why this was decided about a worker, as its history says.
    async fn history(&self, worker: WorkerId, what: &str) -> Vec<String> {
        let log = self.floor.store.worker(&self.floor.ada, worker).await.unwrap().log;
        log.into_iter().filter(|entry| entry.what == what).map(|entry| entry.reason).collect()
    }
}

async fn a_failed_session_sends_its_task_to_another_worker(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(2).await;
    let task = shop.add(vec![plain("Do the impossible")]).await[0];
    shop.dispatch().await;
    let first = shop.task(task).await.assigned_to.unwrap();
    let session = shop.session(task).await;
    shop.exits(session, 3).await;
    let why = "its session exited with 3: it goes to another worker, after 1 of 2";
    assert_eq!(shop.history(first, "to_another").await, [why]);
    shop.dispatch().await;
    let second = shop.task(task).await.assigned_to.unwrap();
    let session = shop.session(task).await;
    shop.exits(session, 3).await;
    assert_eq!(shop.history(second, "to_another").await, Vec::<String>::new(), "a person decides");
    assert_eq!(shop.history(second, "escalated").await.len(), 1);
}

async fn a_lost_session_sends_its_task_back(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    let worker = shop.start(1).await[0].id;
    let task = shop.add(vec![plain("Be killed")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    shop.at(session, SessionStatus::Lost).await;
    assert_eq!(shop.task(task).await.status, TaskStatus::Ready);
    let told = shop.history(worker, "session_lost").await;
    assert!(told.len() == 1 && told[0].starts_with("its session was lost"), "{told:?}");
}

async fn a_refused_report_goes_back(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    let worker = shop.start(1).await[0].id;
    let task = shop.add(vec![checked("Write it down")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Done.").await;
    shop.found(task, false, "`out.txt` is empty", None).await;
    let told = shop.history(worker, "sent_back").await;
    assert!(told.len() == 1 && told[0].ends_with("tries: `out.txt` is empty"), "{told:?}");
}

async fn whoever_stops_everything_or_thaws_is_in_the_history(floor: Floor) {
    let shop = Shop::open(floor).await;
    let workers = shop.start(2).await;
    let everywhere = || Freeze { project: None };
    shop.floor.done(&shop.floor.ada, FreezeFloor { input: everywhere() }).await;
    shop.floor.done(&shop.floor.ada, ThawFloor { input: everywhere() }).await;
    for worker in workers {
        let frozen = "Ada stopped everything: it takes nothing until Ada thaws it";
        assert_eq!(shop.history(worker.id, "frozen").await, [frozen]);
        assert_eq!(shop.history(worker.id, "thawed").await, ["Ada thawed it: it takes tasks again"]);
    }
}

async fn a_raised_budget_lets_a_worker_go_on(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    let worker = shop.start(1).await[0].id;
    let budget = |micros| WorkerUpdate { budget_micros: Some(micros), ..Default::default() };
    shop.floor.done(&shop.floor.ada, UpdateWorker { worker, input: budget(1_000) }).await;
    let task = shop.add(vec![plain("Spend it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    shop.costs(session, 1_000).await;
    assert_eq!(shop.worker(worker).await.status, WorkerStatus::Spent);
    shop.floor.done(&shop.floor.ada, UpdateWorker { worker, input: budget(9_000) }).await;
    assert_eq!(shop.history(worker, "resumed").await, ["Ada raised its budget: it takes tasks again"]);
}

async fn a_program_that_is_not_there_is_named(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    let input = WorkerStart { agent: "command".into(), argv: vec!["./agnet.sh".into()], ..Default::default() };
    shop.start_as(&shop.floor.ada, input).await;
    let task = shop.add(vec![plain("Run it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.exits(session, 127).await;
    let reason = shop.detail(task).await.attempts[0].reason.clone().unwrap();
    assert_eq!(reason, "its session exited with 127: `./agnet.sh`, or something that it runs, was not found");
}

async fn the_text_of_a_tasks_activity_is_its_authors(floor: Floor) {
    let shop = Shop::open(floor).await;
    shop.start(1).await;
    let session = SessionId::generate();
    let actor = Actor::Agent { user: id(&shop.floor.ada), project: shop.project.id, session };
    let agent = Caller { who: Who::Actor { actor, name: "Ada".into() }, origin: "192.0.2.9".into() };
    for (author, kind, name) in [(&agent, AuthorKind::Agent, "Ada"), (&shop.floor.bo, AuthorKind::User, "Bo")] {
        let input = TasksAdd { tasks: vec![plain("Remember: Ada said so")] };
        let added = shop.floor.done(author, AddTasks { project: shop.project.id, input }).await;
        let task = added.tasks[0].id;
        shop.dispatch().await;
        let activity = shop.task(task).await.activity.unwrap();
        let page = VersionPage::default();
        let versions = shop.floor.store.activity_versions(&shop.floor.ada, activity, page).await.unwrap();
        let by = (versions[0].author_kind, versions[0].author.name.as_str(), versions[0].author_session);
        assert_eq!(by, (kind, name, author.session()), "the words are not the worker's owner's");
        let entries = shop.floor.store.audit(&shop.floor.ada, AuditPage::default()).await.unwrap();
        let made =
            entries.iter().find(|entry| entry.verb == "activity.create" && entry.subject == activity.to_string());
        assert_eq!(made.unwrap().actor, None, "the hub started it, no person did");
        shop.floor.done(&shop.floor.ada, CancelTask { task, input: TaskReason::default() }).await;
    }
}

async fn a_reason_is_of_the_status_that_it_stands_at(floor: Floor) {
    let mut shop = Shop::open(floor).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write it down")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Done.").await;
    shop.found(task, false, "`out.txt` is empty", None).await;
    let back = shop.task(task).await;
    assert_eq!((back.status.is_held(), back.reason.as_deref()), (true, Some("`out.txt` is empty")));
    shop.finishes(task, "Done now.").await;
    let checks = shop.task(task).await;
    assert_eq!((checks.status, checks.reason), (TaskStatus::Reported, None), "that was said of the report before");
}
