//! What a hub does about a handoff: the next thing to do, and what came of it.

use domain::text::plain;
use domain::{HandoffId, HandoffStatus, HandoffStep, HandoffWriter, RunnerId, SessionId, SessionStatus, WorkspaceId};
use engine::handoff::{Effect, Event, Writer, effect, from_recording, mute, request};
use protocol::link::KeptAll;
use serde::{Deserialize, Serialize};

use super::document::{note_of, sealed};
use super::rows::{HandoffRow, get};
use super::{settings, start, taken};
use crate::tx::Tx;
use crate::verbs::{sessions, workspaces};
use crate::{Command, StoreError};

/// A session that does not end within this time, in milliseconds, is stopped by force.
const HURRY: i64 = 30_000;
/// Limits of what a runner says about kept work.
const PATHS: usize = 200;
const PATH: usize = 1024;

/// Something to do outside of the database. May be done twice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum HandoffWork {
    /// Nothing until a session or a person does something.
    Nothing,
    /// The state has changed: look again.
    Again,
    /// It is over, or a person must act.
    Over,
    /// Ask the agent for the prose; once.
    Ask {
        /// The runner.
        runner: RunnerId,
        /// The session.
        session: SessionId,
        /// The message.
        text: String,
    },
    /// Read the end of the recording, because the agent writes nothing.
    Record {
        /// The runner; absent if the next person may not see the recording.
        runner: Option<RunnerId>,
        /// The session.
        session: SessionId,
        /// Why the agent writes nothing.
        why: String,
    },
    /// Keep everything in the workspace.
    Keep {
        /// The runner.
        runner: RunnerId,
        /// The workspace.
        workspace: WorkspaceId,
        /// The document, if it is also kept as a file.
        note: Option<String>,
    },
    /// Push the kept commit.
    Publish {
        /// The runner.
        runner: RunnerId,
        /// The repository.
        location: String,
        /// The commit.
        commit: String,
        /// The branch.
        branch: String,
    },
    /// Bring the work to the other runner.
    Bring {
        /// The runner that has it.
        from: RunnerId,
        /// The runner that gets it.
        to: RunnerId,
        /// The workspace.
        workspace: WorkspaceId,
    },
}

/// Moves a handoff as far as the database alone can, and says what to do next.
#[derive(Debug, Serialize)]
pub struct TendHandoff {
    /// The handoff.
    pub handoff: HandoffId,
    /// The connected runners.
    #[serde(skip)]
    pub connected: Vec<RunnerId>,
}

impl Command for TendHandoff {
    type Output = HandoffWork;
    const VERB: &'static str = "handoff.tend";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<HandoffWork, StoreError> {
        let Some(mut row) = get(tx.read(), self.handoff).await? else { return Ok(HandoffWork::Over) };
        if taken::gives_up(tx, &mut row).await? {
            return Ok(HandoffWork::Over);
        }
        match effect(&row.machine()?.state) {
            None => Ok(HandoffWork::Over),
            Some(Effect::Write) => write(tx, &mut row).await,
            Some(Effect::Save) => save(tx, &mut row).await,
            Some(Effect::Publish) => publish(tx, &mut row).await,
            Some(Effect::Stop) => self.stop(tx, &mut row).await,
            Some(Effect::Start) => self.start(tx, &mut row).await,
            Some(Effect::Wait) => wait(tx, &mut row).await,
        }
    }
}

