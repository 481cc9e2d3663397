//! The journal's one connection. A failed or abandoned transaction is rolled back before the next statement; a broken
//! connection is replaced.
//!
//! sqlx counts transactions itself and loses count when SQLite rolls back on its own, as it does when the disk is full:
//! that connection then refuses every further transaction. So plain statements begin and end transactions here.

use std::path::PathBuf;

use sqlx::{Connection as _, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::JournalError;
use super::open::connect;

/// The connection, shared by one user at a time.
#[derive(Debug)]
pub(super) struct Connection {
    data_dir: PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// `None` after it was lost.
    connection: Option<SqliteConnection>,
    /// A transaction began and has not ended.
    dangling: bool,
    /// It excludes other processes.
    alone: bool,
}

/// The connection while it is in use.
pub(super) struct Held<'a>(MutexGuard<'a, Inner>);

impl Connection {
    pub(super) fn new(data_dir: PathBuf, connection: SqliteConnection, alone: bool) -> Self {
        Self { data_dir, inner: Mutex::new(Inner { connection: Some(connection), dangling: false, alone }) }
    }

    /// The free bytes on the journal's disk, if known.
    pub(super) fn free(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(&self.data_dir).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// The connection, for single statements.
    pub(super) async fn hold(&self) -> Result<Held<'_>, JournalError> {
        let mut inner = self.inner.lock().await;
        if inner.dangling {
            inner.roll_back().await;
        }
        if inner.connection.is_none() {
            let (connection, alone) = connect(&self.data_dir).await?;
            *inner = Inner { connection: Some(connection), dangling: false, alone };
        }
        Ok(Held(inner))
    }

    /// The connection in a transaction, which [`Held::end`] commits; dropping it rolls back.
    pub(super) async fn begin(&self) -> Result<Held<'_>, JournalError> {
        let mut held = self.hold().await?;
        // Set before the statement is sent: the caller may disappear while it runs.
        held.0.dangling = true;
        match held.0.run("BEGIN IMMEDIATE").await {
            Ok(()) => Ok(held),
            Err(error) => held.end(Err(error)).await,
        }
    }

    /// Replaces the connection, if possible: a broken one may not recover by itself.
    pub(super) async fn renew(&self) {
        let mut inner = self.inner.lock().await;
        match connect(&self.data_dir).await {
            Ok((fresh, alone)) => *inner = Inner { connection: Some(fresh), dangling: false, alone },
            Err(error) => tracing::debug!(%error, "could not reopen the journal"),
        }
    }

    /// Lets other processes in again, if they were excluded.
    pub(super) async fn share(&self) {
        let mut inner = self.inner.lock().await;
        if inner.alone
            && let Some(connection) = inner.connection.take()
            && let Err(error) = connection.close().await
        {
            tracing::debug!(%error, "closing the journal");
        }
    }
}

impl Held<'_> {
    /// The connection itself.
    pub(super) fn connection(&mut self) -> Result<&mut SqliteConnection, JournalError> {
        self.0.connection()
    }

    /// Commits the transaction: all of it is durable, or nothing.
    pub(super) async fn end<T>(mut self, done: Result<T, JournalError>) -> Result<T, JournalError> {
        let done = match done {
            Ok(value) => self.0.run("COMMIT").await.map(|()| value),
            Err(error) => Err(error),
        };
        match &done {
            Ok(_) => self.0.dangling = false,
            Err(_) => self.0.roll_back().await,
        }
        done
    }
}

impl Inner {
    fn connection(&mut self) -> Result<&mut SqliteConnection, JournalError> {
        self.connection.as_mut().ok_or(JournalError::Sql(sqlx::Error::WorkerCrashed))
    }

    async fn run(&mut self, sql: &'static str) -> Result<(), JournalError> {
        sqlx::query(sql).execute(self.connection()?).await?;
        Ok(())
    }

    /// Rolls back an open transaction. SQLite may have done so itself.
    async fn roll_back(&mut self) {
        let ended = match self.run("ROLLBACK").await {
            Ok(()) => true,
            Err(JournalError::Sql(sqlx::Error::Database(error))) => {
                error.message().contains("no transaction is active")
            }
            Err(_) => false,
        };
        if !ended {
            self.connection = None;
        }
        self.dangling = false;
    }
}
