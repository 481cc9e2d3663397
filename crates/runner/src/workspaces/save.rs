//! Saves uncommitted work, and reports changes.

use domain::{Timestamp, WorkspaceId};
use protocol::link::FactBody;
use protocol::{CheckedOut, GitStats};

use super::Workspaces;
use crate::clock::now;
use crate::journal::{Change, WorkspaceRow};
use crate::sessions::Order;

impl Workspaces {
    /// Saves a workspace and reports news about it. A missing workspace needs no saving.
    pub(crate) async fn save(&self, workspace: WorkspaceId) -> Result<(), worktree::Error> {
        let saved = match self.worktrees.save(workspace).await {
            Err(worktree::Error::NoWorkspace(_)) => return Ok(()),
            saved => saved?,
        };
        for left in &saved.left_out {
            tracing::warn!(%workspace, path = left.path, why = left.why, "could not save a file");
        }
        let counted = self.worktrees.stats(workspace).await?;
        self.counted(workspace, &counted).await;
        Ok(())
    }

    /// Reports a workspace's changes, if they are new.
    pub(crate) async fn counted(&self, workspace: WorkspaceId, counted: &worktree::GitStats) {
        let before = self.change(workspace, |row| {
            row.stats = Some(told(counted));
            row.saved_at = counted.saved_at.or(row.saved_at);
            row.head = counted.head.clone();
            row.used_at = now();
        });
        let Some(before) = before.await else { return };
        self.describe(workspace, before.project);
        if before.head.is_some() && before.head != counted.head && counted.ahead > 0 {
            let head: String = counted.head.iter().flat_map(|head| head.chars().take(10)).collect();
            for session in self.occupants.sessions.in_workspace(workspace) {
                self.occupants.sessions.order(session, Order::Committed(head.clone()));
            }
        }
    }

    /// Reports that a workspace was saved.
    pub(crate) async fn saved(&self, workspace: WorkspaceId, at: Timestamp) {
        self.change(workspace, |row| row.saved_at = Some(at)).await;
    }

    /// Measures a workspace and reports its disk usage; `None` if it does not exist.
    pub(crate) async fn measure(&self, workspace: WorkspaceId) -> Option<u64> {
        let bytes = self.worktrees.disk_usage(workspace).await.ok()?;
        self.change(workspace, |row| row.disk_bytes = Some(bytes)).await;
        Some(bytes)
    }

    /// Stores that a workspace is used again, even if nothing in it changes.
    pub(super) async fn used(&self, workspace: WorkspaceId) {
        let _alone = self.counting.lock().await;
        let known = self.journal.workspace(workspace).await.ok().flatten();
        if let Some(row) = known.filter(|row| !row.cleaned) {
            let row = WorkspaceRow { used_at: now(), ..row };
            self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
        }
    }

    /// Changes a workspace's stored state, and reports what is new; returns the state before.
    async fn change(&self, workspace: WorkspaceId, change: impl FnOnce(&mut WorkspaceRow)) -> Option<WorkspaceRow> {
        let _alone = self.counting.lock().await;
        let before = self.journal.workspace(workspace).await.ok().flatten().filter(|row| !row.cleaned)?;
        let mut row = before.clone();
        change(&mut row);
        let shown = |row: &WorkspaceRow| (row.stats.clone(), row.disk_bytes, row.saved_at);
        if shown(&row) != shown(&before) {
            let (stats, disk_bytes, saved_at) = shown(&row);
            let fact = FactBody::WorkspaceStats { workspace, stats, disk_bytes, saved_at };
            self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[fact]).await;
        } else if row.head != before.head {
            self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
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
        head: counted.head.clone(),
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
