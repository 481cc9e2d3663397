//! Transitions of a task that several verbs share.

use domain::{AttemptOutcome, SessionId, TaskId, TaskStatus, Timestamp, WorkerId, WorkspaceId};
use engine::tasks::life::{Event, LOST_IN_A_ROW, Leaving, Why};

use super::{dependants, step};
use crate::StoreError;
use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::holds;

/// Gives a ready task to a worker until `until`; returns the fence that every write of the worker must name.
pub(crate) async fn take(tx: &mut Tx<'_>, task: TaskId, worker: WorkerId, until: Timestamp) -> Result<u64, StoreError> {
    let row = tx.known_task(task).await?;
    Ok(step(tx, row, Event::Take { worker, until }).await?.fence)
}

/// The task, if this fence still holds it; refuses a zombie with a message that makes it stop.
pub(crate) async fn held(tx: &mut Tx<'_>, task: TaskId, fence: u64) -> Result<TaskRow, StoreError> {
    let row = tx.known_task(task).await?;
    if row.fence == fence && row.hold().is_some() {
        return Ok(row);
    }
    Err(zombie(&row, fence))
}

/// Why the holder of this fence must stop.
pub(crate) fn zombie(row: &TaskRow, fence: u64) -> StoreError {
    let why = match row.status() {
        _ if row.fence > fence => format!("it was given to another worker, with fence {}", row.fence),
        TaskStatus::Done => "it is done".to_owned(),
        TaskStatus::Ready | TaskStatus::Blocked => "its lease ended, and it is back in the queue".to_owned(),
        status => format!("it is {status}"),
    };
    StoreError::Conflict(format!("fence {fence} no longer holds {}: {why}. Stop working on it", row.named()))
}

/// Records the session, workspace and branch of a held task.
pub(crate) async fn work_in(
    tx: &mut Tx<'_>,
    task: TaskId,
    fence: u64,
    session: SessionId,
    workspace: WorkspaceId,
    branch: Option<String>,
) -> Result<(), StoreError> {
    let mut row = held(tx, task, fence).await?;
    row.workspace = Some(workspace);
    let row = step(tx, row, Event::WorkIn { session }).await?;
    let of = args![task.to_string(), row.attempt];
    let found = tx.read().first("SELECT sessions FROM attempts WHERE task = $1 AND number = $2", of).await?;
    let mut sessions: Vec<SessionId> = found.map_or(Ok(Vec::new()), |row| row.json("sessions"))?;
    if !sessions.contains(&session) {
        sessions.push(session);
    }
    let sql = "UPDATE attempts SET sessions = $1, workspace = $2, branch = COALESCE($3, branch) \
               WHERE task = $4 AND number = $5";
    tx.run(sql, args![to_json(&sessions), workspace.to_string(), branch, task.to_string(), row.attempt]).await?;
    match row.worker() {
        Some(worker) => holds::works_in(tx, worker, session).await,
        None => Ok(()),
    }
}

/// Records the first heartbeat of a task's worker.
pub(crate) async fn start(tx: &mut Tx<'_>, task: TaskId, fence: u64) -> Result<(), StoreError> {
    let row = held(tx, task, fence).await?;
    match row.status() {
        TaskStatus::Assigned => step(tx, row, Event::Start).await.map(|_| ()),
        _ => Ok(()),
    }
}

/// Renews the lease until `until`. While a report is being checked no lease expires, and nothing is written.
pub(crate) async fn renew(
    tx: &mut Tx<'_>,
    task: TaskId,
    fence: u64,
    until: Timestamp,
    progress: Option<String>,
) -> Result<TaskRow, StoreError> {
    let row = held(tx, task, fence).await?;
    match row.is_worked_on() {
        true => step(tx, row, Event::Renew { until, progress }).await,
        false => Ok(row),
    }
}

/// Ends the hold on a task without a report, closes the attempt and frees the worker. Does nothing if nobody holds the
/// task.
pub(crate) async fn let_go(tx: &mut Tx<'_>, task: TaskId, how: Leaving, why: Why) -> Result<TaskRow, StoreError> {
    let row = tx.known_task(task).await?;
    if row.hold().is_none() {
        return Ok(row);
    }
    let lost_before = match how.outcome() {
        AttemptOutcome::Lost => lost_before(tx, &row).await?,
        _ => 0,
    };
    step(tx, row, Event::LetGo { how, why, lost_before }).await
}

/// Number of consecutive lost attempts just before the current one.
async fn lost_before(tx: &mut Tx<'_>, row: &TaskRow) -> Result<u32, StoreError> {
    let sql = "SELECT outcome FROM attempts WHERE task = $1 AND number < $2 ORDER BY number DESC LIMIT $3";
    let rows = tx.read().all(sql, args![row.id.to_string(), row.attempt, LOST_IN_A_ROW]).await?;
    let last: Vec<AttemptOutcome> = rows.iter().map(|row| row.parsed("outcome")).collect::<Result<_, _>>()?;
    let lost = last.iter().take_while(|outcome| **outcome == AttemptOutcome::Lost).count();
    Ok(u32::try_from(lost).unwrap_or(u32::MAX))
}

/// Returns a failed, escalated or cancelled task to the queue and forgets which workers failed at it.
pub(crate) async fn retry(tx: &mut Tx<'_>, task: TaskId, reason: Option<String>) -> Result<TaskRow, StoreError> {
    let row = tx.known_task(task).await?;
    let unreachable = match row.waits_for {
        0 => None,
        _ => dependants::unreachable(tx, &row.deps).await?,
    };
    step(tx, row, Event::Retry { reason, unreachable }).await
}
