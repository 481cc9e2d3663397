//! Time-driven changes of workers: ends of pauses, returns of lost workers, restarts of silent ones, and scaling.

use domain::{ProjectId, RunnerId, WorkerKind, WorkerStatus};
use engine::tasks::life::{Leaving, Why};
use engine::workers::decision::{Decision, Resume, Silence};
use engine::workers::liveness::{Heartbeat, gone_at};
use engine::workers::scale::{self, Limits, Scale, scale};
use protocol::WorkSettings;

use super::log::decided;
use super::rows::{self, WorkerRow, get, put};
use super::{outage, start};
use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::work::life;

/// Updates every worker of a project whose state depends on time.
pub(crate) async fn tend(
    tx: &mut Tx<'_>,
    project: ProjectId,
    settings: &WorkSettings,
    connected: &[RunnerId],
    heard: &[RunnerId],
) -> Result<(), StoreError> {
    let outages = outage::all(tx).await?;
    for slot in rows::of(tx, Some(project)).await? {
        let out = outages.iter().find(|open| open.is_of(&slot) && slot.task.is_none());
        match (slot.status, out) {
            (WorkerStatus::Idle, Some(open)) => outage::pause(tx, slot, open),
            // An outage ends when one of the agent's workers succeeds.
            (WorkerStatus::Paused, Some(_)) => {}
            (WorkerStatus::Paused, None) if slot.until.is_some_and(|until| until <= tx.now) => {
                resume(tx, slot).await?;
            }
            // Only the hub that has the runner's link knows.
            (WorkerStatus::Lost, _) if slot.runner.is_some_and(|runner| heard.contains(&runner)) => {
                come_back(tx, slot).await?;
            }
            (WorkerStatus::Working | WorkerStatus::Paused, _) if slot.kind == WorkerKind::Managed => {
                miss(tx, slot, settings, heard).await?;
            }
            _ => {}
        }
    }
    if settings.scale_most > 0 {
        resize(tx, project, settings, connected).await?;
    }
    Ok(())
}

/// Ends a pause.
async fn resume(tx: &mut Tx<'_>, mut slot: WorkerRow) -> Result<(), StoreError> {
    let (id, project, task) = (slot.id, slot.project, slot.task);
    if let Some(task) = task
        && outage::still_held_up(tx, &slot, task).await?
    {
        return Ok(());
    }
    match task {
        Some(_) => slot.becomes(WorkerStatus::Working, None, None),
        None => {
            slot.becomes(WorkerStatus::Idle, None, None);
            slot.idle_since = Some(tx.now);
        }
    }
    put(tx, slot);
    decided(tx, project, Some(id), task, Decision::Resumed(Resume::PauseOver)).await
}

async fn come_back(tx: &mut Tx<'_>, mut slot: WorkerRow) -> Result<(), StoreError> {
    let (id, project) = (slot.id, slot.project);
    slot.becomes(WorkerStatus::Idle, None, None);
    slot.idle_since = Some(tx.now);
    slot.seen_at = Some(tx.now);
    put(tx, slot);
    decided(tx, project, Some(id), None, Decision::RunnerBack).await
}

/// Takes the task of a silent worker, which starts afresh when its runner is connected.
async fn miss(tx: &mut Tx<'_>, slot: WorkerRow, settings: &WorkSettings, heard: &[RunnerId]) -> Result<(), StoreError> {
    let (Some(task), Some(seen)) = (slot.task, slot.seen_at) else { return Ok(()) };
    let every_ms = i64::from(settings.heartbeat_seconds) * 1000;
    if gone_at(seen, Heartbeat { every_ms, missed: settings.missed }) > tx.now {
        return Ok(());
    }
    // No heartbeat is expected while a report is checked.
    if tx.task(task).await?.is_none_or(|row| !row.is_worked_on()) {
        return Ok(());
    }
    let silence = Silence::Heartbeats { missed: settings.missed };
    let heard = slot.runner.is_some_and(|runner| heard.contains(&runner));
    let how = if heard { Leaving::Lost } else { Leaving::RunnerGone };
    life::let_go(tx, task, how, Why::open(Some(silence.to_string()))).await?;
    decided(tx, slot.project, Some(slot.id), Some(task), Decision::LeaseLost { task: None, silence }).await
}

