//! Questions to the agents of ended sessions.

use domain::{QuestionStatus, RunnerId, SessionStatus, Visibility};
use protocol::link::{FactBody, RunnerAsk};
use protocol::{Project, Session, SessionAsk, Usage, verbs};
use store::{Caller, Placed, QuestionEnded, StoreError};

use super::{Memory, in_project, project, runner, spawn};
use crate::fixture::Fixture;
use crate::tasks::{conflict, invalid};

both!(
    a_question_is_stored_with_its_answer,
    only_an_agent_that_can_answer_is_asked,
    a_question_is_seen_as_its_session_is,
);

/// A session of Ada's that has ended and named its conversation.
async fn ended(fixture: &Fixture, share: bool, machine: &str) -> (Project, Session, Memory) {
    let project = project(fixture, Visibility::ReadWrite, share).await;
    let mine = runner(fixture, &fixture.ada, machine, 4).await;
    let made = fixture.done(&fixture.ada, spawn(in_project(&project, "work"), &[mine])).await;
    let mut memory = Memory::new(mine);
    let conversation = Some("c-1".to_owned());
    let fact = FactBody::SessionUsage { session: made.id, usage: Usage::default(), model: None, conversation };
    memory.happened(fixture, fact).await;
    memory.at(fixture, made.id, SessionStatus::Exited).await;
    (project, made, memory)
}

fn ask(session: &Session, question: &str, connected: &[RunnerId]) -> Placed<verbs::SessionAsk> {
    let input = SessionAsk { question: question.into() };
    Placed { verb: verbs::SessionAsk { session: session.id, input }, connected: connected.to_vec() }
}

async fn a_question_is_stored_with_its_answer(fixture: Fixture) {
    let (_, session, memory) = ended(&fixture, false, "box").await;
    let (ada, hub, here) = (&fixture.ada, Caller::hub("asker"), [memory.runner]);
    let made = fixture.done(ada, ask(&session, " why a table? ", &here)).await;
    assert_eq!((made.question.as_str(), made.status), ("why a table?", QuestionStatus::Asked));
    let open = fixture.store.open_questions().await.unwrap().remove(0);
    assert_eq!((open.id, open.runner), (made.id, memory.runner));
    let Some(RunnerAsk::Question { conversation, text, workspace, .. }) = open.ask else { panic!("{open:?}") };
    assert_eq!((conversation.as_str(), workspace), ("c-1", session.workspace));
    assert!(text.contains("why a table?") && text.contains("change nothing"), "{text}");
    let said = fixture.refused(ada, ask(&session, "and?", &here)).await;
    assert!(conflict(&said).contains("being answered"), "{said}");
    let answered = |answer: Result<&str, &str>| QuestionEnded {
        question: made.id,
        answer: answer.map(str::to_owned).map_err(str::to_owned),
    };
    fixture.done(&hub, answered(Ok("It is faster."))).await;
    fixture.done(&hub, answered(Err("late"))).await;
    assert!(fixture.store.open_questions().await.unwrap().is_empty());
    let second = fixture.done(ada, ask(&session, "and?", &here)).await;
    fixture.done(&hub, QuestionEnded { question: second.id, answer: Err("no sandbox".into()) }).await;
    let all = fixture.store.session_questions(ada, session.id).await.unwrap();
    let found: Vec<_> = all.iter().map(|one| (one.status, one.answer.as_deref(), one.detail.as_deref())).collect();
    let wanted =
        [(QuestionStatus::Answered, Some("It is faster."), None), (QuestionStatus::Failed, None, Some("no sandbox"))];
    assert_eq!(found, wanted);
}

async fn only_an_agent_that_can_answer_is_asked(fixture: Fixture) {
    let (project, session, mut memory) = ended(&fixture, false, "box").await;
    let (ada, here) = (&fixture.ada, [memory.runner]);
    let said = fixture.refused(ada, ask(&session, "why?", &[])).await;
    assert!(conflict(&said).contains("offline"), "{said}");
    let said = fixture.refused(ada, ask(&session, " ", &here)).await;
    assert!(!invalid(&said).is_empty(), "{said}");
    let live = fixture.done(ada, spawn(in_project(&project, "more"), &here)).await;
    let said = fixture.refused(ada, ask(&live, "why?", &here)).await;
    assert!(conflict(&said).contains("still running"), "{said}");
    memory.at(&fixture, live.id, SessionStatus::Exited).await;
    let said = fixture.refused(ada, ask(&live, "why?", &here)).await;
    assert!(conflict(&said).contains("did not name a conversation"), "{said}");
    let shell = protocol::SessionSpawn { agent: "shell".into(), prompt: None, ..in_project(&project, "") };
    let shell = fixture.done(ada, spawn(shell, &here)).await;
    let said = fixture.refused(ada, ask(&shell, "why?", &here)).await;
    assert!(conflict(&said).contains("shells cannot be asked"), "{said}");
    memory.happened(&fixture, FactBody::WorkspaceCleaned { workspace: session.workspace }).await;
    let said = fixture.refused(ada, ask(&session, "why?", &here)).await;
    assert!(conflict(&said).contains("deleted"), "{said}");
}

async fn a_question_is_seen_as_its_session_is(fixture: Fixture) {
    let (_, session, memory) = ended(&fixture, true, "box").await;
    fixture.done(&fixture.ada, ask(&session, "why?", &[memory.runner])).await;
    assert_eq!(fixture.store.session_questions(&fixture.bo, session.id).await.unwrap().len(), 1);
    let said = fixture.refused(&fixture.bo, ask(&session, "why?", &[memory.runner])).await;
    assert!(matches!(said, StoreError::Forbidden(_)), "{said}");
    let (_, hidden, memory) = ended(&fixture, false, "other").await;
    fixture.done(&fixture.ada, ask(&hidden, "why?", &[memory.runner])).await;
    let said = fixture.store.session_questions(&fixture.bo, hidden.id).await.unwrap_err();
    assert_eq!(said.to_string(), "session not found");
}
