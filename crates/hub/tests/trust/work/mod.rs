//! Work is handed out by the hub itself: from a task to a session and back, over real links.

mod evidence;
mod flow;
mod tidy;
mod trouble;

use domain::{ProjectId, SessionId, TaskId, Visibility, WorkerId};
use protocol::link::{DesiredCheck, DesiredSession, FactBody, ToRunner};
use protocol::{Call, SessionState, TaskAdd, TaskDetail, TasksAdd, WorkConfigure, Worker, WorkerStart};
use testkit::TestHub;

use crate::links::project;
use crate::support::runner::state;
use crate::support::{Credential, FakeRunner, join, view};

/// Olga's project, with a runner of hers.
pub(crate) struct Shop {
    pub(crate) hub: TestHub,
    pub(crate) olga: Credential,
    pub(crate) project: ProjectId,
    pub(crate) runner: FakeRunner,
}

/// A task that is accepted as it is.
pub(crate) fn plain(description: &str) -> TaskAdd {
    TaskAdd { description: description.into(), ..Default::default() }
}

impl Shop {
    pub(crate) async fn new() -> Self {
        let hub = TestHub::start().await;
        let olga = join(&hub, "olga").await;
        let runner = FakeRunner::start(&hub, &olga, "box").await;
        let project = project(&hub, &olga, Visibility::ReadWrite, true).await;
        Self { hub, olga, project, runner }
    }

    pub(crate) async fn start(&self, count: u32) -> Vec<Worker> {
        let input = WorkerStart {
            agent: "codex".into(),
            count: Some(count),
            runner: Some(self.runner.id),
            ..Default::default()
        };
        view!(&self.hub, &self.olga, Workers, Call::WorkerStart { project: self.project, input })
    }

    pub(crate) async fn add(&self, tasks: Vec<TaskAdd>) -> Vec<TaskId> {
        let call = Call::TaskAdd { project: self.project, input: TasksAdd { tasks } };
        view!(&self.hub, &self.olga, AddedTasks, call).tasks.iter().map(|task| task.id).collect()
    }

    pub(crate) async fn configure(&self, input: WorkConfigure) {
        view!(&self.hub, &self.olga, WorkSettings, Call::WorkConfigure { project: self.project, input });
    }

    pub(crate) async fn task(&self, task: TaskId) -> TaskDetail {
        view!(&self.hub, &self.olga, TaskDetail, Call::TaskShow { task })
    }

    pub(crate) async fn worker(&self, worker: WorkerId) -> Worker {
        view!(&self.hub, &self.olga, WorkerDetail, Call::WorkerShow { worker }).worker
    }

    /// What was decided, in any order.
    pub(crate) async fn decided(&self, what: &str) -> bool {
        let call = Call::WorkLog { project: self.project, page: Default::default() };
        view!(&self.hub, &self.olga, WorkLog, call).iter().any(|entry| entry.what.word() == what)
    }

    /// The session that the runner is to start for a task.
    pub(crate) async fn session_of(&mut self, task: TaskId, but: &[SessionId]) -> DesiredSession {
        session_of(&mut self.runner, task, but).await
    }

    /// A session's process ended.
    pub(crate) async fn exits(&mut self, session: SessionId, code: i32) {
        exits(&mut self.runner, session, code).await;
    }

    pub(crate) async fn says(&mut self, session: SessionId, text: &str) {
        self.runner.fact(FactBody::SessionSaid { session, text: text.into() }).await;
    }

    /// The check that the runner is to do for a task.
    pub(crate) async fn check_of(&mut self, task: TaskId) -> DesiredCheck {
        let of = |frame: &ToRunner| match frame {
            ToRunner::Desired { checks, .. } => checks.iter().find(|check| check.task == task).cloned(),
            _ => None,
        };
        let frame = self.runner.told("a check", |frame| of(frame).is_some()).await;
        of(&frame).expect("it is there")
    }
}

/// The session that a runner is to start for a task, other than these.
pub(crate) async fn session_of(runner: &mut FakeRunner, task: TaskId, but: &[SessionId]) -> DesiredSession {
    let of = |plan: &DesiredSession| {
        plan.run && !but.contains(&plan.session) && plan.task.as_ref().is_some_and(|of| of.task == task)
    };
    let (_, sessions, _) = runner.desired("a session for the task", |sessions| sessions.iter().any(of)).await;
    sessions.into_iter().find(of).expect("it is there")
}

/// A session's process ended; one that ended well said so.
pub(crate) async fn exits(runner: &mut FakeRunner, session: SessionId, code: i32) {
    if code == 0 {
        runner.fact(FactBody::SessionSaid { session, text: "I did it.".into() }).await;
    }
    let state = SessionState { code: Some(code), ..state(domain::SessionStatus::Exited) };
    runner.fact(FactBody::SessionState { session, state }).await;
}
