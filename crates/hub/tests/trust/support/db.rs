//! The database behind a hub, past the hub.

use std::path::Path;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row, SqliteConnection};
use testkit::TestHub;

async fn connect(hub: &TestHub) -> SqliteConnection {
    open(&hub.data_dir().join("shopfloor.db")).await
}

async fn open(file: &Path) -> SqliteConnection {
    SqliteConnectOptions::new().filename(file).connect().await.expect("the hub's database can be opened")
}

/// Runs a statement and returns how many rows it touched.
pub(crate) async fn run(hub: &TestHub, sql: &str) -> u64 {
    let mut connection = connect(hub).await;
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the statement runs").rows_affected()
}

/// The same for a database that no hub has open.
pub(crate) async fn run_file(file: &Path, sql: &str) {
    let mut connection = open(file).await;
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.expect("the statement runs");
    assert!(done.rows_affected() > 0, "{sql} changes something");
    connection.close().await.expect("closes");
}

/// Every row of every table as text, apart from when something was last seen.
pub(crate) async fn rows(hub: &TestHub) -> Vec<String> {
    let mut connection = connect(hub).await;
    let tables = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name";
    let tables = sqlx::query(tables).fetch_all(&mut connection).await.expect("the tables are listed");
    let mut all = Vec::new();
    for table in tables.iter().map(|row| row.get::<String, _>(0)) {
        let columns = format!("SELECT name FROM pragma_table_info('{table}') WHERE name NOT LIKE 'last_%_at'");
        let columns = sqlx::query(AssertSqlSafe(columns)).fetch_all(&mut connection).await.expect("the columns");
        let quoted: Vec<String> = columns.iter().map(|row| format!("quote({})", row.get::<String, _>(0))).collect();
        let sql = format!("SELECT {} AS line FROM {table} ORDER BY 1", quoted.join(" || ',' || "));
        let lines = sqlx::query(AssertSqlSafe(sql)).fetch_all(&mut connection).await.expect("the rows");
        all.extend(lines.iter().map(|row| format!("{table}: {}", row.get::<String, _>(0))));
    }
    all
}
