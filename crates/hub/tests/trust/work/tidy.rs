//! What was made to check a report is taken away as soon as nobody looks at it any more, by whichever hub can.

use domain::{ProjectId, TaskId, TaskStatus, Visibility, WorkspaceId};
use protocol::link::{DesiredCheck, FactBody, FromRunner, RunnerAnswer, RunnerAsk, ToRunner};
use protocol::{
    Call, Criterion, CriterionResult, Deliverables, EscalationAnswer, Problem, ProblemKind, ProjectCreate, Repository,
    TaskAdd, TaskReason, TaskReport, TaskTake, TaskTakeOver, TasksAdd,
};
use testkit::{Postgres, TestHub, wait_until};

use super::plain;
use crate::support::{Credential, FakeRunner, join, view};

/// A task of Olga's whose worker is somewhere, with a runner of hers that checks what is pushed.
struct Pushed<'a> {
    hub: &'a TestHub,
    olga: Credential,
    task: TaskId,
    project: ProjectId,
    runner: FakeRunner,
}

impl<'a> Pushed<'a> {
    /// Everything at `hub`, but for the runner, which is linked to `near`.
    async fn open(hub: &'a TestHub, near: &TestHub) -> Self {
        let olga = join(hub, "olga").await;
        let runner = FakeRunner::start(near, &olga, "box").await;
        let repositories = vec![Repository { location: "https://example.org/a.git".into(), ..Default::default() }];
        let visibility = Some(Visibility::ReadWrite);
        let input = ProjectCreate { content: "pushed".into(), visibility, repositories, ..Default::default() };
        let project = view!(hub, &olga, Project, Call::ProjectCreate { input }).id;
        let acceptance = vec![Criterion::FileExists { path: "out.txt".into() }];
        let tasks = vec![TaskAdd { acceptance, ..plain("Write out.txt") }];
        let call = Call::TaskAdd { project, input: TasksAdd { tasks } };
        let task = view!(hub, &olga, AddedTasks, call).tasks[0].id;
        Self { hub, olga, task, project, runner }
    }

    /// Takes the task, reports a branch, and answers with the check that the runner is to do.
    async fn report(&mut self) -> DesiredCheck {
        let input = TaskTake { worker: Some("editor".into()), ..Default::default() };
        let taken = view!(self.hub, &self.olga, Taken, Call::TaskTake { project: self.project, input });
        let deliverables = Some(Deliverables { branch: Some("work".into()), ..Default::default() });
        let fence = taken.taken.expect("it is ready").lease.fence;
        let input = TaskReport { fence, summary: "Pushed.".into(), deliverables, ..Default::default() };
        view!(self.hub, &self.olga, Report, Call::TaskReport { task: self.task, input });
        let of = |frame: &ToRunner| match frame {
            ToRunner::Desired { checks, .. } => checks.first().cloned(),
            _ => None,
        };
        of(&self.runner.told("a check", |frame| of(frame).is_some()).await).expect("it is there")
    }

    /// The runner leaves the verdict to a person.
    async fn asks_a_person(&mut self, check: &DesiredCheck) {
        let results = vec![CriterionResult { criterion: 0, passed: None, reason: "look yourself".into() }];
        self.runner.fact(FactBody::Checked { report: check.report, results, changes: None }).await;
        let detail = view!(self.hub, &self.olga, TaskDetail, Call::TaskShow { task: self.task });
        assert_eq!(detail.task.status, TaskStatus::Escalated);
    }

    /// Waits until the runner is asked to take a workspace away, and answers.
    async fn cleans(&mut self, workspace: WorkspaceId, answer: Result<RunnerAnswer, Problem>) {
        let asked = |frame: &ToRunner| match frame {
            ToRunner::Ask { ask: RunnerAsk::Clean { workspace: of }, .. } => *of == workspace,
            _ => false,
        };
        let ToRunner::Ask { id, .. } = self.runner.told("that it is to go", asked).await else { unreachable!() };
        let told = match answer {
            Ok(answer) => FromRunner::Told { id, answer },
            Err(problem) => FromRunner::Refused { id, problem },
        };
        self.runner.tell(&told).await;
    }

    async fn workspaces(&self) -> Vec<protocol::Workspace> {
        view!(self.hub, &self.olga, Workspaces, Call::WorkspaceList { filter: Default::default() })
    }
}

#[tokio::test]
async fn a_retried_task_deletes_the_workspace_of_its_earlier_check() {
    let hub = TestHub::start().await;
    let mut pushed = Pushed::open(&hub, &hub).await;
    let check = pushed.report().await;
    pushed.asks_a_person(&check).await;
    let input = TaskReason { reason: None };
    view!(&hub, &pushed.olga, Task, Call::TaskRetry { task: pushed.task, input });
    pushed.cleans(check.workspace.workspace, Ok(RunnerAnswer::Done)).await;
    wait_until("it is gone", async || pushed.workspaces().await.is_empty().then_some(())).await;
    hub.stop().await;
}

#[tokio::test]
async fn taking_over_a_task_in_check_drops_the_check_and_keeps_unsaved_work() {
    let hub = TestHub::start().await;
    let mut pushed = Pushed::open(&hub, &hub).await;
    let check = pushed.report().await;
    let pete = join(&hub, "pete").await;
    let _petes = FakeRunner::start(&hub, &pete, "petes").await;
    let input = TaskTakeOver { agent: Some("codex".into()), ..Default::default() };
    view!(&hub, &pete, Task, Call::TaskTakeOver { task: pushed.task, input });
    let left = |frame: &ToRunner| matches!(frame, ToRunner::Desired { checks, .. } if checks.is_empty());
    pushed.runner.told("that nothing is to be checked", left).await;
    let refused = Problem::new(ProblemKind::Conflict, "one file is not committed");
    pushed.cleans(check.workspace.workspace, Err(refused)).await;
    let kept = wait_until("it is known why it stays", async || {
        pushed.workspaces().await.into_iter().find(|one| one.id == check.workspace.workspace && one.detail.is_some())
    })
    .await;
    assert_eq!(kept.detail.as_deref(), Some("kept after a check: one file is not committed"));
    hub.stop().await;
}

#[tokio::test]
async fn a_hub_cleans_up_its_runner_after_another_hubs_decision() {
    let database = Postgres::shared().database().await;
    let on = |options: &mut hub::Options| options.database = database.url().to_owned();
    let (one, two) = (TestHub::with(on).await, TestHub::with(on).await);
    let mut pushed = Pushed::open(&one, &two).await;
    let check = pushed.report().await;
    pushed.asks_a_person(&check).await;
    let asked = view!(&one, &pushed.olga, TaskDetail, Call::TaskShow { task: pushed.task }).escalations.remove(0);
    let input = EscalationAnswer { act: Some(domain::AnswerAct::Accept), ..Default::default() };
    view!(&one, &pushed.olga, Escalation, Call::EscalationAnswer { escalation: asked.id, input });
    pushed.cleans(check.workspace.workspace, Ok(RunnerAnswer::Done)).await;
    wait_until("it is gone", async || pushed.workspaces().await.is_empty().then_some(())).await;
    one.stop().await;
    two.stop().await;
}
