//! Verbs about what runs: decided and stored here, done and told by runners.

use domain::text::{Field, PROMPT};
use domain::{Action, ProjectId, RunnerId, SessionId, WorkspaceId};
use protocol::link::{RunnerAnswer, RunnerAsk};
use protocol::{Answer, Call, ProblemKind, RecordingDetail, Session};
use store::{Caller, KeepRecording, NoteAsked, ResumeSession, SpawnSession, StopSession, StoreError};

use crate::AppError;
use crate::hub::Hub;

/// How many lines of a log are shown when nobody says, and at most.
const LINES: (u32, u32) = (1_000, 10_000);
/// What is looked for in a recording.
const QUERY: Field = Field { name: "text", limit: 200, lines: false, optional: false };
/// What is said to an agent.
const TEXT: Field = Field { name: "text", ..PROMPT };

/// The verbs that look.
pub(super) async fn read(hub: &Hub, caller: &Caller, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    Ok(match call {
        Call::SessionList { filter } => Answer::Sessions(store.sessions(caller, filter).await?),
        Call::SessionShow { session } => Answer::SessionDetail(store.session_detail(caller, session).await?),
        Call::SessionLog { session, page } => {
            let lines = page.lines.unwrap_or(LINES.0).min(LINES.1);
            let setup = page.setup.unwrap_or(false);
            match look(hub, caller, session, RunnerAsk::Log { session, lines, setup }).await? {
                RunnerAnswer::Log(log) if log.setup || !setup => Answer::SessionLog(log),
                other => return Err(unexpected(&other)),
            }
        }
        Call::WorkspaceList { filter } => Answer::Workspaces(store.workspaces(caller, filter).await?),
        Call::WorkspaceShow { workspace } => {
            Answer::Workspace(store.workspace(caller, workspace, Action::SeeExecution).await?)
        }
        Call::WorkspaceDiff { workspace } => {
            match look_at(hub, caller, workspace, RunnerAsk::Diff { workspace }).await? {
                RunnerAnswer::Diff(diff) => Answer::WorkspaceDiff(diff),
                other => return Err(unexpected(&other)),
            }
        }
        Call::WorkspaceSaves { workspace } => {
            match look_at(hub, caller, workspace, RunnerAsk::Saves { workspace }).await? {
                RunnerAnswer::Saves(saves) => Answer::Saves(saves),
                other => return Err(unexpected(&other)),
            }
        }
        Call::RecordingList { mut filter } => {
            filter.ended = Some(filter.ended.unwrap_or(true));
            let mut sessions = store.sessions(caller, filter).await?;
            // One that said nothing was recorded, too; one that never began was not.
            sessions.retain(|Session { recording, .. }| recording.output_bytes > 0 || recording.disk_bytes > 0);
            Answer::Sessions(sessions)
        }
        Call::RecordingShow { session } => {
            let found = store.session(caller, session, Action::SeeExecution).await?;
            match hub.links.ask(found.runner, RunnerAsk::RecordingShow { session }).await? {
                RunnerAnswer::Recording(summary) => Answer::RecordingDetail(RecordingDetail {
                    session: found,
                    cols: summary.cols,
                    rows: summary.rows,
                    started_at: summary.started_at,
                    duration_ms: summary.duration_ms,
                    markers: summary.markers,
                }),
                other => return Err(unexpected(&other)),
            }
        }
        Call::RecordingPart { session, range } => {
            let from_ms = range.from_ms.unwrap_or(0);
            match look(hub, caller, session, RunnerAsk::RecordingPart { session, from_ms }).await? {
                RunnerAnswer::Part(part) => Answer::RecordingPart(part),
                other => return Err(unexpected(&other)),
            }
        }
        Call::RecordingSearch { session, query } => {
            QUERY.check(&query.text).map_err(StoreError::from)?;
            match look(hub, caller, session, RunnerAsk::RecordingSearch { session, text: query.text }).await? {
                RunnerAnswer::Hits(hits) => Answer::RecordingHits(hits),
                other => return Err(unexpected(&other)),
            }
        }
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not look at execution", other.verb()))),
    })
}

