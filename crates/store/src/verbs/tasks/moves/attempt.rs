//! Attempts: each hold on a task has a row, from its beginning to its end.

use domain::AttemptOutcome;
use protocol::Usage;

use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::tasks::row::TaskRow;
use crate::verbs::workers::rows::Slot;

const INSERT: &str = "INSERT INTO attempts (task, number, project, fence, worker, worker_name, agent, sessions, \
    started_at, usage, outcome)";

/// Writes down that a worker holds a task from now on.
pub(super) fn begin(tx: &mut Tx<'_>, task: &TaskRow, slot: &Slot) {
    let values = args![
        task.id.to_string(),
        task.attempt,
        task.project.to_string(),
        task.fence,
        slot.id.to_string(),
        &slot.name,
        slot.agent(),
        "[]",
        tx.now,
        to_json(&Usage::default()),
        AttemptOutcome::Open.word(),
    ];
    tx.later(INSERT, values);
}

/// Writes down how the current attempt at a task ended; an attempt that has ended stays as it is.
pub(super) fn close(tx: &mut Tx<'_>, task: &TaskRow, outcome: AttemptOutcome, reason: Option<&str>) {
    if task.attempt == 0 {
        return;
    }
    // The last sign of life began the lease that ran out.
    let lease = tx.book().settings.get(&task.project).map_or(0, |settings| i64::from(settings.lease_seconds) * 1000);
    let last_sign = task.lease_until.filter(|_| outcome == AttemptOutcome::Lost).map(|until| until.plus_millis(-lease));
    let end = args![tx.now, last_sign, outcome.word(), reason.map(str::to_owned)];
    tx.change().attempt_ended(task.id, task.attempt, end);
}
