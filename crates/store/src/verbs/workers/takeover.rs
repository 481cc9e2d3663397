//! Taking over: a colleague's task goes on with a worker of the caller's, from where it is.

use domain::{Action, AttemptOutcome, RunnerId, TaskId, TaskStatus, WorkerKind, WorkerStatus, WorkspaceId};
use protocol::link::StartFrom;
use protocol::{Task, TaskTakeOver, UserRef};
use serde::{Deserialize, Serialize};

use super::launch::{self, How};
use super::log::decided;
use super::rows::{self, Slot, get};
use super::{freeze, start, stop};
use crate::tx::{AuditScope, Tx};
use crate::verbs::tasks::moves;
use crate::verbs::tasks::row::TaskRow;
use crate::verbs::workspaces;
use crate::{Caller, Command, Store, StoreError};

/// Where a task's work is, for a hub that moves it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WorkPlace {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// The runner that has it.
    pub runner: RunnerId,
}

/// Stops whoever works on a task, and lets a managed worker of the caller's go on with it.
#[derive(Debug, Serialize)]
pub struct TakeOver {
    /// Which task.
    pub task: TaskId,
    /// With which runner and agent.
    pub input: TaskTakeOver,
    /// The work, if it was brought to the caller's runner.
    #[serde(skip)]
    pub bundle: Option<String>,
    /// What the next worker should know about the move.
    #[serde(skip)]
    pub note: Option<String>,
    /// The runner that the work was brought to; decided before, because it takes a while.
    #[serde(skip)]
    pub runner: RunnerId,
    /// The agent that goes on.
    #[serde(skip)]
    pub agent: String,
}

impl Command for TakeOver {
    type Output = Task;
    const VERB: &'static str = "task.take_over";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let me = tx.caller.person()?;
        let row = tx.known_task(self.task).await?;
        tx.check(row.project, Action::Write, "task").await?;
        refuse_over(&row)?;
        if freeze::frozen(tx.read(), me.id, row.project).await? {
            return Err(StoreError::Conflict(freeze::REASON.into()));
        }
        // Nothing is refused from here on.
        let before = row.worker;
        let mut whose = None;
        if row.status.is_held() {
            let session = row.session;
            whose = match before {
                Some(worker) => get(tx, worker).await?.map(|slot| slot.name.clone()),
                None => None,
            };
            let note = self.note.as_deref().map(|note| format!("; {note}")).unwrap_or_default();
            let reason = Some(format!("{} took it over{note}", me.name));
            moves::let_go(tx, self.task, AttemptOutcome::TakenOver, reason).await?;
            if let Some(session) = session {
                stop::session(tx, session, false).await?;
            }
        }
        if tx.known_task(self.task).await?.status == TaskStatus::Escalated {
            moves::retry(tx, self.task, Some(format!("{} took it over", me.name))).await?;
        }
        let slot = self.worker(tx, &row, &me).await?;
        let settings = tx.work_settings(row.project).await?;
        let until = tx.now.plus_millis(i64::from(settings.lease_seconds) * 1000);
        let fence = moves::hand_out(tx, self.task, slot.id, until).await?;
        let from = self.bundle.clone().map(|bundle| StartFrom::Bundle { bundle });
        launch::launch(tx, &slot, self.task, fence, How { resumes: None, from }).await?;
        let whom = whose.map(|name| format!(" from `{name}`")).unwrap_or_default();
        let reason = format!("{} took it over{whom}", me.name);
        decided(tx, row.project, Some(slot.id), Some(self.task), "taken_over", reason.clone()).await?;
        tx.audit(Self::VERB, self.task, AuditScope::Project(row.project), reason);
        Ok(tx.known_task(self.task).await?.view())
    }
}

