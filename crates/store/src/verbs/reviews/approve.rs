//! Approvals of a report's changes.

use domain::{Action, AnswerAct, TaskId, TaskStatus};
use engine::reviews::approvable;
use protocol::{Task, UserRef, Verb, verbs};

use super::{announce, rows, work};
use crate::sql::args;
use crate::tx::{AuditScope, Tx};
use crate::verbs::sight::seen;
use crate::verbs::work::review::{ask, judge};
use crate::{Command, StoreError};

impl Command for verbs::ReviewApprove {
    type Output = Task;
    const VERB: &'static str = verbs::ReviewApprove::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let caller = tx.caller;
        let task = tx.known_task(self.task).await?;
        tx.check(task.project, Action::Decide, "task").await?;
        let by = caller.person()?;
        let refusal =
            |why: &dyn std::fmt::Display| StoreError::Conflict(format!("{} is {}: {why}", task.named(), task.status()));
        approvable(task.status()).map_err(|why| refusal(&why))?;
        let Some(report) = work::newest(tx.read(), self.task).await? else {
            return Err(refusal(&"no report of it can be approved"));
        };
        if task.status() == TaskStatus::Done && report.tree.is_none() {
            return Err(refusal(&"no runner has seen its changes, so there is nothing to approve"));
        }
        if let (Some(seen), Some(tree)) = (&self.input.tree, &report.tree)
            && seen != tree
        {
            let why = "the work changed since you looked at it: look at the changes again, then approve them";
            return Err(StoreError::Conflict(format!("{}: {why}", task.named())));
        }
        if task.status() == TaskStatus::Escalated {
            ask::answer_all(tx, self.task, AnswerAct::Accept, "", &by).await?;
            judge::accept_last(tx, self.task, &by).await?;
        } else {
            approved(tx, self.task, &by).await?;
        }
        let after = tx.known_task(self.task).await?;
        tx.audit(Self::VERB, self.task, AuditScope::Project(after.project), format!("`{}`", after.title));
        seen(tx, &after).await
    }
}

/// Records that a person approved the newest report of a task; the first approval counts.
pub(crate) async fn approved(tx: &mut Tx<'_>, id: TaskId, by: &UserRef) -> Result<(), StoreError> {
    let Some(report) = work::newest(tx.read(), id).await? else { return Ok(()) };
    if rows::approval(tx.read(), report.id).await?.is_some() {
        return Ok(());
    }
    let task = tx.known_task(id).await?;
    let sql = "INSERT INTO review_approvals (report, task, project, tree, approved_by, approved_at) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let (report, project) = ((report.id.to_string(), report.tree), task.project.to_string());
    tx.run(sql, args![report.0, id.to_string(), project, report.1, by.id.to_string(), tx.now]).await?;
    announce(tx, &task).await
}
