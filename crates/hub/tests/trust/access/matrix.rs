//! Every verb, by every kind of actor, over HTTP and WebSocket, against a written table.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use domain::{
    ActivityId, EscalationId, InviteId, LoginId, MessageId, ObserverId, ProjectId, RunnerId, SessionId, TaskId,
    TokenId, UserId, Visibility, WorkerId, WorkspaceId,
};
use protocol::{
    ActivityCreate, ActivityUpdate, AuditPage, Call, DiffRange, EscalationAnswer, EscalationFilter, ExecutionFilter,
    Freeze, InviteCreate, LogPage, MarkRead, MessagePage, MessageText, MetricsPage, ObserverCreate, ProjectCreate,
    ProjectUpdate, RecordingKeep, RecordingQuery, RecordingRange, Rename, RunnerCreate, SessionSpawn, SessionStop,
    SessionText, TaskAsk, TaskFilter, TaskHeartbeat, TaskReason, TaskRelease, TaskReport, TaskTake, TaskTakeOver,
    TasksAdd, TokenCreate, WorkConfigure, WorkLogPage, WorkerFilter, WorkerStart, WorkerStop, WorkerUpdate,
    WorkspaceRestore,
};
use serde_json::{Value, json};
use testkit::TestHub;

use crate::links::plan;
use crate::support::runner::Serving;
use crate::support::{Credential, FakeRunner, Socket, ann, browser, call, join, observe, view};

