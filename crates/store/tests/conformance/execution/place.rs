//! Stopping, resuming, keeping; and what cannot be taken away while something runs.

use domain::{SessionId, SessionStatus, Visibility};
use protocol::link::FactBody;
use protocol::{GitStats, RecordingKeep, SessionSpawn, SessionStop, Usage, verbs};
use store::{Caller, Placed, StoreError};

use super::{Memory, everything, in_project, project, runner, show, spawn};
use crate::floor::Floor;

both!(
    a_stop_is_asked_once_and_harder_once_more,
    only_the_owner_drives,
    a_conversation_is_resumed_where_it_was,
    a_recording_is_kept_or_not,
    a_project_with_live_sessions_stays,
    a_project_with_unfinished_work_stays,
    a_runner_with_live_sessions_stays,
);

fn stop(session: SessionId, force: bool) -> verbs::SessionStop {
    verbs::SessionStop { session, input: SessionStop { force } }
}

async fn a_stop_is_asked_once_and_harder_once_more(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 4).await;
    let made = floor.done(&floor.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let generation = async || floor.store.desired(mine).await.unwrap().unwrap().generation;
    let before = generation().await;
    assert!(floor.done(&floor.ada, stop(made, false)).await.stopping);
    assert_eq!(generation().await, before + 1);
    let known = everything(&floor).await;
    floor.done(&floor.ada, stop(made, false)).await;
    assert_eq!(everything(&floor).await, known, "asking again is no news");
    floor.done(&floor.ada, stop(made, true)).await;
    assert_eq!(generation().await, before + 2);
    let known = everything(&floor).await;
    floor.done(&floor.ada, stop(made, false)).await;
    floor.done(&floor.ada, stop(made, true)).await;
    assert_eq!(everything(&floor).await, known, "it is not asked more softly again");

    let mut memory = Memory::new(mine);
    memory.at(&floor, made, SessionStatus::Exited).await;
    let known = everything(&floor).await;
    let over = floor.done(&floor.ada, stop(made, true)).await;
    assert_eq!(over.state.status, SessionStatus::Exited);
    assert_eq!(everything(&floor).await, known, "what is over needs no stop");
}

async fn only_the_owner_drives(floor: Floor) {
    let shared = project(&floor, Visibility::ReadWrite, true).await;
    let hidden = project(&floor, Visibility::ReadWrite, false).await;
    let mine = runner(&floor, &floor.ada, "box", 4).await;
    for (project, seen) in [(&shared, true), (&hidden, false)] {
        let made = floor.done(&floor.ada, spawn(in_project(project, "work"), &[mine])).await.id;
        let before = everything(&floor).await;
        let keep = verbs::RecordingKeep { session: made, input: RecordingKeep { keep: true } };
        let errors = [
            floor.refused(&floor.bo, stop(made, true)).await,
            floor
                .refused(&floor.bo, Placed { verb: verbs::SessionResume { session: made }, connected: vec![mine] })
                .await,
            floor.refused(&floor.bo, keep).await,
            floor.refused(&Floor::observer(project.id), stop(made, true)).await,
        ];
        for error in errors {
            match seen {
                true => assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}"),
                false => assert!(matches!(error, StoreError::NotFound("session")), "{error:?}"),
            }
        }
        assert_eq!(everything(&floor).await, before);
    }
    let error = floor.refused(&floor.ada, stop(SessionId::generate(), false)).await;
    assert!(matches!(error, StoreError::NotFound("session")));
}

async fn a_conversation_is_resumed_where_it_was(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 1).await;
    let input = SessionSpawn { cols: Some(90), record_input: Some(true), ..in_project(&project, "work") };
    let made = floor.done(&floor.ada, spawn(input, &[mine])).await;
    let resume = || Placed { verb: verbs::SessionResume { session: made.id }, connected: vec![mine] };
    let error = floor.refused(&floor.ada, resume()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("still running")), "{error:?}");
    let mut memory = Memory::new(mine);
    let usage = Usage { input_tokens: 3, cached_tokens: 2, output_tokens: 1, cost_micros: Some(7) };
    let fact = FactBody::SessionUsage { session: made.id, usage, model: Some("big".into()), conversation: None };
    memory.happened(&floor, fact.clone()).await;
    memory.at(&floor, made.id, SessionStatus::Exited).await;
    let error = floor.refused(&floor.ada, resume()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("no conversation")), "{error:?}");

    let FactBody::SessionUsage { session, usage, model, .. } = fact else { unreachable!() };
    let conversation = Some("c-1".to_owned());
    memory.happened(&floor, FactBody::SessionUsage { session, usage, model, conversation }).await;
    assert!(show(&floor, &floor.ada, made.id).await.resumable);
    // Where there is no room for it, or nobody to start it, it is refused as a fresh session is.
    let away = Placed { verb: verbs::SessionResume { session: made.id }, connected: vec![] };
    let error = floor.refused(&floor.ada, away).await;
    let there = floor.refused(&floor.ada, spawn(in_project(&project, "more"), &[])).await;
    assert_eq!(error.to_string(), there.to_string());
    assert!(error.to_string().contains("`box` is not connected"), "{error}");
    let other = floor.done(&floor.ada, spawn(in_project(&project, "more"), &[mine])).await;
    let error = floor.refused(&floor.ada, resume()).await;
    let full = floor.refused(&floor.ada, spawn(in_project(&project, "even more"), &[mine])).await;
    assert_eq!(error.to_string(), full.to_string());
    assert!(error.to_string().contains("`box` is full, with 1 sessions"), "{error}");
    memory.at(&floor, other.id, SessionStatus::Exited).await;

    let next = floor.done(&floor.ada, resume()).await;
    assert_eq!((next.resumes, next.workspace, next.activity), (Some(made.id), made.workspace, made.activity));
    assert_eq!((next.model.as_deref(), next.title), (Some("big"), made.title));
    let wanted = floor.store.desired(mine).await.unwrap().unwrap().sessions;
    assert_eq!(wanted.len(), 1, "the one that is over is not wanted any more");
    assert_eq!((wanted[0].conversation.as_deref(), wanted[0].prompt.as_str()), (Some("c-1"), ""));
    assert_eq!((wanted[0].cols, wanted[0].record_input), (90, true));

    memory.at(&floor, next.id, SessionStatus::Lost).await;
    memory.happened(&floor, FactBody::WorkspaceCleaned { workspace: made.workspace }).await;
    let error = floor.refused(&floor.ada, resume()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("deleted")), "{error:?}");
}

