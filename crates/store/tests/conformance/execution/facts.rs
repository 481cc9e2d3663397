//! Facts: each once, in order, and only about the runner's own sessions, even with a wrong clock or hostile text.

use domain::{SessionId, SessionStatus, Timestamp, Visibility, WorkspaceStatus};
use protocol::link::{Fact, FactBody};
use protocol::{GitStats, PortRange, SessionState, Usage};
use store::{Bearer, EventBody, MintAgentToken, Secret};

use super::{Memory, everything, in_project, project, runner, show, spawn, state};
use crate::fixture::{DAY, Fixture};

both!(
    facts_are_accepted_once_and_in_order,
    another_journal_counts_from_one,
    an_exited_session_stays_exited,
    a_runner_cannot_report_about_sessions_of_others,
    a_wrong_clock_changes_no_history,
    workspaces_follow_their_runner,
    a_runners_texts_are_sanitized,
    an_agents_token_ends_with_its_session,
    an_agents_token_lives_for_an_hour_and_is_replaced_by_the_next,
);

async fn facts_are_accepted_once_and_in_order(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let mut memory = Memory::new(mine);
    let body = |status| FactBody::SessionState { session, state: state(status, fixture.store.now()) };
    let facts: Vec<Fact> =
        [SessionStatus::Working, SessionStatus::Waiting, SessionStatus::Idle].map(|s| memory.fact(body(s))).into();
    let events = || fixture.heard().len();
    let before = events();
    assert_eq!(memory.tell(&fixture, vec![]).await, 0);
    assert_eq!(memory.tell(&fixture, facts[1..].to_vec()).await, 0, "a gap: nothing is accepted");
    assert_eq!(events(), before);
    assert_eq!(memory.tell(&fixture, vec![facts[0].clone(), facts[2].clone()]).await, 1, "up to the gap");
    assert_eq!(show(&fixture, &fixture.ada, session).await.state.status, SessionStatus::Working);
    // The answer was lost: all facts are sent again, and twice.
    assert_eq!(memory.tell(&fixture, [facts.clone(), facts.clone()].concat()).await, 3);
    assert_eq!(show(&fixture, &fixture.ada, session).await.state.status, SessionStatus::Idle);
    assert_eq!(events(), before + 3, "each was published once");
    assert_eq!(memory.tell(&fixture, facts).await, 3);
    assert_eq!(events(), before + 3);
    assert_eq!(fixture.store.desired(mine).await.unwrap().unwrap().acknowledged, 3);
}

async fn another_journal_counts_from_one(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let mut memory = Memory::new(mine);
    memory.at(&fixture, session, SessionStatus::Working).await;
    assert_eq!(memory.at(&fixture, session, SessionStatus::Idle).await, 2);
    // The runner lost its disk: it starts a new journal, and its facts are accepted.
    let mut fresh = Memory::new(mine);
    assert_eq!(fresh.tell(&fixture, vec![]).await, 0);
    assert_eq!(fresh.at(&fixture, session, SessionStatus::Waiting).await, 1);
    assert_eq!(show(&fixture, &fixture.ada, session).await.state.status, SessionStatus::Waiting);
}

async fn an_exited_session_stays_exited(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let mut memory = Memory::new(mine);
    for end in [SessionStatus::Exited, SessionStatus::Lost] {
        let session = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
        memory.at(&fixture, session, end).await;
        let over = show(&fixture, &fixture.ada, session).await;
        let rows = everything(&fixture).await;
        let events = fixture.heard().len();
        for late in [SessionStatus::Starting, SessionStatus::Working, SessionStatus::Exited, SessionStatus::Lost] {
            memory.at(&fixture, session, late).await;
        }
        assert_eq!(show(&fixture, &fixture.ada, session).await, over);
        assert_eq!(fixture.heard().len(), events, "and there is no event");
        let now = everything(&fixture).await;
        assert_eq!((&now[..3], &now[4..]), (&rows[..3], &rows[4..]), "but it is acknowledged");
        // Its usage and its recording may be reported later.
        let fact = FactBody::Recorded { session, output_bytes: u64::MAX, disk_bytes: 5, duration_ms: 7 };
        memory.happened(&fixture, fact).await;
        let recording = show(&fixture, &fixture.ada, session).await.recording;
        assert_eq!((recording.output_bytes, recording.disk_bytes, recording.duration_ms), (u64::MAX, 5, 7));
    }
    assert!(fixture.store.desired(mine).await.unwrap().unwrap().sessions.is_empty());
}

