//! Handoffs that begin by themselves, because the worker of the session is set so.

use domain::{HandoffId, HandoffStatus, HandoffStep, TaskId};
use engine::handoff::{Cost, Due, Earlier, due, reads, writes};
use protocol::{Handoff, Session, Usage};

use super::announce;
use super::begin::{Asked, WAIT, add};
use crate::StoreError;
use crate::sql::args;
use crate::tx::{AuditScope, Tx};

/// Begins a handoff if the session's cost has passed the limit of its worker. Whether it did.
pub(crate) async fn look(
    tx: &mut Tx<'_>,
    before: &Session,
    now: &Usage,
    (limit, task): (Option<u64>, TaskId),
) -> Result<bool, StoreError> {
    let cost = Cost { before: before.usage.cost_micros, now: now.cost_micros };
    if due(limit, cost, Earlier::default()).is_none() {
        return Ok(false);
    }
    let earlier = earlier(tx, before, task).await?;
    let Some(due) = due(limit, cost, earlier) else { return Ok(false) };
    begin(tx, before, task, due).await.map(|()| true)
}

async fn earlier(tx: &mut Tx<'_>, session: &Session, task: TaskId) -> Result<Earlier, StoreError> {
    let sql = "SELECT COALESCE(SUM(CASE WHEN session = $1 THEN 1 ELSE 0 END), 0) AS of_session, \
               COALESCE(SUM(CASE WHEN task = $2 AND by_itself IS NOT NULL THEN 1 ELSE 0 END), 0) AS of_task \
               FROM handoffs WHERE session = $1 OR task = $2";
    let row = tx.read().first(sql, args![session.id.to_string(), task.to_string()]).await?;
    let Some(row) = row else { return Ok(Earlier::default()) };
    Ok(Earlier { of_session: row.count("of_session")?, of_task: row.count("of_task")? })
}

async fn begin(tx: &mut Tx<'_>, session: &Session, task: TaskId, due: Due) -> Result<(), StoreError> {
    let made = Handoff {
        id: HandoffId::generate(),
        project: session.project,
        activity: session.activity,
        session: session.id,
        title: session.title.clone(),
        workspace: session.workspace,
        runner: session.runner,
        owner: session.owner.clone(),
        task: Some(task),
        to_runner: session.runner,
        to: session.owner.clone(),
        writes: writes(&session.agent, session.mode),
        reads: reads(&session.agent),
        takes_over: false,
        agent: session.agent.clone(),
        goal: String::new(),
        edit: false,
        push: false,
        status: HandoffStatus::Running,
        step: HandoffStep::Write,
        detail: None,
        steps: Vec::new(),
        hash: None,
        saved: None,
        branch: None,
        successor: None,
        by_itself: Some(due.to_string()),
        asked_by: session.owner.clone(),
        created_at: tx.now,
        updated_at: tx.now,
    };
    let asked = Asked { model: session.model.clone(), role: None, wait_seconds: WAIT.0, by_agent: false };
    add(tx, &made, asked).await?;
    let detail = format!("`{}` hands itself off: {due}", made.title);
    tx.audit("handoff.by_itself", made.id, AuditScope::Project(made.project), detail);
    announce(tx, made);
    Ok(())
}
