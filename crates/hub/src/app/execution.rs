//! Verbs about what runs: decided and stored here, done and told by runners.

use domain::placement::{Candidate, Needs, place};
use domain::text::{Field, PROMPT};
use domain::{Action, RunnerId, SessionId, WorkspaceId};
use protocol::link::{RunnerAnswer, RunnerAsk};
use protocol::{Answer, Call, ProblemKind, RecordingDetail, SessionSpawn};
use store::{Caller, KeepRecording, ResumeSession, SpawnSession, StopSession, StoreError};

use crate::AppError;
use crate::hub::Hub;

/// How many lines of a log are shown when nobody says, and at most.
const LINES: (u32, u32) = (1_000, 10_000);
/// What is looked for in a recording.
const QUERY: Field = Field { name: "text", limit: 200, lines: false, optional: false };
/// These run anywhere, whatever is installed.
const EVERYWHERE: [&str; 2] = ["command", "shell"];

/// The verbs that look.
pub(super) async fn read(hub: &Hub, caller: &Caller, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    Ok(match call {
        Call::SessionList { filter } => Answer::Sessions(store.sessions(caller, filter).await?),
        Call::SessionShow { session } => Answer::SessionDetail(store.session_detail(caller, session).await?),
        Call::SessionLog { session, page } => {
            let lines = page.lines.unwrap_or(LINES.0).min(LINES.1);
            match look(hub, caller, session, RunnerAsk::Log { session, lines }).await? {
                RunnerAnswer::Log(log) => Answer::SessionLog(log),
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
            sessions.retain(|session| session.recording.output_bytes > 0);
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
            let runner = choose(hub, caller, &input).await?;
            Answer::Session(store.write(caller, key, SpawnSession { input, runner }).await?.value)
        }
        Call::SessionStop { session, input } => {
            Answer::Session(store.write(caller, key, StopSession { session, input }).await?.value)
        }
        Call::SessionResume { session } => {
            Answer::Session(store.write(caller, key, ResumeSession { session }).await?.value)
        }
        Call::RecordingKeep { session, input } => {
            Answer::Session(store.write(caller, key, KeepRecording { session, input }).await?.value)
        }
        Call::SessionSend { session, input } => {
            PROMPT.check(&input.text).map_err(StoreError::from)?;
            let found = store.session(caller, session, Action::Drive).await?;
            let (text, submit) = (input.text, input.submit);
            done(hub.links.ask(found.runner, RunnerAsk::Send { session, text, submit }).await?)?
        }
        Call::WorkspaceRestore { workspace, input } => {
            let found = store.workspace(caller, workspace, Action::Drive).await?;
            done(hub.links.ask(found.runner, RunnerAsk::Restore { workspace, save: input.save }).await?)?
        }
        Call::WorkspaceClean { workspace } => {
            let found = store.workspace(caller, workspace, Action::Drive).await?;
            done(hub.links.ask(found.runner, RunnerAsk::Clean { workspace }).await?)?
        }
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not change execution", other.verb()))),
    })
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

/// The caller's own runner that takes the session.
async fn choose(hub: &Hub, caller: &Caller, input: &SessionSpawn) -> Result<RunnerId, AppError> {
    let me = caller.person()?;
    let live = hub.store.live_sessions().await?;
    let runners = hub.store.runners(caller).await?.into_iter().filter(|runner| runner.owner.id == me.id);
    let mut wanted = input.runner;
    if let Some(workspace) = input.workspace {
        // A workspace is where it is.
        wanted = Some(hub.store.workspace(caller, workspace, Action::Drive).await?.runner);
    }
    let candidates: Vec<Candidate> = runners
        .map(|runner| {
            let about = runner.about.as_ref();
            let installed = about.into_iter().flat_map(|about| &about.agents).filter(|agent| agent.version.is_some());
            let agents = installed.map(|agent| agent.name.clone()).chain(EVERYWHERE.map(str::to_owned));
            Candidate {
                runner: runner.id,
                name: runner.name.clone(),
                connected: hub.live.presence.is_runner_connected(runner.id),
                labels: about.map(|about| about.labels.clone()).unwrap_or_default(),
                agents: agents.collect(),
                capacity: about.map_or(0, |about| about.capacity),
                sessions: live.iter().find(|(id, _)| *id == runner.id).map_or(0, |(_, count)| *count),
            }
        })
        .collect();
    let needs = Needs { runner: wanted, agent: &input.agent, labels: &input.labels };
    place(needs, &candidates).map_err(|reason| AppError::new(ProblemKind::Conflict, reason))
}

fn done(answer: RunnerAnswer) -> Result<Answer, AppError> {
    match answer {
        RunnerAnswer::Done => Ok(Answer::Done),
        other => Err(unexpected(&other)),
    }
}

fn unexpected(answer: &RunnerAnswer) -> AppError {
    tracing::warn!(?answer, "a runner answered something else than it was asked");
    AppError::new(ProblemKind::Unavailable, "the runner answered something else than it was asked: update it")
}