/// What each kind of actor gets: `+` it is done, `-` forbidden, `.` not found; `h` only the hub's owner may.
/// Peers by the project's visibility; an observer's link is to this project, a stranger's to another.
/// What is the owner's alone (token, login, invite, runner) belongs to the project's owner here.
/// `x` follows share_execution: done, or not found. What a runner must answer comes to it (`r`; it has no time), `s` if
/// execution is shared; `f` is forbidden if it is and otherwise not found; `c` is a conflict: no runner of one's own, or
/// not over yet. An agent is that of a session of the owner's. Whoever shows no credential gets 401 everywhere.
const TABLE: &str = "
    verb                    owner  private read-only read-write  observer stranger  agent
    me                        +       +        +         +          +        +       +
    me.rename                 +       +        +         +          -        -       -
    user.list                 +       +        +         +          -        -       -
    user.show                 +       +        +         +          -        -       -
    user.disable              -       h        h         h          -        -       -
    user.enable               -       h        h         h          -        -       -
    project.list              +       +        +         +          +        +       +
    project.show              +       .        +         +          +        .       +
    project.create            +       +        +         +          -        -       -
    project.update            +       .        -         +          -        .       -
    project.update/visibility +       .        -         -          -        .       -
    project.update/execution  +       .        -         -          -        .       -
    project.update/archive    +       .        -         -          -        .       -
    project.update/retention  +       .        -         -          -        .       -
    project.update/code       +       .        -         -          -        .       -
    project.versions          +       .        +         +          +        .       +
    project.diff              +       .        +         +          +        .       +
    activity.list             +       +        +         +          +        +       +
    activity.list/project     +       .        +         +          +        .       +
    activity.show             +       .        +         +          +        .       +
    activity.create           +       .        -         +          -        .       +
    activity.update           +       .        -         +          -        .       +
    activity.versions         +       .        +         +          +        .       +
    activity.diff             +       .        +         +          +        .       +
    chat.history              +       .        +         +          +        .       +
    chat.send                 +       .        -         +          -        .       +
    chat.edit                 +       .        -         -          -        .       -
    chat.read                 +       .        +         +          -        .       -
    chat.unread               +       +        +         +          -        -       -
    token.list                +       +        +         +          -        -       -
    token.create              +       +        +         +          -        -       -
    token.revoke              +       .        .         .          .        .       .
    login.list                +       +        +         +          -        -       -
    login.link                +       +        +         +          -        -       -
    login.revoke              +       .        .         .          -        -       -
    login.revoke_all          +       +        +         +          -        -       -
    invite.list               +       +        +         +          -        -       -
    invite.create             +       +        +         +          -        -       -
    invite.revoke             +       .        .         .          .        .       .
    observer.list             +       .        -         -          -        .       -
    observer.create           +       .        -         -          -        .       -
    observer.revoke           +       .        -         -          -        .       -
    runner.list               +       +        +         +          -        -       -
    runner.create             +       +        +         +          -        -       -
    runner.remove             +       -        -         -          -        -       -
    session.list              +       +        +         +          +        +       +
    session.list/project      +       .        +         +          +        .       +
    session.show              +       .        x         x          x        .       +
    session.spawn             +       .        -         c          -        -       -
    session.log               r       .        s         s          s        .       r
    session.send              r       .        f         f          f        .       -
    session.resume            c       .        f         f          f        .       -
    workspace.list            +       +        +         +          +        +       +
    workspace.list/project    +       .        +         +          +        .       +
    workspace.show            +       .        x         x          x        .       +
    workspace.diff            r       .        s         s          s        .       r
    workspace.saves           r       .        s         s          s        .       r
    workspace.restore         r       .        f         f          f        .       -
    workspace.clean           r       .        f         f          f        .       -
    recording.list            +       +        +         +          +        +       +
    recording.list/project    +       .        +         +          +        .       +
    recording.show            r       .        s         s          s        .       r
    recording.part            r       .        s         s          s        .       r
    recording.search          r       .        s         s          s        .       r
    recording.keep            +       .        f         f          f        .       -
    session.stop              +       .        f         f          f        .       -
    task.list                 +       +        +         +          +        +       +
    task.list/project         +       .        +         +          +        .       +
    task.export               +       +        +         +          +        +       +
    task.export/project       +       .        +         +          +        .       +
    task.show                 +       .        +         +          +        .       +
    task.add                  +       .        -         +          -        .       +
    task.heartbeat            +       .        -         -          -        .       +
    task.ask                  +       .        -         -          -        .       +
    task.release              +       .        -         -          -        .       +
    task.report               +       .        -         -          -        .       +
    task.cancel               +       .        -         +          -        .       +
    task.retry                +       .        -         +          -        .       +
    task.take                 +       .        -         +          -        .       +
    task.take_over            +       .        -         c          -        -       -
    escalation.list           +       +        +         +          +        +       +
    escalation.list/project   +       .        +         +          +        .       +
    escalation.show           +       .        +         +          +        .       +
    escalation.answer         +       .        -         +          -        .       +
    worker.list               +       +        +         +          +        +       +
    worker.list/project       +       .        +         +          +        .       +
    worker.show               +       .        +         +          +        .       +
    worker.update             +       .        -         -          -        .       -
    worker.start              +       .        -         c          -        -       -
    worker.stop               +       .        -         -          -        .       -
    worker.restart            +       .        -         -          -        .       -
    worker.stop_all           +       .        +         +          -        .       -
    worker.remove             +       .        -         -          -        .       -
    work.log                  +       .        +         +          +        .       +
    work.settings             +       .        +         +          +        .       +
    work.configure            +       .        -         -          -        .       -
    work.metrics              +       .        +         +          +        .       +
    work.doing                +       .        +         +          +        .       +
    floor.freeze              +       +        +         +          -        -       -
    floor.freeze/project      +       .        +         +          -        .       -
    floor.thaw                +       +        +         +          -        -       -
    floor.thaw/project        +       .        +         +          -        .       -
    audit.list                +       +        +         +          -        -       -
    audit.list/project        +       .        +         +          -        -       -
    presence.list             +       +        +         +          -        -       -
    chat.delete               +       .        -         -          -        .       -
    project.delete            +       .        -         -          -        .       -
";

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Owner,
    Peer,
    HubOwner,
    Observer,
    Stranger,
    Agent,
    Anonymous,
}

const KINDS: [Kind; 7] =
    [Kind::Owner, Kind::Peer, Kind::HubOwner, Kind::Observer, Kind::Stranger, Kind::Agent, Kind::Anonymous];

