//! `make bench-recipes`: executions of three steps from start to end, beside DBOS on the same PostgreSQL and Restate on
//! loopback in the same run; what 10,000 waiting executions cost; and how long a killed hub is missed.
//!
//! Ours goes through the store's verbs as the hub runs them: access, history, events and audit included. Each step has a
//! result that comes from outside and is durable before the next step begins, as a step of DBOS and of Restate is.

mod ours;
mod peers;
mod waiting;

use testkit::{Fsync, Postgres};

use crate::report::{Goal, Report, Row, section};
use ours::Recipes;

/// How many executions, and how many at once.
const EXECUTIONS: usize = 3_000;
const AT_ONCE: usize = 10;
/// Executions before the clock runs.
const WARM: usize = 200;

/// Measures everything.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    let postgres = Postgres::start(Fsync::On);
    section(&format!("Recipes: PostgreSQL (fsync on), 3 steps, {AT_ONCE} at once; beside DBOS"));
    on_postgres(report, &postgres).await?;
    section(&format!("Recipes: SQLite (synchronous=FULL), 3 steps, {AT_ONCE} at once; beside Restate"));
    on_sqlite(report).await?;
    waiting::measure(report).await
}

async fn on_postgres(report: &mut Report, postgres: &Postgres) -> anyhow::Result<()> {
    let database = postgres.database().await;
    let theirs = peers::dbos(database.url(), EXECUTIONS, AT_ONCE).await?;
    let their_commits = waiting::settled_commits(database.url()).await?;
    let database = postgres.database().await;
    let recipes = Recipes::open(database.url()).await?;
    recipes.answered(WARM, AT_ONCE).await?;
    let before = waiting::settled_commits(database.url()).await?;
    let ours = recipes.answered(EXECUTIONS, AT_ONCE).await?;
    let commits = waiting::settled_commits(database.url()).await? - before;
    let told = recipes.told(EXECUTIONS, AT_ONCE).await?;
    let alone = waiting::settled_commits(database.url()).await?;
    recipes.answered(WARM, 1).await?;
    let alone = waiting::settled_commits(database.url()).await? - alone;
    recipes.close().await;
    let each = |commits: f64, count: usize| commits / count as f64;
    let rows = [
        ("executions", ours, Some(theirs), "1/s", Some(Goal::RatioAtLeast(1.3))),
        ("executions of three messages", told, Some(theirs), "1/s", None),
        (
            "transactions of each",
            each(commits, EXECUTIONS),
            Some(each(their_commits, EXECUTIONS)),
            "",
            Some(Goal::AtMost(5.0)),
        ),
        ("transactions of each, one at a time", each(alone, WARM), None, "", Some(Goal::AtMost(5.0))),
    ];
    for (what, ours, baseline, unit, goal) in rows {
        report.add(Row { what: what.into(), ours, baseline, unit, goal });
    }
    Ok(())
}

async fn on_sqlite(report: &mut Report) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let theirs = peers::restate(&folder.path().join("restate"), EXECUTIONS, AT_ONCE).await?;
    let recipes = Recipes::open(&format!("sqlite:{}", folder.path().join("recipes.db").display())).await?;
    recipes.answered(WARM, AT_ONCE).await?;
    let ours = recipes.answered(EXECUTIONS, AT_ONCE).await?;
    let told = recipes.told(EXECUTIONS, AT_ONCE).await?;
    recipes.close().await;
    let rows = [("executions", ours, Some(Goal::RatioAtLeast(5.0))), ("executions of three messages", told, None)];
    for (what, ours, goal) in rows {
        report.add(Row { what: what.into(), ours, baseline: Some(theirs), unit: "1/s", goal });
    }
    Ok(())
}
