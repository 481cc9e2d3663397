//! Wakes the surveyor: committed changes after which other files may be declared.

use protocol::Change;
use tokio::sync::Notify;

/// What the surveyor has not looked at yet.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    came: Notify,
}

impl Declared {
    /// Handles a committed change.
    pub(super) fn hear(&self, change: &Change) {
        if matches!(change, Change::Tasks { .. } | Change::Reservation { .. }) {
            self.came.notify_one();
        }
    }

    /// Waits until a task or a reservation changes.
    pub(crate) async fn changed(&self) {
        self.came.notified().await;
    }
}
