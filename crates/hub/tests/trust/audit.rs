//! The audit trail: every change with actor and origin, on one line each, and no entry can be changed unseen (T23).

use std::collections::BTreeSet;

use protocol::link::FactBody;
use protocol::{
    ActivityCreate, ActivityUpdate, AuditEntry, AuditPage, Call, EscalationAnswer, Freeze, InviteCreate, MarkRead,
    MessageText, NotifyConfigure, NotifyUpdate, ObserverCreate, ProjectCreate, ProjectUpdate, RecordingKeep, Rename,
    RunnerCreate, RunnerUpdate, SessionAsk, SessionStop, SessionText, TaskHeartbeat, TaskReason, TaskRelease,
    TaskTakeOver, TokenCreate, WorkConfigure, WorkerStart, WorkerStop, WorkerUpdate, WorkspaceRestore,
};
use reqwest::Method;
use serde_json::json;
use store::Store;
use testkit::TestHub;

use crate::links::spawn;
use crate::support::{Credential, FakeRunner, Socket, ann, ask, begin, browser, db, join, secret, send, view};

async fn trail(hub: &TestHub, reader: &Credential) -> Vec<AuditEntry> {
    let page = AuditPage { limit: Some(500), ..Default::default() };
    view!(hub, reader, Audit, Call::AuditList { page })
}

