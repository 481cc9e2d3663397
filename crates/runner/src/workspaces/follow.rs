//! Forwards events of watched workspaces.

use std::sync::Arc;

use tokio::sync::mpsc;
use worktree::Event;

use crate::floor::Floor;

/// Forwards events of workspaces, as long as the runner runs.
pub(crate) async fn follow_changes(floor: Arc<Floor>, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        match event {
            Event::Stats { workspace, stats } => floor.workspaces.counted(&floor, workspace, &stats).await,
            Event::Saved { workspace, save } => floor.workspaces.saved(&floor, workspace, save.at).await,
            Event::Failed { workspace, why } => tracing::warn!(%workspace, why, "could not watch a workspace"),
        }
    }
}
