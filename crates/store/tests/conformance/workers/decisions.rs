//! Decisions about a worker are in its history, with their reasons.

use domain::{Actor, AuthorKind, SessionId, SessionStatus, TaskStatus, WorkerId, WorkerStatus};
use protocol::link::FactBody;
use protocol::{
    AuditPage, Freeze, SessionState, TaskReason, TasksAdd, VersionPage, WorkConfigure, WorkerStart, WorkerUpdate, verbs,
};
use store::{Caller, ShowEvidence, Who};

use super::{Shop, checked, plain};
use crate::fixture::{Fixture, id};

both!(
    a_failed_session_sends_its_task_to_another_worker,
    a_lost_session_sends_its_task_back,
    a_refused_report_goes_back,
    freezes_and_thaws_are_in_the_history_with_their_author,
    a_raised_budget_lets_a_worker_continue,
    a_reason_belongs_to_its_status,
    a_missing_program_is_named,
    only_people_with_access_to_a_session_see_why_it_failed,
    the_text_of_a_tasks_activity_belongs_to_its_author,
);

impl Shop {
    /// The reason for a decision, from a worker's history.
    async fn history(&self, worker: WorkerId, what: &str) -> Vec<String> {
        let log = self.fixture.store.worker(&self.fixture.ada, worker).await.unwrap().log;
        log.into_iter().filter(|entry| entry.what.word() == what).map(|entry| entry.reason).collect()
    }
}

