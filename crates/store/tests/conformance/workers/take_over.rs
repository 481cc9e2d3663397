//! Taking over a colleague's task.

use domain::{
    Action, Actor, AttemptOutcome, HandoffStatus, HandoffStep, RunnerId, SessionId, SessionStatus, TaskId, TaskStatus,
    WorkerKind, WorkerStatus,
};
use protocol::link::{DesiredSession, KeptAll, StartFrom};
use protocol::{
    Handoff, HandoffAck, HandoffFilter, ProjectUpdate, Sandbox, SessionSpawn, Task, TaskRelease, TaskTake,
    TaskTakeOver, WorkerStart, WorkerStop, verbs,
};
use store::{
    Caller, EndMove, HandoffResult, HandoffTold, HandoffWork, HurryMove, Moving, Placed, StoreError, TendHandoff,
};

use super::{Shop, plain};
use crate::execution::{Memory, runner, show, spawn};
use crate::fixture::{Fixture, id};

both!(
    another_persons_worker_continues_a_task,
    the_work_is_transferred_once_the_old_session_has_exited,
    work_that_returns_from_a_colleague_needs_approval,
    work_from_a_sandbox_continues_in_a_sandbox,
    a_take_over_by_the_holder_is_refused_and_a_retry_acts_once,
    another_persons_command_must_be_given_explicitly,
    another_agent_keeps_the_sandbox_unless_one_is_given,
    an_absent_runner_transfers_no_work,
    a_failed_transfer_is_reported,
    an_abandoned_take_over_leaves_the_work_in_place,
    a_finished_task_cannot_be_taken_over,
    a_worker_on_another_runner_gets_the_earlier_work,
    a_worker_starts_over_if_the_earlier_runner_is_away,
    work_that_never_arrived_is_fetched_from_its_runner,
    a_persons_own_workspace_is_not_transferred,
    a_take_over_answers_open_escalations,
    the_next_session_waits_for_the_document_of_the_work_left_behind,
    a_take_over_without_its_document_goes_on,
    nobody_reads_a_colleagues_terminal_by_a_take_over,
);

/// A task in progress in a session of Ada's, and a runner of Bo's.
struct Half {
    shop: Shop,
    task: TaskId,
    old: SessionId,
    theirs: RunnerId,
}

impl Half {
    async fn done(fixture: Fixture) -> Self {
        let mut shop = Shop::open(fixture).await;
        shop.start(1).await;
        let task = shop.add(vec![plain("Half done")]).await[0];
        shop.dispatch().await;
        let old = shop.session(task).await;
        shop.at(old, SessionStatus::Working).await;
        let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
        Self { shop, task, old, theirs }
    }

    fn taking(&self, connected: &[RunnerId]) -> Placed<verbs::TaskTakeOver> {
        self.taking_with(TaskTakeOver::default(), connected)
    }

    fn taking_with(&self, input: TaskTakeOver, connected: &[RunnerId]) -> Placed<verbs::TaskTakeOver> {
        Placed { verb: verbs::TaskTakeOver { task: self.task, input }, connected: connected.to_vec() }
    }

    async fn taken(&self) -> Task {
        self.shop.fixture.done(&self.shop.fixture.bo, self.taking(&[self.shop.runner, self.theirs])).await
    }

    async fn desired(&self) -> Vec<DesiredSession> {
        self.shop.fixture.store.desired(self.theirs).await.unwrap().unwrap().sessions
    }

    async fn moving(&self) -> Moving {
        let all = self.shop.fixture.store.moving().await.unwrap();
        let [moving] = all.as_slice() else { panic!("{all:?}") };
        assert_eq!(self.shop.fixture.store.moving_to(moving.workspace).await.unwrap().as_ref(), Some(moving));
        moving.clone()
    }

