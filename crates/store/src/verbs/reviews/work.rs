//! The work under review: its newest report, and the workspace that has it.

use domain::{Action, ReportId, Resource, RunnerId, TaskId, UserId, WorkspaceId, WorkspaceStatus};
use protocol::Workspace;
use protocol::link::Changes;

use crate::sql::{Connection, text};
use crate::verbs::projects;
use crate::verbs::work::tasks::row::{self, TaskRow, id_or_none};
use crate::verbs::workspaces::{self, json_or_none};
use crate::{Caller, Store, StoreError};

/// A report that was not refused.
pub(super) struct Reviewed {
    pub(super) id: ReportId,
    /// The tree of its changes, if a runner reported them.
    pub(super) tree: Option<String>,
    workspace: Option<WorkspaceId>,
}

/// The newest report of a task that waits for a verdict or was accepted.
pub(super) async fn newest(c: &mut Connection<'_>, task: TaskId) -> Result<Option<Reviewed>, StoreError> {
    let sql = "SELECT id, changes, workspace FROM reports WHERE task = $1 AND verdict IN ('pending', 'accepted') \
               ORDER BY at DESC, id DESC LIMIT 1";
    let Some(row) = c.first(sql, vec![text(task)]).await? else { return Ok(None) };
    let changes: Option<Changes> = json_or_none(&row, "changes")?;
    let tree = changes.map(|changes| changes.tree).filter(|tree| !tree.is_empty());
    Ok(Some(Reviewed { id: row.parsed("id")?, tree, workspace: id_or_none(&row, "workspace")? }))
}

/// The workspace with the changes of a task, and the tree to show: the report's, unless a worker is changing it.
async fn place(c: &mut Connection<'_>, task: &TaskRow) -> Result<(Option<WorkspaceId>, Option<String>), StoreError> {
    let working = task.is_worked_on() && task.session().is_some();
    let report = if working { None } else { newest(c, task.id).await? };
    Ok(match report {
        Some(report) => (report.workspace.or(task.workspace), report.tree),
        None => (task.workspace, None),
    })
}

/// The owner of the work under review.
pub(super) async fn owner(c: &mut Connection<'_>, task: &TaskRow) -> Result<Option<UserId>, StoreError> {
    let Some(id) = place(c, task).await?.0 else { return Ok(None) };
    Ok(workspaces::get(c, id).await?.map(|found| found.owner.id))
}

/// Where the changes of a task are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangesOf {
    /// The runner that has them.
    pub runner: RunnerId,
    /// What to ask it.
    pub from: ChangesFrom,
}

/// The source of a task's changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangesFrom {
    /// Its workspace.
    Workspace {
        /// The workspace.
        workspace: WorkspaceId,
        /// The tree to show instead of its current state.
        tree: Option<String>,
    },
    /// The work that the runner kept when it checked the report: the workspace was deleted.
    Kept {
        /// The report.
        report: ReportId,
        /// The repository, as the project names it.
        location: String,
        /// The commit to compare with.
        base: String,
    },
}

/// The kept work of a task whose workspace was deleted.
async fn kept(c: &mut Connection<'_>, task: TaskId, place: &Workspace) -> Result<Option<ChangesFrom>, StoreError> {
    if place.status != WorkspaceStatus::Cleaned {
        return Ok(None);
    }
    let sql = "SELECT id, changes FROM reports WHERE task = $1 AND workspace = $2 AND kept IS NOT NULL AND \
               verdict IN ('pending', 'accepted') ORDER BY at DESC, id DESC LIMIT 1";
    let Some(row) = c.first(sql, vec![text(task), text(place.id)]).await? else { return Ok(None) };
    let changes: Option<Changes> = json_or_none(&row, "changes")?;
    Ok(match (changes, place.repository.clone()) {
        (Some(Changes { base, .. }), Some(location)) if !base.is_empty() => {
            Some(ChangesFrom::Kept { report: row.parsed("id")?, location, base })
        }
        _ => None,
    })
}

impl Store {
    /// Where the changes of a task are.
    pub async fn changes_of(&self, caller: &Caller, task: TaskId) -> Result<ChangesOf, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let found = c.first(&format!("{} WHERE t.id = $1", row::COLUMNS), vec![text(task)]).await?;
        let task = TaskRow::read(&found.ok_or(StoreError::NotFound("task"))?)?;
        let facts = projects::check(&mut c, caller, task.project, Action::See, "task").await?;
        let (id, tree) = place(&mut c, &task).await?;
        let found = match id {
            Some(id) => workspaces::get(&mut c, id).await?,
            None => None,
        };
        let Some(found) = found else {
            caller.may(Action::SeeExecution, Resource::Project(&facts), "task")?;
            return Err(StoreError::Conflict(format!(
                "{} has no workspace: there are no changes to show",
                task.named()
            )));
        };
        let work = Resource::Execution { project: &facts, owner: found.owner.id };
        caller.may(Action::SeeExecution, work, "task")?;
        let from = match kept(&mut c, task.id, &found).await? {
            Some(kept) => kept,
            None => ChangesFrom::Workspace { workspace: found.id, tree },
        };
        Ok(ChangesOf { runner: found.runner, from })
    }
}
