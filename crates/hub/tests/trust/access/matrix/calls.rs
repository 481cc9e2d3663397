//! The call of each row of the table, and what it is about.

use std::sync::atomic::{AtomicU32, Ordering};

use domain::{
    ActivityId, Answered, ApprovalId, EscalationId, GrantId, InviteId, LoginId, MessageId, ObserverId, ProjectId,
    RunnerId, SessionId, TaskId, TokenId, UserId, Visibility, WorkerId, WorkspaceId,
};
use protocol::{
    ActivityCreate, ActivityFilter, ActivityUpdate, ApprovalAnswer, ApprovalFilter, AuditPage, Call, DiffRange,
    EscalationAnswer, EscalationFilter, ExecutionFilter, Freeze, InviteCreate, LogPage, MarkRead, MessagePage,
    MessageText, MetricsPage, ObserverCreate, ProjectCreate, ProjectUpdate, RecordingKeep, RecordingQuery,
    RecordingRange, Rename, RunnerCreate, RunnerUpdate, SessionStop, SessionText, TaskAsk, TaskFilter, TaskHeartbeat,
    TaskReason, TaskRelease, TaskReport, TaskTake, TaskTakeOver, TaskTurn, TasksAdd, TokenCreate, VersionPage,
    WorkConfigure, WorkLogPage, WorkerFilter, WorkerStart, WorkerStop, WorkerUpdate, WorkspaceRestore,
};
use serde_json::json;

use crate::links::plan;

/// What the verbs are asked about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets {
    pub(super) victim: UserId,
    pub(super) project: ProjectId,
    pub(super) activity: ActivityId,
    pub(super) message: MessageId,
    pub(super) observer: ObserverId,
    pub(super) token: TokenId,
    pub(super) login: LoginId,
    pub(super) invite: InviteId,
    pub(super) runner: RunnerId,
    /// A request to the owner that is open, and what they allowed for good.
    pub(super) approval: ApprovalId,
    pub(super) grant: GrantId,
    pub(super) session: SessionId,
    pub(super) workspace: WorkspaceId,
    /// Tasks that a worker of the owner's holds with fence 1, and one that nobody has.
    pub(super) held: [TaskId; 2],
    pub(super) idle: TaskId,
    pub(super) escalation: EscalationId,
    pub(super) worker: WorkerId,
}

impl Targets {
    /// Ids that nothing has.
    pub(super) fn nowhere() -> Self {
        Self {
            victim: UserId::generate(),
            project: ProjectId::generate(),
            activity: ActivityId::generate(),
            message: MessageId::generate(),
            observer: ObserverId::generate(),
            token: TokenId::generate(),
            login: LoginId::generate(),
            invite: InviteId::generate(),
            runner: RunnerId::generate(),
            approval: ApprovalId::generate(),
            grant: GrantId::generate(),
            session: SessionId::generate(),
            workspace: WorkspaceId::generate(),
            held: [TaskId::generate(), TaskId::generate()],
            idle: TaskId::generate(),
            escalation: EscalationId::generate(),
            worker: WorkerId::generate(),
        }
    }
}