/// What the verbs are asked about.
#[derive(Debug, Clone, Copy)]
struct Targets {
    victim: UserId,
    project: ProjectId,
    activity: ActivityId,
    message: MessageId,
    observer: ObserverId,
    token: TokenId,
    login: LoginId,
    invite: InviteId,
    runner: RunnerId,
    session: SessionId,
    workspace: WorkspaceId,
    /// Tasks that a worker of the owner's holds with fence 1, and one that nobody has.
    held: [TaskId; 2],
    idle: TaskId,
    escalation: EscalationId,
    worker: WorkerId,
}

impl Targets {
    /// Ids that nothing has.
    fn nowhere() -> Self {
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
fn ask(case: &str, on: &Targets) -> Call {
    let Targets {
        victim, project, activity, message, observer, token, login, invite, runner, session, workspace, ..
    } = *on;
    let Targets { held: [held, spare], idle, escalation, worker, .. } = *on;
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
        "project.delete" => Call::ProjectDelete { project },
        "project.versions" => Call::ProjectVersions { project },
        "project.diff" => Call::ProjectDiff { project, range: DiffRange::default() },
        "activity.list" => Call::ActivityList { project: None },
        "activity.list/project" => Call::ActivityList { project: Some(project) },
        "activity.show" => Call::ActivityShow { activity },
        "activity.create" => {
            Call::ActivityCreate { project, input: ActivityCreate { content: "more".into(), ..Default::default() } }
        }
        "activity.update" => {
            let input = ActivityUpdate { content: Some(fresh("plan")), ..Default::default() };
            Call::ActivityUpdate { activity, input }
        }
        "activity.versions" => Call::ActivityVersions { activity },
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
            Call::TaskTakeOver { task: idle, input: TaskTakeOver { agent: Some("codex".into()), runner: None } }
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

fn tasks(descriptions: &[&str]) -> TasksAdd {
    let task = |description: &&str| serde_json::from_value(json!({ "description": description }));
    TasksAdd { tasks: descriptions.iter().map(task).collect::<Result<_, _>>().expect("tasks") }
}

fn take(worker: &str) -> TaskTake {
    TaskTake { task: None, worker: Some(worker.into()), abilities: Vec::new(), wait_seconds: None }
}

fn question(fence: u64) -> TaskAsk {
    let (question, context) = ("A secret?".into(), String::new());
    TaskAsk { fence, question, options: Vec::new(), context, give_up: false }
}

/// One worker.
fn workers() -> WorkerStart {
    WorkerStart { agent: "codex".into(), ..Default::default() }
}

/// The rows: case and its seven cells.
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let rows = TABLE.trim().lines().skip(1).map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(cells.len(), 8, "{line}");
        (cells[0], cells[1..].to_vec())
    });
    rows.collect()
}

fn verb_of(case: &str) -> &str {
    case.split('/').next().unwrap_or(case)
}

/// The status that the table wants.
fn expected(cells: &[&str], kind: Kind, visibility: Visibility, shared: bool) -> u16 {
    let peers = match visibility {
        Visibility::Private => cells[1],
        Visibility::ReadOnly => cells[2],
        Visibility::ReadWrite => cells[3],
    };
    let cell = match kind {
        Kind::Anonymous => return 401,
        Kind::Owner => cells[0],
        Kind::Peer | Kind::HubOwner => peers,
        Kind::Observer => cells[4],
        Kind::Stranger => cells[5],
        Kind::Agent => cells[6],
    };
    match (cell, kind) {
        ("+", _) | ("h", Kind::HubOwner) => 200,
        ("-" | "h", _) => 403,
        (".", _) => 404,
        ("x", _) if shared => 200,
        ("f", _) if shared => 403,
        ("s", _) if shared => 503,
        ("x" | "f" | "s", _) => 404,
        ("r", _) => 503,
        ("c", _) => 409,
        other => panic!("the table has a cell of no meaning: {other:?}"),
    }
}

