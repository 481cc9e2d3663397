//! Workers: starting and stopping them, handing out tasks, reacting to facts, and the log of decisions.

mod away;
mod breaker;
mod budget;
mod checked_out;
mod checks;
mod conflicts;
mod decisions;
mod evidence;
mod filled_in;
mod flow;
mod freeze;
mod go_on;
mod hand_out;
mod landing;
mod lines;
mod lost;
mod metrics;
mod outages;
mod reviews;
mod scale;
mod settings;
mod silent;
mod start;
mod stops;
mod take_over;
mod told;
mod unjudged;

use domain::{HoldUp, RunnerId, SessionId, SessionStatus, TaskId, Timestamp, Visibility, WorkerId, WorkspaceStatus};
use protocol::link::{Changes, DesiredCheck, DesiredSession, EntryFacts, FactBody, FileFacts, LineFacts, WorkFacts};
use protocol::{
    Criterion, Project, SessionState, Task, TaskAdd, TaskDetail, TasksAdd, Usage, WorkConfigure, WorkEntry,
    WorkLogPage, Worker, WorkerStart, verbs,
};
use store::{Caller, Dispatch, Placed};

use crate::execution::{Memory, project, runner};
use crate::fixture::Fixture;
use crate::tasks::sound;

/// A project of Ada's with one runner of hers.
pub(crate) struct Shop {
    pub(crate) fixture: Fixture,
    pub(crate) project: Project,
    pub(crate) runner: RunnerId,
    pub(crate) memory: Memory,
}

/// A task without criteria.
pub(crate) fn plain(description: &str) -> TaskAdd {
    TaskAdd { description: description.into(), ..Default::default() }
}

/// A commit that work is described against.
pub(crate) const FORK: &str = "1111111111111111111111111111111111111111";

/// The changes of a file that another commit has.
pub(crate) fn edit(path: &str, content: &str, hunks: Vec<(u32, u32, String)>) -> FileFacts {
    let mode = || "100644".to_owned();
    FileFacts {
        path: path.into(),
        from: None,
        before: Some(mode()),
        after: Some(EntryFacts { mode: mode(), content: content.into() }),
        lines: LineFacts::Changed { hunks },
        symbols: vec![],
    }
}

/// Work against a commit.
pub(crate) fn work(against: &str, files: Vec<FileFacts>) -> WorkFacts {
    WorkFacts { against: against.into(), files, gone: vec![], truncated: false }
}

/// A task with a criterion that a runner checks.
pub(crate) fn checked(description: &str) -> TaskAdd {
    let acceptance = vec![Criterion::FileExists { path: "out.txt".into() }];
    TaskAdd { acceptance, ..plain(description) }
}

impl Shop {
    pub(crate) async fn open(fixture: Fixture) -> Self {
        let project = project(&fixture, Visibility::ReadWrite, false).await;
        let runner = runner(&fixture, &fixture.ada, "box", 8).await;
        Self { fixture, project, runner, memory: Memory::new(runner) }
    }

    /// Starts workers of Ada's.
    pub(crate) async fn start(&self, count: u32) -> Vec<Worker> {
        let input = WorkerStart { agent: "codex".into(), count: Some(count), ..Default::default() };
        self.start_as(&self.fixture.ada, input).await
    }

    pub(crate) async fn start_as(&self, caller: &Caller, input: WorkerStart) -> Vec<Worker> {
        self.fixture.done(caller, self.starting(input)).await
    }

    pub(crate) fn starting(&self, input: WorkerStart) -> Placed<verbs::WorkerStart> {
        Placed { verb: verbs::WorkerStart { project: self.project.id, input }, connected: vec![self.runner] }
    }

    /// Adds tasks.
    pub(crate) async fn add(&self, tasks: Vec<TaskAdd>) -> Vec<TaskId> {
        let command = verbs::TaskAdd { project: self.project.id, input: TasksAdd { tasks } };
        self.fixture.done(&self.fixture.ada, command).await.tasks.iter().map(|task| task.id).collect()
    }

    /// Hands out tasks; returns how many.
    pub(crate) async fn dispatch(&self) -> u32 {
        self.dispatch_with(&[self.runner]).await
    }

    pub(crate) async fn dispatch_with(&self, connected: &[RunnerId]) -> u32 {
        let command = Dispatch { project: self.project.id, connected: connected.to_vec(), heard: connected.to_vec() };
        let handed = self.fixture.done(&Caller::hub("foreman"), command).await.handed;
        sound(&mut self.fixture.raw().await, self.project.id).await;
        handed
    }

