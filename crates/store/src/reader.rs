//! Readers: a pool of connections beside the writer's.

use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};

use crate::StoreError;
use crate::outage::Outage;
use crate::sql::{Connection, Database};

/// A pool of connections for reading.
#[derive(Debug, Clone)]
pub(crate) struct Readers {
    pool: Pool,
    outage: Outage,
}

#[derive(Debug, Clone)]
enum Pool {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

/// A connection borrowed from the pool.
pub(crate) enum Reader {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
    SqliteSnapshot(Transaction<'static, Sqlite>),
    PostgresSnapshot(Transaction<'static, Postgres>),
}

impl Readers {
    /// Readers of a SQLite file.
    pub(crate) fn sqlite(pool: SqlitePool) -> Self {
        Self { pool: Pool::Sqlite(pool), outage: Outage::never() }
    }

    /// Readers of a PostgreSQL server.
    pub(crate) fn postgres(pool: PgPool, outage: Outage) -> Self {
        Self { pool: Pool::Postgres(pool), outage }
    }

    /// The pool of a PostgreSQL server.
    pub(crate) fn server(&self) -> Option<&PgPool> {
        match &self.pool {
            Pool::Postgres(pool) => Some(pool),
            Pool::Sqlite(_) => None,
        }
    }

    /// Why the database is unreachable, if it is.
    pub(crate) fn outage(&self) -> Option<String> {
        self.outage.now()
    }

    /// A connection for single statements.
    pub(crate) async fn get(&self) -> Result<Reader, StoreError> {
        Ok(match &self.pool {
            Pool::Sqlite(pool) => Reader::Sqlite(pool.acquire().await?),
            Pool::Postgres(pool) => Reader::Postgres(self.outage.unless_down(pool.acquire()).await?),
        })
    }

    /// A connection whose statements all see one consistent state; dropping it ends the snapshot.
    pub(crate) async fn snapshot(&self) -> Result<Reader, StoreError> {
        Ok(match &self.pool {
            Pool::Sqlite(pool) => Reader::SqliteSnapshot(pool.begin().await?),
            Pool::Postgres(pool) => {
                let mut reader = Reader::PostgresSnapshot(self.outage.unless_down(pool.begin()).await?);
                reader.borrow().script("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
                reader
            }
        })
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        match &self.pool {
            Pool::Sqlite(pool) => pool.close().await,
            Pool::Postgres(pool) => pool.close().await,
        }
    }
}

impl Reader {
    /// The connection, to run statements on.
    pub(crate) fn borrow(&mut self) -> Connection<'_> {
        let database = match self {
            Self::Sqlite(connection) => Database::Sqlite(connection),
            Self::Postgres(connection) => Database::Postgres(connection),
            Self::SqliteSnapshot(transaction) => Database::Sqlite(transaction),
            Self::PostgresSnapshot(transaction) => Database::Postgres(transaction),
        };
        database.into()
    }
}
