//! Accepted work: dependants start from it, and it lands.

use domain::{LandMode, LandingState, TaskId, TaskStatus};
use protocol::link::{Changes, FactBody, PublishWork, StartFrom};
use protocol::{Land, Landing, LandingConfigure, LandingFilter, TaskAdd, verbs};
use store::{Caller, EndWait, PublishEnded, PublishResult, StoreError, WorkArrived};

use super::{Shop, plain};
use crate::execution::runner;
use crate::fixture::Fixture;

both!(
    a_dependant_starts_from_accepted_work,
    a_dependant_elsewhere_waits_until_the_work_has_arrived,
    a_dependant_waits_for_the_runner_that_has_the_work,
    conflicting_works_start_no_agent_and_ask_a_person,
    accepted_work_is_published_once_and_enters_the_merge_queue,
    only_accepted_work_lands_and_only_its_owner_asks,
    a_project_can_land_what_is_accepted_by_itself,
);

const COMMIT: &str = "1111111111111111111111111111111111111111";

fn kept() -> Changes {
    let (base, head) = ("0".repeat(40), COMMIT.to_owned());
    Changes { base, head, tree: "t1".into(), kept: Some(COMMIT.into()), ..Default::default() }
}

impl Shop {
    /// Two tasks, of which the second builds on the first, whose work is accepted.
    async fn chain(&mut self) -> [TaskId; 2] {
        let first = TaskAdd { id: Some("one".into()), ..plain("Add sub") };
        let second = TaskAdd { deps: vec!["one".into()], ..plain("Add mul") };
        let tasks = self.add(vec![first, second]).await;
        self.dispatch().await;
        self.ends(tasks[0], "Added sub.").await;
        self.looked_at(tasks[0], Some(kept())).await;
        assert_eq!(self.task(tasks[0]).await.status, TaskStatus::Done);
        [tasks[0], tasks[1]]
    }

    async fn land(&self, caller: &Caller, task: TaskId, push_only: bool) -> Result<Vec<Landing>, StoreError> {
        let input = Land { tasks: vec![task], push_only, ..Default::default() };
        let command = verbs::LandingLand { project: self.project.id, input };
        self.fixture.store.write(caller, None, command).await.map(|done| done.value)
    }

    async fn landings(&self) -> Vec<Landing> {
        self.fixture.store.landings(&self.fixture.ada, LandingFilter::default()).await.unwrap()
    }
}

async fn a_dependant_starts_from_accepted_work(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let [_, second] = shop.chain().await;
    shop.dispatch().await;
    let (sessions, _) = shop.desired().await;
    let [session] = sessions.as_slice() else { panic!("one session is wanted: {sessions:?}") };
    let Some(StartFrom::Works { works }) = &session.workspace.from else { panic!("{:?}", session.workspace) };
    assert_eq!((works[0].title.as_str(), works[0].commit.as_str(), works.len()), ("Add sub", COMMIT, 1));
    assert!(session.prompt.contains("Your workspace starts from this accepted work"), "{}", session.prompt);
    // Its own changes are not compared with what it started from.
    shop.ends(second, "Added mul.").await;
    shop.looked_at(second, Some(Changes { base: COMMIT.into(), ..kept() })).await;
    assert_eq!(shop.task(second).await.status, TaskStatus::Done);
}

async fn a_dependant_elsewhere_waits_until_the_work_has_arrived(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let [_, second] = shop.chain().await;
    let there = runner(&shop.fixture, &shop.fixture.ada, "there", 8).await;
    let input = protocol::WorkerStart { agent: "codex".into(), runner: Some(there), ..Default::default() };
    let started = store::Placed {
        verb: verbs::WorkerStart { project: shop.project.id, input },
        connected: vec![shop.runner, there],
    };
    let workers: Vec<protocol::Worker> = shop.fixture.done(&shop.fixture.ada, started).await;
    let stop = verbs::WorkerStopAll { project: shop.project.id, input: Default::default() };
    shop.fixture.done(&shop.fixture.ada, stop).await;
    let restart = verbs::WorkerRestart { worker: workers[0].id };
    shop.fixture.done(&shop.fixture.ada, restart).await;
    assert_eq!(shop.dispatch_with(&[shop.runner, there]).await, 1);
    let awaiting = shop.fixture.store.awaiting().await.unwrap();
    let [awaited] = awaiting.as_slice() else { panic!("one workspace waits: {awaiting:?}") };
    assert_eq!((awaited.to, awaited.missing[0].1, awaited.wanted), (there, shop.runner, true));
    let wanted = async |shop: &Shop| shop.fixture.store.desired(there).await.unwrap().unwrap().sessions.len();
    assert_eq!(wanted(&shop).await, 0, "the session waits");
    let (workspace, hub) = (awaited.workspace, Caller::hub("mover"));
    let arrived = WorkArrived { workspace, report: awaited.missing[0].0, bundle: "b1".into() };
    shop.fixture.done(&hub, arrived).await;
    let left = shop.fixture.store.awaited_by(workspace).await.unwrap().unwrap();
    assert!(left.missing.is_empty());
    for _ in 0..2 {
        shop.fixture.done(&hub, EndWait { workspace, failed: None }).await;
    }
    assert_eq!(wanted(&shop).await, 1);
    assert_eq!(shop.task(second).await.status, TaskStatus::Assigned);
}

