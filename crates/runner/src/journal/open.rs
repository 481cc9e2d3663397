//! Opens the journal: locks it and checks its schema.

use std::fs::{DirBuilder, File, TryLockError};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use domain::JournalId;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteRow, SqliteSynchronous};
use sqlx::{ConnectOptions as _, Row as _, SqliteConnection};
use tokio::sync::Notify;

use super::Journal;
use super::connection::Connection;
use super::trouble::Troubles;

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

const FILE: &str = "journal.db";

/// How long a statement waits for another process's lock.
const BUSY: Duration = Duration::from_secs(5);

/// How long a lock may outlive its runner: a child that was just being started still holds it.
const LETTING_GO: Duration = Duration::from_secs(3);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Why the journal is not usable.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Another runner has it.
    #[error("{0} is in use by another runner: stop that one, or choose another --data-dir")]
    Held(PathBuf),
    /// The folder or a file in it cannot be created.
    #[error("cannot use {0}: {1}")]
    Folder(PathBuf, #[source] std::io::Error),
    /// It was written by a newer program.
    #[error("the journal has schema {0}, which this program does not know: use a newer shopfloor")]
    Newer(i64),
    /// It cannot be read or written.
    #[error("the journal failed: {0}")]
    Sql(#[from] sqlx::Error),
    /// It contains something that no runner wrote.
    #[error("the journal is damaged: {0}")]
    Damaged(String),
}

impl Journal {
    /// Opens the journal in `data_dir`, creates it if necessary, and locks it.
    pub(crate) async fn open(data_dir: &Path) -> Result<Self, JournalError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data_dir)
            .map_err(|error| JournalError::Folder(data_dir.to_owned(), error))?;
        let lock = hold(data_dir).await?;
        make(data_dir)?;
        let (mut connection, alone) = connect(data_dir).await?;
        migrate(&mut connection).await?;
        // Read first: on a full disk, write nothing without need.
        if sqlx::query("SELECT 1 FROM runner WHERE one = 1").fetch_optional(&mut connection).await?.is_none() {
            let row = "INSERT INTO runner (one, journal, generation, facts) VALUES (1, $1, 0, 0)";
            sqlx::query(row).bind(JournalId::generate().to_string()).execute(&mut connection).await?;
        }
        // All facts may have been sent by an earlier process.
        let sent = super::head(&mut connection).await?.facts;
        Ok(Self {
            connection: Connection::new(data_dir.to_owned(), connection, alone),
            troubles: Troubles::default(),
            sent: AtomicU64::new(sent),
            news: Notify::new(),
            _lock: lock,
        })
    }
}

/// A connection to the journal in `data_dir`, and whether it excludes other processes.
///
/// SQLite keeps an index in a file beside the journal, which processes share. On a full disk that file cannot be
/// created: then the index is in memory, and this process excludes others until it reconnects.
///
/// Opens no other handle: closing one would release the locks of this process's other connections.
pub(super) async fn connect(data_dir: &Path) -> Result<(SqliteConnection, bool), JournalError> {
    let options = SqliteConnectOptions::new()
        .filename(data_dir.join(FILE))
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY);
    match ready(options.clone()).await {
        Err(JournalError::Sql(error)) if lacks_room(&error) => {
            tracing::warn!(%error, "could not share the journal with other processes; opening it exclusively");
            Ok((ready(options.vfs("unix-excl")).await?, true))
        }
        connected => Ok((connected?, false)),
    }
}

/// Creates the journal's file if necessary, for its owner only.
pub(super) fn make(data_dir: &Path) -> Result<(), JournalError> {
    let path = data_dir.join(FILE);
    private_file(&path).map(drop).map_err(|error| JournalError::Folder(path.clone(), error))
}

async fn ready(options: SqliteConnectOptions) -> Result<SqliteConnection, JournalError> {
    let mut connection = options.connect().await?;
    // Only reading shows whether the files beside it can be created.
    sqlx::query("SELECT COUNT(*) FROM sqlite_schema").fetch_one(&mut connection).await?;
    Ok(connection)
}

/// Brings the schema up to date.
pub(super) async fn migrate(connection: &mut SqliteConnection) -> Result<(), JournalError> {
    MIGRATIONS.run(&mut *connection).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) | MigrateError::VersionTooNew(version, _) => JournalError::Newer(version),
        MigrateError::Execute(error) => JournalError::Sql(error),
        other => JournalError::Damaged(other.to_string()),
    })
}

/// Whether a file could not be created or written: extended codes carry the primary one in the low byte.
pub(super) fn lacks_room(error: &sqlx::Error) -> bool {
    matches!(primary(error), Some(10 | 13 | 14))
}

/// SQLite's own code of an error.
pub(super) fn primary(error: &sqlx::Error) -> Option<u32> {
    let sqlx::Error::Database(inner) = error else { return None };
    Some(inner.code()?.parse::<u32>().ok()? & 0xff)
}

async fn hold(data_dir: &Path) -> Result<File, JournalError> {
    let path = data_dir.join("journal.lock");
    let fail = |error| JournalError::Folder(path.clone(), error);
    let file = private_file(&path).map_err(fail)?;
    let until = Instant::now() + LETTING_GO;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) if Instant::now() < until => tokio::time::sleep(LOOK_AGAIN).await,
            Err(TryLockError::WouldBlock) => return Err(JournalError::Held(data_dir.to_owned())),
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
    }
}

fn private_file(path: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

pub(super) fn parse<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, JournalError> {
    text.parse().map_err(|error: T::Err| JournalError::Damaged(error.to_string()))
}

pub(super) fn count(row: &SqliteRow, column: &str) -> Result<u64, JournalError> {
    let number: i64 = row.try_get(column)?;
    u64::try_from(number).map_err(|_| JournalError::Damaged(format!("{column} is {number}")))
}
