//! The few differences between the two databases, in one small place: connections, arguments and rows.

use std::fmt;

use domain::Timestamp;
use sqlx::{AssertSqlSafe, Column, PgConnection, Row as _, SqliteConnection};

use crate::StoreError;

/// A value that both databases store alike.
#[derive(Debug, Clone)]
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

/// One connection to either database.
pub(crate) enum Connection<'c> {
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

impl Connection<'_> {
    /// The same connection, borrowed once more.
    pub(crate) fn again(&mut self) -> Connection<'_> {
        match self {
            Self::Sqlite(connection) => Connection::Sqlite(connection),
            Self::Postgres(connection) => Connection::Postgres(connection),
        }
    }

    /// Runs a statement; returns how many rows it touched.
    pub(crate) async fn run(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        let sql = AssertSqlSafe(sql);
        Ok(match self {
            Self::Sqlite(connection) => bind_all!(sql, values).execute(&mut **connection).await?.rows_affected(),
            Self::Postgres(connection) => bind_all!(sql, values).execute(&mut **connection).await?.rows_affected(),
        })
    }

    /// All rows of a query.
    pub(crate) async fn all(&mut self, sql: &str, values: Vec<Value>) -> Result<Vec<Row>, StoreError> {
        let sql = AssertSqlSafe(sql);
        Ok(match self {
            Self::Sqlite(connection) => {
                let rows = bind_all!(sql, values).fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Sqlite).collect()
            }
            Self::Postgres(connection) => {
                let rows = bind_all!(sql, values).fetch_all(&mut **connection).await?;
                rows.into_iter().map(Row::Postgres).collect()
            }
        })
    }

    /// The first row of a query, if there is one.
    pub(crate) async fn first(&mut self, sql: &str, values: Vec<Value>) -> Result<Option<Row>, StoreError> {
        Ok(self.all(sql, values).await?.into_iter().next())
    }

    /// Inserts many rows; `head` names table and columns.
    pub(crate) async fn insert(&mut self, head: &str, rows: Vec<Vec<Value>>) -> Result<(), StoreError> {
        let many = |rows: &str| format!("{head} {rows}");
        let (sqlite, postgres) = (
            |values: &str| many(&format!("VALUES {values}")),
            |arrays: &str, _: &str| many(&format!("SELECT * FROM UNNEST({arrays})")),
        );
        self.run_rows(rows, sqlite, postgres).await.map(|_| ())
    }

    /// Updates many rows and says how many there were. The first values of each row are its `keys`, which name it and
    /// say what it must be; `only` restricts further.
    pub(crate) async fn update(
        &mut self,
        table: &str,
        keys: &[&str],
        columns: &[&str],
        only: &str,
        rows: Vec<Vec<Value>>,
    ) -> Result<u64, StoreError> {
        let sets = columns.iter().enumerate().map(|(at, column)| format!("{column} = v.column{}", keys.len() + at + 1));
        let sets = sets.collect::<Vec<_>>().join(", ");
        let fits = keys.iter().enumerate().map(|(at, key)| format!("{table}.{key} = v.column{}", at + 1));
        let fits = fits.collect::<Vec<_>>().join(" AND ");
        let whole = |source: &str| format!("UPDATE {table} SET {sets} FROM {source} WHERE {fits}{only}");
        let sqlite = |values: &str| whole(&format!("(VALUES {values}) AS v"));
        let postgres = |arrays: &str, names: &str| whole(&format!("UNNEST({arrays}) AS v ({names})"));
        self.run_rows(rows, sqlite, postgres).await
    }

    /// Runs a statement over many rows: as a list of values on SQLite, as an array for each column on PostgreSQL, where
    /// one statement then fits any number of rows.
    async fn run_rows(
        &mut self,
        rows: Vec<Vec<Value>>,
        sqlite: impl Fn(&str) -> String,
        postgres: impl Fn(&str, &str) -> String,
    ) -> Result<u64, StoreError> {
        let mut written = 0;
        let mut rows = rows.into_iter().peekable();
        while rows.peek().is_some() {
            written += match self {
                Self::Sqlite(_) => {
                    // Powers of two keep the number of prepared statements small.
                    let take = 1 << rows.len().min(64).ilog2();
                    let some: Vec<Vec<Value>> = rows.by_ref().take(take).collect();
                    let width = some.first().map_or(0, Vec::len);
                    let tuple = |at: usize| {
                        let places: Vec<String> = (1..=width).map(|place| format!("${}", at * width + place)).collect();
                        format!("({})", places.join(", "))
                    };
                    let tuples: Vec<String> = (0..take).map(tuple).collect();
                    self.run(&sqlite(&tuples.join(", ")), some.into_iter().flatten().collect()).await?
                }
                Self::Postgres(connection) => {
                    let columns = columns(rows.by_ref().take(1000).collect());
                    let place = |(at, column): (usize, &ColumnOf)| match column {
                        ColumnOf::Text(_) => format!("${}::text[]", at + 1),
                        ColumnOf::Integer(_) => format!("${}::bigint[]", at + 1),
                    };
                    let places: Vec<String> = columns.iter().enumerate().map(place).collect();
                    let names: Vec<String> = (1..=columns.len()).map(|at| format!("column{at}")).collect();
                    let sql = postgres(&places.join(", "), &names.join(", "));
                    let mut query = sqlx::query(AssertSqlSafe(sql.as_str()));
                    for column in columns {
                        query = match column {
                            ColumnOf::Text(values) => query.bind(values),
                            ColumnOf::Integer(values) => query.bind(values),
                        };
                    }
                    query.execute(&mut **connection).await?.rows_affected()
                }
            };
        }
        Ok(written)
    }

    /// Runs statements without arguments or results.
    pub(crate) async fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        let sql = AssertSqlSafe(sql);
        match self {
            Self::Sqlite(connection) => sqlx::raw_sql(sql).execute(&mut **connection).await.map(|_| ())?,
            Self::Postgres(connection) => sqlx::raw_sql(sql).execute(&mut **connection).await.map(|_| ())?,
        }
        Ok(())
    }

    /// Starts a transaction that will write: one at a time, also of several hubs, so that what a command has read stays
    /// true until it is committed.
    pub(crate) async fn begin_write(&mut self) -> Result<(), StoreError> {
        let begin = match self {
            Self::Sqlite(_) => "BEGIN IMMEDIATE",
            Self::Postgres(_) => "BEGIN; SELECT one FROM ledger WHERE one = 1 FOR UPDATE",
        };
        self.script(begin).await
    }
}

/// One column of many rows.
enum ColumnOf {
    Text(Vec<Option<String>>),
    Integer(Vec<Option<i64>>),
}

/// Rows turned into columns; all values of a column are of one kind.
fn columns(rows: Vec<Vec<Value>>) -> Vec<ColumnOf> {
    let mut columns: Vec<ColumnOf> = Vec::new();
    for row in rows {
        for (at, value) in row.into_iter().enumerate() {
            if columns.len() == at {
                columns.push(match value {
                    Value::Text(_) | Value::NoText => ColumnOf::Text(Vec::new()),
                    Value::Integer(_) | Value::NoInteger => ColumnOf::Integer(Vec::new()),
                });
            }
            match (&mut columns[at], value) {
                (ColumnOf::Text(column), Value::Text(text)) => column.push(Some(text)),
                (ColumnOf::Text(column), _) => column.push(None),
                (ColumnOf::Integer(column), Value::Integer(number)) => column.push(Some(number)),
                (ColumnOf::Integer(column), _) => column.push(None),
            }
        }
    }
    columns
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

    /// A number column that is never negative and small.
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
