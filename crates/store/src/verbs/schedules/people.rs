//! What people do with schedules.

use std::collections::HashSet;

use domain::text::{Field, NAME, counted};
use domain::{Action, Overlap, ScheduleId, TickOutcome, Timestamp};
use engine::schedules::{Outcome, Times, Trigger as Times_, backfill};
use protocol::{Change, Schedule, ScheduleText, Tick, Trigger, Verb, verbs};

use super::rows::{self, ScheduleRow, Settings};
use super::{convert, facts, tend, ticks, view};
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::verbs::recipes;
use crate::verbs::work::workers::rows::tell;
use crate::{Command, StoreError};

/// The maximum number of schedules of a project.
const MAX_SCHEDULES: usize = 200;
/// The most ticks that one backfill makes.
const MAX_BACKFILL: usize = 100;
/// The longest delay of a tick, and the oldest missed tick: a day and a year.
const MAX_JITTER: u32 = 86_400;
const MAX_CATCH_UP: u32 = 366 * 86_400;

async fn found(tx: &mut Tx<'_>, id: ScheduleId) -> Result<ScheduleRow, StoreError> {
    let caller = tx.caller;
    let row = rows::find(tx.read(), id).await?.ok_or(StoreError::NotFound("schedule"))?;
    projects::check(tx.read(), caller, row.project, Action::Decide, "schedule").await?;
    caller.person()?;
    Ok(row)
}

/// The settings that an input asks for; refuses what can never work.
fn settings(input: &ScheduleText) -> Result<Settings, StoreError> {
    let trigger: Times_ = convert::trigger(&input.trigger);
    trigger.check().map_err(|error| StoreError::invalid("trigger", error.to_string()))?;
    if let Trigger::Event { matching: Some(matching), .. } = &input.trigger {
        let expression = engine::recipes::model::Expr(matching.clone());
        engine::recipes::eval::variables(&expression.0, engine::recipes::eval::Kind::Expression)
            .map_err(|error| StoreError::invalid("trigger", format!("`matching`: {error}")))?;
    }
    let between = |field: &'static str, value: u32, (least, most): (u32, u32)| match (least..=most).contains(&value) {
        true => Ok(value),
        false => Err(StoreError::invalid(field, format!("`{field}` is {least} to {most}, not {value}"))),
    };
    if let (Some(from), Some(until)) = (input.from, input.until)
        && from > until
    {
        return Err(StoreError::invalid("until", "`until` is before `from`"));
    }
    let catch_up = input.catch_up.clone().unwrap_or_default();
    // The number of ticks limits `all`; an hour limits the others, because an old run costs more than it helps.
    let within = match catch_up {
        protocol::CatchUp::All { most } => {
            between("catch_up", most, (1, engine::schedules::MAX_CAUGHT_UP))?;
            MAX_CATCH_UP
        }
        protocol::CatchUp::None | protocol::CatchUp::Latest => 3600,
    };
    Ok(Settings {
        trigger: input.trigger.clone(),
        overlap: input.overlap.unwrap_or(Overlap::Skip),
        queue_max: between("queue_max", input.queue_max.unwrap_or(10), (1, 100))?,
        catch_up,
        catch_up_seconds: between("catch_up_seconds", input.catch_up_seconds.unwrap_or(within), (0, MAX_CATCH_UP))?,
        jitter_seconds: between("jitter_seconds", input.jitter_seconds.unwrap_or(0), (0, MAX_JITTER))?,
        from: input.from,
        until: input.until,
        pause_after_failures: match input.pause_after_failures {
            Some(most) => Some(between("pause_after_failures", most, (1, 1000))?),
            None => None,
        },
    })
}

impl Command for verbs::ScheduleAdd {
    type Output = Schedule;
    const VERB: &'static str = verbs::ScheduleAdd::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Schedule, StoreError> {
        tx.check(self.project, Action::Decide, "project").await?;
        let owner = tx.caller.person()?;
        let settings = settings(&self.input)?;
        let recipe = recipes::named(tx.read(), self.project, &self.input.recipe).await?;
        let recipe = recipe.ok_or_else(|| {
            let shown: String = self.input.recipe.chars().take(80).collect();
            StoreError::invalid("recipe", format!("there is no recipe `{shown}` in this project"))
        })?;
        let name = self.input.name.clone().unwrap_or_else(|| recipe.name.clone());
        Field { name: "name", ..NAME }.check(&name)?;
        let version = recipes::version(tx.read(), &recipe, None).await?;
        let given = self.input.inputs.clone().into_iter().collect();
        ::recipes::inputs(&version.model, &given).map_err(|wrong| StoreError::invalid("inputs", wrong.join("; ")))?;
        let there = rows::of(tx.read(), Some(self.project)).await?;
        if there.iter().any(|other| other.name == name) {
            let message = format!("there is a schedule `{name}` in this project: choose another name");
            return Err(StoreError::Taken { field: "name", message });
        }
        if there.len() >= MAX_SCHEDULES {
            return Err(StoreError::Conflict(format!("a project has at most {MAX_SCHEDULES} schedules")));
        }
        let mut row = ScheduleRow {
            id: ScheduleId::generate(),
            project: self.project,
            name,
            recipe: recipe.id,
            recipe_name: recipe.name,
            settings,
            inputs: given,
            owner,
            paused: false,
            note: None,
            failures: 0,
            decided_to: tx.now,
            due_at: None,
            created_at: tx.now,
        };
        rows::insert(tx, &row).await?;
        tend::tend(tx, &mut row).await?;
        rows::save(tx, &row).await?;
        let detail = format!("added the schedule `{}` for the recipe `{}`", row.name, row.recipe_name);
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), detail);
        view::announced(tx, &row).await
    }
}

