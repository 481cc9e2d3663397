//! The differences between the two databases: connections, arguments and rows.

use std::fmt;

use domain::Timestamp;
use sqlx::{AssertSqlSafe, Column, PgConnection, Row as _, SqliteConnection};

use crate::StoreError;
use crate::batch::Batch;

/// A value that both databases store alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    NoText,
    NoInteger,
}

macro_rules! value_from {
    ($($type:ty => $build:expr,)*) => {$(
        impl From<$type> for Value {
            fn from(value: $type) -> Self { ($build)(value) }
        }
    )*};
}

value_from! {
    &str => |value: &str| Value::Text(value.to_owned()),
    String => Value::Text,
    &String => |value: &String| Value::Text(value.clone()),
    i64 => Value::Integer,
    u32 => |value: u32| Value::Integer(i64::from(value)),
    u64 => |value: u64| Value::Integer(value.cast_signed()),
    bool => |value: bool| Value::Integer(i64::from(value)),
    Timestamp => |value: Timestamp| Value::Integer(value.as_millis()),
    Option<Timestamp> => |value: Option<Timestamp>| value.map_or(Value::NoInteger, Value::from),
    Option<u32> => |value: Option<u32>| value.map_or(Value::NoInteger, Value::from),
    Option<i64> => |value: Option<i64>| value.map_or(Value::NoInteger, Value::Integer),
    Option<String> => |value: Option<String>| value.map_or(Value::NoText, Value::Text),
}

/// Turns ids and words into text arguments.
pub(crate) fn text(value: impl fmt::Display) -> Value {
    Value::Text(value.to_string())
}

/// Builds an argument list from anything that becomes a [`Value`].
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::sql::Value::from($value)),*] };
}
pub(crate) use args;

/// One connection to either database, with the pending rows of its transaction.
///
/// A query that could see such rows writes them first, so that no command misses its own changes.
pub(crate) struct Connection<'c> {
    pub(crate) database: Database<'c>,
    pending: Option<&'c mut Batch>,
}

/// A connection to one of the two databases.
pub(crate) enum Database<'c> {
    Sqlite(&'c mut SqliteConnection),
    Postgres(&'c mut PgConnection),
}

macro_rules! bind_all {
    ($sql:expr, $values:expr) => {{
        let mut query = sqlx::query($sql);
        for value in $values {
            query = match value {
                Value::Text(text) => query.bind(text),
                Value::Integer(number) => query.bind(number),
                Value::NoText => query.bind(None::<String>),
                Value::NoInteger => query.bind(None::<i64>),
            };
        }
        query
    }};
}

impl<'c> From<Database<'c>> for Connection<'c> {
    fn from(database: Database<'c>) -> Self {
        Self { database, pending: None }
    }
}

impl Database<'_> {
    fn again(&mut self) -> Database<'_> {
        match self {
            Self::Sqlite(connection) => Database::Sqlite(connection),
            Self::Postgres(connection) => Database::Postgres(connection),
        }
    }
}

impl<'c> Connection<'c> {
    /// A transaction's connection with its pending rows.
    pub(crate) fn within(self, pending: &'c mut Batch) -> Self {
        Self { pending: Some(pending), ..self }
    }

    /// The pending rows, if this is a transaction's connection.
    pub(crate) fn pending(&mut self) -> Option<&mut Batch> {
        self.pending.as_deref_mut()
    }

