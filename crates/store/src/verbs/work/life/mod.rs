//! The life of a task in the database: loads it, lets `engine::tasks::life` decide, saves it, and performs the effects,
//! all in the caller's transaction. Access is for the calling verb to check.
//!
//! Changed tasks wait in the transaction's book until it ends, or until a query reads their tables. One event tells
//! clients about all tasks that a transaction changed; callers announce nothing.

mod attempt;
mod dependants;
mod moves;
mod perform;

pub(crate) use dependants::unreachable;
pub(crate) use moves::{held, let_go, renew, retry, start, take, work_in, zombie};

use domain::TaskStatus;
use engine::tasks::life::{self, Effect, Event, Refused, Rules, Step};
use engine::tasks::retry::Limits;

use super::tasks::row::TaskRow;
use crate::StoreError;
use crate::tx::Tx;

/// Applies an event to a task: saves the new state with any other changes to the row, performs the effects, and returns
/// the task.
pub(crate) async fn step(tx: &mut Tx<'_>, row: TaskRow, event: Event) -> Result<TaskRow, StoreError> {
    let (row, effects) = decide(tx, row, event).await?;
    if effects.is_empty() {
        return Ok(row);
    }
    for effect in effects {
        perform::perform(tx, &row, effect).await?;
    }
    tx.known_task(row.id).await
}

/// Saves a task as it is after an event; returns it with the effects.
async fn decide(tx: &mut Tx<'_>, row: TaskRow, event: Event) -> Result<(TaskRow, Vec<Effect>), StoreError> {
    let settings = tx.work_settings(row.project).await?;
    let limits = Limits { per_worker: settings.tries_per_worker, workers: settings.workers_per_task };
    let decided = life::step(row.life().clone(), event, &Rules { now: tx.now, limits });
    let Step { life, effects } = decided.map_err(|refused| refusal(&row, refused))?;
    let row = row.with_life(life);
    tx.put_task_if_shown(row.clone());
    Ok((row, effects))
}

/// The error message for an event that the task's state does not allow.
fn refusal(row: &TaskRow, refused: Refused) -> StoreError {
    let (named, status) = (row.named(), row.status());
    StoreError::Conflict(match refused {
        Refused::Reported => format!("{named} was reported already and is being checked"),
        Refused::Over if status == TaskStatus::Done => format!("{named} is done"),
        _ => format!("{named} is {status}: {refused}"),
    })
}