async fn a_runner_cannot_report_about_sessions_of_others(fixture: Fixture) {
    let project = project(&fixture, Visibility::ReadWrite, true).await;
    let hers = runner(&fixture, &fixture.ada, "ada's", 4).await;
    let his = runner(&fixture, &fixture.bo, "bo's", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[hers])).await;
    let (session, workspace) = (made.id, made.workspace);
    let mut liar = Memory::new(his);
    let before = everything(&fixture).await;
    let events = fixture.heard().len();
    let usage = Usage { input_tokens: 1, cached_tokens: 0, output_tokens: 1, cost_micros: None };
    let bodies = [
        FactBody::SessionState { session, state: state(SessionStatus::Exited, fixture.store.now()) },
        FactBody::SessionUsage { session, usage, model: Some("x".into()), conversation: Some("x".into()) },
        FactBody::Recorded { session, output_bytes: 1, disk_bytes: 1, duration_ms: 1 },
        FactBody::WorkspaceReady { workspace, path: "/x".into(), branch: None, base: None, ports: None },
        FactBody::WorkspaceFailed { workspace, detail: "x".into() },
        FactBody::WorkspaceStats { workspace, stats: None, disk_bytes: Some(1), saved_at: None },
        FactBody::WorkspaceCleaned { workspace },
        FactBody::SessionState {
            session: SessionId::generate(),
            state: state(SessionStatus::Idle, fixture.store.now()),
        },
    ];
    for (number, body) in bodies.into_iter().enumerate() {
        assert_eq!(liar.happened(&fixture, body).await, number as u64 + 1, "accepted, so that later facts can follow");
    }
    let after = everything(&fixture).await;
    assert_eq!((&after[..3], &after[4..]), (&before[..3], &before[4..]));
    assert_eq!(fixture.heard().len(), events);
    let caller = store::Caller::hub("link");
    assert_eq!(fixture.done(&caller, MintAgentToken { runner: his, session }).await, None);
}

async fn a_wrong_clock_changes_no_history(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let (session, workspace) = (made.id, made.workspace);
    let mut memory = Memory::new(mine);
    fixture.pass(60_000);
    let now = fixture.store.now();
    for (said, kept) in [
        (Timestamp::from_millis(0), made.created_at),
        (now.plus_millis(400 * DAY), now),
        (made.created_at.plus_millis(5), made.created_at.plus_millis(5)),
    ] {
        let state = state(SessionStatus::Working, said);
        memory.happened(&fixture, FactBody::SessionState { session, state }).await;
        assert_eq!(show(&fixture, &fixture.ada, session).await.state.since, kept);
        let fact = FactBody::WorkspaceStats { workspace, stats: None, disk_bytes: None, saved_at: Some(said) };
        memory.happened(&fixture, fact).await;
        let detail = fixture.store.session_detail(&fixture.ada, session).await.unwrap();
        assert_eq!(detail.workspace.saved_at, Some(kept));
    }
}

async fn workspaces_follow_their_runner(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let (session, workspace) = (made.id, made.workspace);
    let now = || async { fixture.store.session_detail(&fixture.ada, session).await.unwrap().workspace };
    let mut memory = Memory::new(mine);
    memory.happened(&fixture, FactBody::WorkspaceFailed { workspace, detail: "no such branch".into() }).await;
    let failed = now().await;
    assert_eq!((failed.status, failed.detail.as_deref()), (WorkspaceStatus::Failed, Some("no such branch")));
    let ports = Some(PortRange { first: 4000, last: 4009 });
    let (path, branch, base) = ("/w/1".to_owned(), None, None);
    memory.happened(&fixture, FactBody::WorkspaceReady { workspace, path, branch, base, ports: ports.clone() }).await;
    let ready = now().await;
    assert_eq!((ready.status, ready.detail, ready.path.as_deref()), (WorkspaceStatus::Ready, None, Some("/w/1")));
    assert_eq!((ready.base.as_deref(), ready.ports), (Some("main"), ports), "missing fields keep their values");
    let stats = GitStats {
        ahead: 1,
        behind: 2,
        files: 3,
        insertions: 4,
        deletions: 5,
        untracked: 6,
        uncommitted: true,
        unpushed: 7,
        conflicts: vec!["a.rs".into()],
        ..Default::default()
    };
    let saved_at = Some(fixture.store.now());
    let fact = FactBody::WorkspaceStats { workspace, stats: Some(stats.clone()), disk_bytes: Some(9), saved_at };
    memory.happened(&fixture, fact).await;
    let fact = FactBody::WorkspaceStats { workspace, stats: None, disk_bytes: None, saved_at: None };
    memory.happened(&fixture, fact).await;
    let counted = now().await;
    assert_eq!((counted.stats, counted.disk_bytes, counted.saved_at), (Some(stats), Some(9), saved_at));
    memory.happened(&fixture, FactBody::WorkspaceCleaned { workspace }).await;
    let stats = Some(GitStats { unpushed: 1, ..Default::default() });
    let late = FactBody::WorkspaceStats { workspace, stats, disk_bytes: Some(9), saved_at: None };
    for _ in 0..2 {
        let gone = now().await;
        assert_eq!((gone.status, gone.disk_bytes, gone.stats), (WorkspaceStatus::Cleaned, Some(0), None));
        memory.happened(&fixture, late.clone()).await;
    }
    assert!(fixture.store.workspaces(&fixture.ada, Default::default()).await.unwrap().is_empty());
}

