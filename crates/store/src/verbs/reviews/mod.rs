//! Reviews of the changes of tasks and workspaces: comments on lines, approvals, and the way back to the agent.

mod approve;
mod comment;
mod letter;
mod rows;
mod send_back;
mod send_workspace;
mod subject;
mod work;

pub(crate) use approve::approved;
pub use send_back::SentBack;
pub(crate) use send_back::{comments_for, sent_with_answer};
pub use send_workspace::SentToSession;
pub use work::{ChangesFrom, ChangesOf};

use domain::{Action, ProjectId, TaskId, ThreadStatus, WorkspaceId};
use protocol::{Change, Review, ReviewLine, ReviewOf, Workspace};

use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::sight::Sight;
use crate::verbs::work::tasks::row::{self, TaskRow};
use crate::verbs::work::workers::rows::tell;
use crate::{Caller, Store, StoreError};

/// The threads on something, in numbers.
async fn numbers(tx: &mut Tx<'_>, project: ProjectId, of: ReviewOf) -> Result<ReviewLine, StoreError> {
    let (column, id) = subject::column(of);
    let sql = format!("SELECT status, COUNT(*) AS total FROM review_threads WHERE {column} = $1 GROUP BY status");
    let counts = tx.read().all(&sql, vec![text(id)]).await?;
    let mut line = ReviewLine { project, of, open: 0, sent: 0, resolved: 0, approved: false };
    for row in &counts {
        let total = row.count("total")?;
        match row.parsed("status")? {
            ThreadStatus::Open => line.open = total,
            ThreadStatus::Sent => line.sent = total,
            ThreadStatus::Resolved => line.resolved = total,
        }
    }
    Ok(line)
}

/// Announces the review of a task, in numbers.
async fn announce(tx: &mut Tx<'_>, task: &TaskRow) -> Result<(), StoreError> {
    let mut line = numbers(tx, task.project, ReviewOf::Task { task: task.id }).await?;
    let report = work::newest(tx.read(), task.id).await?;
    line.approved = match report {
        Some(report) => rows::approval(tx.read(), report.id).await?.is_some(),
        None => false,
    };
    tell(tx, task.project, Change::Review { review: line });
    Ok(())
}

/// Announces the review of a workspace, in numbers, to those who may see it.
async fn announce_workspace(tx: &mut Tx<'_>, workspace: &Workspace) -> Result<(), StoreError> {
    let review = numbers(tx, workspace.project, ReviewOf::Workspace { workspace: workspace.id }).await?;
    tx.announce_execution(workspace.project, workspace.owner.id, Change::Review { review });
    Ok(())
}

impl Store {
    /// The review of a task: without quotes of work that the caller may not see.
    pub async fn review(&self, caller: &Caller, task: TaskId) -> Result<Review, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let found = c.first(&format!("{} WHERE t.id = $1", row::COLUMNS), vec![text(task)]).await?;
        let project = TaskRow::read(&found.ok_or(StoreError::NotFound("task"))?)?.project;
        let facts = projects::check(&mut c, caller, project, Action::See, "task").await?;
        let sight = Sight::on(&mut c, caller, facts).await?;
        let of = ReviewOf::Task { task };
        let threads = rows::on(&mut c, of, None).await?;
        let threads = threads.into_iter().map(|found| found.seen(&sight)).collect();
        let report = work::newest(&mut c, task).await?;
        let approval = match &report {
            Some(report) => rows::approval(&mut c, report.id).await?,
            None => None,
        };
        let (report, tree) = report.map_or((None, None), |report| (Some(report.id), report.tree));
        Ok(Review { of, threads, approval, report, tree })
    }

    /// The review of a workspace that the caller may see.
    pub async fn workspace_review(&self, caller: &Caller, id: WorkspaceId) -> Result<Review, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        subject::visible(&mut c, caller, id, "workspace").await?;
        let of = ReviewOf::Workspace { workspace: id };
        let threads = rows::on(&mut c, of, None).await?.into_iter().map(|found| found.view).collect();
        Ok(Review { of, threads, approval: None, report: None, tree: None })
    }
}
