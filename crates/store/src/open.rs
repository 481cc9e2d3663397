//! Opening a database: its URL, its lock and its schema.

use std::fs::{File, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use domain::{HubId, ProjectId, Timestamp};
use parking_lot::Mutex;
use sqlx::Connection as _;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use tokio::sync::{broadcast, oneshot};

use crate::connection::{Owned, Target};
use crate::outage::Outage;
use crate::reader::Readers;
use crate::sql::{args, text};
use crate::writer::{Clock, Listener, Writer};
use crate::{Caller, Command, Committed, Event, StoreError, search};

static MIGRATIONS: Migrator = sqlx::migrate!("./migrations");

/// The time limit for another process's lock.
const BUSY: Duration = Duration::from_secs(5);

/// The time limit for a health check of the database.
const SOON: Duration = Duration::from_secs(3);

/// Why a database cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The URL has an unknown scheme.
    #[error("`{0}` is not a database URL: use sqlite:PATH or postgres://USER@HOST/NAME")]
    Url(String),
    /// Another hub uses the database.
    #[error(
        "another Shopfloor is running on {0}: stop it (`shopfloor down`, or Ctrl+C where it runs), or choose another \
         --data-dir or --database"
    )]
    Held(PathBuf),
    /// The lock file cannot be created.
    #[error("cannot lock {0}: {1}")]
    Lock(PathBuf, #[source] std::io::Error),
    /// A newer program wrote the database.
    #[error(
        "the database has schema {0}, which is newer than this program: use the shopfloor that created it, \
         or start with a new database"
    )]
    Newer(i64),
    /// A migration failed.
    #[error("the database could not be brought up to date: {0}")]
    Migrate(String),
    /// The database cannot be reached or read.
    #[error("cannot open the database: {0}")]
    Store(#[from] StoreError),
}

/// Both databases behind one set of verbs.
pub struct Store {
    pub(crate) writer: Writer,
    pub(crate) readers: Readers,
    pub(crate) target: Target,
    clock: Clock,
    ended: Mutex<Option<oneshot::Receiver<()>>>,
    hub: HubId,
    /// Held while the store is open: a second hub on the same file would break the order of events.
    _lock: Option<File>,
}

impl Store {
    /// Opens the database, brings its schema up to date and starts the writer.
    ///
    /// `listener` gets the events of every commit, in order, before the verb that made them returns.
    pub async fn open(
        url: &str,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
        listener: impl Fn(&[Arc<Event>]) + Send + Sync + 'static,
    ) -> Result<Self, OpenError> {
        let target = parse(url)?;
        let lock = lock(&target)?;
        let (target, mut connection) = match connect(&target).await {
            Err(OpenError::Store(StoreError::Storage(error))) if target.is_file() => {
                tracing::warn!(
                    error,
                    "the database cannot be shared with other processes: this hub opens it for itself"
                );
                let target = target.alone();
                let connection = connect(&target).await?;
                (target, connection)
            }
            connected => (target, connected?),
        };
        let hub = first_row(&mut connection).await?;
        search::prepare(&mut connection).await?;
        let readers = readers(&target).await?;
        let clock: Clock = Arc::new(clock);
        let listener: Listener = Arc::new(listener);
        let (writer, ended) = Writer::start(target.clone(), connection, listener, clock.clone());
        Ok(Self { writer, readers, target, clock, ended: Mutex::new(Some(ended)), hub, _lock: lock })
    }

    /// The database's own id.
    pub fn hub(&self) -> HubId {
        self.hub
    }

    /// The current time of the store's clock.
    pub fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Why writes fail, if they do.
    pub fn trouble(&self) -> Option<String> {
        self.writer.trouble()
    }

    /// Why the database cannot be read, if it cannot; asks the database itself.
    pub async fn outage(&self) -> Option<String> {
        let asked = async { self.readers.get().await?.borrow().first("SELECT 1 AS one FROM ledger", args![]).await };
        match tokio::time::timeout(SOON, asked).await {
            Ok(Ok(_)) => {
                self.writer.reached();
                None
            }
            Ok(Err(error)) => Some(error.to_string()),
            // A busy server is not an outage.
            Err(_) => self.readers.outage(),
        }
    }

    /// Whether several hubs may share this database.
    pub fn is_shared(&self) -> bool {
        matches!(self.target, Target::Postgres(_))
    }

    /// Runs a verb in one transaction and waits until it is durable. The same `key` makes a retry act once.
    pub async fn write<C: Command>(
        &self,
        caller: &Caller,
        key: Option<String>,
        command: C,
    ) -> Result<Committed<C::Output>, StoreError> {
        if let Some(why) = self.readers.outage() {
            return Err(StoreError::Unavailable(why));
        }
        self.writer.write(caller.clone(), key, command).await
    }

    /// Announces the projects that get new tasks: a command that takes one at once may join the same transaction. The
    /// tasks do not exist yet, and may be refused.
    pub fn coming(&self) -> broadcast::Receiver<ProjectId> {
        self.writer.coming()
    }

    /// Finishes the queued commands and closes every connection.
    pub async fn close(&self) {
        // Close the readers first: the last connection to a SQLite file must checkpoint its log, which a reader may
        // not.
        self.readers.close().await;
        self.writer.stop();
        let ended = self.ended.lock().take();
        if let Some(ended) = ended {
            let _ = ended.await;
        }
    }
}