/// The verbs that change something.
pub(super) async fn write(hub: &Hub, caller: &Caller, key: Option<String>, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    Ok(match call {
        Call::SessionSpawn { input } => {
            caller.person()?;
            let connected = connected(hub, caller).await?;
            Answer::Session(store.write(caller, key, SpawnSession { input, connected }).await?.value)
        }
        Call::SessionStop { session, input } => {
            Answer::Session(store.write(caller, key, StopSession { session, input }).await?.value)
        }
        Call::SessionResume { session } => {
            // Who may not drive it is told so, and nothing about runners.
            store.session(caller, session, Action::Drive).await?;
            let connected = connected(hub, caller).await?;
            Answer::Session(store.write(caller, key, ResumeSession { session, connected }).await?.value)
        }
        Call::RecordingKeep { session, input } => {
            Answer::Session(store.write(caller, key, KeepRecording { session, input }).await?.value)
        }
        Call::SessionSend { session, input } => {
            TEXT.check(&input.text).map_err(StoreError::from)?;
            let found = store.session(caller, session, Action::Drive).await?;
            let (text, submit) = (input.text, input.submit);
            let note = note("session.send", session, found.project, format!("told `{}` something", found.title));
            drive(hub, caller, key, found.runner, note, RunnerAsk::Send { session, text, submit }).await?
        }
        Call::WorkspaceRestore { workspace, input } => {
            check_save(input.save.as_deref())?;
            let found = store.workspace(caller, workspace, Action::Drive).await?;
            let note = note("workspace.restore", workspace, found.project, "asked for a save to be restored".into());
            drive(hub, caller, None, found.runner, note, RunnerAsk::Restore { workspace, save: input.save }).await?
        }
        Call::WorkspaceClean { workspace } => {
            let found = store.workspace(caller, workspace, Action::Drive).await?;
            let note = note("workspace.clean", workspace, found.project, "asked for it to be deleted".into());
            drive(hub, caller, None, found.runner, note, RunnerAsk::Clean { workspace }).await?
        }
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not change execution", other.verb()))),
    })
}

/// The runners that are there, of those that the caller knows.
async fn connected(hub: &Hub, caller: &Caller) -> Result<Vec<RunnerId>, AppError> {
    let runners = hub.store.runners(caller).await?.into_iter().filter(|runner| hub.live.is_there(runner));
    Ok(runners.map(|runner| runner.id).collect())
}

/// Asks the runner of a session that the caller may look into.
async fn look(hub: &Hub, caller: &Caller, session: SessionId, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
    let found = hub.store.session(caller, session, Action::SeeExecution).await?;
    hub.links.ask(found.runner, ask).await
}

/// Asks the runner of a workspace that the caller may look into.
async fn look_at(hub: &Hub, caller: &Caller, workspace: WorkspaceId, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
    let found = hub.store.workspace(caller, workspace, Action::SeeExecution).await?;
    hub.links.ask(found.runner, ask).await
}

/// Asks a runner for something that changes what it has. The audit trail says so first: whatever becomes of the answer.
///
/// With a key it is asked once at most: if we do not know what became of it, a person must look. What does no harm twice
/// has none.
async fn drive(
    hub: &Hub,
    caller: &Caller,
    key: Option<String>,
    runner: RunnerId,
    note: Note,
    ask: RunnerAsk,
) -> Result<Answer, AppError> {
    hub.links.reachable(runner)?;
    let attempt = rand::random();
    let asked = serde_json::to_string(&ask).map_err(|error| AppError::Internal(error.into()))?;
    let Note { verb, subject, project, detail } = note;
    let note = NoteAsked { verb, subject, project, detail, ask: asked, attempt };
    if hub.store.write(caller, key, note).await?.value != attempt {
        let detail = "with this key it was asked before, and may have been done: look before you ask again";
        return Err(AppError::new(ProblemKind::Conflict, detail));
    }
    match hub.links.ask(runner, ask).await? {
        RunnerAnswer::Done => Ok(Answer::Done),
        other => Err(unexpected(&other)),
    }
}

/// What the audit trail says of it.
struct Note {
    verb: &'static str,
    subject: String,
    project: ProjectId,
    detail: String,
}

fn note(verb: &'static str, subject: impl ToString, project: ProjectId, detail: String) -> Note {
    Note { verb, subject: subject.to_string(), project, detail }
}

/// A save is named by its commit, and nothing else reaches a command line.
fn check_save(save: Option<&str>) -> Result<(), AppError> {
    let commit = |save: &str| (4..=64).contains(&save.len()) && save.bytes().all(|b| b.is_ascii_hexdigit());
    match save.is_none_or(commit) {
        true => Ok(()),
        false => Err(StoreError::invalid("save", "a save is named by 4 to 64 hexadecimal digits").into()),
    }
}

fn unexpected(answer: &RunnerAnswer) -> AppError {
    tracing::warn!(?answer, "a runner answered something else than it was asked");
    AppError::new(ProblemKind::Unavailable, "the runner answered something else than it was asked: update it")
}
