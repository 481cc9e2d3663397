//! The work log: decisions about tasks and workers, with reasons.

use domain::{Action, ProjectId, TaskId, WorkerId};
use engine::workers::decision::Decision;
use protocol::{Change, WorkEntry, WorkLogPage};

use super::rows::tell;
use crate::sql::{Connection, Row, args, text};
use crate::tx::Tx;
use crate::verbs::projects;
use crate::{Caller, Store, StoreError};

/// The default and maximum number of entries.
const PAGE: (u32, u32) = (100, 500);

/// Stores a decision and announces it to those who see the project.
pub(crate) async fn decided(
    tx: &mut Tx<'_>,
    project: ProjectId,
    worker: Option<WorkerId>,
    task: Option<TaskId>,
    decision: Decision,
) -> Result<(), StoreError> {
    let row = tx.read().first("SELECT COALESCE(MAX(number), 0) AS last FROM work_log", args![]).await?;
    let (what, reason) = (decision.what(), decision.to_string());
    let number = row.map(|row| row.integer("last")).transpose()?.unwrap_or(0).cast_unsigned() + 1;
    let entry = WorkEntry { number, at: tx.now, project, worker, task, what, reason };
    let sql =
        "INSERT INTO work_log (number, at, project, worker, task, what, reason) VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let values = args![
        number,
        tx.now,
        project.to_string(),
        worker.map(|id| id.to_string()),
        task.map(|id| id.to_string()),
        what.word(),
        &entry.reason,
    ];
    tx.run(sql, values).await?;
    tell(tx, project, Change::WorkEntry { entry });
    Ok(())
}

fn entry(row: &Row) -> Result<WorkEntry, StoreError> {
    Ok(WorkEntry {
        number: row.integer("number")?.cast_unsigned(),
        at: row.time("at")?,
        project: row.parsed("project")?,
        worker: row.text_or_none("worker")?.and_then(|id| id.parse().ok()),
        task: row.text_or_none("task")?.and_then(|id| id.parse().ok()),
        what: row.parsed("what")?,
        reason: row.text("reason")?,
    })
}

/// The decisions in a project, newest first.
pub(crate) async fn of(
    c: &mut Connection<'_>,
    project: ProjectId,
    page: WorkLogPage,
) -> Result<Vec<WorkEntry>, StoreError> {
    let mut sql = "SELECT number, at, project, worker, task, what, reason FROM work_log WHERE project = $1".to_owned();
    let mut values = vec![text(project)];
    let narrowed = [("worker =", page.worker.map(text)), ("task =", page.task.map(text))];
    let before = page.before.map(|before| i64::try_from(before).unwrap_or(i64::MAX).into());
    for (condition, value) in narrowed.into_iter().chain([("number <", before)]) {
        if let Some(value) = value {
            values.push(value);
            sql.push_str(&format!(" AND {condition} ${}", values.len()));
        }
    }
    let limit = page.limit.unwrap_or(PAGE.0).clamp(1, PAGE.1);
    sql.push_str(&format!(" ORDER BY number DESC LIMIT {limit}"));
    c.all(&sql, values).await?.iter().map(entry).collect()
}

impl Store {
    /// The decisions in a project, newest first.
    pub async fn work_log(
        &self,
        caller: &Caller,
        project: ProjectId,
        page: WorkLogPage,
    ) -> Result<Vec<WorkEntry>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        projects::check(&mut c, caller, project, Action::See, "project").await?;
        of(&mut c, project, page).await
    }
}