    /// Starts a worker of Bo's and stops Ada's.
    async fn handed(&self, connected: &[RunnerId]) {
        let input = WorkerStart { agent: "codex".into(), ..Default::default() };
        let start =
            Placed { verb: verbs::WorkerStart { project: self.shop.project.id, input }, connected: vec![self.theirs] };
        self.shop.fixture.done(&self.shop.fixture.bo, start).await;
        let worker = self.shop.task(self.task).await.assigned_to.unwrap();
        let stop = verbs::WorkerStop { worker, input: WorkerStop { force: false } };
        self.shop.fixture.done(&self.shop.fixture.ada, stop).await;
        assert_eq!(self.shop.dispatch_with(connected).await, 1);
    }

    /// The handoff of the work left behind.
    async fn handoff(&self) -> Handoff {
        let filter = HandoffFilter { session: Some(self.old), ..Default::default() };
        let mut all = self.shop.fixture.store.handoffs(&self.shop.fixture.bo, filter).await.unwrap();
        assert_eq!(all.len(), 1, "{all:?}");
        all.remove(0)
    }

    /// Carries the document of the work left behind as far as it goes; the last thing to do.
    async fn document(&self) -> Option<HandoffWork> {
        let (fixture, hub) = (&self.shop.fixture, Caller::hub("courier"));
        let handoff = fixture.store.open_handoffs().await.unwrap().pop()?;
        loop {
            let tend = TendHandoff { handoff, connected: vec![self.shop.runner, self.theirs] };
            let result = match fixture.done(&hub, tend).await {
                HandoffWork::Again => continue,
                HandoffWork::Record { why, .. } => HandoffResult::Recorded { log: "half of it\n".into(), why },
                HandoffWork::Keep { .. } => HandoffResult::Kept { kept: KeptAll::default() },
                work => return Some(work),
            };
            fixture.done(&hub, HandoffTold { handoff, result }).await;
        }
    }

    async fn end(&self, moving: &Moving, bundle: Option<&str>, note: Option<&str>) {
        self.document().await;
        let (bundle, note) = (bundle.map(str::to_owned), note.map(str::to_owned));
        let command = EndMove { workspace: moving.workspace, bundle, note };
        self.shop.fixture.done(&Caller::hub("mover"), command).await;
    }
}

async fn the_next_session_waits_for_the_document_of_the_work_left_behind(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let input = TaskTakeOver { goal: Some("Mind the tests".into()), ..Default::default() };
    let taking = half.taking_with(input, &[half.shop.runner, half.theirs]);
    let next = half.shop.fixture.done(&half.shop.fixture.bo, taking).await.session.unwrap();
    let begun = half.handoff().await;
    assert_eq!((begun.session, begun.successor, begun.takes_over), (half.old, Some(next), true));
    assert_eq!((begun.status, begun.step), (HandoffStatus::Running, HandoffStep::Write));
    let moving = half.moving().await;
    assert_eq!(half.document().await, Some(HandoffWork::Nothing), "the old session has not ended");
    half.shop.exits(half.old, 0).await;
    half.end(&moving, Some(&"a".repeat(64)), None).await;
    let [desired] = half.desired().await.try_into().unwrap();
    assert_eq!((desired.session, desired.run), (next, true));
    let hash = half.handoff().await.hash.unwrap();
    for part in ["which Bo took over", "Mind the tests", &format!("> hash: {hash}")] {
        assert!(desired.prompt.contains(part), "`{part}` is not in {}", desired.prompt);
    }
    let fixture = &half.shop.fixture;
    let actor = Actor::Agent { user: id(&fixture.bo), project: half.shop.project.id, session: next };
    let ack = verbs::HandoffAck { handoff: begun.id, input: HandoffAck { hash } };
    let done = fixture.done(&Caller::bearer(actor, "Bo", "192.0.2.9"), ack).await;
    assert_eq!((done.status, done.successor), (HandoffStatus::Done, Some(next)));
}

