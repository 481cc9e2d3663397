//! Outages: an agent that cannot work on a runner, whatever its tasks are. No attempt counts, its workers pause
//! together, one of them probes, and a person is notified once.

use domain::{
    AnswerAct, EscalationId, EscalationKind, HoldUp, RunnerId, SessionId, TaskId, Timestamp, WorkerId, WorkerKind,
    WorkerStatus,
};
use engine::tasks::life::{Ended, Leaving, Why};
use engine::workers::decision::{Decision, Resume};
use engine::workers::outage::{Outage, advice, after_failure, given_up_at, in_words};
use protocol::EscalationContext;
use serde::{Deserialize, Serialize};

use super::log::decided;
use super::rows::{self, WorkerRow, get, put, put_quietly};
use crate::StoreError;
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::life;
use crate::verbs::work::review::ask::{self, Ask};

/// Delay until the next probe after one ended without a result, in milliseconds.
const SOON_MS: i64 = 1_000;

/// A session's hold-up.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Held {
    pub(crate) cause: HoldUp,
    /// The agent's message, for those who may see the session.
    pub(crate) message: Option<String>,
    pub(crate) login: Option<String>,
    pub(crate) retry_after_seconds: Option<u64>,
    pub(crate) since: Timestamp,
    /// When it ends, according to the provider.
    pub(crate) until: Option<Timestamp>,
    /// Whether the runner reports its end; older runners do not.
    pub(crate) followed: bool,
}

/// An open outage.
#[derive(Debug, Clone)]
pub(crate) struct Open {
    pub(crate) runner: RunnerId,
    pub(crate) agent: String,
    pub(crate) outage: Outage,
    /// The worker that probes.
    probe: Option<WorkerId>,
    escalation: Option<EscalationId>,
    /// The runner's name.
    name: String,
}

impl Open {
    /// Whether this is an outage of the worker's agent.
    pub(crate) fn is_of(&self, slot: &WorkerRow) -> bool {
        slot.kind == WorkerKind::Managed && slot.runner == Some(self.runner) && slot.agent == self.agent
    }

    /// Why the workers take nothing.
    pub(crate) fn reason(&self) -> String {
        in_words(self.outage.cause, &self.agent, &self.name)
    }
}

const COLUMNS: &str = "SELECT o.runner, o.agent, o.cause, o.failures, o.since, o.probe_at, o.probe, o.escalation, \
    r.name FROM outages o JOIN runners r ON r.id = o.runner";

fn open(row: &Row) -> Result<Open, StoreError> {
    let id = |column: &str| row.text_or_none(column);
    Ok(Open {
        runner: row.parsed("runner")?,
        agent: row.text("agent")?,
        outage: Outage {
            cause: row.parsed("cause")?,
            failures: row.count("failures")?,
            since: row.time("since")?,
            probe_at: row.time("probe_at")?,
        },
        probe: id("probe")?.and_then(|id| id.parse().ok()),
        escalation: id("escalation")?.and_then(|id| id.parse().ok()),
        name: row.text("name")?,
    })
}

/// All open outages; there are few.
pub(crate) async fn all(tx: &mut Tx<'_>) -> Result<Vec<Open>, StoreError> {
    tx.read().all(&format!("{COLUMNS} ORDER BY o.runner, o.agent"), args![]).await?.iter().map(open).collect()
}

/// The outage of a worker's agent, if there is one.
async fn of(tx: &mut Tx<'_>, slot: &WorkerRow) -> Result<Option<Open>, StoreError> {
    let Some(runner) = slot.runner.filter(|_| slot.kind == WorkerKind::Managed) else { return Ok(None) };
    let sql = format!("{COLUMNS} WHERE o.runner = $1 AND o.agent = $2");
    let row = tx.read().first(&sql, vec![text(runner), text(&slot.agent)]).await?;
    row.as_ref().map(open).transpose()
}

/// Whether a worker is probing.
pub(crate) async fn probing(tx: &mut Tx<'_>, open: &Open) -> Result<bool, StoreError> {
    let Some(probe) = open.probe else { return Ok(false) };
    Ok(get(tx, probe).await?.is_some_and(|slot| slot.task.is_some() && slot.removed_at.is_none()))
}

/// Stores a session's hold-up.
pub(crate) async fn note(tx: &mut Tx<'_>, session: SessionId, mut held: Held) -> Result<(), StoreError> {
    // The hold-up started when the model last answered.
    held.since = held_up(tx, session).await?.map_or(held.since, |before| before.since);
    tx.run("UPDATE sessions SET held_up = $1 WHERE id = $2", args![to_json(&held), session.to_string()]).await?;
    Ok(())
}

/// A session's hold-up.
pub(crate) async fn held_up(tx: &mut Tx<'_>, session: SessionId) -> Result<Option<Held>, StoreError> {
    let row = tx.read().first("SELECT held_up FROM sessions WHERE id = $1", vec![text(session)]).await?;
    row.map_or(Ok(None), |row| crate::verbs::workspaces::json_or_none(&row, "held_up"))
}