impl Command for verbs::SchedulePause {
    type Output = Schedule;
    const VERB: &'static str = verbs::SchedulePause::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Schedule, StoreError> {
        let mut row = found(tx, self.schedule).await?;
        let note: String = self.input.note.trim().chars().take(500).collect();
        // What is due now is decided before the pause.
        tend::tend(tx, &mut row).await?;
        (row.paused, row.note) = (true, Some(note).filter(|note| !note.is_empty()));
        rows::save(tx, &row).await?;
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), format!("paused the schedule `{}`", row.name));
        view::announced(tx, &row).await
    }
}

impl Command for verbs::ScheduleResume {
    type Output = Schedule;
    const VERB: &'static str = verbs::ScheduleResume::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Schedule, StoreError> {
        let mut row = found(tx, self.schedule).await?;
        if row.paused {
            // The ticks of the pause are skipped and never run.
            tend::tend(tx, &mut row).await?;
            (row.paused, row.note) = (false, None);
            rows::failed(tx, &mut row, 0).await?;
            tend::tend(tx, &mut row).await?;
            rows::save(tx, &row).await?;
        }
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), format!("resumed the schedule `{}`", row.name));
        view::announced(tx, &row).await
    }
}

impl Command for verbs::ScheduleRunNow {
    type Output = Tick;
    const VERB: &'static str = verbs::ScheduleRunNow::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Tick, StoreError> {
        let mut row = found(tx, self.schedule).await?;
        let (outcome, execution, reason) = tend::start(tx, &mut row, None).await?;
        let tick = Tick { planned_at: tx.now, outcome, reason, execution, by_hand: true, at: tx.now };
        ticks::insert(tx, row.id, &tick, None).await?;
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), format!("ran the schedule `{}` now", row.name));
        view::announced(tx, &row).await?;
        Ok(tick)
    }
}

impl Command for verbs::ScheduleBackfill {
    type Output = Vec<Tick>;
    const VERB: &'static str = verbs::ScheduleBackfill::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Tick>, StoreError> {
        let mut row = found(tx, self.schedule).await?;
        let missing = missing(tx, &row, self.input.from, self.input.until).await?;
        let now = tx.now;
        let known = facts::read(tx.read(), &row, now).await?;
        let mut made = Vec::new();
        for tick in backfill(&known.facts, &missing) {
            let (outcome, execution, reason) = match tick.outcome {
                Outcome::Start => tend::start(tx, &mut row, None).await?,
                _ => (TickOutcome::Queued, None, None),
            };
            let tick = Tick { planned_at: tick.planned_at, outcome, reason, execution, by_hand: false, at: now };
            ticks::insert(tx, row.id, &tick, None).await?;
            made.push(tick);
        }
        let detail = format!("backfilled {} of the schedule `{}`", counted(made.len(), "tick", "ticks"), row.name);
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), detail);
        view::announced(tx, &row).await?;
        Ok(made)
    }
}

/// The planned times of a span in the past that have no tick.
async fn missing(
    tx: &mut Tx<'_>,
    row: &ScheduleRow,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Timestamp>, StoreError> {
    if from > until || until > tx.now {
        return Err(StoreError::invalid("until", "name a span in the past: `from`, then `until`"));
    }
    let trigger = convert::trigger(&row.settings.trigger);
    let times = Times::parse(&trigger).map_err(|error| StoreError::invalid("trigger", error.to_string()))?;
    // The interval of a schedule is counted from its creation; earlier times are counted backwards from there.
    let planned = times.forward(row.created_at.min(from), from.plus_millis(-1), Some(until), MAX_BACKFILL + 1);
    let there: HashSet<Timestamp> = ticks::planned_in(tx.read(), row.id, from, until).await?.into_iter().collect();
    let missing: Vec<Timestamp> = planned.into_iter().filter(|at| !there.contains(at)).collect();
    match missing.len() {
        0 => Err(StoreError::Conflict("every planned time of that span has its tick already".to_owned())),
        1..=MAX_BACKFILL => Ok(missing),
        _ => Err(StoreError::invalid("from", format!("at most {MAX_BACKFILL} ticks at once: name a shorter span"))),
    }
}

impl Command for verbs::ScheduleRemove {
    type Output = ();
    const VERB: &'static str = verbs::ScheduleRemove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let row = found(tx, self.schedule).await?;
        tend::remove(tx, row.id).await?;
        tell(tx, row.project, Change::ScheduleRemoved { schedule: row.id });
        let detail = format!("removed the schedule `{}`", row.name);
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), detail);
        Ok(())
    }
}