async fn a_dependant_waits_for_the_runner_that_has_the_work(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let [_, second] = shop.chain().await;
    assert_eq!(shop.dispatch_with(&[]).await, 0);
    let why = shop.task(second).await.reason.unwrap_or_default();
    assert!(why.contains("the accepted work of `Add sub` is on runner `box`, which is offline"), "{why}");
    assert_eq!(shop.dispatch().await, 1);
}

async fn conflicting_works_start_no_agent_and_ask_a_person(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let [_, second] = shop.chain().await;
    shop.dispatch().await;
    let session = shop.session(second).await;
    let found = shop.fixture.store.session_detail(&shop.fixture.ada, session).await.unwrap();
    let (first, other) = ("the base branch".to_owned(), "`Add sub`".to_owned());
    let (workspace, paths) = (found.workspace.id, vec!["calc.py".to_owned()]);
    let fact = FactBody::WorksConflict { workspace, first, second: other, paths };
    for _ in 0..2 {
        shop.memory.happened(&shop.fixture, fact.clone()).await;
    }
    let detail = shop.detail(second).await;
    assert_eq!((detail.task.status, detail.escalations.len()), (TaskStatus::Escalated, 1));
    assert!(detail.escalations[0].question.contains("in calc.py"), "{}", detail.escalations[0].question);
}

async fn accepted_work_is_published_once_and_enters_the_merge_queue(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let [first, _] = shop.chain().await;
    let asked = shop.land(&shop.fixture.ada, first, false).await.unwrap();
    let again = shop.land(&shop.fixture.ada, first, false).await.unwrap();
    assert_eq!((again.len(), again[0].id), (1, asked[0].id), "asking twice lands once");
    let publishing = shop.fixture.store.publishing().await.unwrap();
    let [one] = publishing.as_slice() else { panic!("{publishing:?}") };
    assert!(matches!(&one.work, PublishWork::Kept { commit, .. } if commit == COMMIT), "{one:?}");
    assert_eq!((one.runner, one.branch.as_str()), (shop.runner, asked[0].branch.as_str()));
    let done =
        || PublishResult::Done { commit: COMMIT.into(), pull_request: None, default_branch: Some("main".into()) };
    for _ in 0..2 {
        shop.fixture.done(&Caller::hub("lander"), PublishEnded { landing: one.landing, result: done() }).await;
    }
    let landing = shop.landings().await.remove(0);
    assert_eq!((landing.state, landing.target.as_deref()), (LandingState::Queued, Some("main")));
    let candidate = landing.candidate.expect("it is in the merge queue");
    shop.fixture.done(&shop.fixture.ada, verbs::MergeRemove { candidate }).await;
    assert_eq!(shop.landings().await[0].state, LandingState::Refused);
}

async fn only_accepted_work_lands_and_only_its_owner_asks(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let [first, second] = shop.chain().await;
    let refused = shop.land(&shop.fixture.ada, second, false).await.unwrap_err().to_string();
    assert!(refused.contains("only accepted work lands"), "{refused}");
    let refused = shop.land(&shop.fixture.bo, first, false).await.unwrap_err();
    assert!(matches!(refused, StoreError::Forbidden(_)), "{refused:?}");
    let landing = shop.land(&shop.fixture.ada, first, true).await.unwrap().remove(0);
    let result = PublishResult::Refused { why: "the repository declined the push".into() };
    shop.fixture.done(&Caller::hub("lander"), PublishEnded { landing: landing.id, result }).await;
    let landing = shop.landings().await.remove(0);
    assert_eq!(landing.detail.as_deref(), Some("the repository declined the push"));
    let again = shop.land(&shop.fixture.ada, first, true).await.unwrap().remove(0);
    assert_ne!(again.id, landing.id, "a refused landing can be asked for again");
}

async fn a_project_can_land_what_is_accepted_by_itself(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = LandingConfigure { mode: Some(LandMode::PushOnly), ..Default::default() };
    let configure = verbs::LandingConfigure { project: shop.project.id, input };
    shop.fixture.done(&shop.fixture.ada, configure).await;
    shop.start(1).await;
    let [first, _] = shop.chain().await;
    let landings = shop.landings().await;
    let [landing] = landings.as_slice() else { panic!("{landings:?}") };
    assert_eq!((landing.task, landing.push_only, landing.asked_by.is_none()), (Some(first), true, true));
    let wrong = LandingConfigure { target: Some("--upload-pack=x".into()), ..Default::default() };
    let configure = verbs::LandingConfigure { project: shop.project.id, input: wrong };
    assert!(shop.fixture.store.write(&shop.fixture.ada, None, configure).await.is_err());
}
