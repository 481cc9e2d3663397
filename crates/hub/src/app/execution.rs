//! Sessions and workspaces: decided and stored here, executed and reported by runners.

use domain::text::{Field, PROMPT};
use domain::{Action, ProjectId, RunnerId, SessionId, WorkspaceId};
use protocol::ProblemKind;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::{NoteAsked, Placed, StoreError};

use super::{Asked, handle, stored};
use crate::AppError;

/// How many lines of a log are shown by default, and at most.
const LINES: (u32, u32) = (1_000, 10_000);
/// Text sent to an agent.
const TEXT: Field = Field { name: "text", ..PROMPT };

stored! { SessionStop SessionKeyboardRequest SessionKeyboardGive SessionKeyboardTake SessionKeyboardReturn }

handle! {
    SessionList(verb, asked) { Ok(asked.hub.store.sessions(asked.caller, verb.filter).await?) }

    SessionShow(verb, asked) { Ok(asked.hub.store.session_detail(asked.caller, verb.session).await?) }

    SessionSpawn(verb, asked) {
        asked.caller.person()?;
        let connected = asked.connected().await?;
        asked.commit(Placed { verb, connected }).await
    }

    SessionResume(verb, asked) {
        // Refuse a caller without rights before anything is said about runners.
        asked.hub.store.session(asked.caller, verb.session, Action::Drive).await?;
        let connected = asked.connected().await?;
        asked.commit(Placed { verb, connected }).await
    }

    SessionAsk(verb, asked) {
        asked.hub.store.session(asked.caller, verb.session, Action::Drive).await?;
        let connected = asked.connected().await?;
        let hub = asked.hub;
        let made = asked.commit(Placed { verb, connected }).await?;
        hub.live.asked.notify_one();
        Ok(made)
    }

    SessionQuestions(verb, asked) { Ok(asked.hub.store.session_questions(asked.caller, verb.session).await?) }

    SessionSend(verb, asked) {
        let (session, text, submit) = (verb.session, verb.input.text, verb.input.submit);
        TEXT.check(&text).map_err(StoreError::from)?;
        let found = asked.hub.store.session(asked.caller, session, Action::Drive).await?;
        let note = note("session.send", session, found.project, format!("sent a message to `{}`", found.title));
        drive(asked, found.runner, note, RunnerAsk::Send { session, text, submit }).await
    }

    SessionLog(verb, asked) {
        let session = verb.session;
        let lines = verb.page.lines.unwrap_or(LINES.0).min(LINES.1);
        let setup = verb.page.setup.unwrap_or(false);
        match look(&asked, session, RunnerAsk::Log { session, lines, setup }).await? {
            RunnerAnswer::Log(log) if log.setup || !setup => Ok(log),
            other => Err(unexpected(&other)),
        }
    }

    SessionScreen(verb, asked) {
        let found = asked.hub.store.session(asked.caller, verb.session, Action::SeeExecution).await?;
        asked.hub.links.screen(found.runner, verb.session).await
    }

    WorkspaceList(verb, asked) { Ok(asked.hub.store.workspaces(asked.caller, verb.filter).await?) }

    WorkspaceShow(verb, asked) {
        Ok(asked.hub.store.workspace(asked.caller, verb.workspace, Action::SeeExecution).await?)
    }

    WorkspaceDiff(verb, asked) {
        let workspace = verb.workspace;
        match look_at(&asked, workspace, RunnerAsk::Diff { workspace, tree: None }).await? {
            RunnerAnswer::Diff(diff) => Ok(diff),
            other => Err(unexpected(&other)),
        }
    }

    WorkspaceSaves(verb, asked) {
        let workspace = verb.workspace;
        match look_at(&asked, workspace, RunnerAsk::Saves { workspace }).await? {
            RunnerAnswer::Saves(saves) => Ok(saves),
            other => Err(unexpected(&other)),
        }
    }

    WorkspaceRestore(verb, asked) {
        let (workspace, save) = (verb.workspace, verb.input.save);
        check_save(save.as_deref())?;
        let found = asked.hub.store.workspace(asked.caller, workspace, Action::Drive).await?;
        let note = note("workspace.restore", workspace, found.project, "restored a save".into());
        drive(without_key(asked), found.runner, note, RunnerAsk::Restore { workspace, save }).await
    }

    WorkspaceDiscard(verb, asked) {
        let workspace = verb.workspace;
        let found = asked.hub.store.workspace(asked.caller, workspace, Action::Drive).await?;
        let note = note("workspace.discard", workspace, found.project, "deleted it with its unfinished work".into());
        drive(without_key(asked), found.runner, note, RunnerAsk::Discard { workspace }).await
    }

    WorkspaceClean(verb, asked) {
        let workspace = verb.workspace;
        let found = asked.hub.store.workspace(asked.caller, workspace, Action::Drive).await?;
        let note = note("workspace.clean", workspace, found.project, "deleted it".into());
        drive(without_key(asked), found.runner, note, RunnerAsk::Clean { workspace }).await
    }
}

