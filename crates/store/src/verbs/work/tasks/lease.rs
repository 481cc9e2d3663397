//! Writes under a lease: heartbeats, releases and questions. Every write names its fence.

use domain::{Action, Actor, EscalationKind, RunnerId, TaskId, WorkerKind};
use engine::tasks::life::{Leaving, Why};
use engine::workers::decision::{Decision, Silence};
use protocol::{Escalation, EscalationContext, EscalationOption, Lease, Task, Verb, verbs};
use serde::Serialize;

use super::row::TaskRow;
use super::{check, take};
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::sight::seen;
use crate::verbs::work::life;
use crate::verbs::work::review::ask;
use crate::verbs::work::workers::leases::HELD;
use crate::verbs::work::workers::log::decided;
use crate::verbs::work::workers::rows;
use crate::verbs::work::workers::settings::{hold_ms, lease_end};
use crate::{Caller, Command, StoreError};
use domain::AnswerAct;
use domain::text::Field;

/// The maximum number of leases that one transaction expires.
const EXPIRED: u32 = 200;

const NOT_YOURS: &str = "only the owner of the worker that holds a task may write under its lease";

/// Refuses a caller that does not hold this fence: a zombie with a message that makes it stop, others as forbidden.
pub(super) async fn holding(tx: &mut Tx<'_>, task: TaskId, fence: u64) -> Result<TaskRow, StoreError> {
    let row = tx.known_task(task).await?;
    tx.check(row.project, Action::See, "task").await?;
    let row = life::held(tx, task, fence).await?;
    let holder = take::holder(tx, &row).await?.ok_or(StoreError::Forbidden(NOT_YOURS))?;
    match owns(tx, &holder, &row) {
        true => Ok(row),
        false => Err(StoreError::Forbidden(NOT_YOURS)),
    }
}

fn owns(tx: &Tx<'_>, holder: &rows::WorkerRow, row: &TaskRow) -> bool {
    match tx.caller.actor() {
        None => true,
        Some(Actor::User { id, .. }) => *id == holder.owner.id,
        // An agent is the worker of its own session only, not of its user's other sessions.
        Some(Actor::Agent { user, session, .. }) => *user == holder.owner.id && row.session() == Some(*session),
        Some(Actor::Observer { .. } | Actor::Runner { .. }) => false,
    }
}

impl Command for verbs::TaskHeartbeat {
    type Output = Lease;
    const VERB: &'static str = verbs::TaskHeartbeat::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Lease, StoreError> {
        if let Some(progress) = &self.input.progress {
            check::PROGRESS.check(progress)?;
        }
        let row = holding(tx, self.task, self.input.fence).await?;
        let settings = tx.work_settings(row.project).await?;
        let until = lease_end(&settings, tx.now, row.hold().map(|hold| hold.taken_at));
        let row = life::renew(tx, self.task, self.input.fence, until, self.input.progress.clone()).await?;
        let worker = row.worker().ok_or_else(|| StoreError::Corrupt(format!("no worker holds {}", row.id)))?;
        if let Some(mut slot) = rows::get(tx, worker).await? {
            slot.seen_at = Some(tx.now);
            rows::put_quietly(tx, slot);
        }
        let expires_at = row.lease_until().unwrap_or(until);
        Ok(Lease { worker, fence: row.fence, expires_at, edits: row.edits })
    }

    fn foresee(&self, _: &Caller, wanted: &mut super::Wanted) {
        wanted.tasks.push(self.task);
    }
}

impl Command for verbs::TaskRelease {
    type Output = Task;
    const VERB: &'static str = verbs::TaskRelease::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        if let Some(reason) = &self.input.reason {
            check::REASON.check(reason)?;
        }
        let row = holding(tx, self.task, self.input.fence).await?;
        if !row.is_worked_on() {
            return Err(StoreError::Conflict(format!("{} was reported and is being checked", row.named())));
        }
        let after = life::let_go(tx, self.task, Leaving::Released, Why::open(self.input.reason.clone())).await?;
        seen(tx, &after).await
    }

    fn foresee(&self, _: &Caller, wanted: &mut super::Wanted) {
        wanted.tasks.push(self.task);
    }
}

