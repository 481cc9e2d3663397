//! What taking a task and letting it go means for a worker: its status, its history, its breaker.

use domain::{SessionId, SessionMode, TaskId, Timestamp, WorkerId, WorkerKind, WorkerStatus};
use engine::breaker::{Breaker, Limits, Outcome};
use protocol::{Usage, WorkSettings};

use super::log::decided;
use super::outage;
use super::rows::{Slot, get, put, sum};
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::sessions;

/// How a worker's hold on a task ended, as far as the worker is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Its report was accepted; with the context score, if it gave one.
    Accepted(Option<u8>),
    /// It failed, its reports were refused for good, or it made no progress.
    Failed(String),
    /// It was not heard from, though its runner was.
    Lost(String),
    /// Its runner was not heard from, or its session is gone: no fault of its agent.
    Gone(String),
    /// Somebody else decided: stopped, released, taken over, cancelled, asked.
    Released,
}

/// What a breaker's columns say.
pub(crate) fn breaker(slot: &Slot, settings: &WorkSettings) -> Breaker {
    match (slot.status, slot.until) {
        (WorkerStatus::Offline, Some(until)) => Breaker::Open { until },
        _ if slot.failures >= settings.breaker_failures && slot.task.is_some() => Breaker::HalfOpen,
        _ => Breaker::Closed { failures: slot.failures.min(settings.breaker_failures.saturating_sub(1)) },
    }
}

/// The limits of a project's breakers.
pub(crate) fn limits(settings: &WorkSettings) -> Limits {
    Limits { failures: settings.breaker_failures, cool_down_ms: i64::from(settings.breaker_seconds) * 1000 }
}

/// A worker has a task from now on.
pub(crate) async fn took(tx: &mut Tx<'_>, worker: WorkerId, task: TaskId) -> Result<Slot, StoreError> {
    let mut slot = get(tx, worker).await?.ok_or(StoreError::NotFound("worker"))?;
    slot.task = Some(task);
    slot.session = None;
    slot.queue.retain(|queued| *queued != task);
    slot.seen_at = Some(tx.now);
    slot.idle_since = None;
    slot.becomes(WorkerStatus::Working, None, None);
    put(tx, slot.clone());
    Ok(slot)
}

/// The session that works on a worker's task.
pub(crate) async fn works_in(tx: &mut Tx<'_>, worker: WorkerId, session: SessionId) -> Result<(), StoreError> {
    if let Some(mut slot) = get(tx, worker).await? {
        slot.session = Some(session);
        put(tx, slot);
    }
    Ok(())
}

/// A worker's hold on a task ended. What it becomes is decided here: free, offline, lost, or what it was told to be.
pub(crate) async fn let_go(
    tx: &mut Tx<'_>,
    worker: WorkerId,
    task: TaskId,
    ended: Ended,
) -> Result<Option<Slot>, StoreError> {
    let Some(mut slot) = get(tx, worker).await? else { return Ok(None) };
    let settings = tx.work_settings(slot.project).await?;
    let before = breaker(&slot, &settings);
    if slot.task == Some(task) {
        // Whoever takes tasks itself may do so in a session of a person's, which is not ours to end.
        if let (WorkerKind::Managed, Some(session)) = (slot.kind, slot.session) {
            dismiss(tx, session, &ended).await?;
        }
        slot.task = None;
        slot.session = None;
        slot.idle_since = Some(tx.now);
    }
    if let Some(reason) = end(&mut slot, &ended, before, limits(&settings), tx.now) {
        decided(tx, slot.project, Some(worker), Some(task), "breaker_open", reason).await?;
    }
    put(tx, slot.clone());
    outage::probe_ended(tx, &slot, &ended).await?;
    Ok(Some(slot))
}

/// Asks the session of a hold that ended to stop. One that works alone and was accepted ends by itself.
async fn dismiss(tx: &mut Tx<'_>, session: SessionId, ended: &Ended) -> Result<(), StoreError> {
    if let Ended::Accepted(_) = ended {
        let found = sessions::get(tx.read(), session).await?;
        if found.is_none_or(|(session, _)| session.mode == SessionMode::Headless) {
            return Ok(());
        }
    }
    // Whoever was not heard from cannot be asked nicely: it must not write on when it comes back.
    sessions::ask_to_stop(tx, session, matches!(ended, Ended::Lost(_) | Ended::Gone(_))).await
}

/// What a worker becomes; says why its breaker opened, if it did.
fn end(slot: &mut Slot, ended: &Ended, breaker: Breaker, limits: Limits, now: Timestamp) -> Option<String> {
    let mut open = None;
    match ended {
        Ended::Accepted(score) => {
            slot.done += 1;
            slot.failures = 0;
            if let Some(score) = score {
                slot.scores += 1;
                slot.score_sum += u32::from(*score);
                slot.context_score = Some(slot.score_sum.saturating_mul(100) / slot.scores);
            }
        }
        Ended::Failed(reason) | Ended::Lost(reason) => {
            slot.failed += 1;
            slot.failures += 1;
            if let Breaker::Open { until } = breaker.after(Outcome::Failure, now, limits) {
                open = Some((until, format!("{} failures in a row; the last: {reason}", slot.failures)));
            }
        }
        Ended::Gone(_) => slot.failed += 1,
        Ended::Released => {}
    }
    // One that is paused, spent or stopping stays so; it is looked at again when that ends.
    if slot.task.is_some() || slot.status != WorkerStatus::Working {
        return None;
    }
    match (open, ended) {
        (Some((until, reason)), _) => {
            slot.becomes(WorkerStatus::Offline, Some(reason.clone()), Some(until));
            return Some(reason);
        }
        (None, Ended::Lost(reason) | Ended::Gone(reason)) => {
            slot.becomes(WorkerStatus::Lost, Some(reason.clone()), None)
        }
        (None, _) => slot.becomes(WorkerStatus::Idle, None, None),
    }
    None
}

/// A person accepted what had counted as a worker's failure.
pub(crate) async fn forgive(tx: &mut Tx<'_>, worker: WorkerId) -> Result<(), StoreError> {
    if let Some(mut slot) = get(tx, worker).await? {
        slot.failed = slot.failed.saturating_sub(1);
        put(tx, slot);
    }
    Ok(())
}

/// A worker used more of its model.
pub(crate) async fn used(tx: &mut Tx<'_>, worker: WorkerId, more: &Usage) -> Result<Option<Slot>, StoreError> {
    let Some(mut slot) = get(tx, worker).await? else { return Ok(None) };
    slot.usage = sum(&slot.view.usage, more);
    put(tx, slot.clone());
    Ok(Some(slot))
}
