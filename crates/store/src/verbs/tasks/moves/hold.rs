//! Holding a task: handing it out, signs of life, letting go.

use domain::{AttemptOutcome, EscalationKind, SessionId, TaskId, TaskStatus, Timestamp, WorkerId, WorkspaceId};
use engine::retry::{Limits, Next, Tries, after_refusal};
use protocol::{EscalationContext, WorkSettings};

use super::{asks, attempt, back_to_queue, escalate, first_line, judge};
use crate::StoreError;
use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::tasks::row::TaskRow;
use crate::verbs::workers::holds::{self, Ended};
use crate::verbs::workers::log::decided;

/// Gives a ready task to a worker until `until`; returns the fence that the worker must name with all it writes.
///
/// The worker's row becomes working. Refuses a task that is not ready.
pub(crate) async fn hand_out(
    tx: &mut Tx<'_>,
    task: TaskId,
    worker: WorkerId,
    until: Timestamp,
) -> Result<u64, StoreError> {
    let mut row = tx.known_task(task).await?;
    if row.status != TaskStatus::Ready {
        return Err(StoreError::Conflict(format!("{} is {}: only a ready task can be taken", row.named(), row.status)));
    }
    let slot = holds::took(tx, worker, task).await?;
    row.status = TaskStatus::Assigned;
    row.reason = None;
    row.attempt += 1;
    row.fence += 1;
    row.worker = Some(worker);
    row.lease_until = Some(until);
    row.taken_at = Some(tx.now);
    row.refusals = 0;
    attempt::begin(tx, &row, &slot);
    let fence = row.fence;
    tx.put_task(row);
    Ok(fence)
}

/// The task, if this fence still holds it; refuses a zombie in words that make it stop.
pub(crate) async fn held(tx: &mut Tx<'_>, task: TaskId, fence: u64) -> Result<TaskRow, StoreError> {
    let row = tx.known_task(task).await?;
    if row.fence == fence && row.status.is_held() {
        return Ok(row);
    }
    Err(zombie(&row, fence))
}

/// Why whoever names this fence must stop.
pub(super) fn zombie(row: &TaskRow, fence: u64) -> StoreError {
    let why = match row.status {
        _ if row.fence > fence => format!("another worker was given it since, with fence {}", row.fence),
        TaskStatus::Done => "it is done".to_owned(),
        TaskStatus::Ready | TaskStatus::Blocked => "its lease ended, and it is back in the queue".to_owned(),
        status => format!("it is {status}"),
    };
    StoreError::Conflict(format!("fence {fence} does not hold {} any more: {why}. Stop working on it", row.named()))
}

/// Notes where a held task is worked on: the session, its workspace and branch.
pub(crate) async fn works_in(
    tx: &mut Tx<'_>,
    task: TaskId,
    fence: u64,
    session: SessionId,
    workspace: WorkspaceId,
    branch: Option<String>,
) -> Result<(), StoreError> {
    let mut row = held(tx, task, fence).await?;
    row.session = Some(session);
    row.workspace = Some(workspace);
    let (number, worker) = (row.attempt, row.worker);
    tx.put_task(row);
    let of = args![task.to_string(), number];
    let found = tx.read().first("SELECT sessions FROM attempts WHERE task = $1 AND number = $2", of).await?;
    let mut sessions: Vec<SessionId> = found.map_or(Ok(Vec::new()), |row| row.json("sessions"))?;
    if !sessions.contains(&session) {
        sessions.push(session);
    }
    let sql = "UPDATE attempts SET sessions = $1, workspace = $2, branch = COALESCE($3, branch) \
               WHERE task = $4 AND number = $5";
    tx.run(sql, args![to_json(&sessions), workspace.to_string(), branch, task.to_string(), number]).await?;
    match worker {
        Some(worker) => holds::works_in(tx, worker, session).await,
        None => Ok(()),
    }
}

/// The worker of a held task works: its first sign of life.
pub(crate) async fn started(tx: &mut Tx<'_>, task: TaskId, fence: u64) -> Result<(), StoreError> {
    let mut row = held(tx, task, fence).await?;
    if row.status == TaskStatus::Assigned {
        row.status = TaskStatus::Running;
        tx.put_task(row);
    }
    Ok(())
}