async fn a_recording_is_kept_or_not(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 1).await;
    let made = floor.done(&floor.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    Memory::new(mine).at(&floor, made, SessionStatus::Exited).await;
    let keep = |keep| verbs::RecordingKeep { session: made, input: RecordingKeep { keep } };
    let before = floor.store.desired(mine).await.unwrap().unwrap();
    assert!(floor.done(&floor.ada, keep(true)).await.recording.keep);
    let wanted = floor.store.desired(mine).await.unwrap().unwrap();
    assert_eq!((wanted.generation, wanted.keep), (before.generation + 1, vec![made]));
    let known = everything(&floor).await;
    floor.done(&floor.ada, keep(true)).await;
    assert_eq!(everything(&floor).await, known, "no news");
    assert!(!floor.done(&floor.ada, keep(false)).await.recording.keep);
    assert!(floor.store.desired(mine).await.unwrap().unwrap().keep.is_empty());
}

async fn a_project_with_live_sessions_stays(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 4).await;
    let made = floor.done(&floor.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let delete = || verbs::ProjectDelete { project: project.id };
    let before = everything(&floor).await;
    let error = floor.refused(&floor.ada, delete()).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("stop them first")), "{error:?}");
    assert_eq!(everything(&floor).await, before);
    let mut memory = Memory::new(mine);
    memory.at(&floor, made, SessionStatus::Exited).await;
    floor.done(&floor.ada, delete()).await;
    let mut raw = floor.raw().await;
    for table in ["sessions", "workspaces", "activities"] {
        assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
    // What comes late about it is taken and changes nothing.
    assert_eq!(memory.at(&floor, made, SessionStatus::Working).await, 2);
}

async fn a_project_with_unfinished_work_stays(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 4).await;
    let made = floor.done(&floor.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let mut memory = Memory::new(mine);
    let workspace = made.workspace;
    let counted = |uncommitted: bool, unpushed: u32| {
        let stats = GitStats { ahead: unpushed, files: 1, insertions: 1, uncommitted, unpushed, ..Default::default() };
        FactBody::WorkspaceStats { workspace, stats: Some(stats), disk_bytes: None, saved_at: None }
    };
    let delete = || verbs::ProjectDelete { project: project.id };
    for (uncommitted, unpushed, word) in [(true, 0, "not committed"), (false, 2, "2 commits that are not pushed")] {
        memory.happened(&floor, counted(uncommitted, unpushed)).await;
        memory.at(&floor, made.id, SessionStatus::Exited).await;
        let before = everything(&floor).await;
        let error = floor.refused(&floor.ada, delete()).await;
        let StoreError::Conflict(reason) = &error else { panic!("{error:?}") };
        for said in [word, &workspace.to_string(), "`box`", "workspace clean"] {
            assert!(reason.contains(said), "{said}: {reason}");
        }
        assert_eq!(everything(&floor).await, before);
    }
    memory.happened(&floor, counted(false, 0)).await;
    floor.done(&floor.ada, delete()).await;
}

async fn a_runner_with_live_sessions_stays(floor: Floor) {
    let project = project(&floor, Visibility::Private, false).await;
    let mine = runner(&floor, &floor.ada, "box", 4).await;
    let made = floor.done(&floor.ada, spawn(in_project(&project, "work"), &[mine])).await.id;
    let before = everything(&floor).await;
    let error = floor.refused(&floor.ada, verbs::RunnerRemove { runner: mine }).await;
    assert!(matches!(&error, StoreError::Conflict(reason) if reason.contains("`box` still has")), "{error:?}");
    assert_eq!(everything(&floor).await, before);
    Memory::new(mine).at(&floor, made, SessionStatus::Lost).await;
    floor.done(&floor.ada, verbs::RunnerRemove { runner: mine }).await;
    assert_eq!(floor.store.desired(mine).await.unwrap(), None);
    assert_eq!(show(&floor, &floor.ada, made).await.runner, mine, "what it ran is remembered");
    let facts = store::TakeFacts { runner: mine, journal: domain::JournalId::generate(), facts: vec![] };
    assert!(matches!(floor.refused(&Caller::hub("link"), facts).await, StoreError::NotFound("runner")));
}
