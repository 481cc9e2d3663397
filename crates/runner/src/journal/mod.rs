//! The runner's memory: the desired state, the progress of each session, and unacknowledged facts.
//!
//! One SQLite file, one connection, one runner. Related changes form one transaction.

mod change;
mod checks;
mod connection;
mod facts;
mod merges;
mod open;
mod rows;
mod trouble;

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};

use domain::{HubId, JournalId};
use protocol::link::FactBody;
use sqlx::{Row as _, SqliteConnection};
use tokio::sync::Notify;

pub(crate) use change::Change;
pub use open::JournalError;
pub(crate) use rows::{Memory, SessionRow, Step, WorkspaceRow};
pub(crate) use trouble::Trouble;

use connection::Connection;
use trouble::Troubles;

/// The open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    connection: Connection,
    /// Whether it is writable.
    troubles: Troubles,
    /// Facts up to this one may have reached the hub: they do not change.
    sent: AtomicU64,
    /// Notified when there are facts to send.
    news: Notify,
    /// Held as long as the journal is open: two runners in one folder would start everything twice.
    _lock: File,
}

/// The journal's identity and counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) journal: JournalId,
    pub(crate) hub: Option<HubId>,
    pub(crate) generation: u64,
    pub(crate) facts: u64,
    /// Facts up to this number were deleted: the hub has them.
    pub(crate) forgotten: u64,
}

impl Journal {
    /// The journal's identity and counters.
    pub(crate) async fn head(&self) -> Result<Head, JournalError> {
        head(self.connection.hold().await?.connection()?).await
    }

    /// Writes all changes, or none. Waits while the disk is full, so that nothing is lost.
    pub(crate) async fn write(&self, changes: &[Change], facts: &[FactBody]) {
        let mut retry = self.troubles.retry();
        while self.write_once(changes, facts).await.is_err() {
            if retry.wait().await {
                self.connection.renew().await;
            }
        }
    }

    /// Writes all changes, or none; an error if that is not possible now.
    pub(crate) async fn write_once(&self, changes: &[Change], facts: &[FactBody]) -> Result<(), JournalError> {
        self.note(self.try_write(changes, facts).await)?;
        if !facts.is_empty() {
            self.news.notify_waiters();
        }
        Ok(())
    }

    /// Queues a fact for the hub.
    pub(crate) async fn tell(&self, fact: FactBody) {
        self.write(&[], &[fact]).await;
    }

    /// Returns when a fact was written after this future was first polled.
    pub(crate) fn news(&self) -> tokio::sync::futures::Notified<'_> {
        self.news.notified()
    }

    async fn try_write(&self, changes: &[Change], facts: &[FactBody]) -> Result<(), JournalError> {
        let mut tx = self.connection.begin().await?;
        let done = self.put(tx.connection()?, changes, facts).await;
        tx.end(done).await
    }

    async fn put(&self, tx: &mut SqliteConnection, changes: &[Change], facts: &[FactBody]) -> Result<(), JournalError> {
        for change in changes {
            change.apply(&mut *tx).await?;
        }
        // Only now: nothing is sent while this has the connection.
        let sent = self.sent.load(Ordering::SeqCst);
        for fact in facts {
            facts::put(&mut *tx, sent, fact).await?;
        }
        Ok(())
    }
}

async fn head(connection: &mut SqliteConnection) -> Result<Head, JournalError> {
    let sql = "SELECT journal, hub, generation, facts, \
               COALESCE((SELECT MIN(number) - 1 FROM facts), facts) AS forgotten FROM runner WHERE one = 1";
    let row = sqlx::query(sql).fetch_one(connection).await?;
    let hub: Option<String> = row.try_get("hub")?;
    Ok(Head {
        journal: open::parse(&row.try_get::<String, _>("journal")?)?,
        hub: hub.map(|hub| open::parse(&hub)).transpose()?,
        generation: open::count(&row, "generation")?,
        facts: open::count(&row, "facts")?,
        forgotten: open::count(&row, "forgotten")?,
    })
}

#[cfg(test)]
mod full_tests;
#[cfg(test)]
pub(crate) mod tests;
