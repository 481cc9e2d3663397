//! The work under review: its newest report, and the workspace that has it.

use domain::{Action, ReportId, Resource, RunnerId, TaskId, UserId, WorkspaceId};
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

impl Store {
    /// Where the changes of a task are: the runner, the workspace, and the tree to show instead of its current state.
    pub async fn changes_of(
        &self,
        caller: &Caller,
        task: TaskId,
    ) -> Result<(RunnerId, WorkspaceId, Option<String>), StoreError> {
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
        Ok((found.runner, found.id, tree))
    }
}
