//! The hub and two runners are killed while sessions are handed off, one to the next, at random moments and at named
//! places in the code. An auditor checks after each handoff: every byte that any session wrote is in the workspace of
//! the last one, never two of them ran at once, the fresh session got the document and acknowledged it once.
//!
//! `SHOPFLOOR_CHAOS_HANDOFF_KILLS` says how many kills (20), `SHOPFLOOR_CHAOS_SEED` repeats a run's choices.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod agent;
mod auditor;
mod fixture;
#[path = "../support/place.rs"]
mod place;
#[path = "../executions/processes.rs"]
mod processes;
#[path = "../support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng, SeedableRng};

use fixture::Fixture;
use support::environment;

/// With this many kills, the named places are reached.
const MANY: u32 = 200;
/// How many of them that is at least: the order of some events differs from run to run.
const PLACES: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_and_nothing_runs_twice_whatever_is_killed() {
    let kills: u32 = environment("SHOPFLOOR_CHAOS_HANDOFF_KILLS").unwrap_or(20);
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or_else(|| rand::rng().random());
    eprintln!("{kills} kills, SHOPFLOOR_CHAOS_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut fixture = Fixture::open(&mut random).await;
    let mut places: Vec<&str> = failpoint::HANDOFF_HUB.into_iter().chain(failpoint::HANDOFF_RUNNER).collect();
    places.shuffle(&mut random);
    let mut reached = BTreeSet::new();
    for place in places.iter().cycle() {
        if fixture.kills >= kills {
            break;
        }
        let handoff = fixture.begin(&mut random, place, &mut reached).await;
        for _ in 0..random.random_range(1..4) {
            if fixture.is_done(handoff).await {
                break;
            }
            let moment = Duration::from_millis(random.random_range(0..600));
            fixture.kill(&mut random, moment, &mut reached).await;
        }
        fixture.settle(handoff).await;
        auditor::audit(&fixture, handoff).await;
    }
    let summary = fixture.summary();
    fixture.close().await;
    eprintln!("{summary}; died by itself at {} places: {reached:?}", reached.len());
    if kills >= MANY {
        assert!(reached.len() >= PLACES, "few of the named places were reached: {reached:?}");
    }
}
