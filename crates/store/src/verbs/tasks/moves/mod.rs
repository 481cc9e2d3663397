//! The moves that a task makes from one status to the next: each one function that writes row, attempt, worker and
//! events, whoever asks. Access is for the verb that calls to check; fences are checked here.
//!
//! Changed tasks wait in the transaction's book until it ends, or until a query reads their tables. One event tells clients about all tasks that a transaction changed; callers announce nothing.

pub(crate) mod ask;
pub(crate) mod asks;
mod attempt;
mod ends;
pub(crate) mod evidence;
mod hold;
pub(crate) mod judge;
mod place;

pub(crate) use ask::{Ask, answer, answer_all, escalate, open_question, settle_all, wait_for_answer};
pub(crate) use ends::{cancel, fail, retry, vain};
pub(crate) use hold::{Why, gone, hand_out, held, let_go, let_go_because, renew, session_gone, started, works_in};
pub(crate) use judge::{NewReport, came_to_nothing, judged, late, not_compared, refuse, report_in};
pub(crate) use place::{elsewhere, has_repository};

use domain::{TaskStatus, Timestamp};

use super::row::TaskRow;

/// The first line of a reason, short enough to stand in another.
fn first_line(reason: &str) -> String {
    domain::text::plain(reason.trim().lines().next().unwrap_or_default().trim_end_matches('.'), 300)
}

/// Puts a task that nobody holds where its dependencies allow: into the queue, or to wait.
fn back_to_queue(task: &mut TaskRow, now: Timestamp) {
    task.worker = None;
    task.lease_until = None;
    task.session = None;
    task.progress = None;
    task.refusals = 0;
    if task.waits_for > 0 {
        task.status = TaskStatus::Blocked;
        return;
    }
    task.status = TaskStatus::Ready;
    // What was in the queue before keeps its age: it does not begin to wait anew.
    let ready_at = *task.ready_at.get_or_insert(now);
    task.queue_key = engine::order::queue_key(ready_at, task.priority);
}
