//! Saves what is not committed, and tells the hub what differs when that has changed.

use std::sync::Arc;

use domain::WorkspaceId;
use protocol::GitStats;
use protocol::link::FactBody;

use super::Workspaces;
use crate::floor::Floor;
use crate::journal::Change;

impl Workspaces {
    /// Saves a workspace and tells what is new about it. What is not there needs no saving.
    pub(crate) async fn save(&self, floor: &Arc<Floor>, workspace: WorkspaceId) -> Result<(), worktree::Error> {
        let saved = match self.worktrees.save(workspace).await {
            Err(worktree::Error::NoWorkspace(_)) => return Ok(()),
            saved => saved?,
        };
        for left in &saved.left_out {
            tracing::warn!(%workspace, path = left.path, why = left.why, "a file could not be saved");
        }
        self.publish(floor, workspace).await
    }

    /// Tells the hub what differs in a workspace, if that is new.
    pub(crate) async fn publish(&self, floor: &Arc<Floor>, workspace: WorkspaceId) -> Result<(), worktree::Error> {
        let counted = self.worktrees.stats(workspace).await?;
        let Ok(Some(mut row)) = floor.journal.workspace(workspace).await else { return Ok(()) };
        let stats = Some(told(&counted));
        if row.stats == stats && row.saved_at == counted.saved_at {
            return Ok(());
        }
        row.stats = stats.clone();
        row.saved_at = counted.saved_at;
        let fact = FactBody::WorkspaceStats { workspace, stats, disk_bytes: row.disk_bytes, saved_at: row.saved_at };
        floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[fact]).await;
        Ok(())
    }
}

fn told(counted: &worktree::GitStats) -> GitStats {
    GitStats {
        ahead: counted.ahead,
        behind: counted.behind,
        files: counted.files,
        insertions: counted.insertions,
        deletions: counted.deletions,
        untracked: counted.untracked,
        uncommitted: counted.uncommitted,
        unpushed: counted.unpushed,
        conflicts: counted.conflict_with_base.clone().unwrap_or_default(),
    }
}
