//! Schedules that are due, events that schedules wait for, and ends of executions.

use domain::{ProjectId, ScheduleId, Seq, TickOutcome, Timestamp};
use engine::schedules::{Decision, Ended, Outcome, decide, decide_event};
use protocol::{Tick, Trigger};
use serde::Serialize;
use serde_json::{Value as Json, json};

use super::facts::{self, Known};
use super::rows::{self, ScheduleRow};
use super::{ticks, view};
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::executions::{self, Beginning};
use crate::verbs::recipes;
use crate::{Caller, Command, Store, StoreError};

/// Decides about a schedule: its planned times up to now, and its queued ticks.
#[derive(Debug, Clone, Serialize)]
pub struct TendSchedule {
    /// The schedule.
    pub schedule: ScheduleId,
}

impl Command for TendSchedule {
    type Output = ();
    const VERB: &'static str = "schedule.tend";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(mut row) = rows::find(tx.read(), self.schedule).await? else { return Ok(()) };
        tend(tx, &mut row).await?;
        rows::save(tx, &row).await?;
        view::announced(tx, &row).await.map(|_| ())
    }
}

/// Decides about a schedule, and does what was decided.
pub(super) async fn tend(tx: &mut Tx<'_>, row: &mut ScheduleRow) -> Result<(), StoreError> {
    let now = tx.now;
    let known = facts::read(tx.read(), row, now).await?;
    let decision = decide(&known.facts);
    perform(tx, row, &known, decision, None).await
}

/// Does what was decided. `payload`: the event of the new ticks.
async fn perform(
    tx: &mut Tx<'_>,
    row: &mut ScheduleRow,
    known: &Known,
    decision: Decision,
    payload: Option<&Json>,
) -> Result<(), StoreError> {
    if decision.cancel_running {
        for execution in &known.open {
            executions::cancel(tx, *execution, "the next tick of its schedule is due").await?;
        }
    }
    if let Some(planned) = decision.start_queued {
        let (outcome, execution, reason) = start(tx, row, known.queued_payload.clone()).await?;
        ticks::decide(tx, row.id, planned, outcome, execution, reason).await?;
    }
    for tick in decision.ticks {
        let (outcome, execution, reason) = match &tick.outcome {
            Outcome::Start => start(tx, row, payload.cloned()).await?,
            other => (other.word(), None, other.reason().map(str::to_owned)),
        };
        let reason = reason.or_else(|| (tick.times > 1).then(|| format!("stands for {} ticks", tick.times)));
        let made = Tick { planned_at: tick.planned_at, outcome, reason, execution, by_hand: false, at: tx.now };
        ticks::insert(tx, row.id, &made, payload).await?;
        failpoint::pass("schedule.ticked");
    }
    row.decided_to = decision.decided_to;
    row.due_at = decision.due_at;
    if let Some(note) = decision.pause {
        (row.paused, row.note) = (true, Some(note));
    }
    Ok(())
}

/// Starts an execution of a schedule, for its owner; a refusal is an outcome.
pub(super) async fn start(
    tx: &mut Tx<'_>,
    row: &mut ScheduleRow,
    trigger: Option<Json>,
) -> Result<(TickOutcome, Option<domain::ExecutionId>, Option<String>), StoreError> {
    match begin(tx, row, trigger).await {
        Ok(id) => Ok((TickOutcome::Started, Some(id), None)),
        Err(error) if executions::is_refusal(&error) => {
            let failures = row.failures.saturating_add(1);
            rows::failed(tx, row, failures).await?;
            Ok((TickOutcome::Failed, None, Some(error.to_string())))
        }
        Err(error) => Err(error),
    }
}

async fn begin(tx: &mut Tx<'_>, row: &ScheduleRow, trigger: Option<Json>) -> Result<domain::ExecutionId, StoreError> {
    // An owner who lost the right to decide starts no execution.
    let owner = Caller::user(row.owner.id, false, &row.owner.name, format!("schedule `{}`", row.name));
    let recipe = recipes::recipe(tx.read(), &owner, row.recipe, domain::Action::Decide).await?;
    let beginning = Beginning {
        recipe,
        version: None,
        inputs: row.inputs.clone(),
        owner: row.owner.clone(),
        schedule: Some(row.id),
        parent: None,
        trigger,
        reuse: None,
    };
    Ok(executions::start(tx, beginning).await?.id)
}

