//! An owned connection to either database.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

use crate::StoreError;
use crate::sql::{Connection, Database};

/// The database's address; reconnects use it.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Sqlite(SqliteConnectOptions),
    Postgres(PgConnectOptions),
}

impl Target {
    /// Whether it is a file.
    pub(crate) fn is_file(&self) -> bool {
        matches!(self, Self::Sqlite(_))
    }

    /// The same file, for this process alone. SQLite keeps the index of its log in a shared file, which cannot be
    /// created on a full disk; this keeps the index in memory.
    pub(crate) fn alone(self) -> Self {
        match self {
            Self::Sqlite(options) => Self::Sqlite(options.vfs("unix-excl")),
            other => other,
        }
    }
}

/// A connection with exclusive use.
pub(crate) enum Owned {
    Sqlite(Box<SqliteConnection>),
    Postgres(Box<PgConnection>),
}

impl Owned {
    /// Connects.
    pub(crate) async fn connect(target: &Target) -> Result<Self, StoreError> {
        Ok(match target {
            Target::Sqlite(options) => Self::Sqlite(Box::new(SqliteConnection::connect_with(options).await?)),
            Target::Postgres(options) => Self::Postgres(Box::new(postgres(options).await?)),
        })
    }

    /// The connection, to run statements on.
    pub(crate) fn borrow(&mut self) -> Connection<'_> {
        let database = match self {
            Self::Sqlite(connection) => Database::Sqlite(connection),
            Self::Postgres(connection) => Database::Postgres(connection),
        };
        database.into()
    }

    /// Closes the connection properly; ignores errors.
    pub(crate) async fn close(self) {
        let closed = match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
        };
        if let Err(error) = closed {
            tracing::debug!(%error, "closing a database connection");
        }
    }
}

/// The time limit for connecting to a server.
const PATIENCE: Duration = Duration::from_secs(5);

/// A hub that stops in the middle of a transaction must not block the others for longer than this.
const FORGOTTEN: &str = "SET idle_in_transaction_session_timeout = '10s'";

/// The writer finds rows by their keys, so one index plan is right for any table size; it is kept for the life of the
/// connection. Without these settings a plan that was made for an empty table would scan the whole table later. Low
/// page costs make index lookups of single rows cheaper than index scans.
const BY_KEYS: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; \
    SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; SET plan_cache_mode = force_generic_plan; \
    SET seq_page_cost = 0.01; SET random_page_cost = 0.01";

/// Compresses long texts fast, if the server supports it.
const COMPRESSED: &str = "SELECT set_config(name, 'lz4', false) FROM pg_settings WHERE name = 'default_toast_compression' \
    AND 'lz4' = ANY (enumvals)";

/// A connection for the writer.
async fn postgres(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    let connected = tokio::time::timeout(PATIENCE, PgConnection::connect_with(options)).await;
    let mut connection = connected.map_err(|_| StoreError::Unavailable(format!("no answer for {PATIENCE:?}")))??;
    let settings = AssertSqlSafe([FORGOTTEN, BY_KEYS, COMPRESSED].join("; "));
    sqlx::raw_sql(settings).execute(&mut connection).await?;
    Ok(connection)
}
