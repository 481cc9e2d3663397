//! Whether the journal is writable, and how failed writes are retried.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::open::primary;
use super::{Journal, JournalError};

/// Waits before retries: the first, and the longest.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(2);
/// How often to probe an unwritable journal.
const PROBE: Duration = Duration::from_secs(1);
/// How often to check for a nearly full disk, and its threshold.
const LOOK: Duration = Duration::from_secs(5);
const LITTLE: u64 = 1 << 20;
/// After how many consecutive failures a write asks for another connection.
const RENEW: u32 = 4;

/// Since when the journal is unwritable, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) since: Instant,
    /// For people; names no files.
    pub(crate) why: String,
}

/// The results of writes.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    now: watch::Sender<Option<Trouble>>,
    /// How many failed writes are being retried.
    stuck: AtomicUsize,
}

/// One write with its retries.
pub(super) struct Retry<'a> {
    troubles: &'a Troubles,
    backoff: client::Backoff,
    failures: u32,
}

impl Troubles {
    pub(super) fn retry(&self) -> Retry<'_> {
        Retry { troubles: self, backoff: client::Backoff::new(FIRST, LONGEST), failures: 0 }
    }
}

impl Retry<'_> {
    /// Waits before the next retry; whether another connection might help.
    pub(super) async fn wait(&mut self) -> bool {
        self.failures += 1;
        if self.failures == 1 {
            self.troubles.stuck.fetch_add(1, Ordering::SeqCst);
        }
        tokio::time::sleep(self.backoff.next_wait()).await;
        self.failures.is_multiple_of(RENEW)
    }
}

impl Drop for Retry<'_> {
    fn drop(&mut self) {
        if self.failures > 0 {
            // Written, or abandoned by its caller; the next probe shows whether the journal is writable.
            self.troubles.stuck.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Journal {
    /// Why the journal is unwritable; `None`: it is writable.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.troubles.now.borrow().clone()
    }

    /// Notified when the journal becomes unwritable or writable.
    pub(crate) fn troubles(&self) -> watch::Receiver<Option<Trouble>> {
        self.troubles.now.subscribe()
    }

    /// Probes the journal while it is unwritable, and on a nearly full disk, as long as the runner runs.
    pub(crate) async fn look_after(&self) {
        let mut troubles = self.troubles.now.subscribe();
        loop {
            let known = tokio::time::timeout(LOOK, troubles.wait_for(Option::is_some)).await.is_ok();
            if !known {
                if self.connection.free().is_some_and(|free| free < LITTLE) {
                    let _ = self.note(self.probe().await);
                }
                continue;
            }
            tokio::time::sleep(PROBE).await;
            // Small writes may fit where larger ones do not: the retried ones must have succeeded, too.
            if self.probe().await.is_ok() && self.troubles.stuck.load(Ordering::SeqCst) == 0 {
                self.well_again().await;
            }
        }
    }

    async fn probe(&self) -> Result<(), JournalError> {
        let mut held = self.connection.hold().await?;
        let sql = "UPDATE runner SET generation = generation WHERE one = 1";
        sqlx::query(sql).execute(held.connection()?).await?;
        Ok(())
    }

    /// Stores that a write failed.
    pub(super) fn note<T>(&self, done: Result<T, JournalError>) -> Result<T, JournalError> {
        if let Err(error) = &done {
            self.troubles.now.send_if_modified(|now| {
                let news = now.is_none();
                if news {
                    tracing::error!(%error, "could not write the journal; retrying");
                    *now = Some(Trouble { since: Instant::now(), why: in_words(error) });
                }
                news
            });
        }
        done
    }

    pub(super) async fn well_again(&self) {
        self.connection.share().await;
        if let Some(trouble) = self.troubles.now.send_replace(None) {
            let seconds = trouble.since.elapsed().as_secs();
            tracing::info!(seconds, "the journal is writable again");
        }
    }
}

fn in_words(error: &JournalError) -> String {
    let code = match error {
        JournalError::Sql(error) => primary(error),
        _ => None,
    };
    match code {
        Some(13) => "its disk is full".to_owned(),
        _ => format!("its data directory cannot be written ({error})"),
    }
}
