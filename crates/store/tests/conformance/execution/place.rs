//! Stopping, resuming and keeping sessions, and what cannot be deleted while sessions run.

use domain::{SessionId, SessionStatus, Visibility};
use protocol::link::FactBody;
use protocol::{GitStats, RecordingKeep, SessionSpawn, SessionStop, Usage, verbs};
use store::{Caller, Placed, StoreError};

use super::{Memory, everything, in_project, project, runner, show, spawn};
use crate::fixture::Fixture;

both!(
    a_stop_is_ordered_once_and_by_force_once_more,
    only_the_owner_controls_a_session,
    a_conversation_is_resumed_in_its_workspace,
    a_recording_is_kept_or_not,
    a_project_with_live_sessions_cannot_be_deleted,
    a_project_with_unfinished_work_cannot_be_deleted,
    a_runner_with_live_sessions_cannot_be_removed,
);

fn stop(session: SessionId, force: bool) -> verbs::SessionStop {
    verbs::SessionStop { session, input: SessionStop { force } }
}

async fn a_stop_is_ordered_once_and_by_force_once_more(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let generation = async || fixture.store.desired(mine).await.unwrap().unwrap().generation;
    let before = generation().await;
    assert!(fixture.done(&fixture.ada, stop(made, false)).await.stopping);
    assert_eq!(generation().await, before + 1);
    let known = everything(&fixture).await;
    fixture.done(&fixture.ada, stop(made, false)).await;
    assert_eq!(everything(&fixture).await, known, "a repeated stop changes nothing");
    fixture.done(&fixture.ada, stop(made, true)).await;
    assert_eq!(generation().await, before + 2);
    let known = everything(&fixture).await;
    fixture.done(&fixture.ada, stop(made, false)).await;
    fixture.done(&fixture.ada, stop(made, true)).await;
    assert_eq!(everything(&fixture).await, known, "force is not withdrawn");

    let mut memory = Memory::new(mine);
    memory.at(&fixture, made, SessionStatus::Exited).await;
    let known = everything(&fixture).await;
    let over = fixture.done(&fixture.ada, stop(made, true)).await;
    assert_eq!(over.state.status, SessionStatus::Exited);
    assert_eq!(everything(&fixture).await, known, "an exited session needs no stop");
}

async fn only_the_owner_controls_a_session(fixture: Fixture) {
    let shared = project(&fixture, Visibility::ReadWrite, true).await;
    let hidden = project(&fixture, Visibility::ReadWrite, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    for (project, seen) in [(&shared, true), (&hidden, false)] {
        let made = fixture.done(&fixture.ada, spawn(in_project(project, "work"), &[mine])).await.id;
        let before = everything(&fixture).await;
        let keep = verbs::RecordingKeep { session: made, input: RecordingKeep { keep: true } };
        let errors = [
            fixture.refused(&fixture.bo, stop(made, true)).await,
            fixture
                .refused(&fixture.bo, Placed { verb: verbs::SessionResume { session: made }, connected: vec![mine] })
                .await,
            fixture.refused(&fixture.bo, keep).await,
            fixture.refused(&Fixture::observer(project.id), stop(made, true)).await,
        ];
        for error in errors {
            match seen {
                true => assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}"),
                false => assert!(matches!(error, StoreError::NotFound("session")), "{error:?}"),
            }
        }
        assert_eq!(everything(&fixture).await, before);
    }
    let error = fixture.refused(&fixture.ada, stop(SessionId::generate(), false)).await;
    assert!(matches!(error, StoreError::NotFound("session")));
}

async fn a_conversation_is_resumed_in_its_workspace(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 1).await;
    let input = SessionSpawn { cols: Some(90), record_input: Some(true), ..in_project(&project, "work") };
    let made = fixture.done(&fixture.ada, spawn(input, &[mine])).await;
    let resume = || Placed { verb: verbs::SessionResume { session: made.id }, connected: vec![mine] };
    let error = fixture.refused(&fixture.ada, resume()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("still running")), "{error:?}");
    let mut memory = Memory::new(mine);
    let usage = Usage { input_tokens: 3, cached_tokens: 2, output_tokens: 1, cost_micros: Some(7) };
    let fact = FactBody::SessionUsage { session: made.id, usage, model: Some("big".into()), conversation: None };
    memory.happened(&fixture, fact.clone()).await;
    memory.at(&fixture, made.id, SessionStatus::Exited).await;
    let error = fixture.refused(&fixture.ada, resume()).await;
    assert!(
        matches!(&error, StoreError::Conflict(reason) if reason.contains("did not name a conversation")),
        "{error:?}"
    );

    let FactBody::SessionUsage { session, usage, model, .. } = fact else { unreachable!() };
    let conversation = Some("c-1".to_owned());
    memory.happened(&fixture, FactBody::SessionUsage { session, usage, model, conversation }).await;
    assert!(show(&fixture, &fixture.ada, made.id).await.resumable);
    // Without free capacity or a connected runner, it is refused like a new session.
    let away = Placed { verb: verbs::SessionResume { session: made.id }, connected: vec![] };
    let error = fixture.refused(&fixture.ada, away).await;
    let there = fixture.refused(&fixture.ada, spawn(in_project(&project, "more"), &[])).await;
    assert_eq!(error.to_string(), there.to_string());
    assert!(error.to_string().contains("`box` is not connected"), "{error}");
    let other = fixture.done(&fixture.ada, spawn(in_project(&project, "more"), &[mine])).await;
    let error = fixture.refused(&fixture.ada, resume()).await;
    let full = fixture.refused(&fixture.ada, spawn(in_project(&project, "even more"), &[mine])).await;
    assert_eq!(error.to_string(), full.to_string());
    assert!(error.to_string().contains("`box` is full, with 1 session"), "{error}");
    assert!(!error.to_string().contains("1 sessions"), "{error}");
    memory.at(&fixture, other.id, SessionStatus::Exited).await;

    let next = fixture.done(&fixture.ada, resume()).await;
    assert_eq!((next.resumes, next.workspace, next.activity), (Some(made.id), made.workspace, made.activity));
    assert_eq!((next.model.as_deref(), next.title), (Some("big"), made.title));
    let wanted = fixture.store.desired(mine).await.unwrap().unwrap().sessions;
    assert_eq!(wanted.len(), 1, "the exited session is no longer wanted");
    assert_eq!((wanted[0].conversation.as_deref(), wanted[0].prompt.as_str()), (Some("c-1"), ""));
    assert_eq!((wanted[0].cols, wanted[0].record_input), (90, true));

    memory.at(&fixture, next.id, SessionStatus::Lost).await;
    memory.happened(&fixture, FactBody::WorkspaceCleaned { workspace: made.workspace }).await;
    let error = fixture.refused(&fixture.ada, resume()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("deleted")), "{error:?}");
}

