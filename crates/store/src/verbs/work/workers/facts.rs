//! Facts about the sessions of tasks, and the transitions of tasks that follow.

use domain::text::plain;
use domain::{HoldUp, RunnerId, SessionId, SessionMode, SessionStatus, TaskId, WorkerStatus};
use engine::tasks::life::{Leaving, Why};
use engine::workers::budget::{Purse, must_stop};
use engine::workers::decision::Decision;
use engine::workers::liveness::paused_until;
use engine::workers::outage::in_words;
use protocol::{Deliverables, Session, Usage};

use super::able::{self, Money};
use super::log::decided;
use super::outage::{self, Held};
use super::rows::{WorkerRow, get, put, sum};
use super::{Say, holds, how, launch, stop};
use crate::StoreError;
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::handoff::{itself, taken};
use crate::verbs::work::life;
use crate::verbs::work::review::judge::NewReport;
use crate::verbs::work::review::{ask, judge};
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::workspaces;

/// The maximum stored length of an agent's last message.
const SAID: usize = 16 * 1024;

/// A task's session and the hold that it works under.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Under {
    pub(crate) task: TaskId,
    pub(crate) fence: u64,
}

impl Under {
    /// Reads a session's row; `None` if the session has no task.
    pub(crate) fn read(row: &Row) -> Result<Option<Self>, StoreError> {
        let Some(task) = row.text_or_none("task")?.and_then(|id| id.parse().ok()) else { return Ok(None) };
        Ok(row.integer_or_none("fence")?.map(|fence| Self { task, fence: fence.cast_unsigned() }))
    }

    /// The task, if this hold and session are the current ones.
    pub(super) async fn current(self, tx: &mut Tx<'_>, session: SessionId) -> Result<Option<TaskRow>, StoreError> {
        let row = tx.task(self.task).await?;
        Ok(row.filter(|row| row.fence == self.fence && row.session() == Some(session)))
    }

    /// The worker that has, or had, this hold.
    async fn worker(self, tx: &mut Tx<'_>) -> Result<Option<WorkerRow>, StoreError> {
        let sql = "SELECT worker FROM attempts WHERE task = $1 AND fence = $2";
        let found = tx.read().first(sql, args![self.task.to_string(), self.fence]).await?;
        match found.map(|row| row.parsed("worker")).transpose()? {
            Some(worker) => get(tx, worker).await,
            None => Ok(None),
        }
    }
}

/// Follows a session's new state, which its row already has.
pub(crate) async fn state(tx: &mut Tx<'_>, session: &Session, under: Under) -> Result<(), StoreError> {
    if session.state.ended() {
        over(tx, session, under).await?;
    }
    let Some(row) = under.current(tx, session.id).await? else { return Ok(()) };
    if !row.is_worked_on() {
        return Ok(());
    }
    match session.state.status {
        SessionStatus::Starting => Ok(()),
        SessionStatus::Working | SessionStatus::Waiting => life::start(tx, under.task, under.fence).await,
        SessionStatus::Idle => {
            life::start(tx, under.task, under.fence).await?;
            // The agent's turn ended but the session lives: its last message is its report, unless it reports itself or
            // waits for an answer.
            let spoke = session.mode == SessionMode::Interactive && said(tx, under).await?.is_some();
            // What it says while it is handed off is about the handoff.
            let spoke = spoke && !taken::is_handed_off(tx, session.id).await?;
            match spoke && ask::open_question(tx, under.task, session.id).await?.is_none() {
                true => collect(tx, session, under).await,
                false => Ok(()),
            }
        }
        SessionStatus::Exited | SessionStatus::Lost => ended(tx, session, under, row).await,
    }
}

