//! The work of attempts: what was begun where, and what became of it.

use domain::{ExecutionId, LandingId, Seq, SessionId, TaskId, Timestamp, WorkerId, WorkspaceId};
use engine::recipes::{Path, Work, Workplace};
use protocol::verbs;

use super::lineage::lineage;
use super::rows::ExecutionRow;
use crate::StoreError;
use crate::command::Command;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::work::tasks::row::id_or_none;

/// Work that an effect asks for.
pub(super) struct NewWork {
    pub(super) path: Path,
    pub(super) attempt: u32,
    pub(super) work: Work,
    pub(super) needs: Vec<String>,
    pub(super) at_most_once: bool,
}

/// The work of an attempt.
#[derive(Debug, Clone)]
pub(super) struct WorkRow {
    pub(super) path: Path,
    pub(super) attempt: u32,
    pub(super) work: Work,
    pub(super) needs: Vec<String>,
    pub(super) at_most_once: bool,
    /// `waiting`, `running`, or how it ended.
    pub(super) state: String,
    pub(super) reason: Option<String>,
    pub(super) session: Option<SessionId>,
    pub(super) workspace: Option<WorkspaceId>,
    pub(super) branch: Option<String>,
    pub(super) tasks: Vec<TaskId>,
    pub(super) worker: Option<WorkerId>,
    pub(super) called: Option<ExecutionId>,
    pub(super) landing: Option<LandingId>,
    pub(super) late: Option<String>,
    pub(super) said: Option<String>,
    pub(super) cost_micros: Option<u64>,
    pub(super) created_at: Timestamp,
    pub(super) began_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
}

const COLUMNS: &str = "SELECT path, attempt, work, needs, at_most_once, state, reason, session, workspace, branch, tasks, \
    worker, called, landing, late, said, cost_micros, created_at, began_at, ended_at FROM execution_work";