async fn a_runners_texts_are_sanitized(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let (session, workspace) = (made.id, made.workspace);
    let bad = "a\0b\u{1b}[2J\u{202e}c".to_owned();
    let long = "x".repeat(100_000);
    let mut memory = Memory::new(mine);
    let usage = Usage { input_tokens: u64::MAX, cached_tokens: 0, output_tokens: 0, cost_micros: Some(u64::MAX) };
    let state =
        SessionState { detail: Some(bad.clone() + &long), ..state(SessionStatus::Waiting, fixture.store.now()) };
    let conflicts = vec![bad.clone(); 5000];
    let stats = GitStats { ahead: u32::MAX, conflicts, head: Some(bad.clone()), ..Default::default() };
    let some = || Some(bad.clone() + &long);
    for body in [
        FactBody::SessionUsage { session, usage, model: some(), conversation: some() },
        FactBody::SessionState { session, state },
        FactBody::WorkspaceReady { workspace, path: bad.clone() + &long, branch: some(), base: some(), ports: None },
        FactBody::WorkspaceStats { workspace, stats: Some(stats), disk_bytes: Some(u64::MAX), saved_at: None },
    ] {
        memory.happened(&fixture, body).await;
    }
    let detail = fixture.store.session_detail(&fixture.ada, session).await.unwrap();
    let text = serde_json::to_string(&detail).unwrap();
    assert!(!text.contains("\\u00") && !text.contains('\u{202e}'), "{text:.2000}");
    assert!(text.len() < 20_000, "{}", text.len());
    assert_eq!(detail.workspace.disk_bytes, Some(u64::MAX));
    let mut about = super::about(4);
    about.machine = bad.clone();
    about.labels = vec![bad; 5000];
    let link = "again".to_owned();
    fixture.done(&store::Caller::hub("link"), store::SeeRunner { runner: mine, link, about: Some(about) }).await;
    let shown = serde_json::to_string(&fixture.store.runners(&fixture.bo).await.unwrap()).unwrap();
    assert!(!shown.contains("\\u00") && !shown.contains('\u{202e}') && shown.len() < 20_000, "{shown:.500}");
}

async fn an_agents_token_ends_with_its_session(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let hub = store::Caller::hub("link");
    let mint = || MintAgentToken { runner: mine, session };
    let valid = async |secret: &str| {
        let bearer = Bearer::Token(Secret::presented(secret));
        fixture.store.authenticate(&bearer).await.unwrap()
    };
    let first = fixture.done(&hub, mint()).await.unwrap();
    let credential = valid(&first).await.unwrap();
    let wanted = domain::Actor::Agent { user: crate::fixture::id(&fixture.ada), project: project.id, session };
    assert_eq!(credential.actor, wanted);
    assert!(
        fixture.store.tokens(&fixture.ada).await.unwrap().iter().all(|token| token.kind != domain::TokenKind::Agent)
    );
    let second = fixture.done(&hub, mint()).await.unwrap();
    assert!(valid(&second).await.is_some());
    Memory::new(mine).at(&fixture, session, SessionStatus::Exited).await;
    assert!(valid(&second).await.is_none());
    let revoked = |event: &std::sync::Arc<store::Event>| matches!(event.body, EventBody::Revoked { .. });
    assert_eq!(fixture.heard().iter().filter(|event| revoked(event)).count(), 1, "connections end, too");
    assert_eq!(fixture.done(&hub, mint()).await, None, "an exited session gets no token");
}

async fn an_agents_token_lives_for_an_hour_and_is_replaced_by_the_next(fixture: Fixture) {
    const MINUTE: i64 = 60_000;
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let session = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let hub = store::Caller::hub("link");
    let mint = async || fixture.done(&hub, MintAgentToken { runner: mine, session }).await.unwrap();
    let valid = async |secret: &str| {
        let bearer = Bearer::Token(Secret::presented(secret));
        fixture.store.authenticate(&bearer).await.unwrap().is_some()
    };
    let first = mint().await;
    fixture.pass(59 * MINUTE);
    assert!(valid(&first).await);
    fixture.pass(MINUTE);
    assert!(!valid(&first).await, "a leaked token is useless after an hour");
    let second = mint().await;
    assert!(valid(&second).await, "the session still runs, so its agent continues");
    fixture.pass(30 * MINUTE);
    let third = mint().await;
    assert!(valid(&second).await && valid(&third).await, "a call that began with the earlier token still works");
    fixture.pass(30 * MINUTE);
    assert!(!valid(&second).await, "this does not extend its lifetime");
    assert!(valid(&third).await);
    let entries = fixture.store.audit(&fixture.ada, protocol::AuditPage::default()).await.unwrap();
    let made = entries.iter().filter(|entry| entry.verb == "session.token").count();
    assert_eq!(made, 2, "a replacement token creates no entry");
}