impl TakeOver {
    /// A worker of the caller's that is free, or a new one.
    async fn worker(&self, tx: &mut Tx<'_>, row: &TaskRow, me: &UserRef) -> Result<Slot, StoreError> {
        let there = rows::of(tx, Some(row.project)).await?;
        let fits = |slot: &&Slot| {
            let mine = slot.owner.id == me.id && slot.kind == WorkerKind::Managed && slot.status == WorkerStatus::Idle;
            mine && slot.task.is_none() && slot.runner == Some(self.runner) && slot.agent == self.agent
        };
        if let Some(slot) = there.iter().find(fits) {
            return Ok(slot.clone());
        }
        let mut model = Slot::fresh(row.project, me.clone(), String::new(), WorkerKind::Managed, tx.now);
        model.runner = Some(self.runner);
        model.agent = self.agent.clone();
        model.abilities = row.needs.clone();
        if let Some(worker) = row.worker
            && let Some(before) = get(tx, worker).await?
            && before.agent == self.agent
        {
            model.model = before.model.clone();
            model.argv = before.argv.clone();
            model.sandbox = before.sandbox.clone();
        }
        let made = start::add(tx, &model, &there, 1);
        let id = made.first().map(|worker| worker.id).ok_or(StoreError::NotFound("worker"))?;
        get(tx, id).await?.ok_or(StoreError::NotFound("worker"))
    }
}

fn refuse_over(row: &TaskRow) -> Result<(), StoreError> {
    match row.status {
        TaskStatus::Done | TaskStatus::Failed | TaskStatus::Cancelled => {
            Err(StoreError::Conflict(format!("the task is {}: retry it first", row.status)))
        }
        TaskStatus::Blocked => {
            Err(StoreError::Conflict("the task waits for others: it cannot be worked on yet".into()))
        }
        _ => Ok(()),
    }
}

/// What a take-over would do, for the hub that prepares it.
#[derive(Debug, Clone)]
pub struct TakeOverPlan {
    /// The runner that goes on.
    pub runner: RunnerId,
    /// The agent that goes on.
    pub agent: String,
    /// Where the work is, if it is elsewhere and must be brought.
    pub bring: Option<WorkPlace>,
    /// Why work that is elsewhere cannot be brought.
    pub stays: Option<String>,
}

/// Decides where a task would go on that is taken over; writes nothing.
#[derive(Debug, Serialize)]
pub struct PlanTakeOver {
    /// Which task.
    pub task: TaskId,
    /// With which runner and agent.
    pub input: TaskTakeOver,
    /// The runners that are there.
    #[serde(skip)]
    pub connected: Vec<RunnerId>,
}

impl Store {
    /// Decides where a task would go on that the caller takes over.
    pub async fn plan_take_over(
        &self,
        caller: &Caller,
        task: TaskId,
        input: TaskTakeOver,
        connected: Vec<RunnerId>,
    ) -> Result<TakeOverPlan, StoreError> {
        let plan = self.write(caller, None, PlanTakeOver { task, input, connected }).await?.value;
        let (runner, agent, bring, stays) = plan;
        Ok(TakeOverPlan { runner, agent, bring, stays })
    }
}

impl Command for PlanTakeOver {
    type Output = (RunnerId, String, Option<WorkPlace>, Option<String>);
    const VERB: &'static str = "task.take_over_plan";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Self::Output, StoreError> {
        let me = tx.caller.person()?;
        let row = tx.known_task(self.task).await?;
        tx.check(row.project, Action::Write, "task").await?;
        refuse_over(&row)?;
        let before = match row.worker {
            Some(worker) => get(tx, worker).await?,
            None => None,
        };
        let agent = self.input.agent.clone().or(before.map(|slot| slot.agent.clone()));
        let Some(agent) = agent.filter(|agent| agent != WorkerKind::External.word()) else {
            return Err(StoreError::invalid("agent", "name the agent that goes on: nobody managed works on it now"));
        };
        let place = match row.workspace {
            Some(id) => workspaces::get(tx.read(), id).await?,
            None => None,
        };
        let here = place.as_ref().filter(|place| place.owner.id == me.id).map(|place| place.runner);
        let wanted = self.input.runner.or(here.filter(|runner| self.connected.contains(runner)));
        let runner = start::choose(tx, me.id, &agent, wanted, &self.connected).await?;
        let elsewhere = place.filter(|place| place.runner != runner);
        let away = elsewhere.as_ref().is_some_and(|place| !self.connected.contains(&place.runner));
        let stays = away.then(|| "the runner that has the work is away, and it starts afresh".to_owned());
        let bring = elsewhere.filter(|_| !away).map(|place| WorkPlace { workspace: place.id, runner: place.runner });
        Ok((runner, agent, bring, stays))
    }
}
