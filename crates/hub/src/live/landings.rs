//! Wakes the lander: committed changes after which a branch is to be published, or a workspace can be deleted.

use std::sync::atomic::{AtomicBool, Ordering};

use domain::LandingState;
use protocol::Change;
use tokio::sync::Notify;

/// What the lander has not looked at yet.
#[derive(Debug, Default)]
pub(crate) struct Landings {
    came: Notify,
    landed: AtomicBool,
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
            _ => {}
        }
    }

    /// Waits until a landing changes, or a runner connects or disconnects.
    pub(crate) async fn changed(&self) {
        self.came.notified().await;
    }

    /// Whether work has landed since the last call.
    pub(crate) fn landed(&self) -> bool {
        self.landed.swap(false, Ordering::Relaxed)
    }
}
