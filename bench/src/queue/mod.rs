//! `make bench-queue`: tasks from being added to being done, beside graphile-worker and pg-boss on the same PostgreSQL in
//! the same run, and how the queue behaves when it is long.
//!
//! Ours goes through the store's verbs as the hub runs them: access, attempts, reports, events and audit included. The
//! others run as they do in a program of their users: in its own process, on the same machine.

mod flat;
mod ours;
mod peers;

use std::time::Duration;

use testkit::{Fsync, Postgres};

use crate::hub::Hub;
use crate::idle::{commits, no_upkeep};
use crate::report::{Goal, Report, Row, percentile, say, section};
use ours::Queue;
use peers::{Peer, Said};

/// How many workers, and how many tasks they do.
const WORKERS: usize = 50;
const TASKS: usize = 20_000;

/// How long PostgreSQL's transactions at rest are counted, after as long as its statistics may be late.
const REST: Duration = Duration::from_secs(20);

/// Measures everything.
pub(crate) async fn measure(report: &mut Report) -> anyhow::Result<()> {
    let postgres = Postgres::start(Fsync::On);
    section(&format!("Queue: PostgreSQL (fsync on), {WORKERS} workers, {TASKS} tasks"));
    let graphile = said(&postgres, Peer::Graphile, "single").await?;
    let graphile_batched = said(&postgres, Peer::Graphile, "batched").await?;
    let boss = said(&postgres, Peer::Boss, "single").await?;
    let boss_batched = said(&postgres, Peer::Boss, "batched").await?;

    let database = postgres.database().await;
    let queue = Queue::open(database.url()).await?;
    let enqueue = queue.enqueue(TASKS, WORKERS).await?;
    let complete = queue.complete(WORKERS).await?;
    let mut waits = queue.waits().await?;
    queue.close().await;
    let batched = batched(&postgres).await?;

    let best = [&graphile, &graphile_batched, &boss, &boss_batched].map(|said| said.enqueue);
    let best = best.into_iter().fold(0.0, f64::max);
    let mut add = |what: &str, ours: f64, baseline: f64, unit, goal| {
        report.add(Row { what: what.into(), ours, baseline: Some(baseline), unit, goal });
    };
    let least = |times| Some(Goal::RatioAtLeast(times));
    add("enqueued one by one (the better of both)", enqueue, best, "tasks/s", least(3.0));
    add("completed one by one (graphile-worker)", complete, graphile.complete, "tasks/s", least(3.0));
    add("completed one by one (pg-boss)", complete, boss.complete, "tasks/s", least(3.0));
    add("completed in batches (graphile-worker)", batched, graphile_batched.complete, "tasks/s", None);
    add("completed in batches (pg-boss)", batched, boss_batched.complete, "tasks/s", None);
    for (share, name) in [(0.5, "p50"), (0.99, "p99")] {
        let ours = percentile(&mut waits, share);
        for (peer, said) in [("graphile-worker", &graphile), ("pg-boss", &boss)] {
            let theirs = percentile(&mut said.waits.clone(), share);
            let goal = Some(Goal::RatioAtMost(1.0));
            add(&format!("from enqueue to start, {name} ({peer})"), ours, theirs, "ms", goal);
        }
    }
    rest(report).await?;
    sqlite(report).await?;
    flat::measure(report, &postgres).await
}

/// Only ours on PostgreSQL, to look for what takes time.
pub(crate) async fn alone() -> anyhow::Result<()> {
    let postgres = Postgres::start(Fsync::On);
    say(&format!("completed in batches {:.0}/s", batched(&postgres).await?));
    let database = postgres.database().await;
    say(database.url());
    let queue = Queue::open(database.url()).await?;
    say(&format!("enqueued one by one {:.0}/s", queue.enqueue(TASKS, WORKERS).await?));
    say(&format!("completed one by one {:.0}/s", queue.complete(WORKERS).await?));
    let mut waits = queue.waits().await?;
    say(&format!("waits {:.2} ms, p99 {:.2} ms", percentile(&mut waits, 0.5), percentile(&mut waits, 0.99)));
    queue.close().await;
    Ok(())
}

/// Ours in batches, in a database of its own as the others'.
async fn batched(postgres: &Postgres) -> anyhow::Result<f64> {
    let database = postgres.database().await;
    let queue = Queue::open(database.url()).await?;
    let rate = queue.complete_batched(TASKS).await?;
    queue.close().await;
    Ok(rate)
}

async fn said(postgres: &Postgres, peer: Peer, mode: &str) -> anyhow::Result<Said> {
    let database = postgres.database().await;
    peer.run(database.url(), TASKS, WORKERS, mode).await
}

/// What happens in the database when nothing happens.
async fn rest(report: &mut Report) -> anyhow::Result<()> {
    let postgres = Postgres::start(Fsync::On);
    no_upkeep(postgres.database().await.url()).await?;
    let mut rates = Vec::new();
    for peer in [Peer::Graphile, Peer::Boss] {
        let database = postgres.database().await;
        let idle = peer.idle(database.url(), WORKERS).await?;
        rates.push(commits_per_second(database.url()).await?);
        drop(idle);
    }
    let database = postgres.database().await;
    let folder = tempfile::tempdir()?;
    let hub = Hub::start(folder.path(), Some(database.url())).await?;
    hub.project().await?;
    let ours = commits_per_second(database.url()).await?;
    hub.stop().await?;
    for (peer, rate) in ["graphile-worker", "pg-boss"].into_iter().zip(rates) {
        let goal = Some(Goal::AtMost(1.0));
        let what = format!("transactions at rest (a hub; {peer})");
        report.add(Row { what, ours, baseline: Some(rate), unit: "1/s", goal });
    }
    Ok(())
}

async fn commits_per_second(url: &str) -> anyhow::Result<f64> {
    tokio::time::sleep(Duration::from_secs(12)).await;
    let before = commits(url).await?;
    tokio::time::sleep(REST).await;
    Ok((commits(url).await? - before - 1.0) / REST.as_secs_f64())
}

/// The same on SQLite.
async fn sqlite(report: &mut Report) -> anyhow::Result<()> {
    section(&format!("Queue: SQLite (synchronous=FULL), {WORKERS} workers, {TASKS} tasks"));
    let folder = tempfile::tempdir()?;
    let queue = Queue::open(&format!("sqlite:{}", folder.path().join("queue.db").display())).await?;
    let enqueue = queue.enqueue(TASKS, WORKERS).await?;
    let complete = queue.complete(WORKERS).await?;
    let batched = queue.complete_batched(TASKS).await?;
    let mut waits = queue.waits().await?;
    queue.close().await;
    let rows = [
        ("enqueued one by one", enqueue, "tasks/s"),
        ("completed one by one", complete, "tasks/s"),
        ("completed in batches", batched, "tasks/s"),
        ("from enqueue to start, p50", percentile(&mut waits, 0.5), "ms"),
        ("from enqueue to start, p99", percentile(&mut waits, 0.99), "ms"),
    ];
    for (what, ours, unit) in rows {
        report.add(Row { what: what.into(), ours, baseline: None, unit, goal: None });
    }
    Ok(())
}
