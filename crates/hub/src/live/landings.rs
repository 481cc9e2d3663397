//! Wakes the lander and the merge queues: committed changes after which a branch is to be published, a workspace can
//! be deleted, or a queue may have to wait for something.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::LandingState;
use protocol::Change;
use tokio::sync::Notify;

/// What the lander and the merge queues have not looked at yet.
#[derive(Debug, Default)]
pub(crate) struct Landings {
    came: Notify,
    landed: AtomicBool,
    queued: Notify,
}

impl Landings {
    /// Handles a committed change.
    pub(super) fn hear(&self, change: &Change) {
        match change {
            Change::Landing { landing } => {
                self.landed.fetch_or(landing.state == LandingState::Landed, Ordering::Relaxed);
                self.came.notify_one();
            }
            Change::Runner { .. } => self.came.notify_one(),
            Change::MergeQueue { .. } => self.queued.notify_one(),
            _ => {}
        }
    }

    /// Waits until a landing changes, or a runner connects or disconnects.
    pub(crate) async fn changed(&self) {
        self.came.notified().await;
    }

    /// Waits until a merge queue changes.
    pub(crate) async fn queue_changed(&self) {
        self.queued.notified().await;
    }

    /// Whether work has landed since the last call.
    pub(crate) fn landed(&self) -> bool {
        self.landed.swap(false, Ordering::Relaxed)
    }
}