/// An execution of a schedule is over: counts failures. Queued ticks start when the schedule is tended next.
pub(crate) async fn execution_over(tx: &mut Tx<'_>, id: ScheduleId, ended: Ended) -> Result<(), StoreError> {
    let Some(mut row) = rows::find(tx.read(), id).await? else { return Ok(()) };
    let now = tx.now;
    let mut known = facts::read(tx.read(), &row, now).await?;
    // The execution's row is written after this.
    known.facts.open = known.facts.open.saturating_sub(1);
    let over = engine::schedules::execution_over(&known.facts, ended);
    rows::failed(tx, &mut row, over.failures).await?;
    if let Some(note) = over.pause {
        (row.paused, row.note) = (true, Some(note));
    }
    rows::save(tx, &row).await?;
    view::announced(tx, &row).await.map(|_| ())
}

/// Something happened that schedules of the project may wait for. Those that were added after it do not count. Returns
/// how many it made due.
pub(crate) async fn event_happened(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: &str,
    event: &Json,
    seq: Seq,
) -> Result<u32, StoreError> {
    let mut woke = 0;
    for mut row in rows::on_event(tx.read(), project, kind, seq).await? {
        if !matches(&row, event) {
            continue;
        }
        let now = tx.now;
        let known = facts::read(tx.read(), &row, now).await?;
        let decision = decide_event(&known.facts);
        perform(tx, &mut row, &known, decision, Some(event)).await?;
        rows::save(tx, &row).await?;
        view::announced(tx, &row).await?;
        woke += 1;
    }
    Ok(woke)
}

/// Whether an event is one that the schedule waits for. An expression that fails counts as no. The end of an execution
/// that the schedule has started does not count: it would start executions forever.
fn matches(row: &ScheduleRow, event: &Json) -> bool {
    if event["schedule"] == json!(row.id) {
        return false;
    }
    let Trigger::Event { matching: Some(matching), .. } = &row.settings.trigger else { return true };
    let scope = json!({ "event": event, "inputs": row.inputs });
    let expression = engine::recipes::model::Expr(matching.clone());
    engine::recipes::eval::condition(&expression, &scope).unwrap_or(false)
}

/// The schedules to decide about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueSchedules {
    /// They are due, or have a tick that can start.
    pub now: Vec<ScheduleId>,
    /// When the next one is due.
    pub next: Option<Timestamp>,
}

impl Store {
    /// The schedules to decide about now.
    pub async fn due_schedules(&self, now: Timestamp) -> Result<DueSchedules, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        let sql = "SELECT id FROM schedules WHERE paused = 0 AND due_at <= $1 UNION \
                   SELECT s.id FROM schedules s WHERE s.paused = 0 AND EXISTS (SELECT 1 FROM schedule_ticks t \
                   WHERE t.schedule = s.id AND t.outcome = 'queued') AND NOT EXISTS (SELECT 1 FROM executions e \
                   WHERE e.schedule = s.id AND e.ended_at IS NULL)";
        let due = c.all(sql, args![now]).await?.iter().map(|row| row.parsed("id")).collect::<Result<_, _>>()?;
        let sql = "SELECT due_at FROM schedules WHERE paused = 0 AND due_at IS NOT NULL ORDER BY due_at LIMIT 1";
        let next = c.first(sql, args![]).await?.map(|row| row.time("due_at")).transpose()?;
        Ok(DueSchedules { now: due, next })
    }
}

/// Deletes a schedule with its ticks; its executions stay.
pub(super) async fn remove(tx: &mut Tx<'_>, id: ScheduleId) -> Result<(), StoreError> {
    tx.run("DELETE FROM schedule_ticks WHERE schedule = $1", vec![text(id)]).await?;
    tx.run("UPDATE executions SET schedule = NULL WHERE schedule = $1", vec![text(id)]).await?;
    tx.run("DELETE FROM schedules WHERE id = $1", vec![text(id)]).await.map(|_| ())
}