/// A session's model answers: its hold-up ends, and so does the outage if the session was the probe.
pub(crate) async fn progressed(tx: &mut Tx<'_>, session: SessionId, slot: Option<WorkerRow>) -> Result<(), StoreError> {
    tx.run("UPDATE sessions SET held_up = NULL WHERE id = $1 AND held_up IS NOT NULL", vec![text(session)]).await?;
    let Some(mut slot) = slot.filter(|slot| slot.session == Some(session)) else { return Ok(()) };
    let (id, project, task) = (slot.id, slot.project, slot.task);
    if slot.status == WorkerStatus::Paused && slot.until.is_some() && task.is_some() {
        slot.becomes(WorkerStatus::Working, None, None);
        put(tx, slot.clone());
        decided(tx, project, Some(id), task, Decision::Resumed(Resume::Progress)).await?;
    }
    match of(tx, &slot).await?.filter(|open| open.probe == Some(id)) {
        Some(open) => over(tx, open).await,
        None => Ok(()),
    }
}

/// A hold-up ended a session, or the session made no progress for too long: the task is released without counting the
/// attempt, the agent's workers on the runner pause, and a person is notified once.
pub(crate) async fn begin(
    tx: &mut Tx<'_>,
    slot: &WorkerRow,
    task: TaskId,
    held: Held,
    how: &str,
) -> Result<(), StoreError> {
    let before = of(tx, slot).await?;
    let probed = before.as_ref().is_some_and(|open| open.probe == Some(slot.id));
    let now = tx.now;
    let known = before.as_ref().map(|open| open.outage);
    let outage = after_failure(known, probed, held.cause, held.retry_after_seconds, now);
    let Some(runner) = slot.runner else { return Ok(()) };
    let row = tx.read().first("SELECT name FROM runners WHERE id = $1", vec![text(runner)]).await?;
    let name = row.map_or(Ok(String::new()), |row| row.text("name"))?;
    let escalation = before.as_ref().and_then(|open| open.escalation);
    let mut open = Open { runner, agent: slot.agent.clone(), outage, probe: None, escalation, name };
    let reason = open.reason();
    if open.escalation.is_none() && outage.is_news() {
        open.escalation = Some(ask_person(tx, &open, task, &held).await?);
    }
    // The failure of an older session does not end another worker's probe.
    open.probe = before.as_ref().and_then(|open| open.probe).filter(|_| !probed);
    write(tx, &open).await?;
    life::let_go(tx, task, Leaving::Released, Why::open(Some(format!("{reason}{how}")))).await?;
    if before.is_none() {
        decided(tx, slot.project, Some(slot.id), Some(task), Decision::Outage { why: reason.clone() }).await?;
    }
    pause_all(tx, &open).await
}

/// Notifies a person, once per outage.
async fn ask_person(tx: &mut Tx<'_>, open: &Open, task: TaskId, held: &Held) -> Result<EscalationId, StoreError> {
    let (cause, agent, runner) = (open.outage.cause, &open.agent, &open.name);
    let advice = advice(cause, agent, runner, held.login.as_deref());
    let question = format!("{}. {advice}", capitalised(&open.reason()));
    let text = format!(
        "No attempt counts. All workers with `{agent}` on `{runner}` pause; one of them retries from time to time, \
         and the others resume when it succeeds."
    );
    // Only those who may see the session may read the agent's message.
    let context = EscalationContext { text, screen: held.message.clone(), ..Default::default() };
    Ok(ask::escalate(tx, task, Ask::new(EscalationKind::Outage, question, context)).await?.id)
}