async fn a_take_over_without_its_document_goes_on(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    half.taken().await;
    let moving = half.moving().await;
    let handoff = half.handoff().await;
    half.shop.exits(half.old, 0).await;
    let command = EndMove { workspace: moving.workspace, bundle: Some("a".repeat(64)), note: None };
    half.shop.fixture.done(&Caller::hub("mover"), command).await;
    assert_eq!(half.desired().await, [], "the document is being written");
    half.shop.fixture.pass(80_000);
    assert_eq!(half.document().await, Some(HandoffWork::Over));
    let failed = half.handoff().await;
    assert_eq!((failed.status, failed.step), (HandoffStatus::Failed, HandoffStep::Write));
    assert!(failed.detail.unwrap().contains("without the document"));
    assert_eq!(half.desired().await.len(), 1);
    let cancel = verbs::HandoffCancel { handoff: handoff.id };
    let cancelled = half.shop.fixture.done(&half.shop.fixture.bo, cancel).await;
    assert_eq!(cancelled.status, HandoffStatus::Cancelled, "who takes over decides");
}

async fn nobody_reads_a_colleagues_terminal_by_a_take_over(fixture: Fixture) {
    let half = Half::done(fixture).await;
    let (hub, ada) = (Caller::hub("courier"), &half.shop.fixture.ada);
    half.taken().await;
    let handoff = half.handoff().await.id;
    let tend = || TendHandoff { handoff, connected: vec![half.shop.runner, half.theirs] };
    let work = half.shop.fixture.done(&hub, tend()).await;
    assert!(matches!(work, HandoffWork::Record { runner: None, .. }), "{work:?}");
    let input = ProjectUpdate { share_execution: Some(true), ..Default::default() };
    half.shop.fixture.done(ada, verbs::ProjectUpdate { project: half.shop.project.id, input }).await;
    let work = half.shop.fixture.done(&hub, tend()).await;
    assert!(matches!(work, HandoffWork::Record { runner: Some(_), .. }), "the project shows them: {work:?}");
}

async fn another_persons_worker_continues_a_task(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let worker = half.shop.task(half.task).await.assigned_to.unwrap();
    half.taken().await;
    let (shop, task, theirs) = (&mut half.shop, half.task, half.theirs);
    let after = shop.detail(task).await;
    assert_eq!(after.task.status, TaskStatus::Assigned);
    assert_eq!(after.attempts[0].outcome, AttemptOutcome::TakenOver);
    assert!(show(&shop.fixture, &shop.fixture.ada, half.old).await.stopping);
    let taker = shop.fixture.store.worker(&shop.fixture.bo, after.task.assigned_to.unwrap()).await.unwrap().worker;
    assert_eq!((taker.owner.id, taker.kind, taker.runner), (id(&shop.fixture.bo), WorkerKind::Managed, Some(theirs)));
    assert_eq!(taker.agent, "codex");
    assert_eq!(shop.worker(worker).await.status, WorkerStatus::Idle);
    assert!(shop.decided("taken_over").await);
    shop.exits(half.old, 0).await;
    assert_eq!(shop.detail(task).await.task, after.task);
}

async fn the_work_is_transferred_once_the_old_session_has_exited(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let before = half.shop.detail(half.task).await.attempts[0].workspace.unwrap();
    half.taken().await;
    assert_eq!(half.desired().await, [], "the new session waits");
    let moving = half.moving().await;
    assert_eq!((moving.from, moving.at, moving.to), (before, half.shop.runner, half.theirs));
    assert_eq!((moving.live.as_slice(), moving.wanted), ([half.old].as_slice(), true));
    half.shop.fixture.done(&Caller::hub("mover"), HurryMove { workspace: moving.workspace }).await;
    let (sessions, _) = half.shop.desired().await;
    assert!(sessions.iter().any(|plan| plan.session == half.old && !plan.run && plan.force), "{sessions:?}");
    half.shop.exits(half.old, 0).await;
    assert_eq!((half.moving().await.live, half.desired().await), (vec![], vec![]));
    let bundle = "b".repeat(64);
    half.end(&moving, Some(&bundle), None).await;
    let desired = half.desired().await;
    assert_eq!(desired[0].workspace.from, Some(StartFrom::Bundle { bundle, contained: None }));
    assert!(desired[0].run && desired[0].prompt.contains("Bo took it over"), "{}", desired[0].prompt);
    assert!(desired[0].prompt.contains("was brought to your workspace"), "{}", desired[0].prompt);
    assert!(desired[0].workspace.code_by.is_some(), "it belongs to another person");
    assert_eq!(half.shop.fixture.store.moving().await.unwrap(), []);
    half.end(&moving, None, Some("again")).await;
    assert_eq!(half.desired().await, desired, "the first end counts");
    let attempts = half.shop.detail(half.task).await.attempts;
    assert_eq!(attempts[1].workspace, Some(moving.workspace));
}

