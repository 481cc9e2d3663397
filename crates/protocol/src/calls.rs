//! The verbs: one enum for what is asked, one for what is answered.

use domain::{
    ActivityId, ApprovalId, EscalationId, GrantId, InviteId, LoginId, MessageId, ObserverId, ProjectId, RunnerId,
    SessionId, TaskId, TokenId, UserId, WorkerId, WorkspaceId,
};
use serde::{Deserialize, Serialize, Serializer};
use ts_rs::TS;

use crate::{
    Activity, ActivityCreate, ActivityUpdate, AddedTasks, Approval, ApprovalAnswer, ApprovalFilter, AuditEntry,
    AuditPage, Diff, DiffRange, DoingWhat, Escalation, EscalationAnswer, EscalationFilter, ExecutionFilter, Freeze,
    Frozen, Grant, Invite, InviteCreate, Lease, LogPage, Login, LoginLink, MarkRead, Me, Message, MessagePage,
    MessageText, Metrics, MetricsPage, NewInvite, NewObserver, NewRunner, NewToken, Observer, ObserverCreate,
    PresenceEntry, Project, ProjectCreate, ProjectUpdate, RecordingDetail, RecordingHits, RecordingKeep, RecordingPart,
    RecordingQuery, RecordingRange, Rename, Report, Runner, RunnerCreate, RunnerUpdate, Save, Session, SessionDetail,
    SessionLog, SessionSpawn, SessionStop, SessionText, Taken, Task, TaskAsk, TaskDetail, TaskFilter, TaskHeartbeat,
    TaskLine, TaskReason, TaskRelease, TaskReport, TaskTake, TaskTakeOver, TaskTurn, TasksAdd, Token, TokenCreate,
    Turned, Unread, User, Version, VersionPage, WorkConfigure, WorkEntry, WorkLogPage, WorkSettings, Worker,
    WorkerDetail, WorkerFilter, WorkerStart, WorkerStop, WorkerUpdate, Workspace, WorkspaceDiff, WorkspaceRestore,
};

macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident = $verb:literal { $($(#[$on:meta])* $field:ident: $type:ty),* $(,)? } $kind:ident,)*) => {
        /// What a client asks for; every verb of the product that a socket carries.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(tag = "verb", deny_unknown_fields)]
        pub enum Call {
            $(
                $(#[$doc])*
                #[serde(rename = $verb)]
                #[allow(missing_docs, reason = "each field is an id or the input type that documents itself")]
                $name { $($(#[$on])* $field: $type),* },
            )*
        }

        impl Call {
            /// Every verb, in the order of the documentation.
            pub const VERBS: &'static [&'static str] = &[$($verb),*];

            /// The verb's name.
            pub fn verb(&self) -> &'static str {
                match self { $(Self::$name { .. } => $verb),* }
            }

            /// Whether the verb changes anything; such a verb takes an idempotency key.
            pub fn changes(&self) -> bool {
                match self { $(Self::$name { .. } => calls!(@$kind)),* }
            }
        }
    };
    (@read) => { false };
    (@write) => { true };
}

calls! {
    /// Who the caller is.
    Me = "me" {} read,
    /// Gives the caller another name.
    MeRename = "me.rename" { input: Rename } write,
    /// All people of this hub.
    UserList = "user.list" {} read,
    /// One person.
    UserShow = "user.show" { user: UserId } read,
    /// Closes the hub to a person, at once.
    UserDisable = "user.disable" { user: UserId } write,
    /// Opens the hub to a person again.
    UserEnable = "user.enable" { user: UserId } write,
    /// The projects that the caller may see.
    ProjectList = "project.list" {} read,
    /// One project.
    ProjectShow = "project.show" { project: ProjectId } read,
    /// Creates a project that the caller owns.
    ProjectCreate = "project.create" { input: ProjectCreate } write,
    /// Changes a project.
    ProjectUpdate = "project.update" { project: ProjectId, input: ProjectUpdate } write,
    /// Deletes a project and all that is in it.
    ProjectDelete = "project.delete" { project: ProjectId } write,
    /// A page of the versions of a project's content, newest first.
    ProjectVersions = "project.versions" { project: ProjectId, #[serde(default)] page: VersionPage } read,
    /// What changed between two versions of a project's content.
    ProjectDiff = "project.diff" { project: ProjectId, range: DiffRange } read,
    /// The activities of one project, or of all that the caller may see.
    ActivityList = "activity.list" { project: Option<ProjectId> } read,
    /// One activity.
    ActivityShow = "activity.show" { activity: ActivityId } read,
    /// Starts an activity that the caller owns.
    ActivityCreate = "activity.create" { project: ProjectId, input: ActivityCreate } write,
    /// Changes an activity.
    ActivityUpdate = "activity.update" { activity: ActivityId, input: ActivityUpdate } write,
    /// A page of the versions of an activity's content, newest first.
    ActivityVersions = "activity.versions" { activity: ActivityId, #[serde(default)] page: VersionPage } read,
    /// What changed between two versions of an activity's content.
    ActivityDiff = "activity.diff" { activity: ActivityId, range: DiffRange } read,
    /// A page of a project's chat, oldest first.
    ChatHistory = "chat.history" { project: ProjectId, page: MessagePage } read,
    /// Sends a message.
    ChatSend = "chat.send" { project: ProjectId, input: MessageText } write,
    /// Changes an own message.
    ChatEdit = "chat.edit" { message: MessageId, input: MessageText } write,
    /// Deletes an own message.
    ChatDelete = "chat.delete" { message: MessageId } write,
    /// Remembers how far the caller has read.
    ChatRead = "chat.read" { project: ProjectId, input: MarkRead } write,
    /// Unread counts of the caller, for every project that they may see.
    ChatUnread = "chat.unread" {} read,
    /// The caller's tokens.
    TokenList = "token.list" {} read,
    /// Makes a token; the secret is shown once.
    TokenCreate = "token.create" { input: TokenCreate } write,
    /// Ends a token, and every connection made with it.
    TokenRevoke = "token.revoke" { token: TokenId } write,
    /// The caller's browsers that are logged in.
    LoginList = "login.list" {} read,
    /// Makes a one-time link that logs a browser in as the caller.
    LoginLink = "login.link" {} write,
    /// Logs one of the caller's browsers out.
    LoginRevoke = "login.revoke" { login: LoginId } write,
    /// Logs all of the caller's browsers out.
    LoginRevokeAll = "login.revoke_all" {} write,
    /// The caller's invitations.
    InviteList = "invite.list" {} read,
    /// Makes an invitation; the link is shown once.
    InviteCreate = "invite.create" { input: InviteCreate } write,
    /// Takes an invitation back.
    InviteRevoke = "invite.revoke" { invite: InviteId } write,
    /// A project's observer links.
    ObserverList = "observer.list" { project: ProjectId } read,
    /// Makes an observer link; it is shown once.
    ObserverCreate = "observer.create" { project: ProjectId, input: ObserverCreate } write,
    /// Takes an observer link back, at once.
    ObserverRevoke = "observer.revoke" { observer: ObserverId } write,
    /// The runners of this hub.
    RunnerList = "runner.list" {} read,
    /// Registers a runner; the secret is shown once.
    RunnerCreate = "runner.create" { input: RunnerCreate } write,
    /// Changes what one of the caller's runners runs for others.
    RunnerUpdate = "runner.update" { runner: RunnerId, input: RunnerUpdate } write,
    /// Removes one of the caller's runners.
    RunnerRemove = "runner.remove" { runner: RunnerId } write,
    /// What others wrote and would run on the caller's runners.
    ApprovalList = "approval.list" { filter: ApprovalFilter } read,
    /// One such request.
    ApprovalShow = "approval.show" { approval: ApprovalId } read,
    /// Allows it, or not.
    ApprovalAnswer = "approval.answer" { approval: ApprovalId, input: ApprovalAnswer } write,
    /// What the caller allowed for good.
    GrantList = "grant.list" {} read,
    /// Takes such a permission back.
    GrantRevoke = "grant.revoke" { grant: GrantId } write,
    /// The sessions that the caller may see.
    SessionList = "session.list" { filter: ExecutionFilter } read,
    /// One session, with what it was started with.
    SessionShow = "session.show" { session: SessionId } read,
    /// Spawns a session on one of the caller's runners, or asks the owner of another.
    SessionSpawn = "session.spawn" { input: SessionSpawn } write,
    /// Stops one of the caller's sessions; its work is saved first.
    SessionStop = "session.stop" { session: SessionId, input: SessionStop } write,
    /// Goes on with the conversation of one of the caller's sessions that is over.
    SessionResume = "session.resume" { session: SessionId } write,
    /// Says something to the agent of one of the caller's sessions.
    SessionSend = "session.send" { session: SessionId, input: SessionText } write,
    /// What a session's terminal has shown, or the setup of its workspace has printed, as plain text.
    SessionLog = "session.log" { session: SessionId, page: LogPage } read,
    /// The workspaces that the caller may see.
    WorkspaceList = "workspace.list" { filter: ExecutionFilter } read,
    /// One workspace.
    WorkspaceShow = "workspace.show" { workspace: WorkspaceId } read,
    /// What was changed in a workspace.
    WorkspaceDiff = "workspace.diff" { workspace: WorkspaceId } read,
    /// The saves of a workspace, newest first.
    WorkspaceSaves = "workspace.saves" { workspace: WorkspaceId } read,
    /// Brings a save of one of the caller's workspaces back.
    WorkspaceRestore = "workspace.restore" { workspace: WorkspaceId, input: WorkspaceRestore } write,
    /// Deletes one of the caller's workspaces, unless work would be lost.
    WorkspaceClean = "workspace.clean" { workspace: WorkspaceId } write,
    /// The recordings that the caller may see: the sessions that have one.
    RecordingList = "recording.list" { filter: ExecutionFilter } read,
    /// One recording, without its content.
    RecordingShow = "recording.show" { session: SessionId } read,
    /// A stretch of a recording, from the runner.
    RecordingPart = "recording.part" { session: SessionId, range: RecordingRange } read,
    /// Where a text is in a recording.
    RecordingSearch = "recording.search" { session: SessionId, query: RecordingQuery } read,
    /// Marks one of the caller's recordings as worth preserving, or not.
    RecordingKeep = "recording.keep" { session: SessionId, input: RecordingKeep } write,
    /// The tasks that the caller may see, in the order of their ids.
    TaskList = "task.list" { filter: TaskFilter } read,
    /// The same tasks with all that they were added with.
    TaskExport = "task.export" { filter: TaskFilter } read,
    /// One task with everything that happened to it.
    TaskShow = "task.show" { task: TaskId } read,
    /// Adds tasks, all or none.
    TaskAdd = "task.add" { project: ProjectId, input: TasksAdd } write,
    /// Takes a task off the queue; who works on it stops.
    TaskCancel = "task.cancel" { task: TaskId, input: TaskReason } write,
    /// Puts a task that failed, was escalated or cancelled back into the queue.
    TaskRetry = "task.retry" { task: TaskId, input: TaskReason } write,
    /// Takes the next task under a lease.
    TaskTake = "task.take" { project: ProjectId, input: TaskTake } write,
    /// Renews a lease.
    TaskHeartbeat = "task.heartbeat" { task: TaskId, input: TaskHeartbeat } write,
    /// Hands work back.
    TaskReport = "task.report" { task: TaskId, input: TaskReport } write,
    /// Hands back what some of the caller's workers did, and takes the next tasks for them.
    TaskTurn = "task.turn" { project: ProjectId, input: TaskTurn } write,
    /// Gives a task back undone.
    TaskRelease = "task.release" { task: TaskId, input: TaskRelease } write,
    /// Asks a person about a task.
    TaskAsk = "task.ask" { task: TaskId, input: TaskAsk } write,
    /// Takes a task over: who works on it stops, and a worker of the caller's goes on.
    TaskTakeOver = "task.take_over" { task: TaskId, input: TaskTakeOver } write,
    /// Requests for a person that the caller may see.
    EscalationList = "escalation.list" { filter: EscalationFilter } read,
    /// One request for a person.
    EscalationShow = "escalation.show" { escalation: EscalationId } read,
    /// Answers a request for a person.
    EscalationAnswer = "escalation.answer" { escalation: EscalationId, input: EscalationAnswer } write,
    /// The workers that the caller may see.
    WorkerList = "worker.list" { filter: WorkerFilter } read,
    /// One worker with what it has done.
    WorkerShow = "worker.show" { worker: WorkerId } read,
    /// Starts workers on one of the caller's runners.
    WorkerStart = "worker.start" { project: ProjectId, input: WorkerStart } write,
    /// Changes one of the caller's workers.
    WorkerUpdate = "worker.update" { worker: WorkerId, input: WorkerUpdate } write,
    /// Stops one of the caller's workers.
    WorkerStop = "worker.stop" { worker: WorkerId, input: WorkerStop } write,
    /// Starts one of the caller's workers afresh, with its breaker closed.
    WorkerRestart = "worker.restart" { worker: WorkerId } write,
    /// Removes one of the caller's workers; what it did is kept.
    WorkerRemove = "worker.remove" { worker: WorkerId } write,
    /// Stops all of the caller's workers in a project.
    WorkerStopAll = "worker.stop_all" { project: ProjectId, input: WorkerStop } write,
    /// What was decided about tasks and workers, newest first.
    WorkLog = "work.log" { project: ProjectId, page: WorkLogPage } read,
    /// How a project hands out its tasks.
    WorkSettings = "work.settings" { project: ProjectId } read,
    /// Changes how a project hands out its tasks.
    WorkConfigure = "work.configure" { project: ProjectId, input: WorkConfigure } write,
    /// How the work in a project goes.
    WorkMetrics = "work.metrics" { project: ProjectId, page: MetricsPage } read,
    /// Who is doing what in a project.
    WorkDoing = "work.doing" { project: ProjectId } read,
    /// Stops everything of the caller's, and hands out nothing until it is thawed.
    FloorFreeze = "floor.freeze" { input: Freeze } write,
    /// Hands out tasks again.
    FloorThaw = "floor.thaw" { input: Freeze } write,
    /// A page of the audit trail, newest first, as far as the caller may see.
    AuditList = "audit.list" { page: AuditPage } read,
    /// Who is here, looking at what.
    PresenceList = "presence.list" {} read,
}

/// A view that one kind of answer carries.
pub trait FromAnswer: Sized {
    /// The view; `None` when the answer is of another kind.
    fn from_answer(answer: Answer) -> Option<Self>;
}

impl FromAnswer for () {
    fn from_answer(answer: Answer) -> Option<Self> {
        matches!(answer, Answer::Done).then_some(())
    }
}

/// An answer's view alone, without its kind, as HTTP carries it.
#[derive(Debug)]
pub struct BareView<'a>(pub &'a Answer);

macro_rules! answers {
    ($($variant:ident($view:ty),)*) => {
        /// What a verb answers.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
        #[serde(tag = "kind", content = "value", rename_all = "snake_case")]
        #[allow(missing_docs, reason = "each variant is named after the view that it carries")]
        #[allow(clippy::large_enum_variant, reason = "there are few at a time, each on its way to or from a text")]
        pub enum Answer {
            Done,
            $($variant($view),)*
        }

        $(
            impl FromAnswer for $view {
                fn from_answer(answer: Answer) -> Option<Self> {
                    match answer {
                        Answer::$variant(view) => Some(view),
                        _ => None,
                    }
                }
            }
        )*

        impl Serialize for BareView<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self.0 {
                    Answer::Done => serializer.serialize_unit(),
                    $(Answer::$variant(view) => view.serialize(serializer),)*
                }
            }
        }
    };
}

answers! {
    Me(Me),
    User(User),
    Users(Vec<User>),
    Project(Project),
    Projects(Vec<Project>),
    Activity(Activity),
    Activities(Vec<Activity>),
    Versions(Vec<Version>),
    Diff(Diff),
    Message(Message),
    Messages(Vec<Message>),
    Unread(Unread),
    Unreads(Vec<Unread>),
    Tokens(Vec<Token>),
    NewToken(NewToken),
    Logins(Vec<Login>),
    LoginLink(LoginLink),
    Invites(Vec<Invite>),
    NewInvite(NewInvite),
    Observers(Vec<Observer>),
    NewObserver(NewObserver),
    Runners(Vec<Runner>),
    NewRunner(NewRunner),
    Runner(Runner),
    Approval(Approval),
    Approvals(Vec<Approval>),
    Grants(Vec<Grant>),
    Session(Session),
    Sessions(Vec<Session>),
    SessionDetail(SessionDetail),
    SessionLog(SessionLog),
    Workspace(Workspace),
    Workspaces(Vec<Workspace>),
    WorkspaceDiff(WorkspaceDiff),
    Saves(Vec<Save>),
    RecordingDetail(RecordingDetail),
    RecordingPart(RecordingPart),
    RecordingHits(RecordingHits),
    AddedTasks(AddedTasks),
    Task(Task),
    Tasks(Vec<Task>),
    TaskLines(Vec<TaskLine>),
    TaskDetail(TaskDetail),
    Taken(Taken),
    Turned(Turned),
    Lease(Lease),
    Report(Report),
    Escalation(Escalation),
    Escalations(Vec<Escalation>),
    Worker(Worker),
    Workers(Vec<Worker>),
    WorkerDetail(WorkerDetail),
    WorkLog(Vec<WorkEntry>),
    WorkSettings(WorkSettings),
    Metrics(Metrics),
    Doing(Vec<DoingWhat>),
    Frozen(Frozen),
    Audit(Vec<AuditEntry>),
    Presence(Vec<PresenceEntry>),
}
