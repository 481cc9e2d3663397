//! What taking a task and letting it go means for a worker: its status, its history, its breaker.

use domain::{SessionId, TaskId, WorkerId, WorkerStatus};
use engine::breaker::{Breaker, Limits, Outcome};
use protocol::{Usage, WorkSettings};

use super::log::decided;
use super::rows::{self, Slot, get, save, sum};
use super::settings;
use crate::StoreError;
use crate::tx::Tx;

/// How a worker's hold on a task ended, as far as the worker is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Its report was accepted; with the context score, if it gave one.
    Accepted(Option<u8>),
    /// It failed, its reports were refused for good, or it made no progress.
    Failed(String),
    /// It was not heard from.
    Lost(String),
    /// Somebody else decided: stopped, released, taken over, cancelled, asked.
    Released,
}

/// What a breaker's columns say.
pub(crate) fn breaker(slot: &Slot, settings: &WorkSettings) -> Breaker {
    match (slot.view.status, slot.view.until) {
        (WorkerStatus::Offline, Some(until)) => Breaker::Open { until },
        _ if slot.view.failures >= settings.breaker_failures && slot.view.task.is_some() => Breaker::HalfOpen,
        _ => Breaker::Closed { failures: slot.view.failures.min(settings.breaker_failures.saturating_sub(1)) },
    }
}

/// The limits of a project's breakers.
pub(crate) fn limits(settings: &WorkSettings) -> Limits {
    Limits { failures: settings.breaker_failures, cool_down_ms: i64::from(settings.breaker_seconds) * 1000 }
}

/// A worker has a task from now on.
pub(crate) async fn took(tx: &mut Tx<'_>, worker: WorkerId, task: TaskId) -> Result<Slot, StoreError> {
    let mut slot = get(tx.read(), worker).await?.ok_or(StoreError::NotFound("worker"))?;
    slot.view.task = Some(task);
    slot.view.session = None;
    slot.view.queue.retain(|queued| *queued != task);
    slot.view.seen_at = Some(tx.now);
    slot.idle_since = None;
    slot.becomes(WorkerStatus::Working, None, None);
    save(tx, &slot).await?;
    Ok(slot)
}

/// The session that works on a worker's task.
pub(crate) async fn works_in(tx: &mut Tx<'_>, worker: WorkerId, session: SessionId) -> Result<(), StoreError> {
    let Some(mut slot) = get(tx.read(), worker).await? else { return Ok(()) };
    slot.view.session = Some(session);
    save(tx, &slot).await
}

/// A worker's hold on a task ended. What it becomes is decided here: free, offline, or what it was told to be.
pub(crate) async fn let_go(
    tx: &mut Tx<'_>,
    worker: WorkerId,
    task: TaskId,
    ended: Ended,
) -> Result<Option<Slot>, StoreError> {
    let Some(mut slot) = get(tx.read(), worker).await? else { return Ok(None) };
    let settings = settings::of(tx.read(), slot.view.project).await?;
    let before = breaker(&slot, &settings);
    if slot.view.task == Some(task) {
        slot.view.task = None;
        slot.idle_since = Some(tx.now);
    }
    let mut offline = None;
    match &ended {
        Ended::Accepted(score) => {
            slot.view.done += 1;
            slot.view.failures = 0;
            if let Some(score) = score {
                slot.scores += 1;
                slot.score_sum += u32::from(*score);
                slot.view.context_score = Some(slot.score_sum.saturating_mul(100) / slot.scores);
            }
        }
        Ended::Failed(reason) | Ended::Lost(reason) => {
            slot.view.failed += 1;
            slot.view.failures += 1;
            if let Breaker::Open { until } = before.after(Outcome::Failure, tx.now, limits(&settings)) {
                offline = Some((until, format!("{} failures in a row; the last: {reason}", slot.view.failures)));
            }
        }
        Ended::Released => {}
    }
    let free = slot.view.task.is_none() && slot.view.status == WorkerStatus::Working;
    if let Some((until, reason)) = offline
        && (free || slot.view.status == WorkerStatus::Paused)
    {
        slot.becomes(WorkerStatus::Offline, Some(reason.clone()), Some(until));
        decided(tx, slot.view.project, Some(worker), Some(task), "breaker_open", reason).await?;
    } else if free {
        match &ended {
            Ended::Lost(reason) => slot.becomes(WorkerStatus::Lost, Some(reason.clone()), None),
            _ => slot.becomes(WorkerStatus::Idle, None, None),
        }
    }
    save(tx, &slot).await?;
    Ok(Some(slot))
}

/// A worker used more of its model.
pub(crate) async fn used(tx: &mut Tx<'_>, worker: WorkerId, more: &Usage) -> Result<Option<Slot>, StoreError> {
    let Some(mut slot) = rows::get(tx.read(), worker).await? else { return Ok(None) };
    slot.view.usage = sum(&slot.view.usage, more);
    save(tx, &slot).await?;
    Ok(Some(slot))
}