async fn work_that_returns_from_a_colleague_needs_approval(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let taken = half.taken().await;
    let there = half.moving().await;
    half.shop.exits(half.old, 0).await;
    half.end(&there, Some(&"b".repeat(64)), None).await;
    // Bo's workspace is created, he changes its files, and his worker stops.
    let session = half.desired().await[0].session;
    let mut his = Memory::new(half.theirs);
    let workspace = half.shop.fixture.store.session_detail(&half.shop.fixture.bo, session).await.unwrap().workspace;
    his.ready(&half.shop.fixture, &workspace).await;
    let stop = verbs::WorkerStop { worker: taken.assigned_to.unwrap(), input: WorkerStop { force: false } };
    half.shop.fixture.done(&half.shop.fixture.bo, stop).await;
    his.at(&half.shop.fixture, session, SessionStatus::Exited).await;
    assert_eq!(half.shop.dispatch_with(&[half.shop.runner, half.theirs]).await, 1, "Ada's worker continues");
    let back = half.moving().await;
    assert_eq!((back.from, back.to), (there.workspace, half.shop.runner));
    half.end(&back, Some(&"e".repeat(64)), None).await;
    let now = half.shop.session(half.task).await;
    let (sessions, _) = half.shop.desired().await;
    let again = sessions.into_iter().find(|plan| plan.session == now).unwrap();
    let by = again.workspace.code_by.as_ref().map(|by| by.user.id);
    assert_eq!(by, Some(id(&half.shop.fixture.bo)), "work that Bo had needs approval");
}

async fn work_from_a_sandbox_continues_in_a_sandbox(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let (ada, sandbox) = (half.shop.fixture.ada.clone(), Sandbox { network: true, home: false });
    let before = half.shop.fixture.store.session(&ada, half.old, Action::SeeExecution).await.unwrap();
    let input = SessionSpawn {
        activity: Some(before.activity),
        workspace: Some(before.workspace),
        agent: "codex".into(),
        sandbox: Some(sandbox.clone()),
        ..Default::default()
    };
    half.taken().await;
    let moving = half.moving().await;
    half.shop.exits(half.old, 0).await;
    half.shop.fixture.done(&ada, spawn(input, &[half.shop.runner])).await;
    let bundle = "d".repeat(64);
    half.end(&moving, Some(&bundle), None).await;
    let desired = half.desired().await;
    let from = StartFrom::Bundle { bundle, contained: Some(sandbox.clone()) };
    assert_eq!((&desired[0].workspace.from, &desired[0].sandbox), (&Some(from), &Some(sandbox)));
    let bo = half.shop.fixture.bo.clone();
    let shown = half.shop.fixture.store.session(&bo, desired[0].session, Action::SeeExecution).await.unwrap();
    assert!(shown.sandbox, "the sandbox is shown");
}

async fn a_take_over_by_the_holder_is_refused_and_a_retry_acts_once(fixture: Fixture) {
    let half = Half::done(fixture).await;
    let bo = &half.shop.fixture.bo;
    let both = [half.shop.runner, half.theirs];
    let key = || Some("take-over".to_owned());
    let first = half.shop.fixture.store.write(bo, key(), half.taking(&both)).await.unwrap();
    let again = half.shop.fixture.store.write(bo, key(), half.taking(&both)).await.unwrap();
    assert_eq!(again.value, first.value, "a retry gets the same answer");
    let named = TaskTakeOver { runner: Some(half.theirs), agent: Some("codex".into()), ..Default::default() };
    for command in [half.taking(&both), half.taking_with(named, &[half.theirs])] {
        let refused = half.shop.fixture.refused(bo, command).await.to_string();
        assert!(refused.contains("`codex 2`, a worker of yours, has it already"), "{refused}");
        assert!(refused.contains("another runner or agent"), "{refused}");
    }
    assert_eq!(half.shop.detail(half.task).await.attempts.len(), 2);
    half.moving().await;
}

