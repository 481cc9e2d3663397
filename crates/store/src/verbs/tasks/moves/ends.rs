//! How a task ends, what that means for those that wait for it, and how it begins again.

use std::collections::{HashSet, VecDeque};

use domain::{AttemptOutcome, TaskId, TaskStatus};

use super::{attempt, back_to_queue, judge, settle_all};
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::tasks::row::TaskRow;
use crate::verbs::workers::holds::{self, Ended};
use crate::verbs::workers::{conflicts, lines};

/// At how many tasks one transaction says that they wait in vain; those further off say what they wait for.
const TOLD: usize = 1000;

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

/// Those that wait for a task and for those, nearest first, each with what of them it waits for; so many at most.
async fn all_dependants(tx: &mut Tx<'_>, of: &TaskRow) -> Result<Vec<(TaskRow, TaskRow)>, StoreError> {
    let (mut found, mut seen) = (Vec::new(), HashSet::from([of.id]));
    let mut level = vec![of.clone()];
    while !level.is_empty() && found.len() < TOLD {
        // All of one distance are read together.
        tx.know_dependants(&level.iter().map(|dep| dep.id).collect::<Vec<_>>()).await?;
        let mut waiting = Vec::new();
        for (at, dep) in level.iter().enumerate() {
            let ids = tx.book().dependants.get(&dep.id).into_iter().flatten().copied();
            waiting.extend(ids.filter(|id| seen.insert(*id)).map(|id| (id, at)));
        }
        waiting.truncate(TOLD - found.len());
        tx.tasks(&waiting.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await?;
        let mut next = Vec::new();
        for (id, at) in waiting {
            if let Some(row) = tx.task(id).await?.filter(|row| row.status == TaskStatus::Blocked) {
                found.push((row.clone(), level[at].clone()));
                next.push(row);
            }
        }
        level = next;
    }
    Ok(found)
}

/// Says at those that wait for a task, and at those that wait for them, why they wait in vain.
async fn block_dependants(tx: &mut Tx<'_>, of: &TaskRow) -> Result<(), StoreError> {
    for (mut row, dep) in all_dependants(tx, of).await? {
        row.reason = Some(because(&dep, of));
        tx.put_task(row);
    }
    Ok(())
}

/// Why what waits for `dep` waits in vain: `dead` has ended.
fn because(dep: &TaskRow, dead: &TaskRow) -> String {
    let (named, ended) = (dead.named(), ended_as(dead.status));
    match dep.id == dead.id {
        true => {
            let why = dead.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("waits for {named}, which {ended}{why}")
        }
        false => format!("waits for {}, which waits in vain: {named} {ended}", dep.named()),
    }
}

/// How a task's end is told to others.
pub(crate) fn ended_as(status: TaskStatus) -> &'static str {
    match status {
        TaskStatus::Cancelled => "was cancelled",
        _ => "failed",
    }
}

/// Says at those that wait for a task, and at those that wait for them, that it may be done after all.
async fn unblock_dependants(tx: &mut Tx<'_>, of: &TaskRow) -> Result<(), StoreError> {
    for (mut row, _) in all_dependants(tx, of).await? {
        if row.reason.is_some() {
            row.reason = vain(tx, &row.deps).await?;
            tx.put_task(row);
        }
    }
    Ok(())
}

/// Why a task with these dependencies waits in vain, if it does: one of them has ended, or waits in vain itself.
pub(crate) async fn vain(tx: &mut Tx<'_>, deps: &[TaskId]) -> Result<Option<String>, StoreError> {
    let direct = tx.tasks(deps).await?;
    let mut seen: HashSet<TaskId> = deps.iter().copied().collect();
    let mut next: VecDeque<(usize, TaskRow)> = direct.iter().cloned().enumerate().collect();
    while let Some((at, row)) = next.pop_front() {
        if matches!(row.status, TaskStatus::Failed | TaskStatus::Cancelled) {
            return Ok(Some(because(&direct[at], &row)));
        }
        // What waits, and not in vain, has no reason; further than this nobody looks.
        if row.status == TaskStatus::Blocked && row.reason.is_some() && seen.len() < TOLD {
            let further: Vec<TaskId> = row.deps.iter().copied().filter(|dep| seen.insert(*dep)).collect();
            next.extend(tx.tasks(&further).await?.into_iter().map(|dep| (at, dep)));
        }
    }
    Ok(None)
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
    let (judged, waited) = (row.status == TaskStatus::Escalated, judge::waits(row.status));
    if row.status.is_held() || judged {
        attempt::close(tx, &row, outcome, reason.as_deref());
    }
    if let Some(worker) = row.worker.take() {
        holds::let_go(tx, worker, task, Ended::Released).await?;
    }
    let session = row.session.take();
    row.lease_until = None;
    row.status = status;
    row.reason = reason;
    let asked = std::mem::take(&mut row.asked);
    tx.put_task(row.clone());
    if waited {
        let why = row.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
        judge::refuse_pending(tx, task, &format!("the task {} before this was judged{why}", ended_as(status))).await?;
    }
    block_dependants(tx, &row).await?;
    if asked {
        settle_all(tx, task, &format!("the task {}", ended_as(status))).await?;
    }
    if let Some(session) = session {
        sessions::ask_to_stop(tx, session, false).await?;
    }
    if let Some(activity) = row.activity {
        lines::look(tx, activity).await?;
    }
    if judged {
        conflicts::stands_no_more(tx, &row, ended_as(status)).await?;
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
    let (was_asked, why) = (row.status == TaskStatus::Escalated, reason.clone());
    if was_asked {
        attempt::close(tx, &row, AttemptOutcome::Escalated, reason.as_deref());
    }
    row.workers_tried = 0;
    row.not_by.clear();
    row.ready_at = None;
    row.reason = reason;
    back_to_queue(&mut row, tx.now);
    if row.status == TaskStatus::Blocked {
        row.reason = vain(tx, &row.deps).await?;
    }
    tx.put_task(row.clone());
    if was_asked {
        judge::refuse_pending(tx, task, why.as_deref().unwrap_or("it is done again")).await?;
        conflicts::stands_no_more(tx, &row, "is done again").await?;
    }
    if was_dead {
        unblock_dependants(tx, &row).await?;
    }
    Ok(row)
}
