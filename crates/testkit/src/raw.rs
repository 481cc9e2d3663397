//! Direct access to rows, without the store.

use sqlx::{AssertSqlSafe, Connection, PgConnection, Row, SqliteConnection, TypeInfo, ValueRef};

/// A connection of the test's own, to either database. A statement that fails is a failed test.
#[derive(Debug)]
pub enum Raw {
    /// To a file.
    Sqlite(SqliteConnection),
    /// To a server.
    Postgres(PgConnection),
}

macro_rules! rows_as_text {
    ($rows:expr) => {
        $rows.iter().map(|row| (0..row.columns().len()).map(|index| cell!(row, index)).collect()).collect()
    };
}

macro_rules! cell {
    ($row:expr, $index:expr) => {{
        let value = $row.try_get_raw($index).expect("the column is there");
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
    pub async fn connect(url: &str) -> Self {
        match url.starts_with("postgres") {
            true => Self::Postgres(PgConnection::connect(url).await.expect("the server answers")),
            false => Self::Sqlite(SqliteConnection::connect(url).await.expect("the file opens")),
        }
    }

    /// Starts reading one consistent state.
    pub async fn hold_still(&mut self) {
        let begin = match self {
            Self::Sqlite(_) => "PRAGMA query_only = 1; BEGIN",
            Self::Postgres(_) => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        self.run(begin).await;
    }

    /// Closes in good order.
    pub async fn close(self) {
        let closed = match self {
            Self::Sqlite(connection) => connection.close().await,
            Self::Postgres(connection) => connection.close().await,
        };
        closed.expect("the connection closes");
    }

    /// Runs statements and returns how many rows they touched.
    pub async fn run(&mut self, sql: &str) -> u64 {
        let statements = sqlx::raw_sql(AssertSqlSafe(sql.to_owned()));
        let done = match self {
            Self::Sqlite(connection) => statements.execute(connection).await.map(|done| done.rows_affected()),
            Self::Postgres(connection) => statements.execute(connection).await.map(|done| done.rows_affected()),
        };
        done.unwrap_or_else(|error| panic!("{sql}: {error}"))
    }

    /// Every row, each column as text.
    pub async fn rows(&mut self, sql: &str) -> Vec<Vec<String>> {
        let query = AssertSqlSafe(sql.to_owned());
        let expected = "the query runs";
        match self {
            Self::Sqlite(connection) => rows_as_text!(sqlx::query(query).fetch_all(connection).await.expect(expected)),
            Self::Postgres(connection) => {
                rows_as_text!(sqlx::query(query).fetch_all(connection).await.expect(expected))
            }
        }
    }

    /// The one number that a query gives.
    pub async fn number(&mut self, sql: &str) -> i64 {
        self.rows(sql).await[0][0].parse().unwrap_or_else(|_| panic!("{sql}: not a number"))
    }

    /// The first column of every row.
    pub async fn column(&mut self, sql: &str) -> Vec<String> {
        self.rows(sql).await.into_iter().map(|mut row| row.swap_remove(0)).collect()
    }
}
