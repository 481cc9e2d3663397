//! How a task ends, what that means for those that wait for it, and how it begins again.

use domain::{AttemptOutcome, TaskId, TaskStatus};

use super::{back_to_queue, close_attempt};
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::tasks::row::TaskRow;
use crate::verbs::workers::holds::{self, Ended};
use crate::verbs::workers::lines;

/// Those that wait for a task that is done now wait for one less; those that wait for nothing become ready.
pub(super) async fn free_dependants(tx: &mut Tx<'_>, task: TaskId) -> Result<(), StoreError> {
    for mut row in tx.dependants(task).await? {
        row.waits_for = row.waits_for.saturating_sub(1);
        if row.waits_for == 0 && row.status == TaskStatus::Blocked {
            row.reason = None;
            back_to_queue(&mut row, tx.now);
        }
        tx.put_task(row);
    }
    Ok(())
}

/// Says at those that wait for a task why they wait in vain.
async fn block_dependants(tx: &mut Tx<'_>, of: &TaskRow) -> Result<(), StoreError> {
    let because = of.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let reason = format!("waits for {}, which {}{because}", of.named(), ended_as(of.status));
    for mut row in tx.dependants(of.id).await? {
        if row.status == TaskStatus::Blocked {
            row.reason = Some(reason.clone());
            tx.put_task(row);
        }
    }
    Ok(())
}

/// How a task's end is told to others.
pub(crate) fn ended_as(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Cancelled => "was cancelled",
        _ => "failed",
    }
}

/// Says at those that wait for a task that it may be done after all.
async fn unblock_dependants(tx: &mut Tx<'_>, of: TaskId) -> Result<(), StoreError> {
    for mut row in tx.dependants(of).await? {
        if row.status != TaskStatus::Blocked || row.reason.is_none() {
            continue;
        }
        row.reason = vain(tx, &row.deps, Some(of)).await?;
        tx.put_task(row);
    }
    Ok(())
}

/// Why a task with these dependencies waits in vain, if it does; `but` is looked away from.
pub(crate) async fn vain(tx: &mut Tx<'_>, deps: &[TaskId], but: Option<TaskId>) -> Result<Option<String>, StoreError> {
    let deps = tx.tasks(deps).await?;
    let dead = |dep: &&TaskRow| matches!(dep.status, TaskStatus::Failed | TaskStatus::Cancelled) && Some(dep.id) != but;
    Ok(deps.iter().find(dead).map(|dep| format!("waits for {}, which {}", dep.named(), ended_as(dep.status))))
}

/// Ends a task for good, held or not: its session stops, its worker is free, those that wait for it are told.
async fn end(
    tx: &mut Tx<'_>,
    task: TaskId,
    status: TaskStatus,
    outcome: AttemptOutcome,
    reason: Option<String>,
) -> Result<TaskRow, StoreError> {
    let mut row = tx.known_task(task).await?;
    let judged = row.status == TaskStatus::Escalated;
    if row.status.is_held() || judged {
        close_attempt(tx, &row, outcome, reason.as_deref());
    }
    if let Some(worker) = row.worker.take() {
        holds::let_go(tx, worker, task, Ended::Released).await?;
    }
    let session = row.session.take();
    row.lease_until = None;
    row.status = status;
    row.reason = reason;
    tx.put_task(row.clone());
    block_dependants(tx, &row).await?;
    if let Some(session) = session {
        tx.settle().await?;
        sessions::ask_to_stop(tx, session, false).await?;
    }
    if let Some(activity) = row.activity {
        lines::look(tx, activity).await?;
    }
    Ok(row)
}

/// Lets a task fail; what depends on it stays blocked, visibly.
pub(crate) async fn fail(tx: &mut Tx<'_>, task: TaskId, reason: Option<String>) -> Result<TaskRow, StoreError> {
    end(tx, task, TaskStatus::Failed, AttemptOutcome::Failed, reason).await
}

/// Takes a task off the queue; whoever works on it stops.
pub(crate) async fn cancel(tx: &mut Tx<'_>, task: TaskId, reason: Option<String>) -> Result<TaskRow, StoreError> {
    end(tx, task, TaskStatus::Cancelled, AttemptOutcome::Cancelled, reason).await
}

/// Puts a task that failed, was escalated or cancelled back into the queue, as if nobody had tried.
pub(crate) async fn retry(tx: &mut Tx<'_>, task: TaskId, reason: Option<String>) -> Result<TaskRow, StoreError> {
    let mut row = tx.known_task(task).await?;
    let was_dead = matches!(row.status, TaskStatus::Failed | TaskStatus::Cancelled);
    if row.status == TaskStatus::Escalated {
        close_attempt(tx, &row, AttemptOutcome::Escalated, reason.as_deref());
    }
    row.workers_tried = 0;
    row.not_by.clear();
    row.ready_at = None;
    row.reason = reason;
    back_to_queue(&mut row, tx.now);
    if row.status == TaskStatus::Blocked {
        row.reason = vain(tx, &row.deps, None).await?;
    }
    tx.put_task(row.clone());
    if was_dead {
        unblock_dependants(tx, task).await?;
    }
    Ok(row)
}