    pub(crate) async fn configure(&self, input: WorkConfigure) {
        self.fixture.done(&self.fixture.ada, verbs::WorkConfigure { project: self.project.id, input }).await;
    }

    pub(crate) async fn detail(&self, task: TaskId) -> TaskDetail {
        self.fixture.store.task_detail(&self.fixture.ada, task).await.unwrap()
    }

    pub(crate) async fn task(&self, task: TaskId) -> Task {
        self.detail(task).await.task
    }

    pub(crate) async fn worker(&self, worker: WorkerId) -> Worker {
        self.fixture.store.worker(&self.fixture.ada, worker).await.unwrap().worker
    }

    /// The current session of a task.
    pub(crate) async fn session(&self, task: TaskId) -> SessionId {
        self.task(task).await.session.expect("a session works on it")
    }

    /// The log of decisions, oldest first.
    pub(crate) async fn log(&self) -> Vec<WorkEntry> {
        let page = WorkLogPage::default();
        let mut log = self.fixture.store.work_log(&self.fixture.ada, self.project.id, page).await.unwrap();
        log.reverse();
        log
    }

    pub(crate) async fn decided(&self, what: &str) -> bool {
        self.log().await.iter().any(|entry| entry.what.word() == what)
    }

    /// A session reports this status.
    pub(crate) async fn at(&mut self, session: SessionId, status: SessionStatus) {
        let workspace = self.fixture.store.session_detail(&self.fixture.ada, session).await.unwrap().workspace;
        if workspace.status == WorkspaceStatus::Preparing {
            self.memory.ready(&self.fixture, &workspace).await;
        }
        self.memory.at(&self.fixture, session, status).await;
    }

    /// A session's process exits.
    pub(crate) async fn exits(&mut self, session: SessionId, code: i32) {
        self.exited(session, code, self.fixture.store.now()).await;
    }

    /// A session's process exited a while ago.
    pub(crate) async fn exited(&mut self, session: SessionId, code: i32, since: Timestamp) {
        let state = SessionState { status: SessionStatus::Exited, detail: None, code: Some(code), signal: None, since };
        self.memory.happened(&self.fixture, FactBody::SessionState { session, state }).await;
    }

    pub(crate) async fn says(&mut self, session: SessionId, text: &str) {
        self.memory.happened(&self.fixture, FactBody::SessionSaid { session, text: text.into() }).await;
    }

    /// A session is held up, through no fault of its task.
    pub(crate) async fn held_up(&mut self, session: SessionId, cause: HoldUp, retry_after_seconds: Option<u64>) {
        let (message, login) = (Some("the agent's own words".into()), Some("codex login".into()));
        let fact = FactBody::SessionLimited { session, retry_after_seconds, cause: Some(cause), message, login };
        self.memory.happened(&self.fixture, fact).await;
    }

    /// A session's model answers.
    pub(crate) async fn progresses(&mut self, session: SessionId) {
        self.memory.happened(&self.fixture, FactBody::SessionProgress { session }).await;
    }

    /// A session reports its total cost so far.
    pub(crate) async fn costs(&mut self, session: SessionId, micros: u64) {
        let usage = Usage { input_tokens: 10, cached_tokens: 0, output_tokens: 5, cost_micros: Some(micros) };
        let fact = FactBody::SessionUsage { session, usage, model: None, conversation: Some("thread-1".into()) };
        self.memory.happened(&self.fixture, fact).await;
    }

    /// The agent works, reports, and exits successfully; a task without criteria conflicts with no other output.
    pub(crate) async fn finishes(&mut self, task: TaskId, said: &str) {
        self.ends(task, said).await;
        let words_only = |criteria: &[Criterion]| criteria.iter().all(|one| matches!(one, Criterion::Text { .. }));
        if words_only(&self.task(task).await.acceptance) {
            self.looked_at(task, None).await;
        }
    }

    /// The agent works, reports, and exits successfully.
    pub(crate) async fn ends(&mut self, task: TaskId, said: &str) {
        let session = self.session(task).await;
        self.at(session, SessionStatus::Working).await;
        self.says(session, said).await;
        self.exits(session, 0).await;
    }

    /// The runner reports the changes of a task without criteria.
    pub(crate) async fn looked_at(&mut self, task: TaskId, changes: Option<Changes>) {
        let report = self.pending(task).await;
        self.memory.happened(&self.fixture, FactBody::Checked { report, results: Vec::new(), changes }).await;
    }

    /// The runner's desired state.
    pub(crate) async fn desired(&self) -> (Vec<DesiredSession>, Vec<DesiredCheck>) {
        let desired = self.fixture.store.desired(self.runner).await.unwrap().unwrap();
        (desired.sessions, desired.checks)
    }
}
