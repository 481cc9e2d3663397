//! The fresh session of a handoff: in the same workspace, or in a new one with the work of the old one.

use domain::{Action, SessionId};
use engine::handoff::{Brief, brief};
use protocol::link::{AskedFor, StartFrom};
use protocol::{Sandbox, Session, Workspace, WrittenBy};

use super::rows::{COLUMNS, HandoffRow, read};
use crate::sql::{Row, text};
use crate::tx::Tx;
use crate::verbs::approvals::others_in_sandbox;
use crate::verbs::sessions::spawn::{self, Plan, Start, make_workspace};
use crate::verbs::sessions::{self, sandbox_of};
use crate::verbs::work::workers::handed;
use crate::verbs::workspaces::{self, json_or_none};
use crate::verbs::{activities, projects};
use crate::{Caller, StoreError};

/// The owner of the fresh session, as the caller for it.
fn receiver(row: &HandoffRow) -> Caller {
    Caller::user(row.view.to.id, false, &row.view.to.name, "handoff")
}

/// The prompt, or the part of a task's brief, with the sealed document.
fn words(row: &HandoffRow) -> Option<String> {
    let (document, hash) = (row.document.as_deref()?, row.view.hash.as_deref()?);
    Some(brief(&Brief {
        handoff: row.view.id,
        session: row.view.session,
        by: &row.view.asked_by.name,
        goal: &row.view.goal,
        document,
        hash,
        brought: row.view.runner != row.view.to_runner,
        takes_over: row.view.takes_over,
    }))
}

/// The document for the brief of a task that is being handed off.
pub(crate) async fn for_task(tx: &mut Tx<'_>, task: domain::TaskId) -> Result<Option<String>, StoreError> {
    let sql = format!("{COLUMNS} WHERE h.task = $1 AND h.status = 'running' ORDER BY h.id DESC LIMIT 1");
    let found = tx.read().first(&sql, vec![text(task)]).await?.as_ref().map(read).transpose()?;
    Ok(found.and_then(|row| words(&row)))
}

/// Whether the session still holds its task.
pub(super) async fn holds_task(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<bool, StoreError> {
    let Some(task) = row.view.task else { return Ok(false) };
    let found = tx.task(task).await?;
    Ok(found.is_some_and(|task| task.session() == Some(row.view.session) && task.is_worked_on()))
}

/// Gives the session's task to a next session of the same person, which waits until the old one has ended.
pub(super) async fn task_session(
    tx: &mut Tx<'_>,
    row: &HandoffRow,
    connected: &[domain::RunnerId],
) -> Result<Session, StoreError> {
    let Some(task) = row.view.task else { return Err(StoreError::NotFound("task")) };
    let (caller, to) = (receiver(row), row.view.to_runner);
    let agent = row.view.agent.clone();
    handed::hand_on(&mut tx.acting(&caller), task, handed::To { runner: to, agent, connected }).await
}

/// The fresh session, if it was started and lives. A task that was handed on may have a later session.
pub(super) async fn live_successor(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<Option<SessionId>, StoreError> {
    let mut found = row.view.successor;
    if let Some(task) = row.view.task {
        let current = tx.task(task).await?.and_then(|task| task.session());
        found = current.filter(|current| *current != row.view.session).or(found);
    }
    let Some(id) = found else { return Ok(None) };
    let session = sessions::get(tx.read(), id).await?;
    Ok(session.filter(|(session, _)| !session.state.ended()).map(|(session, _)| session.id))
}

/// Starts the fresh session.
pub(super) async fn session(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<Session, StoreError> {
    let gone = || StoreError::Conflict("the session or its workspace was deleted: nothing is left to continue".into());
    let (before, stored) = sessions::get(tx.read(), row.view.session).await?.ok_or_else(gone)?;
    let old = workspaces::get(tx.read(), row.view.workspace).await?.ok_or_else(gone)?;
    let hub = Caller::hub("handoff");
    let activity = activities::find(tx.read(), &hub, row.view.activity, Action::See).await?;
    let facts = projects::facts_of(tx.read(), row.view.project).await?.ok_or(StoreError::NotFound("project"))?;
    let caller = receiver(row);
    caller.may(Action::Write, domain::Resource::Project(&facts), "project")?;
    let prompt = words(row).ok_or_else(|| StoreError::Conflict("the handoff has no document: retry `save`".into()))?;
    let asked_by = asked_by(row);
    let contained = others_in_sandbox(tx, row.view.to_runner, row.view.project, asked_by.as_ref()).await?;
    let sandbox = Sandbox::both(json_or_none(&stored, "sandbox")?.as_ref(), contained.as_ref());
    if row.view.runner == row.view.to_runner {
        workspaces::usable(&old)?;
        if sandbox.is_some() {
            sessions::refuse_beside_uncontained(tx.read(), old.id).await?;
        }
    }
    // No refusals below this line.
    let place = match row.view.runner == row.view.to_runner {
        true => old,
        false => brought(tx, row, &activity, old).await?,
    };
    let plan = plan(row, &before, &stored, (prompt, sandbox, asked_by))?;
    spawn::add(&mut tx.acting(&caller), plan, &activity, &place).await
}

/// Who is responsible for the prompt, if it is not the owner of the fresh session as a person.
fn asked_by(row: &HandoffRow) -> Option<WrittenBy> {
    let by = WrittenBy { user: row.view.asked_by.clone(), agent: None, by_agent: row.by_agent };
    Some(by).filter(|by| by.by_agent || by.user.id != row.view.to.id)
}

/// A workspace on the other runner, with everything from the old one.
async fn brought(
    tx: &mut Tx<'_>,
    row: &HandoffRow,
    activity: &protocol::Activity,
    old: Workspace,
) -> Result<Workspace, StoreError> {
    let sql = "SELECT repository, code_by FROM workspaces WHERE id = $1";
    let stored = tx.read().first(sql, vec![text(old.id)]).await?.ok_or(StoreError::NotFound("workspace"))?;
    let code_by = crate::verbs::work::tasks::row::id_or_none(&stored, "code_by")?;
    let contained = sandbox_of(tx.read(), old.id).await?;
    let from = row.bundle.clone().map(|bundle| StartFrom::Bundle { bundle, contained });
    let start = Start {
        after: Some(row.view.title.clone()),
        base: old.base.clone(),
        from,
        code_by: domain::trust::brought(old.owner.id, code_by, row.view.to.id),
        ..Start::default()
    };
    let repository = json_or_none(&stored, "repository")?;
    make_workspace(tx, activity, &row.view.to, row.view.to_runner, repository, start).await
}

fn plan(
    row: &HandoffRow,
    before: &Session,
    stored: &Row,
    (prompt, sandbox, asked_by): (String, Option<Sandbox>, Option<WrittenBy>),
) -> Result<Plan, StoreError> {
    let same = row.view.agent == before.agent;
    Ok(Plan {
        agent: row.view.agent.clone(),
        mode: before.mode,
        model: row.model.clone(),
        title: before.title.clone(),
        prompt,
        argv: if same { stored.json("argv")? } else { Vec::new() },
        sandbox,
        asked_for: asked_by.as_ref().map(|_| AskedFor::default()),
        asked_by,
        record_input: stored.flag("record_input")?,
        cols: u16::try_from(stored.count("cols")?).unwrap_or(120),
        rows: u16::try_from(stored.count("rows_high")?).unwrap_or(32),
        conversation: None,
        resumes: None,
        task: None,
        worker: None,
    })
}
