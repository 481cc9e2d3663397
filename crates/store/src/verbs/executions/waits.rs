//! Why work that has begun does not get on: its branch or its task needs a person.

use domain::{LandingId, TaskId};

use super::work::WorkRow;
use crate::StoreError;
use crate::sql::{Connection, text};

/// Adds the reasons to the work of an execution.
pub(super) async fn explain(c: &mut Connection<'_>, work: &mut [WorkRow]) -> Result<(), StoreError> {
    for one in work.iter_mut().filter(|one| one.state == "running" && one.reason.is_none()) {
        one.reason = match (one.landing, &one.tasks[..]) {
            (Some(landing), _) => of_landing(c, landing).await?,
            (None, tasks) => of_tasks(c, tasks).await?,
        };
    }
    Ok(())
}

async fn of_landing(c: &mut Connection<'_>, landing: LandingId) -> Result<Option<String>, StoreError> {
    let sql = "SELECT c.reason FROM landings l JOIN merge_candidates c ON c.id = l.candidate \
               WHERE l.id = $1 AND c.state = 'needs_person'";
    let row = c.first(sql, vec![text(landing)]).await?;
    let why = row.map(|row| row.text_or_none("reason")).transpose()?.flatten();
    Ok(why.map(|why| format!("in the merge queue: {why}")))
}

async fn of_tasks(c: &mut Connection<'_>, tasks: &[TaskId]) -> Result<Option<String>, StoreError> {
    for task in tasks {
        let sql = "SELECT title FROM tasks WHERE id = $1 AND status = 'escalated'";
        if let Some(row) = c.first(sql, vec![text(*task)]).await? {
            return Ok(Some(format!("the task `{}` needs a person: answer its question", row.text("title")?)));
        }
    }
    Ok(None)
}
