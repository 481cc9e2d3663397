use domain::{ActivityId, ProjectId, SessionMode, SessionStatus, WorkspaceId};
use protocol::link::DesiredWorkspace;
use protocol::{SessionState, Usage};

use super::*;
use crate::clock::now;

pub(crate) fn desired(session: SessionId) -> protocol::link::DesiredSession {
    protocol::link::DesiredSession {
        session,
        project: ProjectId::generate(),
        activity: ActivityId::generate(),
        run: true,
        begun: false,
        force: false,
        agent: "command".to_owned(),
        mode: SessionMode::Interactive,
        model: None,
        prompt: String::new(),
        asked_by: None,
        asked_for: None,
        context: String::new(),
        argv: vec!["true".to_owned()],
        conversation: None,
        sandbox: None,
        record_input: false,
        cols: 80,
        rows: 24,
        workspace: DesiredWorkspace {
            workspace: WorkspaceId::generate(),
            repository: None,
            base: None,
            branch: "work".to_owned(),
            repository_by: None,
            code_by: None,
            from: None,
        },
        task: None,
        step: None,
        asks: false,
    }
}

use domain::SessionId;

pub(crate) fn state(session: SessionId) -> FactBody {
    let state = SessionState { status: SessionStatus::Working, detail: None, code: None, signal: None, since: now() };
    FactBody::SessionState { session, state }
}

fn usage(session: SessionId, tokens: u64) -> FactBody {
    let usage = Usage { input_tokens: tokens, cached_tokens: 0, output_tokens: 0, cost_micros: None };
    FactBody::SessionUsage { session, usage, model: None, conversation: None }
}

fn tokens(fact: &protocol::link::Fact) -> Option<u64> {
    match &fact.body {
        FactBody::SessionUsage { usage, .. } => Some(usage.input_tokens),
        _ => None,
    }
}

async fn numbers(journal: &Journal, after: u64) -> Vec<u64> {
    journal.to_send(after, 100).await.unwrap().iter().map(|fact| fact.number).collect()
}

#[tokio::test]
async fn facts_are_numbered_without_gaps_across_acknowledgements_and_restarts() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::generate();
    let journal = Journal::open(folder.path()).await.unwrap();
    for _ in 0..3 {
        journal.tell(state(session)).await;
    }
    assert_eq!(numbers(&journal, 0).await, [1, 2, 3]);
    journal.acknowledge(3).await.unwrap();
    drop(journal);
    let journal = Journal::open(folder.path()).await.unwrap();
    journal.tell(state(session)).await;
    assert_eq!(numbers(&journal, 0).await, [4]);
    assert!(journal.owes(session).await.unwrap());
    journal.acknowledge(4).await.unwrap();
    assert!(!journal.owes(session).await.unwrap());
}

#[tokio::test]
async fn only_an_unsent_fact_is_replaced_by_a_newer_one() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (SessionId::generate(), SessionId::generate());
    let journal = Journal::open(folder.path()).await.unwrap();
    for tokens in 1..=3 {
        journal.write(&[], &[usage(one, tokens), usage(two, 10 * tokens), state(one)]).await;
    }
    let facts = journal.to_send(0, 100).await.unwrap();
    assert_eq!(facts.iter().map(|fact| fact.number).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    assert_eq!(facts.iter().filter_map(tokens).collect::<Vec<_>>(), [3, 30]);
    // It may have reached the hub under its number.
    journal.tell(usage(one, 4)).await;
    let facts = journal.to_send(0, 100).await.unwrap();
    assert_eq!(facts.iter().filter_map(tokens).collect::<Vec<_>>(), [3, 30, 4]);
    drop(journal);
    // A fact that an earlier process may have sent must not change either.
    let journal = Journal::open(folder.path()).await.unwrap();
    journal.tell(usage(one, 5)).await;
    assert_eq!(journal.to_send(5, 100).await.unwrap().iter().filter_map(tokens).collect::<Vec<_>>(), [4, 5]);
}

#[tokio::test]
async fn two_runners_do_not_share_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let journal = Journal::open(folder.path()).await.unwrap();
    let error = Journal::open(folder.path()).await.unwrap_err();
    assert!(error.to_string().contains("in use by another runner"), "{error}");
    drop(journal);
    Journal::open(folder.path()).await.unwrap();
}

#[tokio::test]
async fn renumbering_keeps_unacknowledged_facts_under_another_id() {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::generate();
    let journal = Journal::open(folder.path()).await.unwrap();
    for _ in 0..4 {
        journal.tell(state(session)).await;
    }
    journal.acknowledge(2).await.unwrap();
    journal.write(&[Change::Generation(7)], &[]).await;
    let before = journal.head().await.unwrap();
    assert_eq!((before.facts, before.forgotten), (4, 2));
    journal.start_over().await.unwrap();
    let after = journal.head().await.unwrap();
    assert_ne!(before.journal, after.journal);
    assert_eq!((after.facts, after.forgotten, numbers(&journal, 0).await), (2, 0, vec![1, 2]));
    assert_eq!(after.generation, 0, "the generation starts over");
    journal.acknowledge(2).await.unwrap();
    assert_eq!(journal.head().await.unwrap().forgotten, 2, "all of them are sent");
}

#[tokio::test]
async fn wishes_and_steps_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (desired(SessionId::generate()), desired(SessionId::generate()));
    let journal = Journal::open(folder.path()).await.unwrap();
    let changes = [
        Change::Generation(7),
        Change::Desired(Box::new(one.clone()), Step::Accepted),
        Change::Desired(Box::new(two.clone()), Step::Accepted),
        Change::Keep(vec![two.session]),
    ];
    journal.write(&changes, &[]).await;
    let memory = Memory { prompted: true, ..Memory::default() };
    let changes = [Change::Step(one.session, Step::Running), Change::Memory(one.session, Box::new(memory.clone()))];
    journal.write(&changes, &[]).await;
    let stopped = protocol::link::DesiredSession { run: false, ..one.clone() };
    journal.write(&[Change::Desired(Box::new(stopped.clone()), Step::Accepted)], &[]).await;
    drop(journal);
    let journal = Journal::open(folder.path()).await.unwrap();
    assert_eq!(journal.head().await.unwrap().generation, 7);
    let rows = journal.sessions(false).await.unwrap();
    let first = rows.iter().find(|row| row.session == one.session).unwrap();
    assert_eq!((first.step, &first.desired, &first.memory, first.keep), (Step::Running, &stopped, &memory, false));
    let second = journal.session(two.session).await.unwrap().unwrap();
    assert_eq!((second.step, second.keep), (Step::Accepted, true));
}
