//! The workspaces of this runner: made once, set up once, saved and counted while somebody works in them.

mod make;
mod save;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use domain::WorkspaceId;
use parking_lot::Mutex;
use protocol::PortRange;
use worktree::Worktrees;

/// The workspaces of this runner.
#[derive(Debug)]
pub(crate) struct Workspaces {
    pub(crate) worktrees: Worktrees,
    /// One at a time makes, sets up or cleans a workspace.
    busy: Mutex<HashMap<WorkspaceId, Arc<tokio::sync::Mutex<()>>>>,
}

/// Where a session works.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) workspace: WorkspaceId,
    pub(crate) path: PathBuf,
    pub(crate) ports: Option<PortRange>,
}

impl Workspaces {
    pub(crate) fn new(worktrees: Worktrees) -> Self {
        Self { worktrees, busy: Mutex::default() }
    }

    /// The folder of a workspace that is there.
    pub(crate) async fn path(&self, workspace: WorkspaceId) -> Option<PathBuf> {
        Some(self.worktrees.find(workspace).await.ok()?.path)
    }

    fn busy(&self, workspace: WorkspaceId) -> Arc<tokio::sync::Mutex<()>> {
        self.busy.lock().entry(workspace).or_default().clone()
    }
}

impl Place {
    /// What tells a program which ports are its own.
    pub(crate) fn port_variables(&self) -> Vec<(String, String)> {
        let Some(ports) = &self.ports else { return Vec::new() };
        vec![
            ("PORT".to_owned(), ports.first.to_string()),
            ("SHOPFLOOR_PORT_FIRST".to_owned(), ports.first.to_string()),
            ("SHOPFLOOR_PORT_LAST".to_owned(), ports.last.to_string()),
        ]
    }
}
