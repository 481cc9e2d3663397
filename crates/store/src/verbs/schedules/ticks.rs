//! The ticks of schedules: one durable row each, with what became of it.

use domain::{ExecutionId, ScheduleId, TickOutcome, Timestamp};
use protocol::Tick;
use serde_json::Value as Json;

use crate::StoreError;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::id_or_none;

const COLUMNS: &str = "SELECT planned_at, number, outcome, reason, execution, by_hand, payload, at FROM schedule_ticks";

fn read(row: &Row) -> Result<Tick, StoreError> {
    Ok(Tick {
        planned_at: row.time("planned_at")?,
        outcome: row.parsed("outcome")?,
        reason: row.text_or_none("reason")?,
        execution: id_or_none(row, "execution")?,
        by_hand: row.flag("by_hand")?,
        at: row.time("at")?,
    })
}

/// Writes a tick; `number` is 0 for a planned one. The row of a planned time is unique, whatever the number of hubs.
pub(super) async fn insert(
    tx: &mut Tx<'_>,
    schedule: ScheduleId,
    tick: &Tick,
    payload: Option<&Json>,
) -> Result<(), StoreError> {
    let number = match tick.by_hand {
        true => next_number(tx.read(), schedule, tick.planned_at).await?,
        false => 0,
    };
    let sql = "INSERT INTO schedule_ticks (schedule, planned_at, number, outcome, reason, execution, by_hand, payload, at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let values = args![
        schedule.to_string(),
        tick.planned_at,
        number,
        tick.outcome.word(),
        tick.reason.clone(),
        tick.execution.map(|id| id.to_string()),
        tick.by_hand,
        payload.map(to_json),
        tick.at,
    ];
    tx.run(sql, values).await.map(|_| ())
}

async fn next_number(c: &mut Connection<'_>, schedule: ScheduleId, planned: Timestamp) -> Result<u32, StoreError> {
    let sql = "SELECT COALESCE(MAX(number), 0) + 1 AS next FROM schedule_ticks WHERE schedule = $1 AND planned_at = $2";
    c.first(sql, args![schedule.to_string(), planned]).await?.map_or(Ok(1), |row| row.count("next"))
}

/// Says what became of a queued tick.
pub(super) async fn decide(
    tx: &mut Tx<'_>,
    schedule: ScheduleId,
    planned: Timestamp,
    outcome: TickOutcome,
    execution: Option<ExecutionId>,
    reason: Option<String>,
) -> Result<(), StoreError> {
    let sql = "UPDATE schedule_ticks SET outcome = $1, execution = $2, reason = $3, at = $4 WHERE schedule = $5 AND \
               planned_at = $6 AND outcome = 'queued'";
    let execution = execution.map(|id| id.to_string());
    let values = args![outcome.word(), execution, reason, tx.now, schedule.to_string(), planned];
    tx.run(sql, values).await.map(|_| ())
}

/// The planned times of queued ticks, oldest first, and the payload of the first one.
pub(super) async fn queued(
    c: &mut Connection<'_>,
    schedule: ScheduleId,
) -> Result<(Vec<Timestamp>, Option<Json>), StoreError> {
    let sql = format!("{COLUMNS} WHERE schedule = $1 AND outcome = 'queued' ORDER BY planned_at, number");
    let rows = c.all(&sql, vec![text(schedule)]).await?;
    let payload = match rows.first().map(|row| row.text_or_none("payload")).transpose()?.flatten() {
        Some(text) => serde_json::from_str(&text).ok(),
        None => None,
    };
    let planned = rows.iter().map(|row| row.time("planned_at")).collect::<Result<_, _>>()?;
    Ok((planned, payload))
}

/// The newest ticks before a time, newest first.
pub(super) async fn page(
    c: &mut Connection<'_>,
    schedule: ScheduleId,
    before: Option<Timestamp>,
    limit: u32,
) -> Result<Vec<Tick>, StoreError> {
    let before = before.unwrap_or(Timestamp::from_millis(i64::MAX / 2));
    let sql = format!(
        "{COLUMNS} WHERE schedule = $1 AND planned_at < $2 ORDER BY planned_at DESC, number DESC LIMIT {limit}"
    );
    c.all(&sql, args![schedule.to_string(), before]).await?.iter().map(read).collect()
}

/// The planned times in a span that have a tick already.
pub(super) async fn planned_in(
    c: &mut Connection<'_>,
    schedule: ScheduleId,
    from: Timestamp,
    until: Timestamp,
) -> Result<Vec<Timestamp>, StoreError> {
    let sql = "SELECT planned_at FROM schedule_ticks WHERE schedule = $1 AND number = 0 AND planned_at >= $2 AND \
               planned_at <= $3";
    c.all(sql, args![schedule.to_string(), from, until]).await?.iter().map(|row| row.time("planned_at")).collect()
}
