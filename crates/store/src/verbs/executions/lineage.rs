//! The executions that one has taken outputs over from: what their steps left is what its steps continue.

use domain::{ExecutionId, WorkspaceId};

use crate::StoreError;
use crate::sql::{Connection, text};

/// How many rewinds of rewinds are followed.
const MOST: usize = 20;

/// An execution, the one that it rewinds, and so on.
pub(super) async fn lineage(c: &mut Connection<'_>, id: ExecutionId) -> Result<Vec<ExecutionId>, StoreError> {
    let mut all = vec![id];
    let sql = "SELECT parent FROM executions WHERE id = $1 AND parent IS NOT NULL AND parent_path IS NULL";
    while let Some(last) = all.last().copied().filter(|_| all.len() < MOST) {
        let Some(row) = c.first(sql, vec![text(last)]).await? else { break };
        all.push(row.parsed("parent")?);
    }
    Ok(all)
}

/// The shared workspace of an execution that is over, if work can go on there.
pub(super) async fn shared(c: &mut Connection<'_>, id: ExecutionId) -> Result<Option<WorkspaceId>, StoreError> {
    let sql = "SELECT w.id FROM executions e JOIN workspaces w ON w.id = e.workspace \
               WHERE e.id = $1 AND e.ended_at IS NOT NULL AND w.status = 'ready'";
    c.first(sql, vec![text(id)]).await?.map(|row| row.parsed("id")).transpose()
}
