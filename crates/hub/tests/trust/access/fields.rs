//! Field by field, what each actor sees of what runs, with `share_execution` on and off: in every list and view, in the
//! full sync and in deltas.

use domain::{
    ActivityId, EscalationId, ProjectId, SessionId, SessionStatus, TaskId, Visibility, WorkerId, WorkspaceId,
};
use protocol::link::{FactBody, FromRunner, ToRunner};
use protocol::{
    ActivityFilter, AuditPage, Call, Criterion, CriterionResult, EscalationFilter, ExecutionFilter, MessageText,
    ObserverCreate, OverlapFilter, SessionState, TaskAdd, TaskFilter, WorkConfigure, WorkerFilter,
};
use testkit::TestHub;

use crate::links::{project, spawn};
use crate::support::runner::state;
use crate::support::{Credential, FakeRunner, Socket, ann, call, join, observe, view};
use crate::work::{Shop, plain};

/// Who looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Owner,
    Peer,
    HubOwner,
    Observer,
    /// The agent of a session of the project's owner.
    Agent,
    /// The agent of a session of the peer's, in the same project.
    Guest,
}

/// What there is to be seen, each with something that is nowhere else.
struct Things {
    project: ProjectId,
    activity: ActivityId,
    session: SessionId,
    worked: SessionId,
    workspace: WorkspaceId,
    task: TaskId,
    escalation: EscalationId,
    worker: WorkerId,
}

/// Every verb that looks and takes no more than these ids.
fn looks(on: &Things) -> Vec<Call> {
    let Things { project, activity, session, workspace, task, escalation, worker, .. } = *on;
    let within = ExecutionFilter { project: Some(project), ended: Some(true), ..Default::default() };
    let page = AuditPage { limit: Some(500), ..Default::default() };
    vec![
        Call::Me {},
        Call::ProjectList {},
        Call::ProjectShow { project },
        Call::ProjectVersions { project, page: Default::default() },
        Call::ActivityList { filter: ActivityFilter::default() },
        Call::ActivityShow { activity },
        Call::ActivityVersions { activity, page: Default::default() },
        Call::ChatHistory { project, page: Default::default() },
        Call::ObserverList { project },
        Call::SessionList { filter: within },
        Call::SessionShow { session },
        Call::SessionShow { session: on.worked },
        Call::WorkspaceList { filter: within },
        Call::WorkspaceShow { workspace },
        Call::RecordingList { filter: within },
        Call::OverlapList { filter: OverlapFilter { project: Some(project), ended: Some(true), ..Default::default() } },
        Call::TaskList { filter: TaskFilter::default() },
        Call::TaskExport { filter: TaskFilter::default() },
        Call::TaskShow { task },
        Call::EscalationList { filter: EscalationFilter { project: Some(project), answered: Some(true) } },
        Call::EscalationShow { escalation },
        Call::WorkerList { filter: WorkerFilter::default() },
        Call::WorkerShow { worker },
        Call::WorkLog { project, page: Default::default() },
        Call::WorkDoing { project },
        Call::WorkMetrics { project, page: Default::default() },
        Call::AuditList { page },
        Call::AuditList { page: AuditPage { project: Some(project), ..page } },
    ]
}

/// The token of a session's agent.
pub(super) async fn agent(runner: &mut FakeRunner, session: SessionId) -> Credential {
    runner.tell(&FromRunner::TokenWanted { session }).await;
    let mine = |frame: &ToRunner| matches!(frame, ToRunner::Token { session: of, .. } if *of == session);
    match runner.told("the agent's token", mine).await {
        ToRunner::Token { secret: Some(secret), .. } => Credential::Token(secret),
        other => panic!("no token: {other:?}"),
    }
}

/// Everything that reaches an actor: answers, live frames of their socket, and a fresh sync.
async fn all(hub: &TestHub, credential: &Credential, socket: &mut Socket, on: &Things) -> String {
    let mut text = String::new();
    for look in looks(on) {
        let reply = call(hub, credential, &look).await;
        // A refusal may repeat what was asked for.
        if reply.status < 300 {
            text += &reply.text;
        }
    }
    let mut again = Socket::live(hub.url(), credential).await;
    for frame in socket.until_message("the last word").await.iter().chain(again.early.make_contiguous().iter()) {
        text += &serde_json::to_string(frame).expect("frames are JSON");
    }
    text
}

/// Olga's worker fails at a task: its command printed something, and its session showed something.
async fn work(shop: &mut Shop) -> (Things, Credential) {
    let once = WorkConfigure { tries_per_worker: Some(0), workers_per_task: Some(1), ..Default::default() };
    shop.configure(once).await;
    let made = spawn(&shop.hub, &shop.olga, shop.project, "canary-prompt of a session").await;
    let own = agent(&mut shop.runner, made.id).await;
    let worker = shop.start(1).await[0].id;
    let argv = vec!["cat".into(), "open-argument".into()];
    let acceptance = vec![Criterion::Command { argv, exit_code: None, timeout_seconds: None }];
    let task = shop.add(vec![TaskAdd { acceptance, ..plain("open-title") }]).await[0];
    let plan = shop.session_of(task, &[]).await;
    shop.runner.at(plan.session, SessionStatus::Working).await;
    shop.says(plan.session, "canary-said in the terminal").await;
    let over = SessionState { code: Some(0), ..state(SessionStatus::Exited) };
    shop.runner.fact(FactBody::SessionState { session: plan.session, state: over }).await;
    let report = shop.check_of(task).await.report;
    let reason = "`cat` ended with 1 instead of 0; the end of what it printed:\ncanary-output".into();
    let results = vec![CriterionResult { criterion: 0, passed: Some(false), reason }];
    shop.runner.fact(FactBody::Checked { report, results, changes: None }).await;
    shop.shows(&plan, "canary-screen").await;
    let escalation = shop.asked(task, |context| context.diff.is_some()).await.id;
    let worked = plan.session;
    let workspace = plan.workspace.workspace;
    let (project, activity, session) = (shop.project, made.activity, made.id);
    (Things { project, activity, session, worked, workspace, task, escalation, worker }, own)
}

