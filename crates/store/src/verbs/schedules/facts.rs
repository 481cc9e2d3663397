//! The facts that the engine decides about a schedule from.

use domain::{ExecutionId, Timestamp};
use engine::schedules::Facts;
use serde_json::Value as Json;

use super::rows::ScheduleRow;
use super::{convert, ticks};
use crate::StoreError;
use crate::sql::{Connection, text};

/// The facts, with what the engine does not need.
pub(super) struct Known {
    pub(super) facts: Facts,
    /// The executions of the schedule that are not over.
    pub(super) open: Vec<ExecutionId>,
    /// The event that the oldest queued tick waits for its turn with.
    pub(super) queued_payload: Option<Json>,
}

/// Reads them.
pub(super) async fn read(c: &mut Connection<'_>, row: &ScheduleRow, now: Timestamp) -> Result<Known, StoreError> {
    let sql = "SELECT id FROM executions WHERE schedule = $1 AND ended_at IS NULL ORDER BY id";
    let open: Vec<ExecutionId> =
        c.all(sql, vec![text(row.id)]).await?.iter().map(|row| row.parsed("id")).collect::<Result<_, _>>()?;
    let (queued, queued_payload) = ticks::queued(c, row.id).await?;
    let settings = &row.settings;
    let facts = Facts {
        schedule: row.id,
        trigger: convert::trigger(&settings.trigger),
        anchor: row.created_at,
        decided_to: row.decided_to,
        now,
        from: settings.from,
        until: settings.until,
        paused: row.paused,
        overlap: settings.overlap,
        queue_max: settings.queue_max,
        catch_up: convert::catch_up(&settings.catch_up),
        catch_up_seconds: Some(settings.catch_up_seconds),
        jitter_seconds: settings.jitter_seconds,
        open: u32::try_from(open.len()).unwrap_or(u32::MAX),
        queued,
        pause_after_failures: settings.pause_after_failures,
        failures: row.failures,
    };
    Ok(Known { facts, open, queued_payload })
}
