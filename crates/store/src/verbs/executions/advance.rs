//! One event of an execution: the engine decides, the effects become rows.

use std::collections::VecDeque;

use domain::{ExecutionStatus, UserId};
use engine::recipes::{self, Event, Execution as Machine, Status, StepState};
use protocol::Change;

use super::rows::{self, ExecutionRow};
use super::{perform, summary, view, work};
use crate::StoreError;
use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::work::workers::rows::tell;

/// Stores an event with its consequences, and those of the events that follow at once. Refuses a person's operation that
/// is not possible, before anything is written.
pub(super) async fn happen(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    event: Event,
    by: Option<UserId>,
) -> Result<(), StoreError> {
    let (mut events, mut by) = (VecDeque::from([event]), by);
    while let Some(event) = events.pop_front() {
        let step = recipes::step(&row.machine, &event, tx.now).map_err(|why| StoreError::Conflict(why.to_string()))?;
        if step.execution == row.machine && step.effects.is_empty() {
            by = None;
            continue;
        }
        record(tx, row, &event, by.take()).await?;
        failpoint::pass("execution.recorded");
        close_over(tx, row, &step.execution).await?;
        row.machine = step.execution;
        for effect in step.effects {
            events.extend(perform::perform(tx, row, effect).await?);
            failpoint::pass("execution.performed");
        }
    }
    view::refresh(row, tx.now);
    Ok(())
}

/// Saves and announces an execution that has moved.
pub(super) async fn save(tx: &mut Tx<'_>, row: &mut ExecutionRow) -> Result<(), StoreError> {
    row.revision += 1;
    rows::save(tx, row).await?;
    failpoint::pass("execution.saved");
    if row.machine.status.is_over() {
        summary::keep(tx, row).await?;
    }
    tell(tx, row.project, Change::Execution { execution: view::execution(row) });
    Ok(())
}

async fn record(tx: &mut Tx<'_>, row: &mut ExecutionRow, event: &Event, by: Option<UserId>) -> Result<(), StoreError> {
    row.events += 1;
    let sql = "INSERT INTO execution_events (execution, number, at, actor, event) VALUES ($1, $2, $3, $4, $5)";
    let by = by.map(|by| by.to_string());
    tx.run(sql, args![row.id.to_string(), row.events, tx.now, by, to_json(event)]).await.map(|_| ())
}

/// Closes the work of attempts that this step ends.
async fn close_over(tx: &mut Tx<'_>, row: &ExecutionRow, after: &Machine) -> Result<(), StoreError> {
    for (path, before) in &row.machine.steps {
        let now = after.steps.get(path);
        let runs = |state: &StepState| matches!(state, StepState::Running { .. });
        if !runs(&before.state) || now.is_some_and(|now| runs(&now.state) && now.attempt == before.attempt) {
            continue;
        }
        let (state, reason) = match now.map(|now| &now.state) {
            Some(StepState::Succeeded { .. } | StepState::Skipped { .. }) => ("succeeded", None),
            Some(StepState::Failed { error } | StepState::Retrying { error, .. }) => {
                ("failed", Some(error.message.clone()))
            }
            Some(StepState::Interrupted { why }) => ("interrupted", Some(why.clone())),
            _ => ("stopped", None),
        };
        work::close(tx, row, path, before.attempt, state, reason).await?;
    }
    Ok(())
}

/// The status that people see.
pub(super) fn status(machine: &Machine) -> ExecutionStatus {
    match &machine.status {
        Status::Paused => ExecutionStatus::Paused,
        Status::Completed { .. } => ExecutionStatus::Completed,
        Status::Failed { .. } => ExecutionStatus::Failed,
        Status::Cancelled => ExecutionStatus::Cancelled,
        Status::New => ExecutionStatus::Running,
        Status::Running if view::only_waits(machine) => ExecutionStatus::Waiting,
        Status::Running => ExecutionStatus::Running,
    }
}