fn fresh(word: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{word} {}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The call of a row of the table.
pub(super) fn ask(case: &str, on: &Targets) -> Call {
    let Targets {
        victim, project, activity, message, observer, token, login, invite, runner, session, workspace, ..
    } = *on;
    let Targets { held: [held, spare], idle, escalation, worker, approval, grant, .. } = *on;
    let fence = 1;
    let all = ExecutionFilter::default();
    let within = ExecutionFilter { project: Some(project), ..all };
    let update = |input| Call::ProjectUpdate { project, input };
    match case {
        "me" => Call::Me {},
        "me.rename" => Call::MeRename { input: Rename { name: fresh("renamed") } },
        "user.list" => Call::UserList {},
        "user.show" => Call::UserShow { user: victim },
        "user.disable" => Call::UserDisable { user: victim },
        "user.enable" => Call::UserEnable { user: victim },
        "project.list" => Call::ProjectList {},
        "project.show" => Call::ProjectShow { project },
        "project.create" => {
            Call::ProjectCreate { input: ProjectCreate { content: "another".into(), ..Default::default() } }
        }
        "project.update" => update(ProjectUpdate { content: Some(fresh("text")), ..Default::default() }),
        "project.update/visibility" => {
            update(ProjectUpdate { visibility: Some(Visibility::ReadWrite), ..Default::default() })
        }
        "project.update/execution" => update(ProjectUpdate { share_execution: Some(true), ..Default::default() }),
        "project.update/archive" => update(ProjectUpdate { archive_recordings: Some(true), ..Default::default() }),
        "project.update/retention" => update(ProjectUpdate { retention_days: Some(Some(3)), ..Default::default() }),
        "project.update/code" => update(ProjectUpdate { repositories: Some(Vec::new()), ..Default::default() }),
        "project.update/sandbox" => update(ProjectUpdate { sandbox_others: Some(true), ..Default::default() }),
        "runner.update" => {
            let input = RunnerUpdate { policy: None, sandbox_others: Some(true) };
            Call::RunnerUpdate { runner, input }
        }
        "approval.list" => Call::ApprovalList { filter: ApprovalFilter::default() },
        "approval.show" => Call::ApprovalShow { approval },
        "approval.answer" => Call::ApprovalAnswer { approval, input: ApprovalAnswer { answer: Answered::Once } },
        "grant.list" => Call::GrantList {},
        "grant.revoke" => Call::GrantRevoke { grant },
        "project.delete" => Call::ProjectDelete { project },
        "project.versions" => Call::ProjectVersions { project, page: VersionPage::default() },
        "project.diff" => Call::ProjectDiff { project, range: DiffRange::default() },
        "activity.list" => Call::ActivityList { filter: ActivityFilter::default() },
        "activity.list/project" => Call::ActivityList { filter: ActivityFilter { project: Some(project) } },
        "activity.show" => Call::ActivityShow { activity },
        "activity.create" => {
            Call::ActivityCreate { project, input: ActivityCreate { content: "more".into(), ..Default::default() } }
        }
        "activity.update" => {
            let input = ActivityUpdate { content: Some(fresh("plan")), ..Default::default() };
            Call::ActivityUpdate { activity, input }
        }
        "activity.versions" => Call::ActivityVersions { activity, page: VersionPage::default() },
        "activity.diff" => Call::ActivityDiff { activity, range: DiffRange::default() },
        "chat.history" => Call::ChatHistory { project, page: MessagePage::default() },
        "chat.send" => Call::ChatSend { project, input: MessageText { content: fresh("hello") } },
        "chat.edit" => Call::ChatEdit { message, input: MessageText { content: fresh("edited") } },
        "chat.delete" => Call::ChatDelete { message },
        "chat.read" => Call::ChatRead { project, input: MarkRead { number: 1 } },
        "chat.unread" => Call::ChatUnread {},
        "token.list" => Call::TokenList {},
        "token.create" => Call::TokenCreate { input: TokenCreate { name: "t".into(), expires_at: None } },
        "token.revoke" => Call::TokenRevoke { token },
        "login.list" => Call::LoginList {},
        "login.link" => Call::LoginLink {},
        "login.revoke" => Call::LoginRevoke { login },
        "login.revoke_all" => Call::LoginRevokeAll {},
        "invite.list" => Call::InviteList {},
        "invite.create" => Call::InviteCreate { input: InviteCreate { name: "i".into(), expires_at: None } },
        "invite.revoke" => Call::InviteRevoke { invite },
        "observer.list" => Call::ObserverList { project },
        "observer.create" => {
            Call::ObserverCreate { project, input: ObserverCreate { name: "o".into(), expires_at: None } }
        }
        "observer.revoke" => Call::ObserverRevoke { observer },
        "runner.list" => Call::RunnerList {},
        "runner.create" => Call::RunnerCreate { input: RunnerCreate { name: fresh("runner") } },
        "runner.remove" => Call::RunnerRemove { runner },
        "session.list" => Call::SessionList { filter: all },
        "session.list/project" => Call::SessionList { filter: within },
        "session.show" => Call::SessionShow { session },
        "session.spawn" => Call::SessionSpawn { input: plan(project, "more work") },
        "session.log" => Call::SessionLog { session, page: LogPage::default() },
        "session.send" => Call::SessionSend { session, input: SessionText { text: "go on".into(), submit: true } },
        "session.resume" => Call::SessionResume { session },
        "session.stop" => Call::SessionStop { session, input: SessionStop::default() },
        "workspace.list" => Call::WorkspaceList { filter: all },
        "workspace.list/project" => Call::WorkspaceList { filter: within },
        "workspace.show" => Call::WorkspaceShow { workspace },
        "workspace.diff" => Call::WorkspaceDiff { workspace },
        "workspace.saves" => Call::WorkspaceSaves { workspace },
        "workspace.restore" => Call::WorkspaceRestore { workspace, input: WorkspaceRestore::default() },
        "workspace.clean" => Call::WorkspaceClean { workspace },
        "recording.list" => Call::RecordingList { filter: all },
        "recording.list/project" => Call::RecordingList { filter: within },
        "recording.show" => Call::RecordingShow { session },
        "recording.part" => Call::RecordingPart { session, range: RecordingRange::default() },
        "recording.search" => Call::RecordingSearch { session, query: RecordingQuery { text: "error".into() } },
        "recording.keep" => Call::RecordingKeep { session, input: RecordingKeep { keep: true } },
        "task.list" => Call::TaskList { filter: TaskFilter::default() },
        "task.list/project" => Call::TaskList { filter: TaskFilter { project: Some(project), ..Default::default() } },
        "task.export" => Call::TaskExport { filter: TaskFilter::default() },
        "task.export/project" => {
            Call::TaskExport { filter: TaskFilter { project: Some(project), ..Default::default() } }
        }
        "task.show" => Call::TaskShow { task: held },
        "task.add" => Call::TaskAdd { project, input: tasks(&["more to do"]) },
        "task.take" => Call::TaskTake { project, input: take("another worker") },
        "task.turn" => {
            let input = TaskTurn { reports: Vec::new(), takes: vec![take("one more worker")] };
            Call::TaskTurn { project, input }
        }
        "task.heartbeat" => Call::TaskHeartbeat { task: held, input: TaskHeartbeat { fence, progress: None } },
        "task.ask" => Call::TaskAsk { task: held, input: question(fence) },
        "task.release" => Call::TaskRelease { task: spare, input: TaskRelease { fence, reason: None } },
        "task.report" => {
            let (deliverables, context_score, usage, failed) = (None, None, None, None);
            let summary = "done".into();
            let input = TaskReport { fence, summary, deliverables, context_score, usage, failed };
            Call::TaskReport { task: held, input }
        }
        "task.cancel" => Call::TaskCancel { task: idle, input: TaskReason { reason: None } },
        "task.retry" => Call::TaskRetry { task: idle, input: TaskReason { reason: None } },
        "escalation.list" => Call::EscalationList { filter: EscalationFilter::default() },
        "escalation.list/project" => {
            Call::EscalationList { filter: EscalationFilter { project: Some(project), answered: None } }
        }
        "escalation.show" => Call::EscalationShow { escalation },
        "escalation.answer" => {
            let input = EscalationAnswer { option: None, act: None, text: Some("yes".into()) };
            Call::EscalationAnswer { escalation, input }
        }
        "task.take_over" => {
            let input = TaskTakeOver { agent: Some("codex".into()), ..Default::default() };
            Call::TaskTakeOver { task: idle, input }
        }
        "worker.list" => Call::WorkerList { filter: WorkerFilter::default() },
        "worker.list/project" => Call::WorkerList { filter: WorkerFilter { project: Some(project) } },
        "worker.show" => Call::WorkerShow { worker },
        "worker.update" => {
            Call::WorkerUpdate { worker, input: WorkerUpdate { name: Some(fresh("w")), ..Default::default() } }
        }
        "worker.start" => Call::WorkerStart { project, input: workers() },
        "worker.stop" => Call::WorkerStop { worker, input: WorkerStop::default() },
        "worker.restart" => Call::WorkerRestart { worker },
        "worker.stop_all" => Call::WorkerStopAll { project, input: WorkerStop::default() },
        "worker.remove" => Call::WorkerRemove { worker },
        "work.log" => Call::WorkLog { project, page: WorkLogPage::default() },
        "work.settings" => Call::WorkSettings { project },
        "work.configure" => {
            Call::WorkConfigure { project, input: WorkConfigure { missed: Some(5), ..Default::default() } }
        }
        "work.metrics" => Call::WorkMetrics { project, page: MetricsPage::default() },
        "work.doing" => Call::WorkDoing { project },
        "floor.freeze" => Call::FloorFreeze { input: Freeze { project: None } },
        "floor.freeze/project" => Call::FloorFreeze { input: Freeze { project: Some(project) } },
        "floor.thaw" => Call::FloorThaw { input: Freeze { project: None } },
        "floor.thaw/project" => Call::FloorThaw { input: Freeze { project: Some(project) } },
        "audit.list" => Call::AuditList { page: AuditPage::default() },
        "audit.list/project" => Call::AuditList { page: AuditPage { project: Some(project), ..Default::default() } },
        "presence.list" => Call::PresenceList {},
        other => panic!("the table has a verb that this test cannot ask: {other}"),
    }
}

pub(super) fn tasks(descriptions: &[&str]) -> TasksAdd {
    let task = |description: &&str| serde_json::from_value(json!({ "description": description }));
    TasksAdd { tasks: descriptions.iter().map(task).collect::<Result<_, _>>().expect("tasks") }
}

pub(super) fn take(worker: &str) -> TaskTake {
    TaskTake { task: None, worker: Some(worker.into()), abilities: Vec::new(), wait_seconds: None }
}

pub(super) fn question(fence: u64) -> TaskAsk {
    let (question, context) = ("A secret?".into(), String::new());
    TaskAsk { fence, question, options: Vec::new(), context, give_up: false }
}

/// One worker.
pub(super) fn workers() -> WorkerStart {
    WorkerStart { agent: "codex".into(), ..Default::default() }
}
