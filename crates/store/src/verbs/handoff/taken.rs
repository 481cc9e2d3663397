//! A take-over goes the way of a handoff: the work left behind gets a document, and the next session waits for it.

use domain::text::Field;
use domain::{Action, HandoffId, HandoffStatus, HandoffStep, Resource, RunnerId, SessionId, SessionStatus, TaskId};
use engine::handoff::{Event, Writer, mute, reads, writes};
use protocol::{Handoff, Session, UserRef};

use super::announce;
use super::begin::{Asked, add};
use super::rows::{HandoffRow, open_of};
use crate::StoreError;
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::work::tasks::brief_of;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers;
use crate::verbs::{projects, recipes, sessions, sight};

/// The goal of the next session.
pub(crate) const GOAL: Field = Field { name: "goal", limit: 4096, lines: true, optional: true };
/// How long the agent may write, in seconds: the transfer of its work waits at most 90 seconds.
const WAIT: u32 = 45;
/// A step that takes longer holds the next session back no more, in milliseconds.
const PATIENCE: i64 = 75_000;

/// The session that leaves work behind.
#[derive(Debug)]
pub(crate) struct Left {
    session: Session,
    /// Whether its agent is asked for the document, and stopped after that.
    pub(crate) asked: bool,
}

/// The session whose work a task's next worker continues; `None` if nobody reads a document about it or nobody can
/// write one.
pub(crate) async fn left(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    agent: &str,
    connected: &[RunnerId],
) -> Result<Option<Left>, StoreError> {
    if !reads(agent) {
        return Ok(None);
    }
    let sql = "SELECT id FROM sessions WHERE task = $1 ORDER BY created_at DESC, id DESC LIMIT 1";
    let Some(found) = tx.read().first(sql, vec![text(row.id)]).await? else { return Ok(None) };
    let Some((session, _)) = sessions::get(tx.read(), found.parsed("id")?).await? else { return Ok(None) };
    let begun = session.state.status != SessionStatus::Starting;
    if !begun || !connected.contains(&session.runner) || open_of(tx.read(), session.id).await?.is_some() {
        return Ok(None);
    }
    let (name, mode) = (session.agent.as_str(), session.mode);
    let why = mute(Writer { agent: name, mode, ended: session.state.ended(), stopping: session.stopping });
    let asked = why.is_none() && row.session() == Some(session.id);
    Ok(Some(Left { session, asked }))
}

/// Begins the handoff of what was left behind to the session that continues it, which waits for the document.
pub(crate) async fn begin(
    tx: &mut Tx<'_>,
    left: Left,
    (task, next): (TaskId, &Session),
    (me, goal): (&UserRef, &str),
) -> Result<(), StoreError> {
    let before = left.session;
    let made = Handoff {
        id: HandoffId::generate(),
        project: before.project,
        activity: before.activity,
        session: before.id,
        title: before.title,
        workspace: before.workspace,
        runner: before.runner,
        owner: before.owner,
        task: Some(task),
        to_runner: next.runner,
        to: me.clone(),
        writes: writes(&before.agent, before.mode),
        reads: reads(&next.agent),
        takes_over: true,
        agent: next.agent.clone(),
        goal: goal.trim().to_owned(),
        edit: false,
        push: false,
        status: HandoffStatus::Running,
        step: HandoffStep::Write,
        detail: None,
        steps: Vec::new(),
        hash: None,
        saved: None,
        branch: None,
        successor: Some(next.id),
        by_itself: None,
        asked_by: me.clone(),
        created_at: tx.now,
        updated_at: tx.now,
    };
    add(tx, &made, Asked { model: None, role: None, wait_seconds: WAIT, by_agent: false }).await?;
    announce(tx, made);
    Ok(())
}

/// Whether the agent of a session is being asked for a document: then nobody hurries it.
pub(crate) async fn is_writing(tx: &mut Tx<'_>, session: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM handoffs h JOIN sessions s ON s.id = h.session WHERE h.session = $1 AND \
               h.status = 'running' AND h.step = 'write' AND s.stop IS NULL";
    Ok(tx.read().first(sql, vec![text(session)]).await?.is_some())
}

/// Whether a session is being handed off and was not asked to stop yet.
pub(crate) async fn is_handed_off(tx: &mut Tx<'_>, session: SessionId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM handoffs WHERE session = $1 AND status IN ('running', 'editing') AND \
               step IN ('write', 'save', 'publish')";
    Ok(tx.read().first(sql, vec![text(session)]).await?.is_some())
}

/// Ends a step that holds the next session back for too long; whether it did.
pub(super) async fn gives_up(tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<bool, StoreError> {
    let at = row.view.step;
    let holds = matches!(at, HandoffStep::Write | HandoffStep::Save | HandoffStep::Publish);
    if !row.view.takes_over || !holds || row.since.plus_millis(PATIENCE) > tx.now {
        return Ok(false);
    }
    let why = "it took too long: the next session starts without the document".to_owned();
    row.apply(tx, Event::Failed { at, why }, None).await
}

/// Whether the person who takes a task over may see what the terminal of the session before showed.
pub(super) async fn may_see_recording(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<bool, StoreError> {
    if !row.view.takes_over {
        return Ok(true);
    }
    let Some(facts) = projects::facts_of(tx.read(), row.view.project).await? else { return Ok(false) };
    let of = Resource::Execution { project: &facts, owner: row.view.owner.id };
    Ok(sight::as_person(row.view.to.id).may(Action::SeeExecution, of, "session").is_ok())
}

/// Lets the session that waited for the document start with it, once the old session has ended.
pub(super) async fn release(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<(), StoreError> {
    let (Some(successor), Some(task)) = (row.view.successor, row.view.task) else { return Ok(()) };
    // It is held back only by a session that stops.
    sessions::ask_any_to_stop(tx, row.view.session, false).await?;
    let Some((next, _)) = sessions::get(tx.read(), successor).await? else { return Ok(()) };
    if next.state.status == SessionStatus::Starting && row.view.status == HandoffStatus::Running {
        let brief = brief_of(tx, task, next.workspace).await?;
        let profile = match &next.worker {
            Some(worker) => workers::rows::get(tx, worker.id).await?.and_then(|slot| slot.profile.clone()),
            None => None,
        };
        let (prompt, _) = recipes::applied(tx.read(), next.project, profile.as_deref(), brief).await?;
        tx.run("UPDATE sessions SET prompt = $1 WHERE id = $2", args![prompt, successor.to_string()]).await?;
    }
    tx.desire(next.runner).await
}
