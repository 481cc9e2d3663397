//! The runner's memory: what the hub wants, how far each session got, and the facts that are not acknowledged yet.
//!
//! One SQLite file, one connection, one runner. What belongs together is written in one transaction.

mod change;
mod checks;
mod facts;
mod open;
mod rows;

use std::fs::File;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use domain::{HubId, JournalId};
use protocol::link::FactBody;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use tokio::sync::{Mutex, Notify};

pub(crate) use change::Change;
pub use open::JournalError;
pub(crate) use rows::{Memory, SessionRow, Step, WorkspaceRow};

/// The open journal.
#[derive(Debug)]
pub(crate) struct Journal {
    connection: Mutex<SqliteConnection>,
    /// Facts up to this one may be at the hub: they stay as they are.
    sent: AtomicU64,
    /// Rings when there are facts to send.
    news: Notify,
    /// Held as long as the journal is open: two runners in one folder would start everything twice.
    _lock: File,
}

/// Who this memory is, and how far it has counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) journal: JournalId,
    pub(crate) hub: Option<HubId>,
    pub(crate) generation: u64,
    pub(crate) facts: u64,
    /// Facts up to this number are not here any more: the hub had them.
    pub(crate) forgotten: u64,
}

impl Journal {
    /// Who this memory is, and how far it has counted.
    pub(crate) async fn head(&self) -> Result<Head, JournalError> {
        let mut connection = self.connection.lock().await;
        head(&mut connection).await
    }

    /// Writes all of it, or nothing. A disk that is full is waited for: what happened is not forgotten.
    pub(crate) async fn write(&self, changes: &[Change], facts: &[FactBody]) {
        let mut wait = client::Backoff::new(Duration::from_millis(200), Duration::from_secs(10));
        while let Err(error) = self.try_write(changes, facts).await {
            tracing::error!(%error, "the journal cannot be written: trying again");
            tokio::time::sleep(wait.next_wait()).await;
        }
        if !facts.is_empty() {
            self.news.notify_waiters();
        }
    }

    /// Tells the hub, sooner or later.
    pub(crate) async fn tell(&self, fact: FactBody) {
        self.write(&[], &[fact]).await;
    }

    /// Returns when a fact was written after this future was first polled.
    pub(crate) fn news(&self) -> tokio::sync::futures::Notified<'_> {
        self.news.notified()
    }

    async fn try_write(&self, changes: &[Change], facts: &[FactBody]) -> Result<(), JournalError> {
        let mut connection = self.connection.lock().await;
        let mut tx = connection.begin_with("BEGIN IMMEDIATE").await?;
        for change in changes {
            change.apply(&mut tx).await?;
        }
        let sent = self.sent.load(Ordering::SeqCst);
        for fact in facts {
            facts::put(&mut tx, sent, fact).await?;
        }
        Ok(tx.commit().await?)
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
mod tests;
