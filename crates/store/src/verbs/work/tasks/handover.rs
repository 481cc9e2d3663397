//! The earlier work that the next worker of a task gets.

use domain::{AttemptOutcome, ReportVerdict, SessionId, TaskId, WorkspaceId};
use protocol::link::StartFrom;
use protocol::{Handover, Report, Veil};

use super::before::{self, Ground};
use super::brief::Work;
use super::row::{TaskRow, id_or_none};
use crate::sql::{Row, args, text};
use crate::tx::Tx;
use crate::verbs::sight::{self, Sight};
use crate::verbs::work::review::judge;
use crate::verbs::work::workers::rows;
use crate::verbs::workspaces::{self, json_or_none};
use crate::verbs::{handoff, projects, reviews};
use crate::{Caller, StoreError};

/// What a task's last worker left, and why its last report was refused, if it was.
pub(crate) async fn of(tx: &mut Tx<'_>, task: &TaskRow) -> Result<(Option<Handover>, Option<String>), StoreError> {
    let sql = format!("{} WHERE r.task = $1 AND r.verdict <> 'late' ORDER BY r.at, r.id", judge::COLUMNS);
    let rows = tx.read().all(&sql, vec![text(task.id)]).await?;
    let mut reports: Vec<Report> = rows.iter().map(judge::report).collect::<Result<_, _>>()?;
    let reader = reader(tx, task).await?;
    let facts = projects::facts_of(tx.read(), task.project).await?.ok_or(StoreError::NotFound("project"))?;
    let sight = Sight::on(tx.read(), &reader, facts).await?;
    let checkers = sight::checkers(tx.read(), task.id).await?;
    for report in &mut reports {
        let checked = checkers.get(&report.id).copied();
        sight.report(task.project, &task.acceptance, report, checked);
    }
    let refused = match reports.last().filter(|report| report.verdict == ReportVerdict::Refused) {
        Some(report) if was_judged(tx, report).await? => report.reason.clone(),
        _ => None,
    };
    let sql = "SELECT number, worker, worker_name, outcome, reason, workspace, branch, sessions FROM attempts \
               WHERE task = $1 AND number < $2 ORDER BY number DESC LIMIT 1";
    let Some(row) = tx.read().first(sql, args![task.id.to_string(), task.attempt]).await? else {
        return Ok((None, refused));
    };
    let number = row.count("number")?;
    let sessions: Vec<SessionId> = row.json("sessions")?;
    let report = reports.into_iter().rev().find(|report| report.attempt == number);
    let branch = match left_in(tx, task.id, &row, sessions.last()).await? {
        // Only the worker knows the branch of work outside a session that the hub started.
        None => row.text_or_none("branch")?.or(report.as_ref().and_then(|report| report.deliverables.branch.clone())),
        Some(workspace) => workspaces::branch_in(tx.read(), workspace).await?,
    };
    let handover = Handover {
        worker_name: row.text("worker_name")?,
        outcome: row.parsed("outcome")?,
        reason: row.text_or_none("reason")?,
        workspace: id_or_none(&row, "workspace")?,
        branch,
        session: sessions.last().copied(),
        report,
    };
    let seen = sight.by(task.project, Some(row.parsed("worker")?));
    Ok((Some(if seen { handover } else { handover.veiled() }), refused))
}

/// The reader of earlier work: the owner of the task's current worker.
pub(crate) async fn reader(tx: &mut Tx<'_>, task: &TaskRow) -> Result<Caller, StoreError> {
    let owner = match task.worker() {
        Some(worker) => rows::get(tx, worker).await?.map(|slot| slot.owner.id),
        None => None,
    };
    Ok(owner.map_or_else(|| tx.caller.clone(), sight::as_person))
}

/// Whether a refused report was judged. If the task was cancelled or taken over first, there is nothing to fix.
async fn was_judged(tx: &mut Tx<'_>, report: &Report) -> Result<bool, StoreError> {
    let sql = "SELECT outcome FROM attempts WHERE task = $1 AND number = $2";
    let row = tx.read().first(sql, args![report.task.to_string(), report.attempt]).await?;
    let outcome = row.map(|row| row.parsed("outcome")).transpose()?;
    Ok(!matches!(outcome, Some(AttemptOutcome::TakenOver | AttemptOutcome::Cancelled)))
}

/// The workspace of an attempt whose last session was started for the task. A person's session may have checked out
/// something else since.
async fn left_in(
    tx: &mut Tx<'_>,
    task: TaskId,
    attempt: &Row,
    last: Option<&SessionId>,
) -> Result<Option<WorkspaceId>, StoreError> {
    let (Some(workspace), Some(session)) = (id_or_none(attempt, "workspace")?, last) else { return Ok(None) };
    let sql = "SELECT 1 FROM sessions WHERE id = $1 AND task = $2";
    let own = tx.read().first(sql, vec![text(session), text(task)]).await?;
    Ok(own.map(|_| workspace))
}

/// The brief of a task that will be worked on in this workspace.
pub(crate) async fn brief_of(tx: &mut Tx<'_>, task: TaskId, here: WorkspaceId) -> Result<String, StoreError> {
    let task = tx.known_task(task).await?;
    let (handover, refused) = of(tx, &task).await?;
    let work = match &handover {
        Some(left) => work(tx, left, here).await?,
        None => Work::Elsewhere,
    };
    let before = before::of(tx, &task).await?;
    let comments = reviews::comments_for(tx, &task).await?;
    let before = (before.as_slice(), ground(tx, here).await?);
    let text = super::brief::brief(&task.view(), before, handover.as_ref(), work, refused.as_deref(), &comments);
    Ok(match handoff::start::for_task(tx, task.id).await? {
        Some(document) => format!("{text}\n# The handoff\n\n{document}"),
        None => text,
    })
}

/// Whether a workspace starts from the accepted work of the task's dependencies.
pub(super) async fn ground(tx: &mut Tx<'_>, here: WorkspaceId) -> Result<Ground, StoreError> {
    let row = tx.read().first("SELECT start_from FROM workspaces WHERE id = $1", vec![text(here)]).await?;
    let from = row.map(|row| json_or_none(&row, "start_from")).transpose()?.flatten();
    Ok(match from {
        Some(StartFrom::Works { .. } | StartFrom::Bundle { .. }) => Ground::Workspace,
        _ => Ground::Nowhere,
    })
}

/// Where the next worker finds an earlier worker's work.
async fn work(tx: &mut Tx<'_>, left: &Handover, here: WorkspaceId) -> Result<Work, StoreError> {
    if left.workspace == Some(here) {
        return Ok(Work::Here);
    }
    let sql = "SELECT start_from FROM workspaces WHERE id = $1";
    let row = tx.read().first(sql, vec![text(here)]).await?;
    let from = row.map(|row| json_or_none(&row, "start_from")).transpose()?.flatten();
    Ok(match from {
        Some(StartFrom::Bundle { .. }) => Work::Brought,
        _ => Work::Elsewhere,
    })
}