    /// Reborrows the connection.
    pub(crate) fn again(&mut self) -> Connection<'_> {
        Connection { database: self.database.again(), pending: self.pending.as_deref_mut() }
    }

    /// The same connection without the pending rows, for reading the tables as they are.
    pub(crate) fn stored(&mut self) -> Connection<'_> {
        self.database.again().into()
    }

    /// Writes all pending rows.
    pub(crate) async fn settle(&mut self) -> Result<(), StoreError> {
        match &mut self.pending {
            Some(batch) => batch.flush(&mut self.database.again().into()).await,
            None => Ok(()),
        }
    }

    /// Runs a statement; returns the number of affected rows.
    pub(crate) async fn run(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        let sql = AssertSqlSafe(sql);
        Ok(match &mut self.database {
            Database::Sqlite(connection) => bind_all!(sql, values).execute(&mut **connection).await?.rows_affected(),
            Database::Postgres(connection) => bind_all!(sql, values).execute(&mut **connection).await?.rows_affected(),
        })
    }

    /// All rows of a query.
    pub(crate) async fn all(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        if self.pending.as_deref().is_some_and(|batch| batch.holds_rows_of(sql)) {
            self.settle().await?;
        }
        let sql = AssertSqlSafe(sql);
        Ok(match &mut self.database {
            Database::Sqlite(connection) => {
                let rows = bind_all!(sql, values).fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Database::Postgres(connection) => {
                let rows = bind_all!(sql, values).fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// The first row of a query, if there is one.
    pub(crate) async fn first(&mut self, sql: &str, values: Vec<Value>) -> Result<Option<Row>, StoreError> {
        Ok(self.all(sql, values).await?.into_iter().next())
    }

    /// Runs statements without arguments or results.
    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        let sql = AssertSqlSafe(sql);
        match &mut self.database {
            Database::Sqlite(connection) => sqlx::raw_sql(sql).execute(&mut **connection).await.map(|_| ())?,
            Database::Postgres(connection) => sqlx::raw_sql(sql).execute(&mut **connection).await.map(|_| ())?,
        }
        Ok(())
    }

    /// Begins a writing transaction and returns the ledger, if there is one. Only one such transaction runs at a time,
    /// also with several hubs, so that rows that a command has read stay true until the commit.
    pub(crate) async fn begin_write(&mut self) -> Result<Option<Ledger>, StoreError> {
        const LEDGER: &str = "SELECT seq, audit, audit_hash, writes FROM ledger WHERE one = 1";
        let row = match &mut self.database {
            Database::Sqlite(_) => {
                self.script("BEGIN IMMEDIATE").await?;
                self.first(LEDGER, Vec::new()).await?
            }
            Database::Postgres(connection) => {
                let sql = AssertSqlSafe(format!("BEGIN; {LEDGER} FOR UPDATE"));
                sqlx::raw_sql(sql).fetch_all(&mut **connection).await?.pop().map(Row::Postgres)
            }
        };
        row.map(|row| {
            let (seq, audit) = (row.integer("seq")?.cast_unsigned(), row.integer("audit")?.cast_unsigned());
            Ok(Ledger { seq, audit, hash: row.text("audit_hash")?, writes: row.integer("writes")?.cast_unsigned() })
        })
        .transpose()
    }
}

/// State of the ledger: the numbers of the last event and audit entry, the hash of that entry, and the number of
/// writing transactions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ledger {
    pub(crate) seq: u64,
    pub(crate) audit: u64,
    pub(crate) hash: String,
    pub(crate) writes: u64,
}

/// One row of either database.
pub(crate) enum Row {
    Sqlite(sqlx::sqlite::SqliteRow),
    Postgres(sqlx::postgres::PgRow),
}

impl Row {
    /// A text column.
    pub(crate) fn text(&self, column: &str) -> Result<String, StoreError> {
        self.text_or_none(column)?.ok_or_else(|| StoreError::Corrupt(format!("{column} is null")))
    }

    /// A text column that may be null.
    pub(crate) fn text_or_none(&self, column: &str) -> Result<Option<String>, StoreError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    /// A number column.
    pub(crate) fn integer(&self, column: &str) -> Result<i64, StoreError> {
        self.integer_or_none(column)?.ok_or_else(|| StoreError::Corrupt(format!("{column} is null")))
    }

    /// A number column that may be null.
    pub(crate) fn integer_or_none(&self, column: &str) -> Result<Option<i64>, StoreError> {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    /// A small number column that is never negative.
    pub(crate) fn count(&self, column: &str) -> Result<u32, StoreError> {
        u32::try_from(self.integer(column)?).map_err(|_| StoreError::Corrupt(format!("{column} is out of range")))
    }

    /// A flag column.
    pub(crate) fn flag(&self, column: &str) -> Result<bool, StoreError> {
        Ok(self.integer(column)? != 0)
    }

    /// A time column.
    pub(crate) fn time(&self, column: &str) -> Result<Timestamp, StoreError> {
        self.integer(column).map(Timestamp::from_millis)
    }

    /// A time column that may be null.
    pub(crate) fn time_or_none(&self, column: &str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.integer_or_none(column)?.map(Timestamp::from_millis))
    }

    /// A text column that holds an id or a word.
    pub(crate) fn parsed<T: std::str::FromStr<Err: fmt::Display>>(&self, column: &str) -> Result<T, StoreError> {
        self.text(column)?.parse().map_err(|error| StoreError::Corrupt(format!("{column}: {error}")))
    }

    /// A text column that holds JSON.
    pub(crate) fn json<T: serde::de::DeserializeOwned>(&self, column: &str) -> Result<T, StoreError> {
        serde_json::from_str(&self.text(column)?).map_err(|error| StoreError::Corrupt(format!("{column}: {error}")))
    }

    /// Every column with its value, for moving rows between databases.
    pub(crate) fn columns(&self) -> Result<serde_json::Map<String, serde_json::Value>, StoreError> {
        let names: Vec<String> = match self {
            Self::Sqlite(row) => row.columns().iter().map(|column| column.name().to_owned()).collect(),
            Self::Postgres(row) => row.columns().iter().map(|column| column.name().to_owned()).collect(),
        };
        let mut values = serde_json::Map::new();
        for name in names {
            let value = match self.text_or_none(&name) {
                Ok(Some(text)) => text.into(),
                Ok(None) => serde_json::Value::Null,
                Err(_) => self.integer_or_none(&name)?.map_or(serde_json::Value::Null, Into::into),
            };
            values.insert(name, value);
        }
        Ok(values)
    }
}

/// Text for a column that holds JSON.
pub(crate) fn to_json<T: serde::Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("views have string keys and no fallible serializer")
}
