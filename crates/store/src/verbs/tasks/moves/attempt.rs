//! What is kept of an attempt. It has a row of its own as soon as there is something to keep of it that its task's row
//! does not say; one whose report is accepted at once has none but that report.

use domain::{AttemptOutcome, Timestamp};
use protocol::Usage;

use crate::StoreError;
use crate::sql::{Value, args, to_json};
use crate::tx::Tx;
use crate::verbs::tasks::row::TaskRow;
use crate::verbs::workers::rows::{self, Slot};

const INSERT: &str = "INSERT INTO attempts (task, number, project, fence, worker, worker_name, agent, sessions, \
    started_at, usage, ended_at, last_sign_at, outcome, reason)";

/// Writes the current attempt down, if that has not been done: what is kept of it from here on is kept in its row.
pub(super) async fn note(tx: &mut Tx<'_>, task: &mut TaskRow) -> Result<(), StoreError> {
    insert(tx, task, args![None::<Timestamp>, None::<Timestamp>, AttemptOutcome::Open.word(), None::<String>]).await
}

/// Who an attempt is by and when it began, to be kept with the report that ends it.
pub(super) struct Begun {
    pub(super) name: String,
    pub(super) agent: String,
    pub(super) at: Timestamp,
}

/// The current attempt ends with a report that is accepted: `Some` if that report says all there is to say of it.
pub(super) async fn reported(tx: &mut Tx<'_>, task: &mut TaskRow) -> Result<Option<Begun>, StoreError> {
    if task.noted {
        close(tx, task, AttemptOutcome::Accepted, None).await?;
        return Ok(None);
    }
    task.noted = true;
    let slot = holder(tx, task).await?;
    Ok(Some(Begun { agent: slot.agent(), name: slot.view.name, at: task.taken_at.unwrap_or(tx.now) }))
}

/// Writes down how the current hold on a task ended.
pub(super) async fn close(
    tx: &mut Tx<'_>,
    task: &mut TaskRow,
    outcome: AttemptOutcome,
    reason: Option<&str>,
) -> Result<(), StoreError> {
    if task.attempt == 0 {
        return Ok(());
    }
    // The last sign of life began the lease that ran out.
    let lease = tx.book().settings.get(&task.project).map_or(0, |settings| i64::from(settings.lease_seconds) * 1000);
    let last_sign = task.lease_until.filter(|_| outcome == AttemptOutcome::Lost).map(|until| until.plus_millis(-lease));
    let end: Vec<Value> = args![tx.now, last_sign, outcome.word(), reason.map(str::to_owned)];
    match task.noted {
        true => tx.change().attempt_ended(task.id, task.attempt, end),
        false => insert(tx, task, end).await?,
    }
    Ok(())
}

/// Inserts the current attempt with its end, unless it is there.
async fn insert(tx: &mut Tx<'_>, task: &mut TaskRow, end: Vec<Value>) -> Result<(), StoreError> {
    if std::mem::replace(&mut task.noted, true) {
        return Ok(());
    }
    let slot = holder(tx, task).await?;
    let mut values = args![
        task.id.to_string(),
        task.attempt,
        task.project.to_string(),
        task.fence,
        slot.id.to_string(),
        &slot.name,
        slot.agent(),
        "[]",
        task.taken_at.unwrap_or(tx.now),
        to_json(&Usage::default()),
    ];
    values.extend(end);
    tx.later(INSERT, values);
    Ok(())
}

/// Whoever holds a task.
async fn holder(tx: &mut Tx<'_>, task: &TaskRow) -> Result<Slot, StoreError> {
    let nobody = || StoreError::Corrupt(format!("{} is held by nobody", task.id));
    rows::get(tx, task.worker.ok_or_else(nobody)?).await?.ok_or(StoreError::NotFound("worker"))
}