/// A session ended: a stopping worker has stopped, and a session that waits for the workspace may start.
async fn over(tx: &mut Tx<'_>, session: &Session, under: Under) -> Result<(), StoreError> {
    if let Some(mut slot) = under.worker(tx).await?
        && slot.session == Some(session.id)
        && slot.task.is_none()
    {
        slot.session = None;
        if slot.status == WorkerStatus::Stopping {
            let reason = slot.reason.clone();
            slot.becomes(WorkerStatus::Stopped, reason, None);
        }
        put(tx, slot);
    }
    let sql = "SELECT id FROM sessions WHERE workspace = $1 AND status = 'starting' AND ended_at IS NULL";
    if tx.read().first(sql, vec![text(session.workspace)]).await?.is_some() {
        tx.desire(session.runner).await?;
    }
    Ok(())
}

/// The session of a held task ended before the task.
async fn ended(tx: &mut Tx<'_>, session: &Session, under: Under, row: TaskRow) -> Result<(), StoreError> {
    if let Some((verdict, _)) = reported(tx, session, under).await? {
        // The session ended after a refusal: the next session of the same worker gets the reasons.
        return match verdict.as_str() {
            "refused" => launch::again(tx, &row, session.id).await,
            _ => Ok(()),
        };
    }
    if session.state.status == SessionStatus::Exited
        && !session.stopping
        && let Some(held) = outage::held_up(tx, session.id).await?
        && let Some(slot) = under.worker(tx).await?
        && (held.followed || (slot.status == WorkerStatus::Paused && session.state.code != Some(0)))
    {
        return outage::begin(tx, &slot, under.task, held, "").await;
    }
    if session.state.status == SessionStatus::Exited && session.state.code == Some(0) && !session.stopping {
        // The agent asked a question and exited: the task waits for the answer.
        return match ask::open_question(tx, under.task, session.id).await? {
            Some(question) => ask::wait_for_answer(tx, under.task, &question).await,
            None => collect(tx, session, under).await,
        };
    }
    let (leaving, why) = match () {
        () if session.stopping => (Leaving::Released, Why::open(Some("its session was stopped".to_owned()))),
        () if session.state.status == SessionStatus::Lost => (Leaving::SessionGone, how::lost(session)),
        () => (Leaving::Failed, how::ended(tx, session).await?),
    };
    life::let_go(tx, under.task, leaving, why).await.map(|_| ())
}

/// The last report of this session, with its verdict.
async fn reported(
    tx: &mut Tx<'_>,
    session: &Session,
    under: Under,
) -> Result<Option<(String, Option<String>)>, StoreError> {
    let sql = "SELECT verdict, reason FROM reports WHERE task = $1 AND fence = $2 AND at > $3 ORDER BY at DESC LIMIT 1";
    let values = args![under.task.to_string(), under.fence, session.created_at];
    let found = tx.read().first(sql, values).await?;
    found.map(|row| Ok((row.text("verdict")?, row.text_or_none("reason")?))).transpose()
}

/// The agent's last message under this hold.
async fn said(tx: &mut Tx<'_>, under: Under) -> Result<Option<String>, StoreError> {
    let sql = "SELECT said FROM attempts WHERE task = $1 AND fence = $2";
    let found = tx.read().first(sql, args![under.task.to_string(), under.fence]).await?;
    found.map(|row| row.text_or_none("said")).transpose().map(Option::flatten)
}

/// Makes a report from the agent's last message, because the agent sent none.
async fn collect(tx: &mut Tx<'_>, session: &Session, under: Under) -> Result<(), StoreError> {
    // A message after a refusal is a new report.
    if reported(tx, session, under).await?.is_some_and(|(verdict, _)| verdict != "refused") {
        return Ok(());
    }
    life::start(tx, under.task, under.fence).await?;
    let said = said(tx, under).await?;
    let sql = "SELECT usage FROM attempts WHERE task = $1 AND fence = $2";
    let attempt = tx.read().first(sql, args![under.task.to_string(), under.fence]).await?;
    let usage = attempt.map(|row| row.json::<Usage>("usage")).transpose()?;
    let branch = workspaces::branch_in(tx.read(), session.workspace).await?;
    let usage = usage.filter(|usage| *usage != Usage::default());
    let deliverables = Deliverables { branch, ..Default::default() };
    let report = NewReport::collected(said, deliverables, usage);
    judge::report_in(tx, under.task, under.fence, report).await.map(|_| ())
}