/// Asks the runner of a session that the caller may view.
pub(super) async fn look(asked: &Asked<'_>, session: SessionId, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
    let found = asked.hub.store.session(asked.caller, session, Action::SeeExecution).await?;
    asked.hub.links.ask(found.runner, ask).await
}

/// Asks the runner of a workspace that the caller may view.
async fn look_at(asked: &Asked<'_>, workspace: WorkspaceId, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
    let found = asked.hub.store.workspace(asked.caller, workspace, Action::SeeExecution).await?;
    asked.hub.links.ask(found.runner, ask).await
}

/// Asks a runner to change something. The audit entry is written first, whatever the runner answers.
///
/// With a key, the runner is asked at most once: if the outcome is unknown, a person must look. Harmless repetitions
/// have no key.
async fn drive(asked: Asked<'_>, runner: RunnerId, note: Note, ask: RunnerAsk) -> Result<(), AppError> {
    let hub = asked.hub;
    hub.links.reachable(runner)?;
    let attempt = rand::random();
    let text = serde_json::to_string(&ask).map_err(|error| AppError::Internal(error.into()))?;
    let Note { verb, subject, project, detail } = note;
    if asked.commit(NoteAsked { verb, subject, project, detail, ask: text, attempt }).await? != attempt {
        let detail = "this key was used before, and the request may have been executed: check before you repeat it";
        return Err(AppError::new(ProblemKind::Conflict, detail));
    }
    match hub.links.ask(runner, ask).await? {
        RunnerAnswer::Done => Ok(()),
        other => Err(unexpected(&other)),
    }
}

/// A repetition is harmless: retries are not recognised.
fn without_key(asked: Asked<'_>) -> Asked<'_> {
    Asked { key: None, ..asked }
}

/// The audit entry.
struct Note {
    verb: &'static str,
    subject: String,
    project: ProjectId,
    detail: String,
}

fn note(verb: &'static str, subject: impl ToString, project: ProjectId, detail: String) -> Note {
    Note { verb, subject: subject.to_string(), project, detail }
}

/// A save is named by its commit; nothing else reaches a command line.
fn check_save(save: Option<&str>) -> Result<(), AppError> {
    let commit = |save: &str| (4..=64).contains(&save.len()) && save.bytes().all(|b| b.is_ascii_hexdigit());
    match save.is_none_or(commit) {
        true => Ok(()),
        false => Err(StoreError::invalid("save", "a save's id has 4 to 64 hexadecimal digits").into()),
    }
}

pub(super) fn unexpected(answer: &RunnerAnswer) -> AppError {
    tracing::warn!(?answer, "unexpected answer from a runner");
    AppError::new(ProblemKind::Unavailable, "unexpected answer from the runner: update it")
}