#[tokio::test]
async fn every_change_is_recorded_with_actor_and_origin() {
    let hub = TestHub::with(|options| options.notify_allow_hosts = vec!["127.0.0.1:1".into()]).await;
    let owner = ann(&hub);
    let me = view!(&hub, &owner, Me, Call::Me {}).user.expect("a person");
    let bo = join(&hub, "bo").await;
    let bo = view!(&hub, &bo, Me, Call::Me {}).user.expect("a person").id;
    let content = "a project".to_owned();
    let input = ProjectCreate { content, ..Default::default() };
    let project = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
    let input = ActivityCreate { content: "work".into(), ..Default::default() };
    let activity = view!(&hub, &owner, Activity, Call::ActivityCreate { project, input }).id;
    let input = MessageText { content: "hello".into() };
    let message = view!(&hub, &owner, Message, Call::ChatSend { project, input }).id;
    let input = TokenCreate { name: "t".into(), expires_at: None };
    let token = view!(&hub, &owner, NewToken, Call::TokenCreate { input }).token.id;
    let input = InviteCreate { name: "i".into(), expires_at: None };
    let invite = view!(&hub, &owner, NewInvite, Call::InviteCreate { input }).invite.id;
    let input = ObserverCreate { name: "o".into(), expires_at: None };
    let observer = view!(&hub, &owner, NewObserver, Call::ObserverCreate { project, input }).observer.id;
    let runner = view!(&hub, &owner, NewRunner, Call::RunnerCreate { input: RunnerCreate { name: "r".into() } });
    let machine = FakeRunner::start(&hub, &owner, "machine").await.serve();
    let made = spawn(&hub, &owner, project, "work").await;
    let (session, workspace) = (made.id, made.workspace);
    let mut asked = BTreeSet::from(["project.create", "activity.create", "chat.send", "token.create", "invite.create"]);
    let input =
        serde_json::from_value(json!({ "kind": "ntfy", "url": "http://127.0.0.1:1/topic" })).expect("a channel");
    let channel = view!(&hub, &owner, NewNotifyChannel, Call::NotifyAdd { input }).channel.id;
    asked.insert("notify.add");
    asked.extend(["observer.create", "runner.create", "session.spawn", "session.resume", "session.ask"]);
    for call in [
        Call::SessionSend { session, input: SessionText { text: "go on".into(), submit: true } },
        Call::WorkspaceRestore { workspace, input: WorkspaceRestore::default() },
        Call::WorkspaceClean { workspace },
    ] {
        asked.insert(call.verb());
        let reply = crate::support::call(&hub, &owner, &call).await;
        assert_eq!(reply.status, 503, "this runner has no time, but it was asked");
    }
    for call in [
        Call::RecordingKeep { session, input: RecordingKeep { keep: true } },
        Call::SessionStop { session, input: SessionStop { force: true } },
    ] {
        asked.insert(call.verb());
        ask(&hub, &owner, call).await;
    }
    testkit::wait_until("the session is over", async || {
        let found = view!(&hub, &owner, SessionDetail, Call::SessionShow { session });
        found.session.state.ended().then_some(())
    })
    .await;
    let ended = |entry: &AuditEntry| entry.verb == "session.ended" && entry.subject == session.to_string();
    assert!(trail(&hub, &owner).await.iter().any(ended), "what a runner says is recorded, too");
    let usage = protocol::Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None };
    let conversation = Some("c-1".to_owned());
    machine.fact(FactBody::SessionUsage { session, usage, model: None, conversation }).await;
    let input = SessionAsk { question: "why?".into() };
    view!(&hub, &owner, SessionQuestion, Call::SessionAsk { session, input });
    let next = view!(&hub, &owner, Session, Call::SessionResume { session }).id;
    ask(&hub, &owner, Call::SessionStop { session: next, input: SessionStop::default() }).await;
    testkit::wait_until("the resumed one is over", async || {
        let found = view!(&hub, &owner, SessionDetail, Call::SessionShow { session: next });
        found.session.state.ended().then_some(())
    })
    .await;
    let browsers = (browser(&hub, &owner).await, browser(&hub, &owner).await);
    let login = view!(&hub, &browsers.0, Logins, Call::LoginList {})[0].id;
    let update = ProjectUpdate { content: Some("other".into()), ..Default::default() };
    for call in [
        Call::MeRename { input: Rename { name: "anna".into() } },
        Call::UserDisable { user: bo },
        Call::UserEnable { user: bo },
        Call::ProjectUpdate { project, input: update },
        Call::ActivityUpdate {
            activity,
            input: ActivityUpdate { content: Some("other".into()), ..Default::default() },
        },
        Call::ChatEdit { message, input: MessageText { content: "edited".into() } },
        Call::ChatDelete { message },
        Call::ChatRead { project, input: MarkRead { number: 1 } },
        Call::NotifyUpdate { channel, input: NotifyUpdate::default() },
        Call::NotifyTest { channel },
        Call::NotifyConfigure { input: NotifyConfigure::default() },
        Call::NotifyRemove { channel },
        Call::TokenRevoke { token },
        Call::LoginRevoke { login },
        Call::LoginRevokeAll {},
        Call::InviteRevoke { invite },
        Call::ObserverRevoke { observer },
        Call::RunnerUpdate {
            runner: runner.runner.id,
            input: RunnerUpdate { policy: None, sandbox_others: Some(true) },
        },
        Call::RunnerRemove { runner: runner.runner.id },
        Call::ProjectDelete { project },
    ] {
        asked.insert(call.verb());
        ask(&hub, &owner, call).await;
    }
    let entries = trail(&hub, &owner).await;
    let mine: BTreeSet<&str> = entries
        .iter()
        .filter(|entry| entry.actor.as_ref().is_some_and(|actor| actor.id == me.id))
        .filter(|entry| entry.origin.starts_with("127.0.0.1 ") || entry.origin == "start")
        .map(|entry| entry.verb.as_str())
        .collect();
    // All verbs are in `access::matrix`.
    for spec in Call::SPECS.iter().filter(|spec| asked.contains(spec.name)) {
        assert_eq!(mine.contains(spec.name), spec.audited, "{}", spec.name);
    }
    assert!(entries.iter().all(|entry| !entry.detail.is_empty() && !entry.subject.is_empty()));
    for entry in ["login", "invite.accept"] {
        assert!(entries.iter().any(|found| found.verb == entry), "{entry}");
    }
}

