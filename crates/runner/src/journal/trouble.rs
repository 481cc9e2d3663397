//! Whether the journal can be written, and how long one that cannot is retried.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::open::primary;
use super::{Journal, JournalError};

/// How long a failed write waits before it is retried: at first, and at most.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(2);
/// How often the journal is tried while it cannot be written.
const PROBE: Duration = Duration::from_secs(1);
/// How often it is looked whether the disk is nearly full, and what that is.
const LOOK: Duration = Duration::from_secs(5);
const LITTLE: u64 = 1 << 20;
/// After how many failures in a row a write asks for another connection.
const RENEW: u32 = 4;

/// Since when the journal cannot be written, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    pub(crate) since: Instant,
    /// In the words that people are told; names no files.
    pub(crate) why: String,
}

/// What was found out by writing.
#[derive(Debug, Default)]
pub(super) struct Troubles {
    now: watch::Sender<Option<Trouble>>,
    /// How many writes failed and are being retried.
    stuck: AtomicUsize,
}

/// One write, as it is retried.
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
    /// Waits before the next try; whether another connection might help.
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
            // Written, or given up by its caller; whether the journal takes anything is for the next probe to say.
            self.troubles.stuck.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

impl Journal {
    /// Why the journal cannot be written now; nothing: it can.
    pub(crate) fn trouble(&self) -> Option<Trouble> {
        self.troubles.now.borrow().clone()
    }

    /// Rings when the journal cannot be written, and when it can again.
    pub(crate) fn troubles(&self) -> watch::Receiver<Option<Trouble>> {
        self.troubles.now.subscribe()
    }

    /// Tries the journal while it cannot be written, and on a disk that is nearly full, so that it is known when it can be
    /// and when not, as long as the runner runs.
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
            // A little fits where more does not: those that are retried must have got through, too.
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

    /// Remembers that a write failed.
    pub(super) fn note<T>(&self, done: Result<T, JournalError>) -> Result<T, JournalError> {
        if let Err(error) = &done {
            self.troubles.now.send_if_modified(|now| {
                let news = now.is_none();
                if news {
                    tracing::error!(%error, "the journal cannot be written: retrying until it can");
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
            tracing::info!(seconds, "the journal can be written again");
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
