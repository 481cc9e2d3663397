//! Dependants of a task: the consequences of its end, or of a retry, for them. Their events have no effects.

use std::collections::{HashSet, VecDeque};

use domain::{TaskId, TaskStatus};
use engine::tasks::life::{Event, State, ended_as};

use super::decide;
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::work::tasks::row::TaskRow;

/// The maximum number of dependants that one transaction marks as unreachable, or as reachable again.
const MARKED: usize = 1000;

/// Unblocks the dependants of a finished task; those without open dependencies become ready.
pub(super) async fn free(tx: &mut Tx<'_>, task: TaskId) -> Result<(), StoreError> {
    for row in tx.dependants(task).await? {
        decide(tx, row, Event::DependencyDone).await?;
    }
    Ok(())
}

/// Blocks the dependants of a reopened task that no worker has taken yet.
pub(super) async fn hold(tx: &mut Tx<'_>, task: TaskId) -> Result<(), StoreError> {
    for row in tx.dependants(task).await? {
        decide(tx, row, Event::DependencyReopened).await?;
    }
    Ok(())
}

/// Transitive dependants, breadth-first, each with the dependency that leads to it; at most [`MARKED`].
async fn all(tx: &mut Tx<'_>, of: &TaskRow) -> Result<Vec<(TaskRow, TaskRow)>, StoreError> {
    let (mut found, mut seen) = (Vec::new(), HashSet::from([of.id]));
    let mut level = vec![of.clone()];
    while !level.is_empty() && found.len() < MARKED {
        // One query reads a whole level.
        tx.know_dependants(&level.iter().map(|dep| dep.id).collect::<Vec<_>>()).await?;
        let mut waiting = Vec::new();
        for (at, dep) in level.iter().enumerate() {
            let ids = tx.book().dependants_of(dep.id).to_vec();
            waiting.extend(ids.into_iter().filter(|id| seen.insert(*id)).map(|id| (id, at)));
        }
        waiting.truncate(MARKED - found.len());
        tx.tasks(&waiting.iter().map(|(id, _)| *id).collect::<Vec<_>>()).await?;
        let mut next = Vec::new();
        for (id, at) in waiting {
            if let Some(row) = tx.task(id).await?.filter(|row| row.status() == TaskStatus::Blocked) {
                found.push((row.clone(), level[at].clone()));
                next.push(row);
            }
        }
        level = next;
    }
    Ok(found)
}

/// Marks the transitive dependants of a failed or cancelled task as unreachable.
pub(super) async fn block(tx: &mut Tx<'_>, of: &TaskRow) -> Result<(), StoreError> {
    for (row, dep) in all(tx, of).await? {
        let unreachable = Some(because(&dep, of));
        decide(tx, row, Event::DependenciesChange { unreachable }).await?;
    }
    Ok(())
}

/// Why a dependant of `dep` cannot be done: `dead` failed or was cancelled.
fn because(dep: &TaskRow, dead: &TaskRow) -> String {
    let named = dead.named();
    let ended = ended_as(&dead.state);
    match dep.id == dead.id {
        true => {
            let why = dead.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("waits for {named}, which {ended}{why}")
        }
        false => format!("waits for {}, which cannot be done: {named} {ended}", dep.named()),
    }
}

/// Marks the transitive dependants of a retried task as reachable again.
pub(super) async fn unblock(tx: &mut Tx<'_>, of: &TaskRow) -> Result<(), StoreError> {
    for (row, _) in all(tx, of).await? {
        if row.reason.is_some() {
            let unreachable = unreachable(tx, &row.deps).await?;
            decide(tx, row, Event::DependenciesChange { unreachable }).await?;
        }
    }
    Ok(())
}

/// Why a task with these dependencies cannot be done: a dependency failed, was cancelled, or is unreachable itself.
pub(crate) async fn unreachable(tx: &mut Tx<'_>, deps: &[TaskId]) -> Result<Option<String>, StoreError> {
    let direct = tx.tasks(deps).await?;
    let mut seen: HashSet<TaskId> = deps.iter().copied().collect();
    let mut next: VecDeque<(usize, TaskRow)> = direct.iter().cloned().enumerate().collect();
    while let Some((at, row)) = next.pop_front() {
        if matches!(row.state, State::Failed | State::Cancelled) {
            return Ok(Some(because(&direct[at], &row)));
        }
        // A blocked task without a reason is still reachable.
        if row.status() == TaskStatus::Blocked && row.reason.is_some() && seen.len() < MARKED {
            let further: Vec<TaskId> = row.deps.iter().copied().filter(|dep| seen.insert(*dep)).collect();
            next.extend(tx.tasks(&further).await?.into_iter().map(|dep| (at, dep)));
        }
    }
    Ok(None)
}