fn read(row: &Row) -> Result<WorkRow, StoreError> {
    Ok(WorkRow {
        path: row.parsed("path")?,
        attempt: row.count("attempt")?,
        work: row.json("work")?,
        needs: row.json("needs")?,
        at_most_once: row.flag("at_most_once")?,
        state: row.text("state")?,
        reason: row.text_or_none("reason")?,
        session: id_or_none(row, "session")?,
        workspace: id_or_none(row, "workspace")?,
        branch: row.text_or_none("branch")?,
        tasks: row.json("tasks")?,
        worker: id_or_none(row, "worker")?,
        called: id_or_none(row, "called")?,
        landing: id_or_none(row, "landing")?,
        late: row.text_or_none("late")?,
        said: row.text_or_none("said")?,
        cost_micros: row.integer_or_none("cost_micros")?.map(i64::cast_unsigned),
        created_at: row.time("created_at")?,
        began_at: row.time_or_none("began_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

/// All work of an execution, oldest first.
pub(super) async fn of(c: &mut Connection<'_>, id: ExecutionId) -> Result<Vec<WorkRow>, StoreError> {
    let sql = format!("{COLUMNS} WHERE execution = $1 ORDER BY created_at, path, attempt");
    c.all(&sql, vec![text(id)]).await?.iter().map(read).collect()
}

/// Work that waits or runs.
pub(super) async fn open(c: &mut Connection<'_>, id: ExecutionId) -> Result<Vec<WorkRow>, StoreError> {
    let sql = format!("{COLUMNS} WHERE execution = $1 AND state IN ('waiting', 'running') ORDER BY created_at, path");
    c.all(&sql, vec![text(id)]).await?.iter().map(read).collect()
}

/// Work that has waited for an event of this kind since before a position.
pub(super) async fn awaiting(
    c: &mut Connection<'_>,
    id: ExecutionId,
    kind: &str,
    seq: Seq,
) -> Result<Vec<WorkRow>, StoreError> {
    let sql = format!(
        "{COLUMNS} WHERE execution = $1 AND awaits = $2 AND state = 'running' AND awaits_after < $3 ORDER BY path"
    );
    c.all(&sql, args![id.to_string(), kind, seq.0]).await?.iter().map(read).collect()
}

pub(super) async fn find(
    c: &mut Connection<'_>,
    id: ExecutionId,
    path: &Path,
    attempt: u32,
) -> Result<Option<WorkRow>, StoreError> {
    let sql = format!("{COLUMNS} WHERE execution = $1 AND path = $2 AND attempt = $3");
    c.first(&sql, args![id.to_string(), path.to_string(), attempt]).await?.as_ref().map(read).transpose()
}

/// The workspace of the newest work of a step, also of an execution that this one rewinds.
pub(super) async fn last_place(
    c: &mut Connection<'_>,
    id: ExecutionId,
    path: &Path,
) -> Result<Option<WorkspaceId>, StoreError> {
    let sql = "SELECT workspace FROM execution_work WHERE execution = $1 AND path = $2 AND workspace IS NOT NULL \
               ORDER BY attempt DESC LIMIT 1";
    for id in lineage(c, id).await? {
        if let Some(row) = c.first(sql, args![id.to_string(), path.to_string()]).await? {
            return row.parsed("workspace").map(Some);
        }
    }
    Ok(None)
}

/// What the kind of work is called in the log.
fn kind(work: &Work) -> &'static str {
    match work {
        Work::Agent { .. } => "agent",
        Work::Run { .. } => "run",
        Work::Tasks { .. } => "task",
        Work::Event { .. } => "wait",
        Work::Ask { .. } => "approve",
        Work::Notify { .. } => "notify",
        Work::Merge { .. } => "merge",
        Work::Call { .. } => "call",
    }
}

/// Adds the work of an attempt. What needs nobody else runs from now on.
pub(super) async fn insert(tx: &mut Tx<'_>, row: &ExecutionRow, new: &NewWork) -> Result<(), StoreError> {
    let at_once = matches!(new.work, Work::Event { .. } | Work::Ask { .. } | Work::Notify { .. });
    let awaits = match &new.work {
        Work::Event { kind, .. } => Some(kind.clone()),
        _ => None,
    };
    let after = match awaits {
        Some(_) => Some(tx.position()?.0.cast_signed()),
        None => None,
    };
    let sql = "INSERT INTO execution_work (execution, path, attempt, project, kind, work, needs, at_most_once, state, \
               tasks, awaits, created_at, began_at, awaits_after) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, '[]', $10, $11, \
               $12, $13) \
               ON CONFLICT (execution, path, attempt) DO NOTHING";
    let values = args![
        row.id.to_string(),
        new.path.to_string(),
        new.attempt,
        row.project.to_string(),
        kind(&new.work),
        to_json(&new.work),
        to_json(&new.needs),
        new.at_most_once,
        if at_once { "running" } else { "waiting" },
        awaits,
        tx.now,
        at_once.then_some(tx.now),
        after,
    ];
    tx.run(sql, values).await.map(|_| ())
}

/// What carries out the work of an attempt.
#[derive(Debug, Default)]
pub(super) struct Begun {
    pub(super) session: Option<SessionId>,
    /// What the session may cost.
    pub(super) budget: Option<u64>,
    pub(super) workspace: Option<WorkspaceId>,
    pub(super) branch: Option<String>,
    pub(super) tasks: Vec<TaskId>,
    pub(super) worker: Option<WorkerId>,
    pub(super) called: Option<ExecutionId>,
    pub(super) landing: Option<LandingId>,
}

/// Notes what carries out the work of an attempt from now on.
pub(super) async fn began(tx: &mut Tx<'_>, row: &ExecutionRow, work: &WorkRow, begun: Begun) -> Result<(), StoreError> {
    let sql = "UPDATE execution_work SET state = 'running', reason = NULL, session = $1, workspace = $2, branch = $3, \
               tasks = $4, called = $5, landing = $6, began_at = $7, worker = $8, budget_micros = $9 WHERE execution = $10 \
               AND path = $11 AND attempt = $12";
    let values = args![
        begun.session.map(|id| id.to_string()),
        begun.workspace.map(|id| id.to_string()),
        begun.branch,
        to_json(&begun.tasks),
        begun.called.map(|id| id.to_string()),
        begun.landing.map(|id| id.to_string()),
        tx.now,
        begun.worker.map(|id| id.to_string()),
        begun.budget.map(u64::cast_signed),
        row.id.to_string(),
        work.path.to_string(),
        work.attempt,
    ];
    tx.run(sql, values).await?;
    for task in begun.tasks {
        let sql = "INSERT INTO execution_tasks (task, execution, path, attempt) VALUES ($1, $2, $3, $4)";
        tx.run(sql, args![task.to_string(), row.id.to_string(), work.path.to_string(), work.attempt]).await?;
    }
    Ok(())
}

/// Says why work does not begin yet; returns whether that is news.
pub(super) async fn waits(tx: &mut Tx<'_>, row: &ExecutionRow, work: &WorkRow, why: &str) -> Result<bool, StoreError> {
    if work.reason.as_deref() == Some(why) {
        return Ok(false);
    }
    let sql = "UPDATE execution_work SET reason = $1 WHERE execution = $2 AND path = $3 AND attempt = $4";
    tx.run(sql, args![why, row.id.to_string(), work.path.to_string(), work.attempt]).await?;
    Ok(true)
}

/// Notes what the work of an attempt cost.
pub(super) async fn cost(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
    micros: Option<u64>,
) -> Result<(), StoreError> {
    let Some(micros) = micros else { return Ok(()) };
    row.cost_micros = Some(row.cost_micros.unwrap_or(0).saturating_add(micros));
    let sql = "UPDATE execution_work SET cost_micros = $1 WHERE execution = $2 AND path = $3 AND attempt = $4";
    let values = args![micros.cast_signed(), row.id.to_string(), work.path.to_string(), work.attempt];
    tx.run(sql, values).await.map(|_| ())
}

/// Closes the work of an attempt that is over.
pub(super) async fn close(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    path: &Path,
    attempt: u32,
    state: &str,
    reason: Option<String>,
) -> Result<(), StoreError> {
    let sql = "UPDATE execution_work SET state = $1, reason = $2, ended_at = $3 WHERE execution = $4 AND path = $5 AND \
               attempt = $6 AND state IN ('waiting', 'running')";
    let values = args![state, reason, tx.now, row.id.to_string(), path.to_string(), attempt];
    tx.run(sql, values).await.map(|_| ())
}

/// Stops what carries out the work of an attempt; its end is not awaited.
pub(super) async fn stop(tx: &mut Tx<'_>, row: &ExecutionRow, path: &Path, attempt: u32) -> Result<(), StoreError> {
    let Some(found) = find(tx.read(), row.id, path, attempt).await? else { return Ok(()) };
    close(tx, row, path, attempt, "stopped", None).await?;
    if let Some(session) = found.session {
        sessions::ask_any_to_stop(tx, session, false).await?;
    }
    let caller = super::place::person(row);
    for task in found.tasks.iter().copied() {
        // A task that is over already, or that somebody took out of the project, stays as it is.
        let cancel = verbs::TaskCancel { task, input: Default::default() };
        refused_is_fine(cancel.run(&mut tx.acting(&caller)).await)?;
    }
    dismiss(tx, row, &found).await?;
    if let Some(called) = found.called {
        // A called execution can have called others.
        Box::pin(super::people::cancel(tx, called, "the execution that called it no longer needs it")).await?;
    }
    Ok(())
}

/// Notes where the accepted work of a task is, for the steps that continue there.
pub(super) async fn left(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
    workspace: Option<WorkspaceId>,
    branch: Option<String>,
) -> Result<(), StoreError> {
    if let (Work::Agent { place: Workplace::Shared, .. }, Some(workspace)) = (&work.work, workspace) {
        row.workspace = Some(workspace);
    }
    let sql =
        "UPDATE execution_work SET workspace = $1, branch = $2 WHERE execution = $3 AND path = $4 AND attempt = $5";
    let workspace = workspace.map(|id| id.to_string());
    tx.run(sql, args![workspace, branch, row.id.to_string(), work.path.to_string(), work.attempt]).await.map(|_| ())
}

/// Lets the worker go that was started for this work.
pub(super) async fn dismiss(tx: &mut Tx<'_>, row: &ExecutionRow, work: &WorkRow) -> Result<(), StoreError> {
    let Some(worker) = work.worker else { return Ok(()) };
    let caller = super::place::person(row);
    refused_is_fine(verbs::WorkerRemove { worker }.run(&mut tx.acting(&caller)).await).map(|_| ())
}

/// Errors that say no are answers; others are not.
pub(super) fn refused_is_fine<T>(done: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match done {
        Ok(done) => Ok(Some(done)),
        Err(error) if super::begin::is_refusal(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Keeps what the agent or command of a step said last.
pub(crate) async fn said(tx: &mut Tx<'_>, session: SessionId, said: &str) -> Result<(), StoreError> {
    let sql = "UPDATE execution_work SET said = $1 WHERE session = $2";
    tx.run(sql, args![said, session.to_string()]).await.map(|_| ())
}
