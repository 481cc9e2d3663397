//! Effects of an execution's steps.

use domain::Timestamp;
use engine::recipes::{Effect, Event, Path, Status, TimerKind, Verdict, Work};
use engine::schedules::Ended;
use serde_json::json;

use super::place;
use super::rows::ExecutionRow;
use super::work::{self, NewWork};
use crate::StoreError;
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::{chat, schedules};

/// Performs one effect; returns the event that follows at once.
pub(super) async fn perform(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    effect: Effect,
) -> Result<Option<Event>, StoreError> {
    match effect {
        Effect::Begin { path, attempt, work, needs, at_most_once } => {
            begin(tx, row, NewWork { path, attempt, work: *work, needs, at_most_once }).await
        }
        Effect::Stop { path, attempt } => work::stop(tx, row, &path, attempt).await.map(|()| None),
        Effect::SetTimer { path, attempt, timer, at } => {
            set_timer(tx, row, path.as_ref(), attempt, timer, at).await.map(|()| None)
        }
        Effect::DropTimer { path, attempt, timer } => drop_timer(tx, row, &path, attempt, timer).await.map(|()| None),
        Effect::DropTimers { path } => drop_timers(tx, row, path.as_ref()).await.map(|()| None),
        Effect::Over => over(tx, row).await.map(|()| None),
    }
}

/// Notes work that is to begin. Messages are sent at once, in this transaction.
async fn begin(tx: &mut Tx<'_>, row: &ExecutionRow, new: NewWork) -> Result<Option<Event>, StoreError> {
    let (path, attempt) = (new.path.clone(), new.attempt);
    let message = match &new.work {
        Work::Notify { to, text } => Some(addressed(to, text)),
        _ => None,
    };
    work::insert(tx, row, &new).await?;
    let Some(message) = message else { return Ok(None) };
    chat::say(tx, row.project, &message).await?;
    Ok(Some(Event::Ended { path, attempt, verdict: Verdict::Succeeded { output: json!({ "sent": true }) } }))
}

/// A message to the chat, which mentions the person that it is for.
fn addressed(to: &str, text: &str) -> String {
    let text: String = text.chars().take(8000).collect();
    match to.trim() {
        "" | "chat" => text,
        name => format!("@{} {text}", name.trim_start_matches('@')),
    }
}

async fn set_timer(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    path: Option<&Path>,
    attempt: u32,
    timer: TimerKind,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO execution_timers (execution, path, attempt, timer, due_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (execution, path, attempt, timer) DO UPDATE SET due_at = excluded.due_at";
    let path = path.map(Path::to_string).unwrap_or_default();
    tx.run(sql, args![row.id.to_string(), path, attempt, word(timer), at]).await.map(|_| ())
}

async fn drop_timer(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    path: &Path,
    attempt: u32,
    timer: TimerKind,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM execution_timers WHERE execution = $1 AND path = $2 AND attempt = $3 AND timer = $4";
    tx.run(sql, args![row.id.to_string(), path.to_string(), attempt, word(timer)]).await.map(|_| ())
}

async fn drop_timers(tx: &mut Tx<'_>, row: &ExecutionRow, path: Option<&Path>) -> Result<(), StoreError> {
    match path {
        Some(path) => {
            let sql = "DELETE FROM execution_timers WHERE execution = $1 AND path = $2";
            tx.run(sql, args![row.id.to_string(), path.to_string()]).await?;
        }
        None => {
            tx.run("DELETE FROM execution_timers WHERE execution = $1", vec![text(row.id)]).await?;
        }
    }
    Ok(())
}

/// The name of a timer in its column.
pub(super) fn word(timer: TimerKind) -> &'static str {
    match timer {
        TimerKind::Timeout => "timeout",
        TimerKind::Retry => "retry",
        TimerKind::Wait => "wait",
        TimerKind::Deadline => "deadline",
        TimerKind::Away => "away",
    }
}

/// The execution is over. Who called it finds that out by itself.
async fn over(tx: &mut Tx<'_>, row: &mut ExecutionRow) -> Result<(), StoreError> {
    row.ended_at = Some(tx.now);
    failpoint::pass("execution.over");
    place::end_activity(tx, row).await?;
    if let Some(schedule) = row.schedule {
        let ended = match row.machine.status {
            Status::Completed { .. } => Ended::Completed,
            Status::Cancelled => Ended::Cancelled,
            _ => Ended::Failed,
        };
        schedules::execution_over(tx, schedule, ended).await?;
    }
    Ok(())
}