/// A connection to a database whose schema is up to date.
async fn connect(target: &Target) -> Result<Owned, OpenError> {
    let mut connection = Owned::connect(target).await?;
    migrate(&mut connection).await?;
    Ok(connection)
}

/// The newest schema that this program knows.
pub(crate) fn schema() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// Opens a migrated and locked database for raw writes.
pub(crate) async fn for_import(url: &str) -> Result<(Owned, Option<File>), OpenError> {
    let target = parse(url)?;
    let lock = lock(&target)?;
    let mut connection = Owned::connect(&target).await?;
    migrate(&mut connection).await?;
    Ok((connection, lock))
}

fn lock(target: &Target) -> Result<Option<File>, OpenError> {
    match target {
        Target::Sqlite(options) => hold(options.get_filename()).map(Some),
        Target::Postgres(_) => Ok(None),
    }
}

/// Reads a database URL.
pub(crate) fn parse(url: &str) -> Result<Target, OpenError> {
    let refuse = || OpenError::Url(without_password(url));
    if url.starts_with("postgres:") || url.starts_with("postgresql:") {
        let options = PgConnectOptions::from_str(url).map_err(|_| refuse())?;
        return Ok(Target::Postgres(options.application_name("shopfloor").statement_cache_capacity(512)));
    }
    let path = url.strip_prefix("sqlite:").ok_or_else(refuse)?;
    let path = path.strip_prefix("//").unwrap_or(path);
    if path.is_empty() || path.starts_with(':') {
        return Err(refuse());
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY)
        .foreign_keys(true)
        .statement_cache_capacity(512);
    Ok(Target::Sqlite(options))
}

/// The URL without its password, which must not reach a log.
fn without_password(url: &str) -> String {
    match (url.find("://"), url.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 < at => format!("{}://…{}", &url[..scheme], &url[at..]),
        _ => url.to_owned(),
    }
}

fn hold(database: &Path) -> Result<File, OpenError> {
    let path = database.with_extension("lock");
    let fail = |error| OpenError::Lock(path.clone(), error);
    let file = private_file(&path).map_err(fail)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(OpenError::Held(database.to_owned())),
        Err(TryLockError::Error(error)) => return Err(OpenError::Lock(path, error)),
    }
    // SQLite gives its other files the same permissions. Only under the lock: if this process had the database open
    // elsewhere, closing this handle would release SQLite's own locks.
    private_file(database).map_err(fail)?;
    Ok(file)
}

/// Opens a file that only its owner can read; creates it if necessary.
fn private_file(path: &Path) -> std::io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).mode(0o600).open(path)
}

async fn migrate(connection: &mut Owned) -> Result<(), OpenError> {
    let done = match connection {
        Owned::Sqlite(connection) => MIGRATIONS.run(&mut **connection).await,
        Owned::Postgres(connection) => MIGRATIONS.run(&mut **connection).await,
    };
    done.map_err(|error| match error {
        MigrateError::VersionMissing(version) | MigrateError::VersionTooNew(version, _) => OpenError::Newer(version),
        MigrateError::Execute(error) => OpenError::Store(error.into()),
        other => OpenError::Migrate(other.to_string()),
    })?;
    Ok(make_room(connection).await?)
}

/// Reserves space in the pages of tables with frequent updates: PostgreSQL can then write a new row version to the same
/// page without touching an index.
async fn make_room(connection: &mut Owned) -> Result<(), StoreError> {
    let Owned::Postgres(_) = connection else { return Ok(()) };
    let mut c = connection.borrow();
    let full = "SELECT relname::text AS relname FROM pg_class WHERE reloptions IS NULL AND \
                oid IN ('attempts'::regclass, 'tasks'::regclass, 'workers'::regclass)";
    for row in c.all(full, args![]).await? {
        c.script(&format!("ALTER TABLE {} SET (fillfactor = 50)", row.text("relname")?)).await?;
    }
    Ok(())
}

/// The ledger's only row, inserted by the first hub.
async fn first_row(connection: &mut Owned) -> Result<HubId, OpenError> {
    let mut c = connection.borrow();
    let sql = "INSERT INTO ledger (one, hub, seq, horizon, audit, audit_hash) VALUES (1, $1, 0, 0, 0, '') \
               ON CONFLICT (one) DO NOTHING";
    if c.first("SELECT hub FROM ledger WHERE one = 1", args![]).await?.is_none() {
        c.run(sql, vec![text(HubId::generate())]).await?;
    }
    let row = c.first("SELECT hub FROM ledger WHERE one = 1", args![]).await?;
    let row = row.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
    Ok(row.parsed("hub")?)
}

pub(crate) async fn readers(target: &Target) -> Result<Readers, StoreError> {
    Ok(match target {
        Target::Sqlite(options) => {
            let options = options.clone().create_if_missing(false).read_only(true);
            let pool = SqlitePoolOptions::new().min_connections(0).max_connections(4).acquire_timeout(BUSY);
            // SQLite ends a transaction by itself when a file cannot be read; sqlx would keep counting that
            // transaction.
            let pool = pool.after_release(|connection, _| {
                Box::pin(async move {
                    connection.ping().await?;
                    Ok(!connection.is_in_transaction())
                })
            });
            Readers::sqlite(pool.test_before_acquire(false).connect_with(options).await?)
        }
        Target::Postgres(options) => {
            let pool = PgPoolOptions::new().min_connections(0).max_connections(8).acquire_timeout(BUSY);
            let pool = pool.connect_with(options.clone()).await?;
            Readers::postgres(pool, Outage::of(options.clone()))
        }
    })
}
