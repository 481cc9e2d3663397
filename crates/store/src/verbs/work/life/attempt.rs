//! Attempts: one row for each hold on a task.

use domain::{AttemptOutcome, Timestamp};
use protocol::Usage;

use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::rows::WorkerRow;

const INSERT: &str = "INSERT INTO attempts (task, number, project, fence, worker, worker_name, agent, sessions, \
    started_at, usage, outcome)";

/// Records the start of an attempt.
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

/// Records how the current attempt at a task ended, unless it has ended already. `silent_until` is the end of a lost
/// worker's lease.
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
    // The last heartbeat started the lease that expired.
    let lease = tx.book().lease_ms(task.project);
    let last_sign = silent_until.map(|until| until.plus_millis(-lease));
    let end = args![tx.now, last_sign, outcome.word(), reason];
    tx.change().attempt_ended(task.id, task.attempt, end);
}
