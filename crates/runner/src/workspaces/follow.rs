//! Forwards events of watched workspaces.

use std::sync::Arc;

use tokio::sync::mpsc;
use worktree::Event;

use super::Workspaces;

/// Forwards events of workspaces, as long as the runner runs.
pub(crate) async fn follow_changes(workspaces: Arc<Workspaces>, mut events: mpsc::Receiver<Event>) {
    while let Some(event) = events.recv().await {
        match event {
            Event::Stats { workspace, stats } => workspaces.counted(workspace, &stats).await,
            Event::Saved { workspace, save } => workspaces.saved(workspace, save.at).await,
            Event::Work { workspace, work } => workspaces.described(workspace, &work).await,
            Event::Failed { workspace, why } => tracing::warn!(%workspace, why, "could not watch a workspace"),
        }
    }
}
