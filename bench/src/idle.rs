//! Idle: what 5,000 quiet connections cost, and what happens when nothing happens.

use std::time::Duration;

use anyhow::Context;
use futures_util::StreamExt;
use futures_util::stream;
use testkit::{Fsync, Postgres};

use crate::hub::Hub;
use crate::report::{Goal, Report, Row, section};

const CONNECTIONS: usize = 5_000;
const SETTLE: Duration = Duration::from_secs(15);
const REST: Duration = Duration::from_secs(40);

/// Measures memory per connection, processor time at rest, and PostgreSQL's transactions.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Idle: {CONNECTIONS} connections"));
    let postgres = Postgres::start(Fsync::On);
    let database = postgres.database().await;
    let folder = tempfile::tempdir()?;
    no_upkeep(database.url()).await?;
    let hub = Hub::start(folder.path(), Some(database.url())).await?;
    hub.project().await?;
    let before = hub.memory()?;
    let opened: Vec<anyhow::Result<_>> =
        stream::iter(0..CONNECTIONS).map(|_| hub.live()).buffer_unordered(32).collect().await;
    let sockets: Vec<_> = opened.into_iter().collect::<Result<_, _>>()?;
    let each = (hub.memory()? - before) / sockets.len() as f64 / 1024.0;
    let goal = Some(Goal::AtMost(24.0));
    report.add(Row { what: "memory per connection".into(), ours: each, baseline: None, unit: "KiB", goal });
    // Somebody is there: pings are answered while nothing else happens.
    let readers: Vec<_> = sockets
        .into_iter()
        .map(|mut socket| tokio::spawn(async move { while let Ok(Some(_)) = socket.next().await {} }))
        .collect();

    // PostgreSQL counts what a connection did up to ten seconds later.
    tokio::time::sleep(SETTLE).await;
    let (cpu, transactions) = (hub.cpu()?, commits(database.url()).await?);
    tokio::time::sleep(REST).await;
    let share = (hub.cpu()? - cpu) / REST.as_secs_f64() * 100.0;
    // Our own look at the statistics is one of them.
    let rate = (commits(database.url()).await? - transactions - 1.0) / REST.as_secs_f64();
    let goal = Some(Goal::AtMost(1.0));
    report.add(Row { what: "processor at rest".into(), ours: share, baseline: None, unit: "% of one", goal });
    report.add(Row { what: "PostgreSQL transactions at rest".into(), ours: rate, baseline: None, unit: "1/s", goal });
    readers.iter().for_each(tokio::task::JoinHandle::abort);
    hub.stop().await
}

/// Stops the upkeep that a server does by itself: analysing a few new tables once a minute is as many transactions as a
/// hub has in twenty seconds, and nobody's who is measured.
pub(crate) async fn no_upkeep(url: &str) -> anyhow::Result<()> {
    use sqlx::{Connection, PgConnection};
    let mut connection = PgConnection::connect(url).await?;
    for sql in ["ALTER SYSTEM SET autovacuum = off", "SELECT pg_reload_conf()"] {
        sqlx::query(sql).execute(&mut connection).await?;
    }
    Ok(connection.close().await?)
}

/// How many transactions the database has committed so far.
pub(crate) async fn commits(url: &str) -> anyhow::Result<f64> {
    use sqlx::{Connection, PgConnection, Row as _};
    let mut connection = PgConnection::connect(url).await?;
    let sql = "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()";
    let row = sqlx::query(sql).fetch_optional(&mut connection).await?.context("the database is in the statistics")?;
    let count: i64 = row.try_get(0)?;
    connection.close().await?;
    Ok(count as f64)
}