impl Command for verbs::TaskAsk {
    type Output = Escalation;
    const VERB: &'static str = verbs::TaskAsk::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Escalation, StoreError> {
        let input = &self.input;
        Field { name: "question", optional: false, ..check::REASON }.check(&input.question)?;
        Field { name: "context", optional: true, ..check::SUMMARY }.check(&input.context)?;
        if input.options.len() > 10 {
            return Err(StoreError::invalid("options", "a question has at most 10 options"));
        }
        for option in &input.options {
            Field { name: "options", limit: 200, lines: false, optional: false }.check(option)?;
        }
        let row = holding(tx, self.task, input.fence).await?;
        if !row.is_worked_on() {
            return Err(StoreError::Conflict(format!("{} was reported and is being checked", row.named())));
        }
        let context = EscalationContext { text: input.context.clone(), ..Default::default() };
        let kind = if input.give_up { EscalationKind::GaveUp } else { EscalationKind::Question };
        let mut ask = ask::Ask::new(kind, input.question.clone(), context);
        if !input.options.is_empty() {
            let act = if input.give_up { AnswerAct::Retry } else { AnswerAct::Tell };
            ask.options = input.options.iter().map(|label| EscalationOption { label: label.clone(), act }).collect();
        }
        ask::escalate(tx, self.task, ask).await
    }
}

/// Expires the leases of silent workers; returns their tasks.
#[derive(Debug, Default, Serialize)]
pub struct ExpireLeases {
    /// Runners with a live link; a loss there counts against the worker.
    pub heard: Vec<RunnerId>,
}

impl Command for ExpireLeases {
    type Output = Vec<TaskId>;
    const VERB: &'static str = "task.expire";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<TaskId>, StoreError> {
        let sql = format!("SELECT t.id {HELD} WHERE t.lease_until <= $1 ORDER BY t.lease_until, t.id LIMIT $2");
        let over = args![tx.now, EXPIRED];
        let rows = tx.read().all(&sql, over).await?;
        let ids: Vec<TaskId> = rows.iter().map(|row| row.parsed("id")).collect::<Result<_, _>>()?;
        for id in &ids {
            expire(tx, *id, &self.heard).await?;
        }
        Ok(ids)
    }
}

/// Takes a task from a worker whose lease has expired.
async fn expire(tx: &mut Tx<'_>, task: TaskId, heard: &[RunnerId]) -> Result<(), StoreError> {
    let row = tx.known_task(task).await?;
    let (Some(hold), Some(until)) = (row.hold(), row.lease_until()) else { return Ok(()) };
    let holder = rows::get(tx, hold.worker).await?;
    let worker = holder.as_ref().map_or_else(|| "its worker".to_owned(), |slot| format!("`{}`", slot.name));
    let runner = holder.filter(|slot| slot.kind == WorkerKind::Managed).and_then(|slot| slot.runner);
    let settings = tx.work_settings(row.project).await?;
    let longest = hold_ms(&settings).map(|most| hold.taken_at.plus_millis(most));
    let (how, silence) = match runner.is_some_and(|runner| !heard.contains(&runner)) {
        true => (Leaving::RunnerGone, Silence::Runner { worker, until }),
        false if longest.is_some_and(|longest| longest <= until) => {
            (Leaving::Lost, Silence::TooLong { worker, minutes: settings.task_minutes })
        }
        false => (Leaving::Lost, Silence::Worker { worker, until }),
    };
    life::let_go(tx, task, how, Why::open(Some(silence.to_string()))).await?;
    let decision = Decision::LeaseLost { task: Some(row.named()), silence };
    decided(tx, row.project, row.worker(), Some(task), decision).await?;
    match row.session() {
        Some(session) => sessions::ask_to_stop(tx, session, false).await,
        None => Ok(()),
    }
}