async fn another_persons_command_must_be_given_explicitly(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let argv = vec!["sh".to_owned(), "-c".into(), "make".into()];
    let input = WorkerStart { agent: "command".into(), argv: argv.clone(), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let task = shop.add(vec![plain("Make it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    let connected = vec![shop.runner, theirs];
    let taking =
        |input: TaskTakeOver| Placed { verb: verbs::TaskTakeOver { task, input }, connected: connected.clone() };
    for unsaid in [TaskTakeOver::default(), TaskTakeOver { agent: Some("command".into()), ..Default::default() }] {
        let refused = shop.fixture.refused(&shop.fixture.bo, taking(unsaid)).await;
        let StoreError::Invalid { field: "argv", .. } = &refused else { panic!("{refused:?}") };
        let refused = refused.to_string();
        assert!(refused.contains("`command 1` runs a command that Ada chose"), "{refused}");
    }
    assert_eq!(shop.detail(task).await.attempts.len(), 1, "nothing was stopped");
    let said = TaskTakeOver { argv: argv.clone(), ..Default::default() };
    shop.fixture.done(&shop.fixture.bo, taking(said)).await;
    let now = shop.session(task).await;
    assert_eq!(shop.fixture.store.session_detail(&shop.fixture.bo, now).await.unwrap().argv, argv);
    // Another agent needs no command, and runs none of theirs.
    let other = TaskTakeOver { agent: Some("codex".into()), ..Default::default() };
    shop.fixture.done(&shop.fixture.ada, taking(other)).await;
    let now = shop.session(task).await;
    assert_eq!(shop.fixture.store.session_detail(&shop.fixture.ada, now).await.unwrap().argv, Vec::<String>::new());
}

async fn another_agent_keeps_the_sandbox_unless_one_is_given(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let of = |network, home| Some(Sandbox { network, home });
    let argv = vec!["make".to_owned()];
    let input = WorkerStart { agent: "command".into(), argv, sandbox: of(true, true), ..Default::default() };
    shop.start_as(&shop.fixture.ada, input).await;
    let task = shop.add(vec![plain("Make it")]).await[0];
    shop.dispatch().await;
    let session = shop.session(task).await;
    shop.at(session, SessionStatus::Working).await;
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    // The other runner is away each time, so there is no transfer to wait for.
    let taking = |sandbox: Option<Sandbox>, runner: RunnerId| {
        let input = TaskTakeOver { agent: Some("codex".into()), sandbox, ..Default::default() };
        Placed { verb: verbs::TaskTakeOver { task, input }, connected: vec![runner] }
    };
    let runs_in = async |shop: &Shop, runner: RunnerId| {
        let now = shop.session(task).await;
        let sessions = shop.fixture.store.desired(runner).await.unwrap().unwrap().sessions;
        sessions.into_iter().find(|plan| plan.session == now).unwrap().sandbox
    };
    shop.fixture.done(&shop.fixture.bo, taking(None, theirs)).await;
    assert_eq!(runs_in(&shop, theirs).await, of(true, false), "a colleague's choice does not show Bo's home");
    // A session that waits for another one's workspace starts when that one has exited.
    shop.exits(session, 0).await;
    shop.fixture.done(&shop.fixture.ada, taking(of(false, false), shop.runner)).await;
    assert_eq!(runs_in(&shop, shop.runner).await, of(false, false));
}

async fn an_absent_runner_transfers_no_work(fixture: Fixture) {
    let half = Half::done(fixture).await;
    half.shop.fixture.done(&half.shop.fixture.bo, half.taking(&[half.theirs])).await;
    assert_eq!(half.shop.fixture.store.moving().await.unwrap(), []);
    let desired = half.desired().await;
    assert_eq!(desired[0].workspace.from, None);
    assert!(desired[0].prompt.contains("away, so the task starts over"), "{}", desired[0].prompt);
    let reason = half.shop.detail(half.task).await.attempts[0].reason.clone().unwrap();
    assert!(reason.contains("away"), "{reason}");
}

async fn a_failed_transfer_is_reported(fixture: Fixture) {
    let half = Half::done(fixture).await;
    half.taken().await;
    let moving = half.moving().await;
    half.end(&moving, None, Some("it is too large")).await;
    let desired = half.desired().await;
    assert_eq!(desired[0].workspace.from, None);
    assert!(desired[0].prompt.contains("Bo took it over; it is too large"), "{}", desired[0].prompt);
    assert!(half.shop.log().await.iter().any(|entry| entry.reason == "it is too large"));
}

async fn an_abandoned_take_over_leaves_the_work_in_place(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let before = half.shop.detail(half.task).await.attempts[0].workspace.unwrap();
    let worker = half.taken().await.assigned_to.unwrap();
    let moving = half.moving().await;
    half.shop.exits(half.old, 0).await;
    let stop = verbs::WorkerStop { worker, input: WorkerStop { force: false } };
    half.shop.fixture.done(&half.shop.fixture.bo, stop).await;
    assert!(half.desired().await.iter().all(|plan| !plan.run), "it was never started, and will not be");
    assert!(!half.moving().await.wanted);
    half.end(&moving, None, None).await;
    half.shop.dispatch().await;
    let detail = half.shop.detail(half.task).await;
    assert_eq!(detail.attempts[2].workspace, Some(before), "the next worker continues in it");
}

async fn a_finished_task_cannot_be_taken_over(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    shop.start(1).await;
    let task = shop.add(vec![plain("Quick")]).await[0];
    shop.dispatch().await;
    shop.finishes(task, "done").await;
    let command =
        || Placed { verb: verbs::TaskTakeOver { task, input: TaskTakeOver::default() }, connected: vec![shop.runner] };
    assert!(matches!(shop.fixture.refused(&shop.fixture.ada, command()).await, StoreError::Conflict(_)));
    let stranger = Fixture::observer(shop.project.id);
    let refused = shop.fixture.refused(&stranger, command()).await;
    assert!(matches!(refused, StoreError::Forbidden(_)), "{refused:?}");
}

async fn a_worker_on_another_runner_gets_the_earlier_work(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let before = half.shop.detail(half.task).await.attempts[0].workspace.unwrap();
    half.handed(&[half.shop.runner, half.theirs]).await;
    assert_eq!(half.desired().await, [], "the new session waits");
    let moving = half.moving().await;
    assert_eq!((moving.from, moving.at, moving.to, moving.wanted), (before, half.shop.runner, half.theirs, true));
    assert!(half.shop.decided("work_moves").await);
    half.shop.exits(half.old, 0).await;
    assert_eq!(half.moving().await.live, []);
    let bundle = "c".repeat(64);
    half.end(&moving, Some(&bundle), None).await;
    let desired = half.desired().await;
    assert_eq!(desired[0].workspace.from, Some(StartFrom::Bundle { bundle, contained: None }));
    assert!(desired[0].run);
    let attempts = half.shop.detail(half.task).await.attempts;
    assert_eq!(attempts[0].outcome, AttemptOutcome::Released);
    assert_eq!(attempts[1].workspace, Some(moving.workspace));
}

async fn a_worker_starts_over_if_the_earlier_runner_is_away(fixture: Fixture) {
    let half = Half::done(fixture).await;
    half.handed(&[half.theirs]).await;
    assert_eq!(half.shop.fixture.store.moving().await.unwrap(), []);
    let desired = half.desired().await;
    assert_eq!((desired[0].workspace.from.as_ref(), desired[0].run), (None, true));
    assert!(desired[0].prompt.contains("If there is no such branch here"), "{}", desired[0].prompt);
}

async fn work_that_never_arrived_is_fetched_from_its_runner(fixture: Fixture) {
    let mut half = Half::done(fixture).await;
    let before = half.shop.detail(half.task).await.attempts[0].workspace.unwrap();
    half.handed(&[half.shop.runner, half.theirs]).await;
    let moving = half.moving().await;
    half.shop.exits(half.old, 0).await;
    half.end(&moving, Some(&"d".repeat(64)), None).await;
    // Bo's worker stops before its workspace is created.
    let worker = half.shop.task(half.task).await.assigned_to.unwrap();
    let stop = verbs::WorkerStop { worker, input: WorkerStop { force: false } };
    half.shop.fixture.done(&half.shop.fixture.bo, stop).await;
    let third = runner(&half.shop.fixture, &half.shop.fixture.bo, "third", 4).await;
    let input = WorkerStart { agent: "codex".into(), runner: Some(third), ..Default::default() };
    let start = Placed { verb: verbs::WorkerStart { project: half.shop.project.id, input }, connected: vec![third] };
    half.shop.fixture.done(&half.shop.fixture.bo, start).await;
    assert_eq!(half.shop.dispatch_with(&[half.shop.runner, half.theirs, third]).await, 1);
    let moving = half.moving().await;
    assert_eq!((moving.from, moving.to), (before, third));
}

async fn a_persons_own_workspace_is_not_transferred(fixture: Fixture) {
    let mut shop = Shop::open(fixture).await;
    let input = SessionSpawn { project: Some(shop.project.id), agent: "codex".into(), ..Default::default() };
    let mine = shop.fixture.done(&shop.fixture.ada, spawn(input, &[shop.runner])).await;
    shop.at(mine.id, SessionStatus::Working).await;
    let task = shop.add(vec![plain("Taken in passing")]).await[0];
    let actor = Actor::Agent { user: id(&shop.fixture.ada), project: shop.project.id, session: mine.id };
    let agent = Caller::bearer(actor, "Ada", "192.0.2.9");
    let input = TaskTake { task: None, worker: None, abilities: vec![], wait_seconds: None };
    let held = shop.fixture.done(&agent, verbs::TaskTake { project: shop.project.id, input }).await.taken.unwrap();
    let input = TaskRelease { fence: held.lease.fence, reason: None };
    shop.fixture.done(&agent, verbs::TaskRelease { task, input }).await;
    assert_eq!(shop.detail(task).await.attempts[0].workspace, Some(mine.workspace));
    let theirs = runner(&shop.fixture, &shop.fixture.bo, "theirs", 4).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let start = Placed { verb: verbs::WorkerStart { project: shop.project.id, input }, connected: vec![theirs] };
    shop.fixture.done(&shop.fixture.bo, start).await;
    assert_eq!(shop.dispatch_with(&[shop.runner, theirs]).await, 1);
    assert_eq!(shop.fixture.store.moving().await.unwrap(), []);
}

async fn a_take_over_answers_open_escalations(fixture: Fixture) {
    let half = Half::done(fixture).await;
    let fence = half.shop.task(half.task).await.lease.unwrap().fence;
    let (question, options) = ("Which one?".to_owned(), vec![]);
    let input = protocol::TaskAsk { fence, question, options, context: String::new(), give_up: true };
    half.shop.fixture.done(&half.shop.fixture.ada, verbs::TaskAsk { task: half.task, input }).await;
    assert_eq!(half.shop.task(half.task).await.status, TaskStatus::Escalated);
    let input = TaskTakeOver { agent: Some("codex".into()), ..Default::default() };
    let taking = half.taking_with(input, &[half.shop.runner, half.theirs]);
    half.shop.fixture.done(&half.shop.fixture.bo, taking).await;
    let detail = half.shop.detail(half.task).await;
    let by = detail.escalations[0].answered_by.as_ref().map(|by| by.name.as_str());
    assert_eq!((detail.task.status, by), (TaskStatus::Assigned, Some("Bo")));
}