fn capitalised(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

async fn write(tx: &mut Tx<'_>, open: &Open) -> Result<(), StoreError> {
    let sql = "INSERT INTO outages (runner, agent, cause, failures, since, probe_at, probe, escalation) VALUES ($1, $2, \
               $3, $4, $5, $6, $7, $8) ON CONFLICT (runner, agent) DO UPDATE SET cause = excluded.cause, failures = \
               excluded.failures, probe_at = excluded.probe_at, probe = excluded.probe, escalation = excluded.escalation";
    let Outage { cause, failures, since, probe_at } = open.outage;
    let values = args![
        open.runner.to_string(),
        &open.agent,
        cause.word(),
        failures,
        since,
        probe_at,
        open.probe.map(|id| id.to_string()),
        open.escalation.map(|id| id.to_string()),
    ];
    tx.run(sql, values).await.map(|_| ())
}

/// Pauses all workers of the agent without a task until the next probe.
async fn pause_all(tx: &mut Tx<'_>, open: &Open) -> Result<(), StoreError> {
    for slot in rows::of(tx, None).await? {
        if open.is_of(&slot) && slot.task.is_none() {
            pause(tx, slot, open);
        }
    }
    Ok(())
}

/// Pauses an idle worker until the next probe.
pub(crate) fn pause(tx: &mut Tx<'_>, mut slot: WorkerRow, open: &Open) {
    let until = Some(open.outage.probe_at);
    let ours = slot.status == WorkerStatus::Paused && slot.until.is_some() && slot.until != until;
    if slot.status == WorkerStatus::Idle || ours {
        slot.becomes(WorkerStatus::Paused, Some(open.reason()), until);
        put(tx, slot);
    }
}

/// A worker with an outage took a task, which probes the outage.
pub(crate) async fn probes(tx: &mut Tx<'_>, slot: &WorkerRow, task: TaskId) -> Result<(), StoreError> {
    let Some(open) = of(tx, slot).await? else { return Ok(()) };
    let (reason, probe) = (open.reason(), Some(slot.id));
    write(tx, &Open { probe, ..open }).await?;
    let decision = Decision::Resumed(Resume::Probe { reason });
    decided(tx, slot.project, Some(slot.id), Some(task), decision).await
}

/// The probing worker's hold ended for another reason than the hold-up.
pub(crate) async fn probe_ended(tx: &mut Tx<'_>, slot: &WorkerRow, ended: &Ended) -> Result<(), StoreError> {
    let Some(open) = of(tx, slot).await?.filter(|open| open.probe == Some(slot.id)) else { return Ok(()) };
    match ended {
        Ended::Accepted(_) | Ended::Failed(_) => over(tx, open).await,
        // The probe has no result: another worker probes.
        Ended::Lost(_) | Ended::Gone(_) | Ended::Released => {
            let probe_at = tx.now.plus_millis(SOON_MS);
            try_at(tx, open, probe_at).await
        }
    }
}

/// Probes at once, because a person asked for it.
pub(crate) async fn try_now(tx: &mut Tx<'_>, escalation: EscalationId) -> Result<(), StoreError> {
    let row = tx.read().first(&format!("{COLUMNS} WHERE o.escalation = $1"), vec![text(escalation)]).await?;
    let Some(found) = row.as_ref().map(open).transpose()? else { return Ok(()) };
    if probing(tx, &found).await? {
        return Ok(());
    }
    let now = tx.now;
    try_at(tx, found, now).await
}

async fn try_at(tx: &mut Tx<'_>, mut open: Open, at: Timestamp) -> Result<(), StoreError> {
    (open.probe, open.outage.probe_at) = (None, at);
    write(tx, &open).await?;
    pause_all(tx, &open).await
}

/// Ends an outage: its workers take tasks again, and its escalation closes.
async fn over(tx: &mut Tx<'_>, open: Open) -> Result<(), StoreError> {
    let why = format!("`{}` on `{}` works again", open.agent, open.name);
    end(tx, open, why).await
}

/// Closes the outages of a removed runner.
pub(crate) async fn runner_removed(tx: &mut Tx<'_>, runner: RunnerId) -> Result<(), StoreError> {
    for open in all(tx).await?.into_iter().filter(|open| open.runner == runner) {
        let why = format!("the runner `{}` was removed", open.name);
        end(tx, open, why).await?;
    }
    Ok(())
}

async fn end(tx: &mut Tx<'_>, open: Open, why: String) -> Result<(), StoreError> {
    let sql = "DELETE FROM outages WHERE runner = $1 AND agent = $2";
    tx.run(sql, vec![text(open.runner), text(&open.agent)]).await?;
    for mut slot in rows::of(tx, None).await? {
        let waits = slot.status == WorkerStatus::Paused && slot.until.is_some() && slot.task.is_none();
        if open.is_of(&slot) && waits {
            let (id, project) = (slot.id, slot.project);
            slot.becomes(WorkerStatus::Idle, None, None);
            slot.idle_since = Some(tx.now);
            put(tx, slot);
            let decision = Decision::Resumed(Resume::OutageOver { why: why.clone() });
            decided(tx, project, Some(id), None, decision).await?;
        }
    }
    let Some(escalation) = open.escalation else { return Ok(()) };
    let sql = format!("{} WHERE e.id = $1 AND e.answered_at IS NULL", ask::COLUMNS);
    let row = tx.read().first(&sql, vec![text(escalation)]).await?;
    match row.as_ref().map(ask::escalation).transpose()? {
        Some(asked) => ask::close(tx, asked, AnswerAct::Tell, &why, None).await.map(|_| ()),
        None => Ok(()),
    }
}

/// The pause of a worker with a task ended. A session that is still held up keeps waiting, but loses its task after too
/// long without progress; `false` if nothing holds it up.
pub(crate) async fn still_held_up(tx: &mut Tx<'_>, slot: &WorkerRow, task: TaskId) -> Result<bool, StoreError> {
    let held = match slot.session {
        Some(session) => held_up(tx, session).await?,
        None => None,
    };
    let Some(held) = held.filter(|held| held.followed) else { return Ok(false) };
    let given_up = given_up_at(held.since, held.until);
    if given_up <= tx.now {
        begin(tx, slot, task, held, ", and its session made no progress").await?;
        return Ok(true);
    }
    let mut slot = slot.clone();
    slot.view.until = Some(given_up);
    put_quietly(tx, slot);
    Ok(true)
}
