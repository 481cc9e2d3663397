//! Merge queues that wait: for a runner to come, for the time of the next attempt, or for a run that was lost.
//!
//! Everything else moves with the facts of runners, in their transactions.

use std::sync::Arc;
use std::time::Duration;

use store::{Caller, TendMerges};
use tokio::time::{MissedTickBehavior, interval};

use crate::hub::Hub;

/// Polling interval.
const LOOK: Duration = Duration::from_secs(3);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut look = interval(LOOK);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let caller = Caller::hub("merge");
    loop {
        look.tick().await;
        match hub.store.merges_wait().await {
            Ok(false) => {}
            Ok(true) => {
                if let Err(error) = hub.store.write(&caller, None, TendMerges {}).await {
                    tracing::warn!(%error, "could not tend the merge queues");
                }
            }
            Err(error) => tracing::warn!(%error, "could not read the merge queues"),
        }
    }
}