/// A sign of life: the lease holds until `until`. Clients hear of it only when the progress changed.
///
/// While a report is checked it is the hub's turn, and nothing expires: then nothing is written.
pub(crate) async fn renew(
    tx: &mut Tx<'_>,
    task: TaskId,
    fence: u64,
    until: Timestamp,
    progress: Option<String>,
) -> Result<TaskRow, StoreError> {
    let mut row = held(tx, task, fence).await?;
    if row.lease_until.is_none() {
        return Ok(row);
    }
    row.lease_until = row.lease_until.max(Some(until));
    let begins = row.status == TaskStatus::Assigned;
    if begins {
        row.status = TaskStatus::Running;
    }
    if begins || (progress.is_some() && progress != row.progress) {
        row.progress = progress.or(row.progress);
        tx.put_task(row.clone());
    } else {
        tx.put_task_quietly(row.clone());
    }
    Ok(row)
}

/// Ends the hold on a task other than by its report, closes the attempt and frees the worker.
///
/// `Lost`, `Released` and `TakenOver`: back into the queue with its age, hand-over kept. `Failed`: to another worker, or
/// to a person after the project's limit. A task that nobody holds stays as it is.
pub(crate) async fn let_go(
    tx: &mut Tx<'_>,
    task: TaskId,
    outcome: AttemptOutcome,
    reason: Option<String>,
) -> Result<TaskRow, StoreError> {
    let_go_stuck(tx, task, outcome, Why::open(reason), None).await
}

/// Why a hold ends: in words for everybody who sees the project, and with what only those see who may look into the work.
#[derive(Debug, Clone, Default)]
pub(crate) struct Why {
    /// For everybody.
    pub(crate) open: Option<String>,
    /// For those who may look into the work; the same when absent.
    pub(crate) whole: Option<String>,
}

impl Why {
    /// There is no more to it.
    pub(crate) fn open(reason: Option<String>) -> Self {
        Self { open: reason, whole: None }
    }

    /// What happened, in words that say nothing of the machine or the work; the detail is for those who may look.
    pub(crate) fn with_detail(open: impl Into<String>, detail: Option<String>) -> Self {
        let open = open.into();
        Self { whole: detail.map(|detail| format!("{open}\n{detail}")), open: Some(open) }
    }

    fn whole(&self) -> Option<&str> {
        self.whole.as_deref().or(self.open.as_deref())
    }
}

/// The same as [`let_go`], for what not everybody sees.
pub(crate) async fn let_go_because(
    tx: &mut Tx<'_>,
    task: TaskId,
    outcome: AttemptOutcome,
    why: Why,
) -> Result<TaskRow, StoreError> {
    let_go_stuck(tx, task, outcome, why, None).await
}

/// The runner of whoever holds a task was not heard from: back into the queue, and nobody's failure.
pub(crate) async fn gone(tx: &mut Tx<'_>, task: TaskId, reason: String) -> Result<TaskRow, StoreError> {
    gone_because(tx, task, Why::open(Some(reason))).await
}

async fn gone_because(tx: &mut Tx<'_>, task: TaskId, why: Why) -> Result<TaskRow, StoreError> {
    let ended = Ended::Gone(why.open.clone().unwrap_or_default());
    hold_ends(tx, task, AttemptOutcome::Lost, why, ended, None).await
}

/// The session of whoever holds a task is gone, as its runner says: the same, and noticed at once.
pub(crate) async fn session_gone(tx: &mut Tx<'_>, task: TaskId, why: Why) -> Result<TaskRow, StoreError> {
    let mut row = tx.known_task(task).await?;
    let (held, worker) = (row.status.is_held(), row.worker);
    if held {
        row.lease_until = None;
        tx.put_task_quietly(row);
    }
    let reason = why.open.clone().unwrap_or_default();
    let after = gone_because(tx, task, why).await?;
    if held {
        let why = format!("{reason}: the task goes back into the queue, and that is no failure of its worker");
        decided(tx, after.project, worker, Some(task), "session_lost", why).await?;
    }
    Ok(after)
}

/// After so many workers that were lost one after the other a person is asked: something about the task kills them.
const LOST: usize = 5;

/// Whether so many of a task's last attempts were lost, one after the other.
async fn lost_again(tx: &mut Tx<'_>, task: TaskId) -> Result<bool, StoreError> {
    let sql = "SELECT outcome FROM attempts WHERE task = $1 ORDER BY number DESC LIMIT $2";
    let rows = tx.read().all(sql, args![task.to_string(), LOST as u64]).await?;
    let last: Vec<AttemptOutcome> = rows.iter().map(|row| row.parsed("outcome")).collect::<Result<_, _>>()?;
    Ok(last == [AttemptOutcome::Lost; LOST])
}