/// Stores an agent's last message.
pub(crate) async fn spoke(tx: &mut Tx<'_>, under: Under, text: &str) -> Result<(), StoreError> {
    let words = plain(text.trim(), SAID);
    if words.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE attempts SET said = $1 WHERE task = $2 AND fence = $3";
    tx.run(sql, args![words, under.task.to_string(), under.fence]).await.map(|_| ())
}

/// Counts a session's usage for its attempt and worker, and stops the session before it exceeds a budget.
pub(crate) async fn used(tx: &mut Tx<'_>, before: &Session, now: &Usage, under: Under) -> Result<(), StoreError> {
    let more = difference(&before.usage, now);
    let Some(slot) = under.worker(tx).await? else { return Ok(()) };
    let sql = "SELECT usage FROM attempts WHERE task = $1 AND fence = $2";
    let of = args![under.task.to_string(), under.fence];
    let Some(attempt) = tx.read().first(sql, of).await? else { return Ok(()) };
    let all = sum(&attempt.json::<Usage>("usage")?, &more);
    let sql = "UPDATE attempts SET usage = $1 WHERE task = $2 AND fence = $3";
    tx.run(sql, args![to_json(&all), under.task.to_string(), under.fence]).await?;
    let Some(slot) = holds::used(tx, slot.id, &more).await? else { return Ok(()) };
    blind(tx, &slot, &more, under.task).await?;
    let at_it = |row: &TaskRow| row.is_worked_on();
    if more.cost_micros.unwrap_or(0) == 0 || !under.current(tx, before.id).await?.as_ref().is_some_and(at_it) {
        return Ok(());
    }
    // The first cost may cover the whole session, if the agent reports it only at the end: it does not predict the next
    // step.
    let step = more.cost_micros.filter(|_| before.usage.cost_micros.is_some_and(|cost| cost > 0));
    let own = Purse { limit: slot.budget_micros, spent: slot.usage.cost_micros.unwrap_or(0), promised: 0 };
    if let Some(reason) = must_stop(own, step) {
        stop::release(tx, &slot, &format!("its worker's budget is spent: {reason}"), false).await?;
        return able::spent(tx, slot.id, reason).await;
    }
    let settings = tx.work_settings(slot.project).await?;
    if settings.budget_micros.is_some() {
        let spent = Money::read(tx, slot.project).await?.spent;
        let shared = Purse { limit: settings.budget_micros, spent, promised: 0 };
        if let Some(reason) = must_stop(shared, step) {
            let decision = Decision::ProjectBudgetSpent { why: reason };
            stop::release(tx, &slot, &decision.to_string(), false).await?;
            return decided(tx, slot.project, Some(slot.id), Some(under.task), decision).await;
        }
    }
    itself::look(tx, before, now, (slot.handoff_after_micros, under.task)).await.map(|_| ())
}

/// Logs once that an agent reports no cost, so that no budget can stop its worker.
async fn blind(tx: &mut Tx<'_>, slot: &WorkerRow, more: &Usage, task: TaskId) -> Result<(), StoreError> {
    let first = slot.usage == *more && slot.usage.cost_micros.is_none();
    let settings = tx.work_settings(slot.project).await?;
    if !first || (slot.budget_micros.is_none() && settings.budget_micros.is_none()) {
        return Ok(());
    }
    let decision = Decision::BudgetBlind { worker: slot.name.clone(), agent: slot.agent.clone() };
    decided(tx, slot.project, Some(slot.id), Some(task), decision).await
}

