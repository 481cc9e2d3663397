//! Wakes the conductor: committed changes after which an execution may move.

use domain::{ActivityStatus, LandingState};
use protocol::Change;
use tokio::sync::Notify;

/// Whether an execution may be able to move.
#[derive(Debug, Default)]
pub(crate) struct Executions {
    came: Notify,
    waits: Notify,
}

impl Executions {
    /// Handles a committed change.
    pub(super) fn hear(&self, change: &Change) {
        let moves = match change {
            Change::Execution { .. } | Change::Schedule { .. } | Change::Runner { .. } => true,
            Change::Session { session } => session.state.ended(),
            Change::Tasks { tasks } => tasks.iter().any(|task| task.status.is_over()),
            Change::Activity { activity } => {
                matches!(activity.status, ActivityStatus::Blocked | ActivityStatus::Completed)
            }
            Change::Landing { landing } => {
                matches!(landing.state, LandingState::Landed | LandingState::Published | LandingState::Refused)
            }
            _ => false,
        };
        if matches!(change, Change::Execution { .. } | Change::Schedule { .. } | Change::Runner { .. }) {
            self.waits.notify_one();
        }
        if moves {
            self.came.notify_one();
        }
    }

    /// Waits until somebody may have begun to wait for a push, or a runner connected.
    pub(crate) async fn waits_changed(&self) {
        self.waits.notified().await;
    }

    /// Waits until an execution may be able to move.
    pub(crate) async fn changed(&self) {
        self.came.notified().await;
    }
}