/// Scales the workers by queue length and idle time.
async fn resize(
    tx: &mut Tx<'_>,
    project: ProjectId,
    settings: &WorkSettings,
    connected: &[RunnerId],
) -> Result<(), StoreError> {
    let slots = rows::of(tx, Some(project)).await?;
    let counts = |slot: &&WorkerRow| {
        slot.kind == WorkerKind::Managed && !matches!(slot.status, WorkerStatus::Stopped | WorkerStatus::Stopping)
    };
    let managed: Vec<&WorkerRow> = slots.iter().filter(counts).collect();
    let limits = Limits {
        least: settings.scale_least,
        most: settings.scale_most,
        tasks_per_worker: settings.scale_tasks_per_worker,
        idle_ms: i64::from(settings.scale_idle_seconds) * 1000,
    };
    let sql = "SELECT COUNT(*) AS total FROM (SELECT task FROM task_queue WHERE project = $1 LIMIT 5000) q";
    let ready = tx.read().first(sql, vec![text(project)]).await?;
    let ready = ready.map(|row| row.count("total")).transpose()?.unwrap_or(0);
    let idle = |slot: &WorkerRow| slot.idle_since.filter(|_| slot.task.is_none());
    // A provider's limit, or the cause of an open breaker, would hold up more workers, too.
    let takes =
        |slot: &WorkerRow| matches!(slot.status, WorkerStatus::Idle | WorkerStatus::Paused | WorkerStatus::Offline);
    let counted = |slot: &WorkerRow, idle_since| scale::Worker { id: slot.id, idle_since, takes: takes(slot) };
    let all: Vec<scale::Worker> = managed.iter().map(|slot| counted(slot, idle(slot))).collect();
    if let Scale::More { count, reason } = scale(&all, ready, tx.now, limits) {
        let Some(model) = model(tx, project, &managed, connected).await? else { return Ok(()) };
        return more(tx, &model, &slots, count, reason).await;
    }
    // Scaling removes only workers that it added.
    let own: Vec<scale::Worker> =
        managed.iter().map(|slot| counted(slot, idle(slot).filter(|_| slot.scaled))).collect();
    if let Scale::Fewer { workers, reason } = scale(&own, ready, tx.now, limits) {
        for id in workers {
            if let Some(slot) = get(tx, id).await? {
                start::take_away(tx, slot, "there are fewer workers now").await?;
                decided(tx, project, Some(id), None, Decision::ScaledDown { why: reason.clone() }).await?;
            }
        }
    }
    Ok(())
}

/// The template for more workers: the newest worker of the project's owner, who sets the limits of scaling. Stopped and
/// removed workers, and colleagues' credentials, are never multiplied.
async fn model(
    tx: &mut Tx<'_>,
    project: ProjectId,
    managed: &[&WorkerRow],
    connected: &[RunnerId],
) -> Result<Option<WorkerRow>, StoreError> {
    let Some(facts) = projects::facts_of(tx.read(), project).await? else { return Ok(None) };
    let usable = |slot: &&&WorkerRow| {
        slot.owner.id == facts.owner && slot.runner.is_some_and(|runner| connected.contains(&runner))
    };
    Ok(managed.iter().filter(usable).max_by_key(|slot| (slot.created_at, slot.id)).map(|slot| (*slot).clone()))
}

/// Adds workers like the template.
async fn more(
    tx: &mut Tx<'_>,
    model: &WorkerRow,
    slots: &[WorkerRow],
    count: u32,
    reason: String,
) -> Result<(), StoreError> {
    let project = model.project;
    let mut fresh = WorkerRow::fresh(project, model.owner.clone(), String::new(), WorkerKind::Managed, tx.now);
    fresh.runner = model.runner;
    fresh.agent = model.agent.clone();
    fresh.model = model.model.clone();
    fresh.role = model.role.clone();
    fresh.abilities = model.abilities.clone();
    fresh.budget_micros = model.budget_micros;
    fresh.handoff_after_micros = model.handoff_after_micros;
    fresh.argv = model.argv.clone();
    fresh.sandbox = model.sandbox.clone();
    fresh.scaled = true;
    let made = start::add(tx, &fresh, slots, count);
    for worker in made {
        decided(tx, project, Some(worker.id), None, Decision::ScaledUp { why: reason.clone() }).await?;
    }
    Ok(())
}
