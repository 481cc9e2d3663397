//! Consequences of taking and releasing a task for a worker: status, history, breaker.

use domain::{SessionId, SessionMode, TaskId, Timestamp, WorkerId, WorkerKind, WorkerStatus};
use engine::tasks::life::Ended;
use engine::workers::breaker::{Breaker, Limits, Outcome};
use engine::workers::decision::Decision;
use protocol::{Usage, WorkSettings};

use super::log::decided;
use super::outage;
use super::rows::{WorkerRow, get, put, sum};
use crate::StoreError;
use crate::tx::Tx;
use crate::verbs::sessions;

/// The state of a worker's breaker.
pub(crate) fn breaker(slot: &WorkerRow, settings: &WorkSettings) -> Breaker {
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

/// A worker took a task.
pub(crate) async fn took(tx: &mut Tx<'_>, worker: WorkerId, task: TaskId) -> Result<WorkerRow, StoreError> {
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

/// Records the session of a worker's task.
pub(crate) async fn works_in(tx: &mut Tx<'_>, worker: WorkerId, session: SessionId) -> Result<(), StoreError> {
    if let Some(mut slot) = get(tx, worker).await? {
        slot.session = Some(session);
        put(tx, slot);
    }
    Ok(())
}

/// Ends a worker's hold on a task and decides its next status: idle, offline, lost, or the requested one.
pub(crate) async fn let_go(
    tx: &mut Tx<'_>,
    worker: WorkerId,
    task: TaskId,
    ended: Ended,
) -> Result<Option<WorkerRow>, StoreError> {
    let Some(mut slot) = get(tx, worker).await? else { return Ok(None) };
    let settings = tx.work_settings(slot.project).await?;
    let before = breaker(&slot, &settings);
    if slot.task == Some(task) {
        // An external worker may use a person's session, which the hub must not stop.
        if let (WorkerKind::Managed, Some(session)) = (slot.kind, slot.session) {
            dismiss(tx, session, &ended).await?;
        }
        slot.task = None;
        slot.session = None;
        slot.idle_since = Some(tx.now);
    }
    if let Some(decision) = end(&mut slot, &ended, before, limits(&settings), tx.now) {
        decided(tx, slot.project, Some(worker), Some(task), decision).await?;
    }
    put(tx, slot.clone());
    outage::probe_ended(tx, &slot, &ended).await?;
    Ok(Some(slot))
}

/// Asks the session of an ended hold to stop. A headless session whose work was accepted exits by itself.
async fn dismiss(tx: &mut Tx<'_>, session: SessionId, ended: &Ended) -> Result<(), StoreError> {
    if let Ended::Accepted(_) = ended {
        let found = sessions::get(tx.read(), session).await?;
        if found.is_none_or(|(session, _)| session.mode == SessionMode::Headless) {
            return Ok(());
        }
    }
    // A silent session must not write after it returns: stop it by force.
    sessions::ask_to_stop(tx, session, matches!(ended, Ended::Lost(_) | Ended::Gone(_))).await
}

/// Sets a worker's next status; returns the decision if its breaker opened.
fn end(slot: &mut WorkerRow, ended: &Ended, breaker: Breaker, limits: Limits, now: Timestamp) -> Option<Decision> {
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
                let (failures, last) = (slot.failures, reason.clone());
                open = Some((until, Decision::BreakerOpen { failures, last }));
            }
        }
        Ended::Gone(_) => slot.failed += 1,
        Ended::Released => {}
    }
    // A paused, spent or stopping worker keeps its status until that ends.
    if slot.task.is_some() || slot.status != WorkerStatus::Working {
        return None;
    }
    match (open, ended) {
        (Some((until, decision)), _) => {
            slot.becomes(WorkerStatus::Offline, Some(decision.to_string()), Some(until));
            return Some(decision);
        }
        (None, Ended::Lost(reason) | Ended::Gone(reason)) => {
            slot.becomes(WorkerStatus::Lost, Some(reason.clone()), None)
        }
        (None, _) => slot.becomes(WorkerStatus::Idle, None, None),
    }
    None
}

/// A person accepted work that had counted as the worker's failure.
pub(crate) async fn forgive(tx: &mut Tx<'_>, worker: WorkerId) -> Result<(), StoreError> {
    if let Some(mut slot) = get(tx, worker).await? {
        slot.failed = slot.failed.saturating_sub(1);
        put(tx, slot);
    }
    Ok(())
}

/// Adds model usage to a worker.
pub(crate) async fn used(tx: &mut Tx<'_>, worker: WorkerId, more: &Usage) -> Result<Option<WorkerRow>, StoreError> {
    let Some(mut slot) = get(tx, worker).await? else { return Ok(None) };
    slot.usage = sum(&slot.view.usage, more);
    put(tx, slot.clone());
    Ok(Some(slot))
}
