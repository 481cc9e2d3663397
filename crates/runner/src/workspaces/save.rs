//! Saves uncommitted work, and reports changes.

use std::sync::Arc;

use domain::{Timestamp, WorkspaceId};
use protocol::link::FactBody;
use protocol::{CheckedOut, GitStats};

use super::Workspaces;
use crate::clock::now;
use crate::floor::Floor;
use crate::journal::{Change, WorkspaceRow};
use crate::sessions::Order;

impl Workspaces {
    /// Saves a workspace and reports news about it. A missing workspace needs no saving.
    pub(crate) async fn save(&self, floor: &Arc<Floor>, workspace: WorkspaceId) -> Result<(), worktree::Error> {
        let saved = match self.worktrees.save(workspace).await {
            Err(worktree::Error::NoWorkspace(_)) => return Ok(()),
            saved => saved?,
        };
        for left in &saved.left_out {
            tracing::warn!(%workspace, path = left.path, why = left.why, "could not save a file");
        }
        let counted = self.worktrees.stats(workspace).await?;
        self.counted(floor, workspace, &counted).await;
        Ok(())
    }

    /// Reports a workspace's changes, if they are new.
    pub(crate) async fn counted(&self, floor: &Arc<Floor>, workspace: WorkspaceId, counted: &worktree::GitStats) {
        let before = self.change(floor, workspace, |row| {
            row.stats = Some(told(counted));
            row.saved_at = counted.saved_at.or(row.saved_at);
            row.head = counted.head.clone();
            row.used_at = now();
        });
        let Some(before) = before.await else { return };
        if before.head.is_some() && before.head != counted.head && counted.ahead > 0 {
            let head: String = counted.head.iter().flat_map(|head| head.chars().take(10)).collect();
            for session in floor.sessions.in_workspace(workspace) {
                floor.sessions.order(session, Order::Committed(head.clone()));
            }
        }
    }

    /// Reports that a workspace was saved.
    pub(crate) async fn saved(&self, floor: &Arc<Floor>, workspace: WorkspaceId, at: Timestamp) {
        self.change(floor, workspace, |row| row.saved_at = Some(at)).await;
    }

    /// Reports a workspace's disk usage.
    pub(crate) async fn measured(&self, floor: &Arc<Floor>, workspace: WorkspaceId, bytes: u64) {
        self.change(floor, workspace, |row| row.disk_bytes = Some(bytes)).await;
    }

    /// Stores that a workspace is used again, even if nothing in it changes.
    pub(super) async fn used(&self, floor: &Arc<Floor>, workspace: WorkspaceId) {
        let _alone = self.counting.lock().await;
        let known = floor.journal.workspace(workspace).await.ok().flatten();
        if let Some(row) = known.filter(|row| !row.cleaned) {
            let row = WorkspaceRow { used_at: now(), ..row };
            floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
        }
    }

    /// Changes a workspace's stored state, and reports what is new; returns the state before.
    async fn change(
        &self,
        floor: &Arc<Floor>,
        workspace: WorkspaceId,
        change: impl FnOnce(&mut WorkspaceRow),
    ) -> Option<WorkspaceRow> {
        let _alone = self.counting.lock().await;
        let before = floor.journal.workspace(workspace).await.ok().flatten().filter(|row| !row.cleaned)?;
        let mut row = before.clone();
        change(&mut row);
        let shown = |row: &WorkspaceRow| (row.stats.clone(), row.disk_bytes, row.saved_at);
        if shown(&row) != shown(&before) {
            let (stats, disk_bytes, saved_at) = shown(&row);
            let fact = FactBody::WorkspaceStats { workspace, stats, disk_bytes, saved_at };
            floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[fact]).await;
        } else if row.head != before.head {
            floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
        }
        Some(before)
    }
}

/// What is checked out; `None` without a repository, or if its `.git` cannot be read.
pub(crate) fn checked_out(branch: Option<&str>, head: Option<&str>) -> Option<CheckedOut> {
    let on = branch.map(|name| CheckedOut::Branch { name: name.to_owned() });
    on.or(head.map(|_| CheckedOut::Commit {}))
}

fn told(counted: &worktree::GitStats) -> GitStats {
    GitStats {
        checked_out: checked_out(counted.branch.as_deref(), counted.head.as_deref()),
        ahead: counted.ahead,
        behind: counted.behind,
        files: counted.files,
        insertions: counted.insertions,
        deletions: counted.deletions,
        untracked: counted.untracked,
        uncommitted: counted.uncommitted,
        unpushed: counted.unpushed,
        conflicts: counted.conflict_with_base.iter().flatten().take(100).cloned().collect(),
    }
}
