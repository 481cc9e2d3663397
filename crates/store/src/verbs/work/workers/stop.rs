//! Stopping workers and their sessions; their tasks return to the queue at once.

use domain::{SessionId, WorkerStatus};
use engine::tasks::life::{Leaving, Why};
use engine::workers::decision::Decision;
use protocol::{Verb, Worker, verbs};

use super::facts::Under;
use super::log::decided;
use super::rows::{self, WorkerRow, get, own, put};
use crate::tx::{AuditScope, Tx};
use crate::verbs::sessions;
use crate::verbs::work::life;
use crate::{Command, StoreError};

/// Asks a session to save its work and stop, unless it has ended or was asked already.
pub(crate) async fn session(tx: &mut Tx<'_>, session: SessionId, force: bool) -> Result<(), StoreError> {
    sessions::ask_to_stop(tx, session, force).await
}

/// Releases a worker's task and asks its session to stop. A pending report is still judged.
pub(crate) async fn release(tx: &mut Tx<'_>, worker: &WorkerRow, why: &str, force: bool) -> Result<(), StoreError> {
    if let Some(task) = worker.task {
        match tx.known_task(task).await?.awaits_check() {
            true => {
                if let Some(mut slot) = get(tx, worker.id).await? {
                    slot.task = None;
                    put(tx, slot);
                }
            }
            false => {
                life::let_go(tx, task, Leaving::Released, Why::open(Some(why.to_owned()))).await?;
            }
        }
    }
    if let Some(id) = worker.session {
        session(tx, id, force).await?;
    }
    Ok(())
}

impl Command for verbs::WorkerStop {
    type Output = Worker;
    const VERB: &'static str = verbs::WorkerStop::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Worker, StoreError> {
        let worker = own(tx, self.worker).await?;
        let stopped = stop(tx, worker, self.input.force).await?;
        let how = if self.input.force { "force" } else { "gracefully" };
        let detail = format!("asked `{}` to stop, {how}", stopped.name);
        tx.audit(Self::VERB, stopped.id, AuditScope::Project(stopped.project), detail);
        Ok(stopped)
    }
}

impl Command for verbs::WorkerStopAll {
    type Output = Vec<Worker>;
    const VERB: &'static str = verbs::WorkerStopAll::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Worker>, StoreError> {
        tx.check(self.project, domain::Action::See, "project").await?;
        let me = tx.caller.person()?;
        let mut stopped = Vec::new();
        for worker in rows::of(tx, Some(self.project)).await? {
            if worker.owner.id == me.id {
                stopped.push(stop(tx, worker, self.input.force).await?);
            }
        }
        let workers = if stopped.len() == 1 { "worker" } else { "workers" };
        let detail = format!("asked {} {workers} to stop", stopped.len());
        tx.audit(Self::VERB, self.project, AuditScope::Project(self.project), detail);
        Ok(stopped)
    }
}

/// A person stopped the session of a task: the task returns to the queue at once, and its worker takes nothing until it
/// is restarted. A pending report is still judged.
pub(crate) async fn with_session(tx: &mut Tx<'_>, session: SessionId, under: Under) -> Result<(), StoreError> {
    let Some(row) = under.current(tx, session).await? else { return Ok(()) };
    if !row.is_worked_on() {
        return Ok(());
    }
    let Some(worker) = row.worker() else { return Ok(()) };
    let by = tx.caller.person()?.name;
    let why = format!("stopped by {by}");
    life::let_go(tx, row.id, Leaving::Released, Why::open(Some(why.clone()))).await?;
    let Some(mut slot) = get(tx, worker).await? else { return Ok(()) };
    slot.session = Some(session);
    slot.queue.clear();
    slot.becomes(WorkerStatus::Stopping, Some(why), None);
    put(tx, slot);
    decided(tx, row.project, Some(worker), Some(row.id), Decision::SessionStopped { by }).await
}

/// Takes a worker's task back at once; the worker is stopping until its session ends.
pub(crate) async fn stop(tx: &mut Tx<'_>, worker: WorkerRow, force: bool) -> Result<Worker, StoreError> {
    let (id, running) = (worker.id, live(tx, worker.session).await?);
    let stopped = worker.status == WorkerStatus::Stopped || (worker.status == WorkerStatus::Stopping && !force);
    let task = worker.task;
    if worker.task.is_some() {
        release(tx, &worker, "its worker was stopped", force).await?;
    } else if let (true, Some(id)) = (force, running) {
        session(tx, id, true).await?;
    }
    let mut worker = get(tx, id).await?.unwrap_or(worker);
    worker.session = running;
    worker.queue.clear();
    let status = if running.is_some() { WorkerStatus::Stopping } else { WorkerStatus::Stopped };
    worker.becomes(status, None, None);
    let view = worker.view.clone();
    put(tx, worker);
    if !stopped {
        let by = tx.caller.person()?.name;
        decided(tx, view.project, Some(id), task, Decision::Stopped { by, force }).await?;
    }
    Ok(view)
}

/// The session, if it has not ended.
pub(crate) async fn live(tx: &mut Tx<'_>, id: Option<SessionId>) -> Result<Option<SessionId>, StoreError> {
    let Some(id) = id else { return Ok(None) };
    let found = sessions::get(tx.read(), id).await?;
    Ok(found.filter(|(session, _)| !session.state.ended()).map(|_| id))
}
