//! Removal of workspaces that were made to check a report, once the report is judged or dropped.

use domain::text::plain;
use domain::{ReportId, RunnerId, WorkspaceId, WorkspaceStatus};
use protocol::Workspace;
use serde::Serialize;

use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::workspaces;
use crate::{Command, Store, StoreError};

impl Store {
    /// The workspaces on a runner whose reports are judged or dropped.
    pub async fn checked_workspaces(&self, runner: RunnerId) -> Result<Vec<WorkspaceId>, StoreError> {
        let sql = "SELECT w.id FROM workspaces w JOIN reports r ON r.id = w.checks JOIN tasks t ON t.id = r.task \
                   WHERE w.runner = $1 AND w.checks IS NOT NULL AND (r.verdict <> 'pending' OR r.workspace <> w.id OR \
                   t.fence <> r.fence OR t.status NOT IN ('reported', 'validating', 'escalated')) ORDER BY w.id";
        let rows = self.readers.get().await?.borrow().all(sql, vec![text(runner)]).await?;
        rows.iter().map(|row| row.parsed("id")).collect()
    }
}

/// Tells the runners, on whichever hub they are connected, that a report needs its check workspace no longer.
pub(crate) async fn is_needless(tx: &mut Tx<'_>, report: ReportId) -> Result<(), StoreError> {
    let sql = "SELECT DISTINCT runner FROM workspaces WHERE checks = $1";
    for row in tx.read().all(sql, vec![text(report)]).await? {
        tx.desire(row.parsed("runner")?).await?;
    }
    Ok(())
}

/// Records whether a workspace for a check was removed or kept.
#[derive(Debug, Serialize)]
pub struct SweptCheck {
    /// The workspace.
    pub workspace: WorkspaceId,
    /// Why it was kept; absent if it was removed.
    pub kept: Option<String>,
}

impl Command for SweptCheck {
    type Output = ();
    const VERB: &'static str = "workspace.swept";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(before) = workspaces::get(tx.read(), self.workspace).await? else { return Ok(()) };
        tx.run("UPDATE workspaces SET checks = NULL WHERE id = $1", vec![text(self.workspace)]).await?;
        let after = match &self.kept {
            Some(why) => {
                let detail = Some(plain(&format!("kept after a check: {why}"), 2000));
                Workspace { status: WorkspaceStatus::Ready, detail, ..before }
            }
            None => workspaces::cleaned(before),
        };
        workspaces::update(tx, after).await
    }
}