async fn walk(share: bool) {
    let mut shop = Shop::new().await;
    let pete = join(&shop.hub, "pete").await;
    shop.project = project(&shop.hub, &shop.olga, Visibility::ReadWrite, share).await;
    let (visitor, _) = observe(&shop.hub, &shop.olga, shop.project).await;
    let mut theirs = FakeRunner::start(&shop.hub, &pete, "pete's").await;
    let guest = spawn(&shop.hub, &pete, shop.project, "a guest").await.id;
    let guest = agent(&mut theirs, guest).await;
    let mut people = Vec::new();
    for (kind, credential) in [
        (Kind::Owner, shop.olga.clone()),
        (Kind::Peer, pete),
        (Kind::HubOwner, ann(&shop.hub)),
        (Kind::Observer, visitor),
        (Kind::Guest, guest),
    ] {
        let socket = Socket::live(shop.hub.url(), &credential).await;
        people.push((kind, credential, socket));
    }
    let (on, own) = work(&mut shop).await;
    let socket = Socket::live(shop.hub.url(), &own).await;
    people.push((Kind::Agent, own.clone(), socket));
    let say = |text: &str| Call::ChatSend { project: on.project, input: MessageText { content: text.into() } };
    view!(&shop.hub, &own, Message, say("open-message of an agent"));
    let input = ObserverCreate { name: "canary-observer".into(), expires_at: None };
    view!(&shop.hub, &shop.olga, NewObserver, Call::ObserverCreate { project: on.project, input });
    view!(&shop.hub, &shop.olga, Message, say("the last word"));

    let execution = [
        "canary-prompt".to_owned(),
        "canary-said".to_owned(),
        "canary-output".to_owned(),
        "canary-screen".to_owned(),
        "fn main()".to_owned(),
        on.session.to_string(),
        on.worked.to_string(),
        on.workspace.to_string(),
    ];
    let open = ["open-title", "open-argument", "open-message of an agent", "not met: `cat open-argument`"];
    for (kind, credential, mut socket) in people {
        let text = all(&shop.hub, &credential, &mut socket, &on).await;
        let looks = share || matches!(kind, Kind::Owner | Kind::Agent);
        for field in &execution {
            let at = text.find(field.as_str());
            let around =
                at.map(|at| &text[text.floor_char_boundary(at.saturating_sub(160))..text.floor_char_boundary(at + 60)]);
            assert_eq!(at.is_some(), looks, "{field} for {kind:?}, share {share}: {around:?}");
        }
        assert_eq!(text.contains("canary-observer"), kind == Kind::Owner, "observer links are their maker's: {kind:?}");
        for field in open {
            assert!(text.contains(field), "{field} for {kind:?}, share {share}");
        }
    }
    let token = shop.runner.token.clone();
    for look in looks(&on) {
        assert_eq!(call(&shop.hub, &token, &look).await.status, 403, "a runner: {}", look.verb());
    }
    shop.hub.stop().await;
}

#[tokio::test]
async fn without_sharing_only_the_owner_and_their_agent_see_sessions() {
    walk(false).await;
}

#[tokio::test]
async fn with_sharing_everybody_who_sees_the_project_sees_its_sessions() {
    walk(true).await;
}

#[tokio::test]
async fn addresses_in_the_audit_trail_are_for_the_actor_and_the_owner() {
    let shop = Shop::new().await;
    let pete = join(&shop.hub, "pete").await;
    let say = |text: &str| Call::ChatSend { project: shop.project, input: MessageText { content: text.into() } };
    view!(&shop.hub, &pete, Message, say("mine"));
    view!(&shop.hub, &shop.olga, Message, say("hers"));
    let page = AuditPage { project: Some(shop.project), limit: Some(500), ..Default::default() };
    for (who, own) in [(&pete, "pete"), (&shop.olga, "olga")] {
        let entries = view!(&shop.hub, who, Audit, Call::AuditList { page });
        let shown = |entry: &&protocol::AuditEntry| !entry.origin.is_empty();
        assert!(entries.iter().filter(shown).count() > 0, "{own} sees where they came from");
        for entry in entries {
            let by = entry.actor.as_ref().map(|actor| actor.name.clone()).unwrap_or_default();
            assert_eq!(!entry.origin.is_empty(), own == "olga" || by == own, "{own} reads {entry:?}");
        }
    }
    shop.hub.stop().await;
}
