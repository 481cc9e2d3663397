//! Whether the database answers, checked at most once in a while, however many callers ask.

use std::time::Duration;

use store::Store;
use tokio::sync::Mutex;
use tokio::time::Instant;

/// How long an answer is valid.
const HOLDS: Duration = Duration::from_millis(500);

/// The last answer.
#[derive(Debug, Default)]
pub(crate) struct Well(Mutex<Option<(Instant, bool)>>);

impl Well {
    /// Why the database is unreachable.
    pub(crate) async fn outage(&self, store: &Store) -> bool {
        let mut last = self.0.lock().await;
        if let Some((asked, outage)) = *last
            && asked.elapsed() < HOLDS
        {
            return outage;
        }
        let outage = store.outage().await;
        if let Some(why) = &outage {
            tracing::debug!(why, "could not read the database");
        }
        *last = Some((Instant::now(), outage.is_some()));
        outage.is_some()
    }
}
