//! Looking at rows behind the store's back.

use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection, TypeInfo, ValueRef};

/// A connection of the test's own, to either database.
pub(crate) enum Raw {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

macro_rules! rows_as_text {
    ($rows:expr) => {
        $rows.iter().map(|row| (0..row.columns().len()).map(|index| cell!(row, index)).collect()).collect()
    };
}

macro_rules! cell {
    ($row:expr, $index:expr) => {{
        let value = $row.try_get_raw($index).unwrap();
        let number = ["INTEGER", "INT8", "INT4"].contains(&value.type_info().name());
        match (value.is_null(), number) {
            (true, _) => "null".to_owned(),
            (false, true) => $row.get::<i64, _>($index).to_string(),
            (false, false) => $row.get::<String, _>($index),
        }
    }};
}

impl Raw {
    /// Connects by a store's URL.
    pub(crate) async fn connect(url: &str) -> Self {
        match url.starts_with("postgres") {
            true => Self::Postgres(PgConnection::connect(url).await.unwrap()),
            false => Self::Sqlite(SqliteConnection::connect(url).await.unwrap()),
        }
    }

    /// Runs statements and returns how many rows they touched.
    pub(crate) async fn run(&mut self, sql: &str) -> u64 {
        let sql = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        match self {
            Self::Sqlite(connection) => sql.execute(connection).await.unwrap().rows_affected(),
            Self::Postgres(connection) => sql.execute(connection).await.unwrap().rows_affected(),
        }
    }

    /// Every row, each column as text.
    pub(crate) async fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(connection) => rows_as_text!(sqlx::query(sql).fetch_all(connection).await.unwrap()),
            Self::Postgres(connection) => rows_as_text!(sqlx::query(sql).fetch_all(connection).await.unwrap()),
        }
    }

    /// The one number that a query gives.
    pub(crate) async fn number(&mut self, sql: &str) -> i64 {
        self.rows(sql).await[0][0].parse().unwrap()
    }

    /// The first column of every row.
    pub(crate) async fn column(&mut self, sql: &str) -> Vec<String> {
        self.rows(sql).await.into_iter().map(|mut row| row.swap_remove(0)).collect()
    }
}
