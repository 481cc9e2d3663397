//! What waiting executions cost, and how late they continue when a hub is killed.

use std::time::Duration;

use domain::Timestamp;
use testkit::{Fsync, Postgres};

use super::ours::Recipes;
use crate::hub::Hub;
use crate::idle::{commits, no_upkeep};
use crate::report::{Goal, Report, Row, section};

/// How many executions wait.
const WAITING: usize = 10_000;
/// PostgreSQL counts what a connection did up to ten seconds later.
const SETTLE: Duration = Duration::from_secs(12);
const REST: Duration = Duration::from_secs(30);
/// How many executions are due when a hub is killed, and how long after their start.
const DUE: usize = 200;
const SOON: i64 = 15_000;

/// The commits of a database, after its connections have told of theirs.
pub(super) async fn settled_commits(url: &str) -> anyhow::Result<f64> {
    tokio::time::sleep(SETTLE).await;
    commits(url).await
}

fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// Measures both.
pub(super) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Recipes: {WAITING} waiting executions; a killed hub"));
    let postgres = Postgres::start(Fsync::On);
    no_upkeep(postgres.database().await.url()).await?;
    idle(report, &postgres).await?;
    takeover(report, &postgres).await
}

async fn idle(report: &mut Report, postgres: &Postgres) -> anyhow::Result<()> {
    let database = postgres.database().await;
    let recipes = Recipes::open(database.url()).await?;
    recipes.wait_until(WAITING, now().plus_millis(20 * 86_400_000)).await?;
    recipes.close().await;
    let folder = tempfile::tempdir()?;
    let hub = Hub::start(folder.path(), Some(database.url())).await?;
    let before = settled_commits(database.url()).await?;
    let used = hub.cpu()?;
    tokio::time::sleep(REST).await;
    // Our own look at the statistics is one of them.
    let rate = (commits(database.url()).await? - before - 1.0) / REST.as_secs_f64();
    let share = (hub.cpu()? - used) / REST.as_secs_f64() * 100.0;
    hub.stop().await?;
    let goal = Some(Goal::AtMost(1.0));
    report.add(Row { what: "transactions at rest".into(), ours: rate, baseline: None, unit: "1/s", goal });
    report.add(Row { what: "processor at rest".into(), ours: share, baseline: None, unit: "% of one", goal: None });
    Ok(())
}

/// Two hubs share executions that are due soon; one is killed just before.
async fn takeover(report: &mut Report, postgres: &Postgres) -> anyhow::Result<()> {
    let database = postgres.database().await;
    let due = now().plus_millis(SOON);
    let recipes = Recipes::open(database.url()).await?;
    recipes.wait_until(DUE, due).await?;
    recipes.close().await;
    let folders = (tempfile::tempdir()?, tempfile::tempdir()?);
    let killed = Hub::start(folders.0.path(), Some(database.url())).await?;
    let stays = Hub::start(folders.1.path(), Some(database.url())).await?;
    let left = due.as_millis() - now().as_millis() - 20;
    tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
    killed.stop().await?;
    let late = loop {
        tokio::time::sleep(Duration::from_millis(200)).await;
        if let Some(last) = last_end(database.url()).await? {
            break (last - due.as_millis()) as f64 / 1000.0;
        }
    };
    stays.stop().await?;
    let what = format!("the last of {DUE} due executions continues after SIGKILL");
    report.add(Row { what, ours: late, baseline: None, unit: "s", goal: Some(Goal::AtMost(1.0)) });
    Ok(())
}

/// When the last execution ended; `None` while one has not.
async fn last_end(url: &str) -> anyhow::Result<Option<i64>> {
    use sqlx::{Connection, PgConnection, Row as _};
    let mut connection = PgConnection::connect(url).await?;
    let sql = "SELECT MAX(ended_at), COUNT(*) - COUNT(ended_at) FROM executions";
    let row = sqlx::query(sql).fetch_one(&mut connection).await?;
    let (last, open): (Option<i64>, i64) = (row.try_get(0)?, row.try_get(1)?);
    connection.close().await?;
    Ok(last.filter(|_| open == 0))
}