#[tokio::test]
async fn only_peoples_decisions_about_work_are_audited() {
    let hub = TestHub::start().await;
    let owner = ann(&hub);
    let input = ProjectCreate { content: "a project".into(), ..Default::default() };
    let project = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
    let _machine = FakeRunner::start(&hub, &owner, "machine").await.serve();
    let tasks = json!({ "tasks": [{ "description": "one" }, { "description": "two" }] });
    let input = serde_json::from_value(tasks).expect("tasks");
    let added = view!(&hub, &owner, AddedTasks, Call::TaskAdd { project, input });
    let (one, two) = (added.tasks[0].id, added.tasks[1].id);
    let why = || TaskReason { reason: None };
    ask(&hub, &owner, Call::TaskCancel { task: one, input: why() }).await;
    ask(&hub, &owner, Call::TaskRetry { task: one, input: why() }).await;
    let take = || serde_json::from_value(json!({ "task": one, "worker": "w" })).expect("a take");
    let taken = view!(&hub, &owner, Taken, Call::TaskTake { project, input: take() }).taken.expect("a task");
    let asks = json!({ "fence": taken.lease.fence, "question": "why?" });
    let input = serde_json::from_value(asks).expect("a question");
    let escalation = view!(&hub, &owner, Escalation, Call::TaskAsk { task: one, input }).id;
    let input = EscalationAnswer { option: None, act: None, text: Some("because".into()) };
    ask(&hub, &owner, Call::EscalationAnswer { escalation, input }).await;
    let fence = taken.lease.fence;
    ask(&hub, &owner, Call::TaskHeartbeat { task: one, input: TaskHeartbeat { fence, progress: None } }).await;
    ask(&hub, &owner, Call::TaskRelease { task: one, input: TaskRelease { fence, reason: None } }).await;
    let taken = view!(&hub, &owner, Taken, Call::TaskTake { project, input: take() }).taken.expect("a task");
    let report = json!({ "fence": taken.lease.fence, "summary": "done" });
    let input = serde_json::from_value(report).expect("a report");
    ask(&hub, &owner, Call::TaskReport { task: one, input }).await;
    let input = TaskTakeOver { agent: Some("codex".into()), ..Default::default() };
    ask(&hub, &owner, Call::TaskTakeOver { task: two, input }).await;
    let input = WorkerStart { agent: "codex".into(), ..Default::default() };
    let worker = view!(&hub, &owner, Workers, Call::WorkerStart { project, input })[0].id;
    let mut asked =
        BTreeSet::from(["task.add", "task.cancel", "task.retry", "task.take", "task.ask", "task.heartbeat"]);
    asked.extend(["task.release", "task.report", "task.take_over", "escalation.answer", "worker.start"]);
    for call in [
        Call::WorkerUpdate { worker, input: WorkerUpdate { name: Some("anvil".into()), ..Default::default() } },
        Call::WorkConfigure { project, input: WorkConfigure { missed: Some(5), ..Default::default() } },
        Call::WorkerStop { worker, input: WorkerStop::default() },
        Call::WorkerRestart { worker },
        Call::WorkerStopAll { project, input: WorkerStop::default() },
        Call::WorkerRemove { worker },
        Call::FloorFreeze { input: Freeze { project: None } },
        Call::FloorThaw { input: Freeze { project: None } },
    ] {
        asked.insert(call.verb());
        ask(&hub, &owner, call).await;
    }
    let entries = trail(&hub, &owner).await;
    let recorded: BTreeSet<&str> = entries.iter().map(|entry| entry.verb.as_str()).collect();
    // Attempts, reports and escalations are the history of what workers do; such verbs are declared `unaudited`.
    for spec in Call::SPECS.iter().filter(|spec| asked.contains(spec.name)) {
        assert_eq!(recorded.contains(spec.name), spec.audited, "{}", spec.name);
    }
}