/// Usage since `before`. Lower token counts mean that the session restarted its counters; a lower cost alone is a
/// correction.
fn difference(before: &Usage, now: &Usage) -> Usage {
    let since = |before: u64, now: u64| now.checked_sub(before).unwrap_or(now);
    let restarted = now.input_tokens < before.input_tokens || now.output_tokens < before.output_tokens;
    let cost = |before: u64, now: u64| if restarted { since(before, now) } else { now.saturating_sub(before) };
    Usage {
        input_tokens: since(before.input_tokens, now.input_tokens),
        cached_tokens: since(before.cached_tokens, now.cached_tokens),
        output_tokens: since(before.output_tokens, now.output_tokens),
        cost_micros: now.cost_micros.map(|now| cost(before.cost_micros.unwrap_or(0), now)),
    }
}

/// Pauses a worker whose session is held up, until the limit resets or the session continues.
pub(crate) async fn held_up(tx: &mut Tx<'_>, session: SessionId, under: Under, held: Held) -> Result<(), StoreError> {
    if under.current(tx, session).await?.is_none() {
        return Ok(());
    }
    let Some(mut slot) = under.worker(tx).await? else { return Ok(()) };
    if !matches!(slot.status, WorkerStatus::Working | WorkerStatus::Paused) {
        return Ok(());
    }
    let until = paused_until(tx.now, held.retry_after_seconds);
    let news = slot.status != WorkerStatus::Paused;
    let reason = match (held.cause, slot.runner) {
        (HoldUp::RateLimit, _) | (_, None) => format!("a provider's limit, until {until}"),
        (cause, Some(runner)) => {
            let row = tx.read().first("SELECT name FROM runners WHERE id = $1", vec![text(runner)]).await?;
            in_words(cause, &slot.agent, &row.map_or(Ok(String::new()), |row| row.text("name"))?)
        }
    };
    let held = Held { until: held.retry_after_seconds.map(|_| until), ..held };
    outage::note(tx, session, held).await?;
    slot.becomes(WorkerStatus::Paused, Some(reason.clone()), Some(until));
    let (id, project) = (slot.id, slot.project);
    put(tx, slot);
    match news {
        true => decided(tx, project, Some(id), Some(under.task), Decision::Paused { why: reason }).await,
        false => Ok(()),
    }
}

/// A session's model answers, for the first time or after a hold-up.
pub(crate) async fn progressed(tx: &mut Tx<'_>, session: SessionId, under: Under) -> Result<(), StoreError> {
    let slot = under.worker(tx).await?;
    outage::progressed(tx, session, slot).await
}

/// Returns a refused task to its worker: the live interactive session gets the reasons, else the next session does.
pub(crate) async fn back(tx: &mut Tx<'_>, task: TaskId, reasons: &str) -> Result<Option<Say>, StoreError> {
    let row = tx.known_task(task).await?;
    let Some(id) = row.session() else { return Ok(None) };
    let Some((session, _)) = crate::verbs::sessions::get(tx.read(), id).await? else { return Ok(None) };
    if session.state.ended() {
        launch::again(tx, &row, id).await?;
        return Ok(None);
    }
    let talks = session.mode == SessionMode::Interactive;
    if talks {
        // The earlier message was the refused report.
        let sql = "UPDATE attempts SET said = NULL WHERE task = $1 AND fence = $2";
        tx.run(sql, args![task.to_string(), row.fence]).await?;
    }
    Ok(talks.then(|| Say { runner: session.runner, session: id, text: told(reasons) }))
}

fn told(reasons: &str) -> String {
    format!("Your report was not accepted:\n{reasons}\nFix this, then report again.")
}

/// Whether this runner must check the report; facts from other runners are ignored.
pub(crate) async fn checks(tx: &mut Tx<'_>, runner: RunnerId, report: &str) -> Result<bool, StoreError> {
    // A report that waits for the merge queue has been checked.
    let sql = "SELECT id FROM reports r WHERE id = $1 AND runner = $2 AND verdict = 'pending' AND \
               NOT EXISTS (SELECT 1 FROM landings l WHERE l.report = r.id)";
    Ok(tx.read().first(sql, args![report, runner.to_string()]).await?.is_some())
}
