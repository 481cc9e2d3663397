//! What clients see of schedules.

use domain::{Action, ProjectId, ScheduleId, Timestamp};
use engine::schedules::{in_words, next_times};
use protocol::{Change, Schedule, Tick, TickPage};
use serde_json::Value as Json;

use super::rows::{self, ScheduleRow};
use super::{convert, ticks};
use crate::sql::Connection;
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::work::workers::rows::tell;
use crate::{Caller, Store, StoreError};

/// How many of the next times are shown.
const NEXT: usize = 10;
/// The default and maximum number of listed ticks.
const TICKS: (u32, u32) = (50, 500);

/// A schedule, as clients see it.
pub(super) async fn shown(c: &mut Connection<'_>, row: &ScheduleRow, now: Timestamp) -> Result<Schedule, StoreError> {
    let settings = row.settings.clone();
    let trigger = convert::trigger(&settings.trigger);
    let from = settings.from.map_or(now, |from| from.plus_millis(-1).max(now));
    let mut next = match row.paused {
        true => Vec::new(),
        false => next_times(&trigger, row.created_at, from, NEXT),
    };
    next.retain(|at| settings.until.is_none_or(|until| *at <= until));
    Ok(Schedule {
        id: row.id,
        project: row.project,
        name: row.name.clone(),
        recipe: row.recipe,
        recipe_name: row.recipe_name.clone(),
        inputs: Json::Object(row.inputs.clone()),
        when: in_words(&trigger),
        trigger: settings.trigger,
        overlap: settings.overlap,
        queue_max: settings.queue_max,
        catch_up: settings.catch_up,
        catch_up_seconds: settings.catch_up_seconds,
        jitter_seconds: settings.jitter_seconds,
        from: settings.from,
        until: settings.until,
        pause_after_failures: settings.pause_after_failures,
        failures: row.failures,
        paused: row.paused,
        note: row.note.clone(),
        next,
        last: ticks::page(c, row.id, None, 1).await?.pop(),
        owner: row.owner.clone(),
        created_at: row.created_at,
    })
}

/// Announces a schedule to those who see its project.
pub(super) async fn announced(tx: &mut Tx<'_>, row: &ScheduleRow) -> Result<Schedule, StoreError> {
    let now = tx.now;
    let schedule = shown(tx.read(), row, now).await?;
    tell(tx, row.project, Change::Schedule { schedule: schedule.clone() });
    Ok(schedule)
}

/// The schedules of a project, or of all, for the state of a client.
pub(crate) async fn all(
    c: &mut Connection<'_>,
    only: Option<ProjectId>,
    now: Timestamp,
) -> Result<Vec<Schedule>, StoreError> {
    let mut found = Vec::new();
    for row in rows::of(c, only).await? {
        found.push(shown(c, &row, now).await?);
    }
    Ok(found)
}

impl Store {
    /// The schedules of a project, by name.
    pub async fn schedules(&self, caller: &Caller, project: ProjectId) -> Result<Vec<Schedule>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        all(&mut c, Some(project), self.now()).await
    }

    /// A schedule.
    pub async fn schedule(&self, caller: &Caller, id: ScheduleId) -> Result<Schedule, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = rows::find(&mut c, id).await?.ok_or(StoreError::NotFound("schedule"))?;
        projects::check(&mut c, caller, row.project, Action::See, "schedule").await?;
        shown(&mut c, &row, self.now()).await
    }

    /// What became of the ticks of a schedule, newest first.
    pub async fn schedule_ticks(
        &self,
        caller: &Caller,
        id: ScheduleId,
        page: TickPage,
    ) -> Result<Vec<Tick>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = rows::find(&mut c, id).await?.ok_or(StoreError::NotFound("schedule"))?;
        projects::check(&mut c, caller, row.project, Action::See, "schedule").await?;
        ticks::page(&mut c, id, page.before, page.limit.unwrap_or(TICKS.0).clamp(1, TICKS.1)).await
    }
}