async fn a_recording_is_kept_or_not(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 1).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    Memory::new(mine).at(&fixture, made, SessionStatus::Exited).await;
    let keep = |keep| verbs::RecordingKeep { session: made, input: RecordingKeep { keep } };
    let before = fixture.store.desired(mine).await.unwrap().unwrap();
    assert!(fixture.done(&fixture.ada, keep(true)).await.recording.keep);
    let wanted = fixture.store.desired(mine).await.unwrap().unwrap();
    assert_eq!((wanted.generation, wanted.keep), (before.generation + 1, vec![made]));
    let known = everything(&fixture).await;
    fixture.done(&fixture.ada, keep(true)).await;
    assert_eq!(everything(&fixture).await, known, "no news");
    assert!(!fixture.done(&fixture.ada, keep(false)).await.recording.keep);
    assert!(fixture.store.desired(mine).await.unwrap().unwrap().keep.is_empty());
}

async fn a_project_with_live_sessions_cannot_be_deleted(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let delete = || verbs::ProjectDelete { project: project.id };
    let before = everything(&fixture).await;
    let error = fixture.refused(&fixture.ada, delete()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("stop them first")), "{error:?}");
    assert_eq!(everything(&fixture).await, before);
    let mut memory = Memory::new(mine);
    memory.at(&fixture, made, SessionStatus::Exited).await;
    fixture.done(&fixture.ada, delete()).await;
    let mut raw = fixture.raw().await;
    for table in ["sessions", "workspaces", "activities"] {
        assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
    // Late facts about it are accepted and change nothing.
    assert_eq!(memory.at(&fixture, made, SessionStatus::Working).await, 2);
}

async fn a_project_with_unfinished_work_cannot_be_deleted(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let mut memory = Memory::new(mine);
    let workspace = made.workspace;
    let counted = |uncommitted: bool, unpushed: u32| {
        let stats = GitStats { ahead: unpushed, files: 1, insertions: 1, uncommitted, unpushed, ..Default::default() };
        FactBody::WorkspaceStats { workspace, stats: Some(stats), disk_bytes: None, saved_at: None }
    };
    let delete = || verbs::ProjectDelete { project: project.id };
    for (uncommitted, unpushed, word) in [(true, 0, "not committed"), (false, 2, "2 commits that are not pushed")] {
        memory.happened(&fixture, counted(uncommitted, unpushed)).await;
        memory.at(&fixture, made.id, SessionStatus::Exited).await;
        let before = everything(&fixture).await;
        let error = fixture.refused(&fixture.ada, delete()).await;
        let StoreError::Conflict(reason) = &error else { panic!("{error:?}") };
        for said in [word, &workspace.to_string(), "`box`", "workspace clean"] {
            assert!(reason.contains(said), "{said}: {reason}");
        }
        assert_eq!(everything(&fixture).await, before);
    }
    memory.happened(&fixture, counted(false, 0)).await;
    fixture.done(&fixture.ada, delete()).await;
}

async fn a_runner_with_live_sessions_cannot_be_removed(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner(&fixture, &fixture.ada, "box", 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let before = everything(&fixture).await;
    let error = fixture.refused(&fixture.ada, verbs::RunnerRemove { runner: mine }).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("`box` still has")), "{error:?}");
    assert_eq!(everything(&fixture).await, before);
    Memory::new(mine).at(&fixture, made, SessionStatus::Lost).await;
    fixture.done(&fixture.ada, verbs::RunnerRemove { runner: mine }).await;
    assert_eq!(fixture.store.desired(mine).await.unwrap(), None);
    assert_eq!(show(&fixture, &fixture.ada, made).await.runner, mine, "its sessions keep their runner");
    let facts = store::TakeFacts { runner: mine, journal: domain::JournalId::generate(), facts: vec![] };
    assert!(matches!(fixture.refused(&Caller::hub("link"), facts).await, StoreError::NotFound("runner")));
}
