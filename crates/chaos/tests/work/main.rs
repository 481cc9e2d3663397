//! Workers that are stopped, killed and cut off while they work through tasks that depend on each other, and hubs that
//! are killed: all tasks end, each accepted exactly once.
//!
//! `SHOPFLOOR_CHAOS_TASKS` says how many tasks (24), `SHOPFLOOR_CHAOS_SECONDS` for how long there are faults (15),
//! `SHOPFLOOR_CHAOS_SEED` repeats a run's choices.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod fixture;
#[path = "../support/link.rs"]
mod link;
mod operator;
mod outcome;
mod processes;
#[path = "../support/mod.rs"]
mod support;
mod tasks;

use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use fixture::Fixture;
use link::Fault;
use support::environment;

const WORKERS: usize = 5;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_task_is_accepted_once_on_sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let database = format!("sqlite:{}", folder.path().join("shopfloor.db").display());
    run("sqlite", &[database]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_task_is_accepted_once_on_postgres_with_two_hubs() {
    let database = testkit::Postgres::shared().database().await;
    run("postgres", &[database.url().to_owned(), database.url().to_owned()]).await;
}

/// Three workers beside one, on tasks that do not depend on each other. `SHOPFLOOR_SPEED_UP` says how much faster they
/// must be, in `make bench`; here they must only do everything, and nothing twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_workers_do_together_what_one_does_alone() {
    let count: usize = environment("SHOPFLOOR_SPEED_UP_TASKS").unwrap_or(6);
    let mut times = Vec::new();
    for workers in [1, 3] {
        let mut random = StdRng::seed_from_u64(1);
        let folder = tempfile::tempdir().unwrap();
        let database = format!("sqlite:{}", folder.path().join("shopfloor.db").display());
        let fixture = Fixture::open(&mut random, &[database], workers, Some("2")).await;
        let begun = Instant::now();
        fixture.add(tasks::independent(&mut random, count)).await;
        fixture.settle().await;
        times.push(begun.elapsed().as_secs_f64());
        let summary = outcome::check(&fixture, count).await;
        assert_eq!(fixture.worked().len(), count, "each task was begun once");
        fixture.close().await;
        eprintln!("{workers} workers: {summary}, {:.1} s", times[times.len() - 1]);
    }
    let speed_up = times[0] / times[1];
    eprintln!("three workers are {speed_up:.2} times as fast as one");
    if let Some(least) = environment::<f64>("SHOPFLOOR_SPEED_UP") {
        assert!(speed_up >= least, "{speed_up:.2} is less than {least}");
    }
}

/// Runs a system with one hub for each database named, all of them the same one.
async fn run(name: &str, databases: &[String]) {
    let count: usize = environment("SHOPFLOOR_CHAOS_TASKS").unwrap_or(24);
    let seconds: u64 = environment("SHOPFLOOR_CHAOS_SECONDS").unwrap_or(15);
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or_else(|| rand::rng().random());
    eprintln!("{name}: {count} tasks, {seconds} s of faults, SHOPFLOOR_CHAOS_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut fixture = Fixture::open(&mut random, databases, WORKERS, None).await;
    fixture.add(tasks::graph(&mut random, count)).await;
    let operator = operator::start(fixture.client(), fixture.project());
    let until = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < until {
        let which = random.random_range(0..fixture::RUNNERS);
        let pause = Duration::from_millis(random.random_range(0..2_500));
        let done = match random.random_range(0..12) {
            0..=1 => fixture.kill_hub(&mut random).await,
            2..=3 => fixture.kill_runner(which).await,
            4 => fixture.pause_runner(which, pause).await,
            5..=6 => fixture.kill_an_agent(&mut random),
            7 => fixture.pause_an_agent(&mut random, pause).await,
            8 => fixture.disturb(which, Fault::Cut, pause).await,
            9 => fixture.disturb(which, Fault::Stall, pause).await,
            10 => fixture.disturb(which, Fault::HalfOpen, pause).await,
            _ => fixture.stop_a_worker(&mut random, pause).await,
        };
        eprintln!("{name}: {done}");
        tokio::time::sleep(Duration::from_millis(random.random_range(0..700))).await;
    }
    fixture.settle().await;
    operator.abort();
    let summary = outcome::check(&fixture, count).await;
    fixture.close().await;
    eprintln!("{name}: {summary}");
}