/// The same; `stuck` says what did not change, when that is why.
pub(super) async fn let_go_stuck(
    tx: &mut Tx<'_>,
    task: TaskId,
    outcome: AttemptOutcome,
    why: Why,
    stuck: Option<&str>,
) -> Result<TaskRow, StoreError> {
    let words = why.open.clone().unwrap_or_else(|| outcome.word().replace('_', " "));
    let ended = match outcome {
        AttemptOutcome::Failed | AttemptOutcome::Refused => Ended::Failed(words),
        AttemptOutcome::Lost => Ended::Lost(words),
        _ => Ended::Released,
    };
    hold_ends(tx, task, outcome, why, ended, stuck).await
}

async fn hold_ends(
    tx: &mut Tx<'_>,
    task: TaskId,
    outcome: AttemptOutcome,
    because: Why,
    ended: Ended,
    stuck: Option<&str>,
) -> Result<TaskRow, StoreError> {
    let reason = because.open.clone();
    let mut row = tx.known_task(task).await?;
    if !row.status.is_held() {
        return Ok(row);
    }
    if judge::waits(row.status) {
        let why = reason.clone().unwrap_or_else(|| outcome.word().replace('_', " "));
        judge::refuse_pending(tx, task, &format!("the task went on before this was judged: {why}")).await?;
    }
    let settings = tx.work_settings(row.project).await?;
    let worker = row.worker;
    // A refused report keeps what its checks found. Of other details an attempt shows the first line to everybody.
    let kept = if outcome == AttemptOutcome::Refused { reason.as_deref() } else { because.whole() };
    attempt::close(tx, &row, outcome, kept);
    if let Some(worker) = worker {
        holds::let_go(tx, worker, task, ended).await?;
    }
    let gave_up = matches!(outcome, AttemptOutcome::Failed | AttemptOutcome::Refused);
    if gave_up {
        row.workers_tried += 1;
        row.not_by.extend(worker.filter(|worker| !row.not_by.contains(worker)));
    }
    let next = after_refusal(tries(&row), true, limits(&settings));
    if gave_up && next == Next::Escalate {
        row.reason = reason.clone();
        tx.put_task(row);
        let text = because.whole().map_or_else(|| outcome.word().replace('_', " "), str::to_owned);
        let context = EscalationContext { text, ..Default::default() };
        let (kind, why, because) = match (stuck, outcome) {
            (Some(stuck), _) => (EscalationKind::Stuck, stuck, reason),
            (None, AttemptOutcome::Refused) => (EscalationKind::Refused, "The work was refused too often", reason),
            (None, _) => (EscalationKind::GaveUp, "The task could not be done", reason),
        };
        escalate(tx, task, asks::stopped(kind, why, because.as_deref(), context)).await?;
        return tx.known_task(task).await;
    }
    if gave_up {
        let words = reason.as_deref().map_or_else(|| outcome.word().replace('_', " "), first_line);
        let (tried, most) = (row.workers_tried, settings.workers_per_task);
        let why = format!("{words}: it goes to another worker, after {tried} of {most}");
        decided(tx, row.project, worker, Some(task), "to_another", why).await?;
    }
    back_to_queue(&mut row, tx.now);
    row.reason = reason.clone();
    tx.put_task(row.clone());
    if outcome == AttemptOutcome::Lost && lost_again(tx, task).await? {
        let text = because.whole().unwrap_or_default().to_owned();
        let context = EscalationContext { text, ..Default::default() };
        let why = format!("Whoever took this task was lost, {LOST} times in a row");
        escalate(tx, task, asks::stopped(EscalationKind::Stuck, &why, reason.as_deref(), context)).await?;
        return tx.known_task(task).await;
    }
    Ok(row)
}

/// Who tried a task, and how often.
pub(super) fn tries(row: &TaskRow) -> Tries {
    Tries { by_this: row.refusals, workers: row.workers_tried.max(1) }
}

/// How often work goes back, as the project has it.
pub(super) fn limits(settings: &WorkSettings) -> Limits {
    Limits { per_worker: settings.tries_per_worker, workers: settings.workers_per_task }
}