#[test]
fn the_table_names_every_verb_of_the_protocol() {
    let named: BTreeSet<&str> = rows().iter().map(|(case, _)| verb_of(case)).collect();
    let all: BTreeSet<&str> = Call::VERBS.iter().copied().collect();
    assert_eq!(named, all, "a verb without a row has no tested access");
    for (case, _) in rows() {
        assert_eq!(ask(case, &Targets::nowhere()).verb(), verb_of(case));
    }
}

/// How a verb is asked.
enum Way {
    Http,
    Socket(Box<Socket>),
    /// No socket without a credential.
    Shut,
}

impl Way {
    /// The status, and what was said if it was a refusal.
    async fn ask(&mut self, hub: &TestHub, credential: &Credential, verb: Call) -> (u16, Value) {
        match self {
            Self::Http => {
                let reply = call(hub, credential, &verb).await;
                let refusal = if reply.status < 300 { Value::Null } else { reply.body };
                (if reply.status < 300 { 200 } else { reply.status }, refusal)
            }
            Self::Socket(socket) => match socket.ask(verb).await {
                Ok(_) => (200, Value::Null),
                Err(problem) => (problem.status, json!(problem)),
            },
            Self::Shut => (401, Value::Null),
        }
    }
}

/// A floor to try everything on.
struct Floor {
    hub: TestHub,
    owner: Credential,
    peer: Credential,
    ann: Credential,
    victim: UserId,
    elsewhere: ProjectId,
    machine: Serving,
}

impl Floor {
    async fn new() -> Self {
        let hub = TestHub::start().await;
        let (owner, peer, victim) = (join(&hub, "olga").await, join(&hub, "pete").await, join(&hub, "victor").await);
        let victim = view!(&hub, &victim, Me, Call::Me {}).user.expect("a person").id;
        let content = "elsewhere".to_owned();
        let input = ProjectCreate { content, visibility: Some(Visibility::ReadOnly), ..Default::default() };
        let elsewhere = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
        let machine = FakeRunner::start(&hub, &owner, "the machine").await.serve();
        Self { ann: ann(&hub), owner, peer, victim, elsewhere, machine, hub }
    }

    async fn targets(&self, visibility: Visibility, share_execution: bool) -> Targets {
        let (hub, owner) = (&self.hub, &self.owner);
        let content = "the secret plan".to_owned();
        let (visibility, share_execution) = (Some(visibility), Some(share_execution));
        let input = ProjectCreate { content, visibility, share_execution, ..Default::default() };
        let project = view!(hub, owner, Project, Call::ProjectCreate { input }).id;
        let input = ActivityCreate { content: "secret work".into(), ..Default::default() };
        let activity = view!(hub, owner, Activity, Call::ActivityCreate { project, input }).id;
        let input = MessageText { content: "a secret".into() };
        let message = view!(hub, owner, Message, Call::ChatSend { project, input }).id;
        let token = view!(hub, owner, NewToken, ask("token.create", &Targets::nowhere())).token.id;
        let invite = view!(hub, owner, NewInvite, ask("invite.create", &Targets::nowhere())).invite.id;
        let runner = view!(hub, owner, NewRunner, ask("runner.create", &Targets::nowhere())).runner.id;
        let input = ObserverCreate { name: "to be revoked".into(), expires_at: None };
        let observer = view!(hub, owner, NewObserver, Call::ObserverCreate { project, input }).observer.id;
        browser(hub, owner).await;
        let logins = view!(hub, owner, Logins, Call::LoginList {});
        let login = logins.first().expect("the browser that was logged in").id;
        let input = SessionSpawn { activity: Some(activity), ..plan(project, "secret session") };
        let made = view!(hub, owner, Session, Call::SessionSpawn { input });
        // Stopped at once: it must not take what others are asked to take.
        let worker = view!(hub, owner, Workers, Call::WorkerStart { project, input: workers() })[0].id;
        view!(hub, owner, Worker, Call::WorkerStop { worker, input: WorkerStop::default() });
        let (victim, session, workspace) = (self.victim, made.id, made.workspace);
        let input = tasks(&["a secret task", "another secret task", "one that nobody has"]);
        let added = view!(hub, owner, AddedTasks, Call::TaskAdd { project, input });
        let held = [added.tasks[0].id, added.tasks[1].id];
        for name in ["one", "two"] {
            view!(hub, owner, Taken, Call::TaskTake { project, input: take(name) });
        }
        let asked = Call::TaskAsk { task: held[0], input: question(1) };
        let escalation = view!(hub, owner, Escalation, asked).id;
        Targets {
            victim,
            project,
            activity,
            message,
            observer,
            token,
            login,
            invite,
            runner,
            session,
            workspace,
            held,
            idle: added.tasks[2].id,
            escalation,
            worker,
        }
    }