#[tokio::test]
async fn ways_in_are_recorded_and_refusals_are_not_changes() {
    let hub = TestHub::start().await;
    let owner = ann(&hub);
    let before = trail(&hub, &owner).await.len();
    for call in [
        Call::ProjectShow { project: domain::ProjectId::generate() },
        Call::ProjectDelete { project: domain::ProjectId::generate() },
        Call::MeRename { input: Rename { name: String::new() } },
    ] {
        assert!(crate::support::call(&hub, &owner, &call).await.status >= 400);
    }
    assert_eq!(trail(&hub, &owner).await.len(), before);
    let input = ProjectCreate { content: "shown".into(), ..Default::default() };
    let project = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
    crate::support::observe(&hub, &owner, project).await;
    let page = AuditPage { project: Some(project), ..Default::default() };
    let entries = view!(&hub, &owner, Audit, Call::AuditList { page });
    let verbs: Vec<&str> = entries.iter().map(|entry| entry.verb.as_str()).collect();
    assert_eq!(verbs, ["observe", "observer.create", "project.create"], "newest first");
    assert!(entries[0].actor.is_none() && entries[0].origin.starts_with("127.0.0.1"), "{:?}", entries[0]);
}

#[tokio::test]
async fn every_audit_entry_is_one_line() {
    let hub = TestHub::start().await;
    let owner = ann(&hub);
    let link = secret(&view!(&hub, &owner, LoginLink, Call::LoginLink {}).link);
    let request = begin(&hub, Method::POST, "/api/login").header("origin", hub.url());
    let request = request.header("user-agent", "evil\tagent \u{202e}".replace('\u{202e}', "x").repeat(100));
    assert_eq!(send(request.json(&json!({"secret": link}))).await.status, 200);
    for content in ["one\rFAKE entry", "two\tthree", "x\r\ny", "`quoted` \"both\" ways\\"] {
        let input = ProjectCreate { content: content.into(), ..Default::default() };
        let project = view!(&hub, &owner, Project, Call::ProjectCreate { input }).id;
        let input = ActivityCreate { content: content.into(), ..Default::default() };
        view!(&hub, &owner, Activity, Call::ActivityCreate { project, input });
    }
    let mut socket = Socket::live(hub.url(), &owner).await;
    socket.ask(Call::MeRename { input: Rename { name: "anna\n".into() } }).await.expect_err("no lines in names");
    for entry in trail(&hub, &owner).await {
        let fields = [&entry.detail, &entry.origin, &entry.subject, &entry.verb];
        for field in fields {
            assert!(!field.chars().any(char::is_control), "{entry:?}");
        }
        assert!(entry.origin.len() <= 200, "{entry:?}");
    }
    let entries = trail(&hub, &owner).await;
    assert!(entries.iter().any(|entry| entry.detail.contains("`one")), "what it is about is still told");
}

#[tokio::test]
async fn a_changed_or_missing_entry_is_noticed() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("shopfloor.db");
    let url = format!("sqlite:{}", file.display());
    let hub = TestHub::with(|options| options.database = url.clone()).await;
    let owner = ann(&hub);
    for number in 0..5 {
        let input = ProjectCreate { content: format!("project {number}"), ..Default::default() };
        view!(&hub, &owner, Project, Call::ProjectCreate { input });
    }
    hub.stop().await;
    let verify = async || {
        let store = Store::open(&url, || domain::Timestamp::from_millis(0), |_| ()).await.expect("opens");
        let verdict = store.verify_audit().await.expect("readable");
        store.close().await;
        verdict
    };
    let total = verify().await.expect("the trail is whole");
    assert!(total >= 7);
    std::fs::copy(&file, folder.path().join("whole.db")).expect("copied");
    for (tampering, first) in [
        ("UPDATE audit SET detail = 'nothing happened' WHERE number = 4", 4),
        ("UPDATE audit SET actor_name = 'bo' WHERE number = 5", 5),
        ("UPDATE audit SET private_to = NULL, project = NULL WHERE number = 4", 4),
        ("UPDATE audit SET at = at + 1 WHERE number = 2", 2),
        ("DELETE FROM audit WHERE number = 3", 3),
        ("DELETE FROM audit WHERE number = (SELECT MAX(number) FROM audit)", total),
        ("UPDATE ledger SET audit_hash = 'x'", total + 1),
    ] {
        for rest in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.path().join(format!("shopfloor.db{rest}")));
        }
        std::fs::copy(folder.path().join("whole.db"), &file).expect("copied");
        db::run_file(&file, tampering).await;
        assert_eq!(verify().await, Err(first), "{tampering}");
    }
}
