//! The workspaces of this runner: created once, set up once, saved and measured while in use.

mod clean;
mod contained;
mod follow;
mod make;
mod ports;
mod printed;
mod restore;
mod save;
mod work;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use domain::{ProjectId, WorkspaceId};
use parking_lot::Mutex;
use protocol::PortRange;
use worktree::{Oid, Watcher, Worktrees};

use crate::bundles::Bundles;
use crate::checks::Checks;
use crate::journal::Journal;
use crate::machine::Machine;
use crate::sessions::Sessions;

pub(crate) use clean::problem;
pub(crate) use follow::follow_changes;
pub(crate) use make::{Purpose, Unmade};
pub(crate) use printed::{last_lines, printed};
pub(crate) use save::checked_out;
pub(crate) use work::described;

/// The workspaces of this runner.
#[derive(Debug)]
pub(crate) struct Workspaces {
    pub(crate) worktrees: Worktrees,
    watcher: Watcher,
    journal: Arc<Journal>,
    machine: Arc<Machine>,
    /// Work from other runners.
    bundles: Arc<Bundles>,
    /// The sessions and checks that work in them.
    occupants: Occupants,
    /// One at a time creates, sets up or deletes a workspace.
    busy: Mutex<HashMap<WorkspaceId, Arc<tokio::sync::Mutex<()>>>>,
    /// One at a time assigns ports.
    ports: tokio::sync::Mutex<()>,
    /// One at a time changes the stored state.
    counting: tokio::sync::Mutex<()>,
    /// What the hub wants the work of each project's workspaces to be described against.
    forks: Mutex<HashMap<ProjectId, Vec<Oid>>>,
}

/// The sessions and checks that work in workspaces.
#[derive(Debug, Clone)]
pub(crate) struct Occupants {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) checks: Arc<Checks>,
}

/// Where a session works.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) ports: Option<PortRange>,
    /// The objects of the shared store that its git reads.
    pub(crate) borrows: Option<PathBuf>,
}

impl Workspaces {
    pub(crate) fn new(
        (worktrees, watcher): (Worktrees, Watcher),
        journal: Arc<Journal>,
        machine: Arc<Machine>,
        bundles: Arc<Bundles>,
        occupants: Occupants,
    ) -> Self {
        let (busy, ports, counting, forks) = Default::default();
        Self { worktrees, watcher, journal, machine, bundles, occupants, busy, ports, counting, forks }
    }

    /// The folder of an existing workspace.
    pub(crate) async fn path(&self, workspace: WorkspaceId) -> Option<PathBuf> {
        Some(self.worktrees.find(workspace).await.ok()?.path)
    }

    /// Saves and measures a workspace from now on, whenever it changes.
    pub(crate) fn follow(&self, workspace: WorkspaceId) {
        self.watcher.follow(workspace);
    }

    /// Whether a session or a check works in a workspace, or soon will.
    pub(crate) fn is_in_use(&self, workspace: WorkspaceId) -> bool {
        let Occupants { sessions, checks } = &self.occupants;
        checks.workspaces().contains(&workspace) || !sessions.in_workspace(workspace).is_empty()
    }

    fn busy(&self, workspace: WorkspaceId) -> Arc<tokio::sync::Mutex<()>> {
        self.busy.lock().entry(workspace).or_default().clone()
    }
}

impl Place {
    /// Variables that name a workspace's ports.
    pub(crate) fn port_variables(&self) -> Vec<(String, String)> {
        self.ports.as_ref().map(|range| worktree::port_variables(ports::ours(range))).unwrap_or_default()
    }
}

/// An error for people.
fn text(error: worktree::Error) -> String {
    error.to_string()
}