async fn write(tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<HandoffWork, StoreError> {
    let (session, runner) = (row.view.session, Some(row.view.runner));
    let shown = taken::may_see_recording(tx, row).await?;
    let record = |why: String| Ok(HandoffWork::Record { runner: runner.filter(|_| shown), session, why });
    let Some((found, _)) = sessions::get(tx.read(), session).await? else {
        return record("its session is gone".into());
    };
    let (agent, mode) = (found.agent.as_str(), found.mode);
    if let Some(why) = mute(Writer { agent, mode, ended: found.state.ended(), stopping: found.stopping }) {
        return record(why.into());
    }
    let late = row.since.plus_millis(i64::from(row.wait_seconds) * 1000) <= tx.now;
    if late {
        return record(format!("it did not answer within {} seconds", row.wait_seconds));
    }
    // Nothing is typed into a question: it could answer it.
    let listens = matches!(found.state.status, SessionStatus::Working | SessionStatus::Idle);
    if row.written_since.is_some() || !listens {
        return Ok(HandoffWork::Nothing);
    }
    row.written_since = Some(tx.now);
    row.save(tx).await?;
    let sections = row.sections(tx).await?;
    let text = request(&row.view.asked_by.name, &row.view.goal, &sections);
    Ok(HandoffWork::Ask { runner: row.view.runner, session, text })
}

async fn save(tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<HandoffWork, StoreError> {
    let (runner, workspace) = (row.view.runner, row.view.workspace);
    let place = workspaces::get(tx.read(), workspace).await?;
    if place.is_some_and(|place| place.repository.is_some() && place.path.is_some()) {
        let keep = settings::of(tx.read(), row.view.project).await?.keep_files;
        let note = if keep { Some(note_of(tx, row).await?) } else { None };
        return Ok(HandoffWork::Keep { runner, workspace, note });
    }
    sealed(tx, row).await?;
    row.apply(tx, Event::Saved, Some("no repository: the files stay in the workspace".into())).await?;
    Ok(HandoffWork::Again)
}

async fn publish(tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<HandoffWork, StoreError> {
    let place = workspaces::get(tx.read(), row.view.workspace).await?;
    let kept = row.kept.as_ref().map(|kept| kept.commit.clone());
    let (Some(commit), Some(place)) = (kept, place.filter(|_| row.view.push)) else {
        let result = match &row.kept {
            Some(kept) => format!("kept as {}", kept.commit.get(..10).unwrap_or(&kept.commit)),
            None => "nothing to push".to_owned(),
        };
        row.apply(tx, Event::Published, Some(result)).await?;
        return Ok(HandoffWork::Again);
    };
    let id = row.view.id.to_string();
    let short = id.get(id.len().saturating_sub(8)..).unwrap_or(&id);
    let branch = format!("{}-handoff-{short}", place.branch.as_deref().unwrap_or("work"));
    let location = place.repository.unwrap_or_default();
    Ok(HandoffWork::Publish { runner: row.view.runner, location, commit, branch })
}

impl TendHandoff {
    /// Stops the session, and waits until it has ended. The task of a session goes to its next session at once, which
    /// waits for the end.
    async fn stop(&self, tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<HandoffWork, StoreError> {
        if row.view.successor.is_none() && start::holds_task(tx, row).await? {
            let made = start::task_session(tx, row, &self.connected).await?;
            row.view.successor = Some(made.id);
            row.save(tx).await?;
        }
        let Some((found, _)) = sessions::get(tx.read(), row.view.session).await? else {
            row.apply(tx, Event::Stopped, None).await?;
            return Ok(HandoffWork::Again);
        };
        if found.state.ended() {
            row.apply(tx, Event::Stopped, None).await?;
            return Ok(HandoffWork::Again);
        }
        let late = row.since.plus_millis(HURRY) <= tx.now;
        sessions::ask_any_to_stop(tx, found.id, late).await?;
        Ok(HandoffWork::Nothing)
    }

    /// Starts the fresh session, unless it was started already.
    async fn start(&self, tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<HandoffWork, StoreError> {
        // Whatever a late or repeated event said: never two sessions at once.
        let before = sessions::get(tx.read(), row.view.session).await?;
        if before.is_some_and(|(session, _)| !session.state.ended()) {
            return Ok(HandoffWork::Nothing);
        }
        if let Some(successor) = start::live_successor(tx, row).await? {
            row.apply(tx, Event::Started { successor }, None).await?;
            return Ok(HandoffWork::Again);
        }
        if row.view.task.is_some() && row.view.successor.is_some() {
            let why = "the next session of the task has ended: retry when the task has another one";
            return Err(StoreError::Conflict(why.into()));
        }
        let (from, to, workspace) = (row.view.runner, row.view.to_runner, row.view.workspace);
        if from != to && row.bundle.is_none() {
            return Ok(HandoffWork::Bring { from, to, workspace });
        }
        let made = start::session(tx, row).await?;
        row.apply(tx, Event::Started { successor: made.id }, None).await?;
        Ok(HandoffWork::Again)
    }
}

/// Waits for the hash; a fresh session that ended will not quote it.
async fn wait(tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<HandoffWork, StoreError> {
    let Some(successor) = row.view.successor else { return Ok(HandoffWork::Over) };
    let found = sessions::get(tx.read(), successor).await?;
    if found.is_some_and(|(session, _)| !session.state.ended()) {
        return Ok(HandoffWork::Nothing);
    }
    row.apply(tx, Event::Gone { successor }, None).await?;
    Ok(HandoffWork::Over)
}

/// What came of something that was to be done.
#[derive(Debug, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
pub enum HandoffResult {
    /// The end of the recording, and why the agent wrote nothing.
    Recorded {
        /// The text.
        log: String,
        /// The reason.
        why: String,
    },
    /// Everything is kept.
    Kept {
        /// What the runner said.
        kept: KeptAll,
    },
    /// The commit is at the repository.
    Pushed {
        /// The branch there.
        branch: String,
    },
    /// The work is on the other runner.
    Brought {
        /// The bundle.
        bundle: String,
    },
    /// It waits.
    Waits {
        /// For what.
        why: String,
    },
    /// A runner tried and could not do it, for a reason that may pass.
    Tried {
        /// The step.
        at: HandoffStep,
        /// The reason.
        why: String,
    },
    /// It could not be done.
    Failed {
        /// The step.
        at: HandoffStep,
        /// The reason.
        why: String,
    },
}

/// Stores what came of something that was to be done. A late result changes nothing.
#[derive(Debug, Serialize)]
pub struct HandoffTold {
    /// The handoff.
    pub handoff: HandoffId,
    /// The result.
    pub result: HandoffResult,
}

impl Command for HandoffTold {
    type Output = ();
    const VERB: &'static str = "handoff.told";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(mut row) = get(tx.read(), self.handoff).await? else { return Ok(()) };
        let running = row.view.status == HandoffStatus::Running;
        let at = |step: HandoffStep| running && row.view.step == step;
        match &self.result {
            HandoffResult::Recorded { log, why } if at(HandoffStep::Write) => {
                row.body = Some(plain(&from_recording(why, log), 16 * 1024));
                row.written_by = Some(HandoffWriter::Recording);
                row.apply(tx, Event::Written, Some(format!("from its recording: {why}"))).await?;
            }
            HandoffResult::Kept { kept } if at(HandoffStep::Save) => {
                row.kept = Some(bounded(kept));
                sealed(tx, &mut row).await?;
                row.apply(tx, Event::Saved, Some(saved_words(kept))).await?;
            }
            HandoffResult::Pushed { branch } if at(HandoffStep::Publish) => {
                row.view.branch = Some(branch.clone());
                row.apply(tx, Event::Published, Some(format!("pushed as `{branch}`"))).await?;
            }
            HandoffResult::Brought { bundle } if at(HandoffStep::Start) && row.bundle.is_none() => {
                row.bundle = Some(bundle.clone());
                row.save(tx).await?;
            }
            HandoffResult::Waits { why } => row.waits(tx, Some(plain(why, 500))).await?,
            HandoffResult::Tried { at, why } => row.tried(tx, *at, why).await?,
            HandoffResult::Failed { at, why } => {
                row.apply(tx, Event::Failed { at: *at, why: why.clone() }, None).await?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn saved_words(kept: &KeptAll) -> String {
    let dirty = kept.dirty.len() as u64 + kept.more_dirty;
    let commit = kept.commit.get(..10).unwrap_or(&kept.commit);
    match dirty {
        0 => format!("everything is committed: {commit}"),
        _ => format!("{} saved as {commit}", domain::text::counted(dirty, "uncommitted file", "uncommitted files")),
    }
}

/// What a runner says, within limits: it goes into the prompt of a fresh session.
fn bounded(kept: &KeptAll) -> KeptAll {
    let hex = |text: &str| -> String { text.chars().filter(char::is_ascii_hexdigit).take(64).collect() };
    KeptAll {
        base: kept.base.as_deref().map(hex),
        head: kept.head.as_deref().map(hex),
        tree: hex(&kept.tree),
        commit: hex(&kept.commit),
        dirty: kept.dirty.iter().take(PATHS).map(|path| plain(path, PATH)).collect(),
        more_dirty: kept.more_dirty,
    }
}
