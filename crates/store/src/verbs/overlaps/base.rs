//! Conflicts of work with its base branch, which its runner finds when it counts the changes.

use domain::{ActivityId, ActivityStatus, WorkspaceId, WorkspaceStatus};
use engine::overlaps::with_base;
use protocol::GitStats;

use super::compare::shown;
use super::rows::{self, Against};
use crate::StoreError;
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::workspaces::json_or_none;

/// The changes in a workspace were counted, or are over: keeps whether they conflict with the base branch.
pub(crate) async fn counted(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    let sql = "SELECT w.base, w.status, w.stats, a.status AS activity_status FROM workspaces w \
               JOIN activities a ON a.id = w.activity WHERE w.id = $1";
    let Some(row) = tx.read().first(sql, vec![text(workspace)]).await? else { return Ok(()) };
    let stats: Option<GitStats> = json_or_none(&row, "stats")?;
    let activity: ActivityStatus = row.parsed("activity_status")?;
    let status: WorkspaceStatus = row.parsed("status")?;
    let ended = matches!(activity, ActivityStatus::Completed | ActivityStatus::Abandoned);
    let over = ended || status == WorkspaceStatus::Cleaned;
    let found = shown(with_base(over, &stats.unwrap_or_default().conflicts));
    let known = rows::with_base(tx.read(), workspace).await?;
    match found {
        Some(places) => {
            let base = row.text_or_none("base")?.unwrap_or_else(|| "the base branch".to_owned());
            rows::keep(tx, workspace, Against::Base(base), known.as_ref(), places).await
        }
        None => match known.filter(|row| row.ended_at.is_none()) {
            Some(row) => rows::end(tx, row.id).await,
            None => Ok(()),
        },
    }
}

/// The status of an activity changed: nobody merges the work of one that is over.
pub(super) async fn turned(tx: &mut Tx<'_>, activity: ActivityId) -> Result<(), StoreError> {
    let sql = "SELECT id FROM workspaces WHERE activity = $1 AND status <> 'cleaned' ORDER BY id";
    for row in tx.read().all(sql, vec![text(activity)]).await? {
        counted(tx, row.parsed("id")?).await?;
    }
    Ok(())
}
