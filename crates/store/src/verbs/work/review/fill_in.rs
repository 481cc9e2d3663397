//! Completes a report from what its runner saw; the worker's own statements stay.

use domain::{ReportId, TaskId, WorkspaceId};
use protocol::Deliverables;
use protocol::link::{ChangedFile, Changes};

use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::branch_of;

/// The maximum number of files in a report.
const FILES: usize = 500;
/// The maximum number of commits in a report.
const COMMITS: usize = 100;

/// Completes a report; `true` if the agent ended without a message.
pub(super) async fn fill_in(tx: &mut Tx<'_>, report: ReportId, changes: Option<&Changes>) -> Result<bool, StoreError> {
    let sql = "SELECT r.task, r.attempt, r.deliverables, r.collected, r.silent, r.workspace, w.checks, \
               a.branch FROM reports r LEFT JOIN workspaces w ON w.id = r.workspace \
               LEFT JOIN attempts a ON a.task = r.task AND a.number = r.attempt WHERE r.id = $1";
    let Some(row) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(false) };
    let collected = row.flag("collected")?;
    if let Some(changes) = changes {
        let (task, workspace): (TaskId, Option<WorkspaceId>) = (row.parsed("task")?, id_or_none(&row, "workspace")?);
        let before = match workspace {
            Some(workspace) => earlier(tx, task, workspace).await?,
            None => None,
        };
        let mut made: Deliverables = row.json("deliverables")?;
        if collected || made.files.is_empty() {
            made.files = files(changes, before.as_ref());
        }
        if collected || made.commits.is_empty() {
            (made.commits, made.more_commits) = commits(changes, before.as_ref());
        }
        // A workspace made to check a branch has that branch checked out under another name.
        if row.text_or_none("checks")?.is_none() {
            if collected || made.branch.is_none() {
                made.branch = branch_of(changes.checked_out.clone(), made.branch.or(row.text_or_none("branch")?));
            }
            let sql = "UPDATE attempts SET branch = $1 WHERE task = $2 AND number = $3";
            tx.run(sql, args![made.branch.clone(), task.to_string(), row.count("attempt")?]).await?;
        }
        let sql = "UPDATE reports SET deliverables = $1 WHERE id = $2";
        tx.run(sql, args![to_json(&made), report.to_string()]).await?;
    }
    row.flag("silent")
}

/// The changes of an earlier task in the same workspace. A worker in a person's session does all its tasks in one
/// workspace; a workspace made for the task contains nothing else.
async fn earlier(tx: &mut Tx<'_>, task: TaskId, workspace: WorkspaceId) -> Result<Option<Changes>, StoreError> {
    let sql = "SELECT 1 FROM sessions WHERE workspace = $1 AND task IS NULL";
    if tx.read().first(sql, vec![text(workspace)]).await?.is_none() {
        return Ok(None);
    }
    let sql = "SELECT changes FROM reports WHERE project = (SELECT project FROM tasks WHERE id = $1) AND task <> $1 AND \
               workspace = $2 AND changes IS NOT NULL ORDER BY at DESC, id DESC LIMIT 1";
    tx.read().first(sql, vec![text(task), text(workspace)]).await?.map(|row| row.json("changes")).transpose()
}

/// The files changed since `before`.
fn files(changes: &Changes, before: Option<&Changes>) -> Vec<String> {
    let same = |file: &ChangedFile, known: &ChangedFile| known.path == file.path && known.content == file.content;
    let known = |file: &ChangedFile| before.is_some_and(|before| before.files.iter().any(|known| same(file, known)));
    changes.files.iter().filter(|file| !known(file)).take(FILES).map(|file| file.path.clone()).collect()
}

/// The newest commits since `before`, and the number of older ones.
fn commits(changes: &Changes, before: Option<&Changes>) -> (Vec<String>, u32) {
    let Changes { base, head, commits, more_commits, .. } = changes;
    if before.is_some_and(|before| before.head == *head) {
        return (Vec::new(), 0);
    }
    if commits.is_empty() {
        // An older runner names only the head commit.
        let committed = !head.is_empty() && head != base;
        return (committed.then(|| head.clone()).into_iter().collect(), 0);
    }
    let known = before.and_then(|before| commits.iter().position(|commit| *commit == before.head));
    let (new, more) = match known {
        Some(at) => (&commits[at + 1..], 0),
        None => (commits.as_slice(), *more_commits),
    };
    let (older, newest) = new.split_at(new.len().saturating_sub(COMMITS));
    (newest.to_vec(), more.saturating_add(u32::try_from(older.len()).unwrap_or(u32::MAX)))
}
