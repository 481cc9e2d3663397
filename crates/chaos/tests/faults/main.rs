//! Three runners, twelve sessions that write numbered lines, and rounds of killing or stopping a random one of hub,
//! runner and link. At the end every recording has every line once, and every watcher shows the true screen.
//!
//! `SHOPFLOOR_CHAOS_ROUNDS` says how many rounds (10), `SHOPFLOOR_CHAOS_SEED` repeats a run's choices.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod fixture;
#[path = "../support/link.rs"]
mod link;
#[path = "../support/mod.rs"]
mod support;
mod watcher;

use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use fixture::Fixture;
use link::Fault;
use support::environment;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_whatever_is_killed_stopped_or_cut() {
    let rounds: u32 = environment("SHOPFLOOR_CHAOS_ROUNDS").unwrap_or(10);
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or_else(|| rand::rng().random());
    eprintln!("{rounds} rounds, SHOPFLOOR_CHAOS_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    let mut fixture = Fixture::open(&mut random).await;
    for round in 1..=rounds {
        let which = random.random_range(0..fixture::RUNNERS);
        let pause = Duration::from_millis(random.random_range(0..1_500));
        let done = match random.random_range(0..10) {
            0..=1 => fixture.kill_hub().await,
            2 => fixture.stop_hub_for(pause).await,
            3..=4 => fixture.kill_runner(which).await,
            5 => fixture.stop_runner_for(which, pause).await,
            6 => fixture.disturb(which, Fault::Cut, pause).await,
            7 => fixture.disturb(which, Fault::Stall, pause).await,
            8 => fixture.kill_both(which, pause).await,
            _ => fixture.disturb(which, Fault::HalfOpen, pause).await,
        };
        eprintln!("round {round}: {done}");
        tokio::time::sleep(Duration::from_millis(random.random_range(0..600))).await;
    }
    fixture.close().await;
}