async fn a_failed_session_sends_its_task_to_another_worker(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
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

async fn a_lost_session_sends_its_task_back(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
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

async fn a_refused_report_goes_back(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await[0].id;
    let task = shop.add(vec![checked("Write it down")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Done.").await;
    shop.found(task, false, "`out.txt` is empty", None).await;
    let told = shop.history(worker, "sent_back").await;
    assert!(told.len() == 1 && told[0].ends_with("tries: `out.txt` is empty"), "{told:?}");
}

async fn freezes_and_thaws_are_in_the_history_with_their_author(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    let workers = shop.start(2).await;
    let everywhere = || Freeze { project: None };
    shop.fixture.done(&shop.fixture.ada, verbs::FloorFreeze { input: everywhere() }).await;
    shop.fixture.done(&shop.fixture.ada, verbs::FloorThaw { input: everywhere() }).await;
    for worker in workers {
        let frozen = "Ada stopped everything: it takes no tasks until Ada thaws it";
        assert_eq!(shop.history(worker.id, "frozen").await, [frozen]);
        assert_eq!(shop.history(worker.id, "thawed").await, ["Ada thawed it: it takes tasks again"]);
    }
}

async fn a_raised_budget_lets_a_worker_continue(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let worker = shop.start(1).await[0].id;
    let budget = |micros| WorkerUpdate { budget_micros: Some(micros), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerUpdate { worker, input: budget(1_000) }).await;
    let task = shop.add(vec![plain("Spend it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    shop.costs(session, 1_000).await;
    assert_eq!(shop.worker(worker).await.status, WorkerStatus::Spent);
    shop.fixture.done(&shop.fixture.ada, verbs::WorkerUpdate { worker, input: budget(9_000) }).await;
    assert_eq!(shop.history(worker, "resumed").await, ["Ada raised its budget: it takes tasks again"]);
}

async fn a_missing_program_is_named(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = WorkerStart { agent: "command".into(), argv: vec!["./agnet.sh".into()], ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let task = shop.add(vec![plain("Run it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.exits(session, 127).await;
    let detail = shop.detail(task).await;
    let open = "its session exited with 127: its program, or something that it runs, was not found";
    assert_eq!(detail.attempts[0].reason.clone().unwrap(), format!("{open}\nit ran `./agnet.sh`"));
    let theirs = shop.fixture.store.task_detail(&shop.fixture.bo, task).await.unwrap();
    assert_eq!(theirs.attempts[0].reason.as_deref(), Some(open), "only people with access see a command line");
}

async fn only_people_with_access_to_a_session_see_why_it_failed(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    // Each worker fails, and then a person is asked.
    shop.configure(WorkConfigure { workers_per_task: Some(3), ..Default::default() }).await;
    shop.start(3).await;
    let task = shop.add(vec![plain("Set it up")]).await[0];
    let secret = "`make setup` ended with 2; its output is in /home/ada/workspaces/wsp_0/setup.log";
    let open = ["its session could not be started", "its session exited with 1", "its workspace could not be made"];
    for (number, code) in [None, Some(1), None].into_iter().enumerate() {
        shop.dispatch().await;
        let session = shop.session(task).await;
        if number == 2 {
            let workspace = shop.detail(task).await.attempts[number].workspace.unwrap();
            let detail = secret.to_owned();
            shop.memory.happened(&shop.fixture, FactBody::WorkspaceFailed { workspace, detail }).await;
        }
        let (detail, since) = (Some(secret.to_owned()), shop.fixture.store.now());
        let state = SessionState { status: SessionStatus::Exited, detail, code, signal: None, since };
        shop.memory.happened(&shop.fixture, FactBody::SessionState { session, state }).await;
    }
    let mine = shop.detail(task).await;
    for (attempt, open) in mine.attempts.iter().zip(open) {
        assert_eq!(attempt.reason.as_deref(), Some(format!("{open}\n{secret}").as_str()));
    }
    assert!(mine.escalations[0].context.text.contains(secret), "{:?}", mine.escalations[0]);
    let missing = Some("the runner could not read /home/ada/workspaces/wsp_0".to_owned());
    let escalation = mine.escalations[0].id;
    let evidence = ShowEvidence { escalation, screen: None, diff: None, missing };
    shop.fixture.done(&Caller::hub("test"), evidence).await;
    for caller in [&shop.fixture.bo, &Fixture::observer(shop.project.id)] {
        let store = &shop.fixture.store;
        let theirs = store.task_detail(caller, task).await.unwrap();
        for (attempt, open) in theirs.attempts.iter().zip(open) {
            assert_eq!(attempt.reason.as_deref(), Some(open));
        }
        assert_eq!(theirs.attempts.len(), 3);
        let log = store.work_log(caller, shop.project.id, Default::default()).await.unwrap();
        let state = store.state(caller).await.unwrap().1;
        let all = serde_json::to_string(&(theirs, log, state)).unwrap();
        assert!(!all.contains("/home/ada") && !all.contains("make setup"), "{caller:?}: {all}");
    }
    for event in shop.fixture.heard().iter().filter(|event| event.execution_of.is_none()) {
        let text = serde_json::to_string(&event.body).unwrap();
        assert!(!text.contains("/home/ada"), "{text}");
    }
}

async fn the_text_of_a_tasks_activity_belongs_to_its_author(fixture: Fixture) {
    let shop = Shop::open(fixture).await;
    shop.start(1).await;
    let session = SessionId::generate();
    let actor = Actor::Agent { user: id(&shop.fixture.ada), project: shop.project.id, session };
    let agent = Caller { who: Who::Actor { actor, name: "Ada".into() }, origin: "192.0.2.9".into(), by_agent: false };
    for (author, kind, name) in [(&agent, AuthorKind::Agent, "Ada"), (&shop.fixture.bo, AuthorKind::User, "Bo")] {
        let input = TasksAdd { tasks: vec![plain("Remember: Ada said so")] };
        let added = shop.fixture.done(author, verbs::TaskAdd { project: shop.project.id, input }).await;
        let task = added.tasks[0].id;
        shop.dispatch().await;
        let activity = shop.task(task).await.activity.unwrap();
        let page = VersionPage::default();
        let versions = shop.fixture.store.activity_versions(&shop.fixture.ada, activity, page).await.unwrap();
        let by = (versions[0].author_kind, versions[0].author.name.as_str(), versions[0].author_session);
        assert_eq!(by, (kind, name, author.session()), "the text is not by the worker's owner");
        let entries = shop.fixture.store.audit(&shop.fixture.ada, AuditPage::default()).await.unwrap();
        let made =
            entries.iter().find(|entry| entry.verb == "activity.create" && entry.subject == activity.to_string());
        assert_eq!(made.unwrap().actor, None, "the hub started it, no person did");
        shop.fixture.done(&shop.fixture.ada, verbs::TaskCancel { task, input: TaskReason::default() }).await;
    }
}

async fn a_reason_belongs_to_its_status(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![checked("Write it down")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "Done.").await;
    shop.found(task, false, "`out.txt` is empty", None).await;
    let back = shop.task(task).await;
    assert_eq!((back.status.is_held(), back.reason.as_deref()), (true, Some("`out.txt` is empty")));
    shop.finishes(task, "Done now.").await;
    let checks = shop.task(task).await;
    assert_eq!(
        (checks.status, checks.reason),
        (TaskStatus::Reported, None),
        "that reason belonged to the earlier report"
    );
}
