//! An agent's capabilities on its runner are checked before a session is created.

use domain::{RunnerId, SessionMode, SessionStatus, Visibility};
use protocol::link::FactBody;
use protocol::{AgentMode, FoundAgent, SessionSpawn, Usage, verbs};
use store::{Caller, Placed, SeeRunner, StoreError};

use super::{Memory, about, everything, in_project, project, runner, spawn};
use crate::fixture::Fixture;

both!(
    an_unsupported_mode_is_refused_at_once,
    a_conversation_resumes_in_a_mode_that_its_agent_supports,
    a_missing_agent_is_named_with_its_installation,
);

/// An agent with these modes: whether each accepts a prompt, and resumes conversations.
fn agent(name: &str, modes: &[(SessionMode, bool, bool)]) -> FoundAgent {
    let mode = |&(mode, prompt, resumes): &(SessionMode, bool, bool)| AgentMode {
        mode,
        prompt,
        resumes,
        counts: None,
        costs: None,
        argv: Some(false),
        asked: None,
    };
    let mut agent = about(1).agents.remove(0);
    agent.name = name.into();
    agent.modes = Some(modes.iter().map(mode).collect());
    agent
}

/// A runner of Ada's with one more agent.
async fn runner_with(fixture: &Fixture, agent: FoundAgent) -> RunnerId {
    let mine = runner(fixture, &fixture.ada, "box", 4).await;
    let mut about = about(4);
    about.agents.push(agent);
    let command = SeeRunner { runner: mine, link: "box".into(), about: Some(about) };
    fixture.done(&Caller::hub("link"), command).await;
    mine
}

async fn an_unsupported_mode_is_refused_at_once(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner_with(&fixture, agent("shell", &[(SessionMode::Interactive, false, false)])).await;
    let plain = SessionSpawn { agent: "shell".into(), prompt: None, ..in_project(&project, "") };
    let before = everything(&fixture).await;
    let told = SessionSpawn { prompt: Some("tidy up".into()), ..plain.clone() };
    let error = fixture.refused(&fixture.ada, spawn(told, &[mine])).await;
    assert!(error.to_string().contains("`shell` takes no prompt"), "{error}");
    let alone = SessionSpawn { mode: Some(SessionMode::Headless), ..plain.clone() };
    let error = fixture.refused(&fixture.ada, spawn(alone, &[mine])).await;
    assert!(error.to_string().contains("`shell` has no headless mode"), "{error}");
    let named = SessionSpawn { argv: vec!["ls".into()], ..plain.clone() };
    let error = fixture.refused(&fixture.ada, spawn(named, &[mine])).await;
    assert!(error.to_string().contains("`shell` takes no program"), "{error}");
    assert_eq!(everything(&fixture).await, before, "nothing was created");
    fixture.done(&fixture.ada, spawn(plain, &[mine])).await;
    // If a runner does not report the capabilities of its agents, the spawn is accepted.
    let alone = SessionSpawn { mode: Some(SessionMode::Headless), ..in_project(&project, "work") };
    fixture.done(&fixture.ada, spawn(alone, &[mine])).await;
}

async fn a_conversation_resumes_in_a_mode_that_its_agent_supports(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let mine = runner_with(&fixture, agent("helper", &[(SessionMode::Headless, true, true)])).await;
    let mode = Some(SessionMode::Headless);
    let input = SessionSpawn { agent: "helper".into(), mode, ..in_project(&project, "work") };
    let screen = SessionSpawn { mode: None, ..input.clone() };
    let error = fixture.refused(&fixture.ada, spawn(screen, &[mine])).await;
    assert!(error.to_string().contains("`helper` has no interactive mode: start it headless"), "{error}");
    let silent = SessionSpawn { prompt: None, ..input.clone() };
    let error = fixture.refused(&fixture.ada, spawn(silent, &[mine])).await;
    assert!(error.to_string().contains("needs a prompt to run headless"), "{error}");
    let made = fixture.done(&fixture.ada, spawn(input, &[mine])).await;
    let mut memory = Memory::new(mine);
    let usage = Usage { input_tokens: 3, cached_tokens: 2, output_tokens: 1, cost_micros: None };
    let conversation = Some("c-1".to_owned());
    let fact = FactBody::SessionUsage { session: made.id, usage, model: None, conversation };
    memory.happened(&fixture, fact).await;
    memory.at(&fixture, made.id, SessionStatus::Exited).await;
    let resume = || Placed { verb: verbs::SessionResume { session: made.id }, connected: vec![mine] };
    let next = fixture.done(&fixture.ada, resume()).await;
    assert_eq!((next.mode, next.title), (SessionMode::Headless, made.title.clone()));
    let wanted = fixture.store.desired(mine).await.unwrap().unwrap().sessions.remove(0);
    assert_eq!(wanted.conversation.as_deref(), Some("c-1"));
    assert!(!wanted.prompt.is_empty(), "a headless session gets a prompt");
    memory.at(&fixture, next.id, SessionStatus::Exited).await;
    // It no longer can.
    let mut about = about(4);
    about.agents.push(agent("helper", &[(SessionMode::Headless, true, false)]));
    let command = SeeRunner { runner: mine, link: "box".into(), about: Some(about) };
    fixture.done(&Caller::hub("link"), command).await;
    let error = fixture.refused(&fixture.ada, resume()).await;
    assert!(
        matches!(&error, StoreError::Conflict(reason) if reason.contains("cannot resume conversations")),
        "{error:?}"
    );
}

async fn a_missing_agent_is_named_with_its_installation(fixture: Fixture) {
    let project = project(&fixture, Visibility::Private, false).await;
    let missing = FoundAgent { version: None, install: Some("pipx install helper".into()), ..agent("helper", &[]) };
    let mine = runner_with(&fixture, missing).await;
    let input = SessionSpawn { agent: "helper".into(), ..in_project(&project, "work") };
    let error = fixture.refused(&fixture.ada, spawn(input, &[mine])).await;
    assert!(error.to_string().contains("pipx install helper"), "{error}");
}
