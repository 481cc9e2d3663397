//! The index's file: opened when it is needed, and again after an error.

use std::fs::File as Handle;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{ConnectOptions as _, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::IndexError;

const SCHEMA: &str = include_str!("schema.sql");

/// The version of the schema, and of how lines become terms.
const VERSION: i64 = 1;

/// How long a statement waits for another connection.
const BUSY: Duration = Duration::from_secs(5);
/// The size that the log of changes may keep.
const LOG: &str = "4194304";

/// One connection to the file.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    connection: Mutex<Option<SqliteConnection>>,
}

impl File {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, connection: Mutex::new(None) }
    }

    /// The connection, to be given back with [`Held::end`]: a use that is abandoned or fails leaves none behind.
    pub(super) async fn hold(&self) -> Result<Held<'_>, IndexError> {
        let mut place = self.connection.lock().await;
        let connection = match place.take() {
            Some(connection) => connection,
            None => connect(&self.path).await?,
        };
        Ok(Held { place, connection })
    }

    /// Closes the connection.
    pub(super) async fn close(&self) {
        self.connection.lock().await.take();
    }

    /// Closes the connection and deletes the file.
    pub(super) async fn remove(&self) {
        let mut held = self.connection.lock().await;
        held.take();
        for end in ["", "-wal", "-shm"] {
            let mut path = self.path.clone().into_os_string();
            path.push(end);
            match std::fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    tracing::warn!(%error, "could not delete the index of terminals");
                }
                _ => {}
            }
        }
    }
}

/// The connection while it is in use.
pub(super) struct Held<'a> {
    place: MutexGuard<'a, Option<SqliteConnection>>,
    pub(super) connection: SqliteConnection,
}

impl Held<'_> {
    /// Gives the connection back, unless the use failed.
    pub(super) fn end<T>(mut self, done: Result<T, IndexError>) -> Result<T, IndexError> {
        if done.is_ok() {
            *self.place = Some(self.connection);
        }
        done
    }
}

/// Whether only a new file helps.
pub(super) fn is_beyond_repair(error: &IndexError) -> bool {
    let code = |error: &sqlx::Error| match error {
        sqlx::Error::Database(inner) => inner.code().and_then(|code| code.parse::<u32>().ok()).map(|code| code & 0xff),
        _ => None,
    };
    match error {
        IndexError::Format => true,
        // Corrupt, or not a database at all.
        IndexError::Sql(error) => matches!(code(error), Some(11 | 26)),
        IndexError::Io(_) => false,
    }
}

async fn connect(path: &Path) -> Result<SqliteConnection, IndexError> {
    Handle::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)?;
    let options = SqliteConnectOptions::new()
        .filename(path)
        .journal_mode(SqliteJournalMode::Wal)
        // A lost change is read from its recording again.
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(BUSY)
        .pragma("secure_delete", "on")
        .pragma("journal_size_limit", LOG);
    let mut connection = options.connect().await?;
    match version(&mut connection).await? {
        VERSION => Ok(connection),
        0 => {
            sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await?;
            // The other connection may have made it meanwhile.
            if version(&mut connection).await? == 0 {
                sqlx::raw_sql(SCHEMA).execute(&mut connection).await?;
            }
            sqlx::raw_sql("COMMIT").execute(&mut connection).await?;
            Ok(connection)
        }
        _ => Err(IndexError::Format),
    }
}

async fn version(connection: &mut SqliteConnection) -> Result<i64, IndexError> {
    Ok(sqlx::query_scalar("PRAGMA user_version").fetch_one(connection).await?)
}
