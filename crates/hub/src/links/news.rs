//! Stores what is new about a connected runner. Only its newest report counts, stored at most once a second.

use std::sync::Arc;
use std::time::Duration;

use domain::RunnerId;
use protocol::RunnerAbout;
use store::{Caller, DescribeRunner};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::hub::Hub;

/// Every client hears of each change, so a runner may cause at most one in this time.
const PACE: Duration = Duration::from_secs(1);

/// Stores the runner's newest report about itself until the link ends.
pub(super) async fn describe(
    hub: Arc<Hub>,
    caller: Caller,
    runner: RunnerId,
    mut news: watch::Receiver<Option<RunnerAbout>>,
) {
    while news.changed().await.is_ok() {
        let Some(about) = news.borrow_and_update().clone() else { continue };
        let next = Instant::now() + PACE;
        match hub.store.write(&caller, None, DescribeRunner { runner, about }).await {
            // An agent that was found can take tasks.
            Ok(_) => hub.live.work.anywhere(),
            Err(error) => tracing::warn!(%error, %runner, "could not store what is new about a runner"),
        }
        sleep_until(next).await;
    }
}
