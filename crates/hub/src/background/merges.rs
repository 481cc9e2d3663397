//! Merge queues that wait: for a runner to come, for the time of the next attempt, or for a run that was lost.
//!
//! Everything else moves with the facts of runners, in their transactions.

use std::sync::Arc;
use std::time::Duration;

use store::{Caller, TendMerges};
use tokio::time::sleep;

use crate::hub::Hub;

/// Polling interval while a queue waits.
const LOOK: Duration = Duration::from_secs(3);
/// Polling interval while all are empty, in case a change was missed.
const REST: Duration = Duration::from_secs(60);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let caller = Caller::hub("merge");
    loop {
        match hub.store.merges_wait().await {
            Ok(true) => match hub.store.write(&caller, None, TendMerges {}).await {
                Ok(tended) => hub.links.say(tended.value),
                Err(error) => tracing::warn!(%error, "could not tend the merge queues"),
            },
            Ok(false) => {
                tokio::select! {
                    () = hub.live.landings.queue_changed() => {}
                    () = sleep(REST) => {}
                }
            }
            Err(error) => tracing::warn!(%error, "could not read the merge queues"),
        }
        sleep(LOOK).await;
    }
}
