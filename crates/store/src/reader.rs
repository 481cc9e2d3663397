//! Readers: a pool of connections beside the writer's.

use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres, Sqlite, SqlitePool, Transaction};

use crate::StoreError;
use crate::sql::Connection;

/// A pool of connections for reading.
#[derive(Debug, Clone)]
pub(crate) enum Readers {
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
    /// A connection for single statements.
    pub(crate) async fn get(&self) -> Result<Reader, StoreError> {
        Ok(match self {
            Self::Sqlite(pool) => Reader::Sqlite(pool.acquire().await?),
            Self::Postgres(pool) => Reader::Postgres(pool.acquire().await?),
        })
    }

    /// A connection whose statements all see one consistent state; it is let go by dropping.
    pub(crate) async fn snapshot(&self) -> Result<Reader, StoreError> {
        Ok(match self {
            Self::Sqlite(pool) => Reader::SqliteSnapshot(pool.begin().await?),
            Self::Postgres(pool) => {
                let mut reader = Reader::PostgresSnapshot(pool.begin().await?);
                reader.borrow().script("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY").await?;
                reader
            }
        })
    }

    /// Closes every connection.
    pub(crate) async fn close(&self) {
        match self {
            Self::Sqlite(pool) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

impl Reader {
    /// The connection, to run statements on.
    pub(crate) fn borrow(&mut self) -> Connection<'_> {
        match self {
            Self::Sqlite(connection) => Connection::Sqlite(connection),
            Self::Postgres(connection) => Connection::Postgres(connection),
            Self::SqliteSnapshot(transaction) => Connection::Sqlite(transaction),
            Self::PostgresSnapshot(transaction) => Connection::Postgres(transaction),
        }
    }
}
