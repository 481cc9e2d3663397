//! Hubs, runners and session hosts are killed, and hubs frozen, while executions move, at random moments and at named places in the code:
//! every execution ends, no step is lost, none is recorded twice, and what steps did elsewhere is what they promise.
//!
//! `SHOPFLOOR_CHAOS_EXECUTIONS` says how many executions (3), `SHOPFLOOR_CHAOS_EXECUTION_KILLS` how many kills (10),
//! `SHOPFLOOR_CHAOS_SEED` repeats a run's choices.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod auditor;
mod effects;
mod fixture;
mod people;
#[path = "../support/place.rs"]
mod place;
mod planted;
mod processes;
mod recipe;
mod setup;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use auditor::Auditor;
use fixture::Fixture;
use support::environment;

/// With this many kills, most of the named places are reached.
const MANY: u32 = 200;
/// How many different places that is at least.
const PLACES: usize = 15;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_is_recorded_once_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", folder.path().join("shopfloor.db").display());
    run("sqlite", &[database]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_is_recorded_once_on_postgres_with_two_hubs() {
    let database = testkit::Postgres::shared().database().await;
    run("postgres", &[database.url().to_owned(), database.url().to_owned()]).await;
}

/// Runs a system with one hub for each database named, all of them the same one.
async fn run(name: &str, databases: &[String]) {
    let count: usize = environment("SHOPFLOOR_CHAOS_EXECUTIONS").unwrap_or(3);
    let kills: u32 = environment("SHOPFLOOR_CHAOS_EXECUTION_KILLS").unwrap_or(10);
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or_else(|| rand::rng().random());
    eprintln!("{name}: {count} executions at once, {kills} kills, SHOPFLOOR_CHAOS_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut fixture = Fixture::open(&mut random, databases).await;
    let people = people::start(fixture.client(), fixture.project());
    let auditor = Auditor::new(&databases[0]);
    let mut reached = BTreeSet::new();
    fixture.start_executions(count).await;
    for kill in 1..=kills {
        let moment = Duration::from_millis(random.random_range(0..1_200));
        let done = match random.random_range(0..10) {
            0..=4 => fixture.kill_hub(&mut random, moment, &mut reached).await,
            5..=7 => fixture.kill_runner(&mut random, moment, &mut reached).await,
            8 => fixture.freeze_hub(&mut random, moment).await,
            _ => fixture.kill_a_host(&mut random, moment).await,
        };
        eprintln!("{name}: kill {kill}: {done}");
        auditor.look().await;
        fixture.start_executions(count).await;
    }
    fixture.disarm().await;
    fixture.settle().await;
    people.abort();
    auditor.look().await;
    let summary = fixture.check(&auditor).await;
    fixture.close().await;
    eprintln!("{name}: {summary}; died by itself at {} places: {reached:?}", reached.len());
    if kills >= MANY {
        assert!(reached.len() >= PLACES, "few of the named places were reached: {reached:?}");
    }
}
