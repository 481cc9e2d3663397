//! Attempts: each hold on a task has a row, from its beginning to its end.

use domain::{AttemptOutcome, Timestamp};
use protocol::Usage;

use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::rows::WorkerRow;

const INSERT: &str = "INSERT INTO attempts (task, number, project, fence, worker, worker_name, agent, sessions, \
    started_at, usage, outcome)";

/// Writes down that a worker holds a task from now on.
pub(super) fn begin(tx: &mut Tx<'_>, task: &TaskRow, slot: &WorkerRow) {
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

/// Writes down how the current attempt at a task ended; an attempt that has ended stays as it is. `silent_until`: when the
/// lease of a lost worker ended.
pub(super) fn close(
    tx: &mut Tx<'_>,
    task: &TaskRow,
    outcome: AttemptOutcome,
    reason: Option<String>,
    silent_until: Option<Timestamp>,
) {
    if task.attempt == 0 {
        return;
    }
    // The last sign of life began the lease that ran out.
    let lease = tx.book().lease_ms(task.project);
    let last_sign = silent_until.map(|until| until.plus_millis(-lease));
    let end = args![tx.now, last_sign, outcome.word(), reason];
    tx.change().attempt_ended(task.id, task.attempt, end);
}
