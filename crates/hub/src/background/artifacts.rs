//! Removes artifacts whose time is over, and content that nothing refers to any more.

use std::sync::Arc;
use std::time::Duration;

use store::{Caller, StoreError, TidyArtifacts};
use tokio::time::{MissedTickBehavior, interval};

use crate::hub::Hub;

/// How often to look.
const EVERY: Duration = Duration::from_secs(600);

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if let Err(error) = tidy(&hub).await {
            tracing::warn!(%error, "could not remove old artifacts; retried later");
        }
    }
}

/// Removes in short transactions until nothing is left to remove.
async fn tidy(hub: &Hub) -> Result<(), StoreError> {
    let caller = Caller::hub("artifacts");
    let mut after = None;
    loop {
        let tidied = hub.store.write(&caller, None, TidyArtifacts { after }).await?.value;
        if tidied.artifacts > 0 || tidied.contents > 0 {
            tracing::info!(tidied.artifacts, tidied.contents, "removed old artifacts");
        }
        if tidied.next.is_none() && !tidied.more {
            return Ok(());
        }
        after = tidied.next.or(after);
    }
}
