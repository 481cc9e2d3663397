//! Wakes the courier of handoffs: committed changes after which a handoff may go on.

use protocol::Change;
use tokio::sync::Notify;

/// What the courier has not looked at yet.
#[derive(Debug, Default)]
pub(crate) struct Handoffs {
    came: Notify,
}

impl Handoffs {
    /// Handles a committed change.
    pub(super) fn hear(&self, change: &Change) {
        if matches!(change, Change::Handoff { .. } | Change::Session { .. } | Change::Runner { .. }) {
            self.came.notify_one();
        }
    }

    /// Waits until a handoff, a session or a runner changes.
    pub(crate) async fn changed(&self) {
        self.came.notified().await;
    }
}
