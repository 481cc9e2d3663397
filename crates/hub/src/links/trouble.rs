//! Stores whether a runner can record facts. Only its newest report counts, stored at most once a second.

use std::sync::Arc;
use std::time::Duration;

use domain::RunnerId;
use store::{Caller, TroubleRunner};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::hub::Hub;

/// Every client hears of each change, so a runner may cause at most one in this time.
const PACE: Duration = Duration::from_secs(1);

/// A runner's last report: why it cannot record facts, or that it can.
pub(super) type Said = Option<String>;

/// Stores the runner's last report until the link ends. `stored` is what the database has; `None`: unknown. A failed
/// write is retried with the next heartbeat.
pub(super) async fn remember(
    hub: Arc<Hub>,
    caller: Caller,
    runner: RunnerId,
    mut stored: Option<Said>,
    mut said: watch::Receiver<Said>,
) {
    while said.changed().await.is_ok() {
        let trouble = said.borrow_and_update().clone();
        if stored.as_ref() == Some(&trouble) {
            continue;
        }
        let next = Instant::now() + PACE;
        let command = TroubleRunner { runner, trouble: trouble.clone() };
        stored = match hub.store.write(&caller, None, command).await {
            Ok(_) => Some(trouble),
            Err(error) => {
                tracing::warn!(%error, %runner, "could not store whether a runner can write");
                None
            }
        };
        sleep_until(next).await;
    }
}