    async fn credential(&self, kind: Kind, on: &Targets) -> Credential {
        match kind {
            Kind::Agent => self.machine.token(on.session).await,
            Kind::Owner => self.owner.clone(),
            Kind::Peer => self.peer.clone(),
            Kind::HubOwner => self.ann.clone(),
            Kind::Observer => observe(&self.hub, &self.owner, on.project).await.0,
            Kind::Stranger => observe(&self.hub, &self.owner, self.elsewhere).await.0,
            Kind::Anonymous => Credential::None,
        }
    }

    /// Ends what runs in a project, so that it can be deleted.
    async fn end(&self, project: ProjectId) {
        let filter = ExecutionFilter { project: Some(project), ..Default::default() };
        testkit::wait_until("everything has ended", async || {
            let live = view!(&self.hub, &self.owner, Sessions, Call::SessionList { filter });
            for session in &live {
                let input = SessionStop { force: true };
                view!(&self.hub, &self.owner, Session, Call::SessionStop { session: session.id, input });
            }
            live.is_empty().then_some(())
        })
        .await;
    }
}

/// Walks the table for one visibility. `over_socket` chooses the way.
async fn walk(visibility: Visibility, over_socket: bool) {
    let floor = Floor::new().await;
    let mut checked = 0;
    for share_execution in [false, true] {
        for kind in KINDS {
            let on = floor.targets(visibility, share_execution).await;
            let credential = floor.credential(kind, &on).await;
            let mut way = match (over_socket, kind) {
                (false, _) => Way::Http,
                (true, Kind::Anonymous) => {
                    assert_eq!(Socket::connect(floor.hub.url(), &credential).await.err(), Some(401));
                    Way::Shut
                }
                (true, _) => Way::Socket(Box::new(Socket::live(floor.hub.url(), &credential).await)),
            };
            for (case, cells) in rows() {
                let shared = share_execution || (kind == Kind::Owner);
                let wanted = expected(&cells, kind, visibility, shared);
                if case == "project.delete" && kind == Kind::Owner {
                    floor.end(on.project).await;
                }
                let (got, said) = way.ask(&floor.hub, &credential, ask(case, &on)).await;
                let about = format!("{case} by {kind:?}, {visibility}, share {share_execution}");
                assert_eq!(got, wanted, "{about}: {said}");
                checked += 1;
                if wanted == 404 {
                    let nothing = way.ask(&floor.hub, &credential, ask(case, &Targets::nowhere())).await;
                    assert_eq!((got, said), nothing, "{about}: told from what does not exist");
                }
            }
        }
    }
    assert_eq!(checked, 2 * KINDS.len() * rows().len());
}

#[tokio::test]
async fn the_table_holds_over_http_in_private_projects() {
    walk(Visibility::Private, false).await;
}

#[tokio::test]
async fn the_table_holds_over_http_in_read_only_projects() {
    walk(Visibility::ReadOnly, false).await;
}

#[tokio::test]
async fn the_table_holds_over_http_in_read_write_projects() {
    walk(Visibility::ReadWrite, false).await;
}

#[tokio::test]
async fn the_table_holds_over_sockets_in_private_projects() {
    walk(Visibility::Private, true).await;
}

#[tokio::test]
async fn the_table_holds_over_sockets_in_read_only_projects() {
    walk(Visibility::ReadOnly, true).await;
}

#[tokio::test]
async fn the_table_holds_over_sockets_in_read_write_projects() {
    walk(Visibility::ReadWrite, true).await;
}
