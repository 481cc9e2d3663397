//! Remembers whether a runner can record what happens. Of what a runner says of it only the newest counts, and it is stored
//! once in a second at most, however often that changes.

use std::sync::Arc;
use std::time::Duration;

use domain::RunnerId;
use store::{Caller, TroubleRunner};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::hub::Hub;

/// Every client hears of each change, so one runner may cause at most one in this time.
const PACE: Duration = Duration::from_secs(1);

/// What a runner said last: why it cannot record what happens, or that it can.
pub(super) type Said = Option<String>;

/// Stores what the runner said last, until the link ends. `stored` is what is known to be stored; nothing: it is not known.
/// What could not be stored is stored with the next sign of life.
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
                tracing::warn!(%error, %runner, "could not remember whether a runner can write");
                None
            }
        };
        sleep_until(next).await;
    }
}
