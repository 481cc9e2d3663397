//! A hub and two runners are killed while a merge queue moves, and an outsider pushes to the target branch. At the end
//! everything has landed or left with a reason, and an auditor walks the target branch: every state that it ever had was
//! tested as it was or pushed by the outsider, nothing landed twice, nothing red landed, nothing was lost.
//!
//! `SHOPFLOOR_CHAOS_MERGE_KILLS` says how many kills (30), `SHOPFLOOR_CHAOS_SEED` repeats a run's choices.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test fails by panicking, and says what it did")]

mod auditor;
mod branches;
mod fixture;
mod repository;
mod speed;
#[path = "../support/mod.rs"]
mod support;
#[path = "../../../engine/src/merge/tests/world.rs"]
#[allow(dead_code, reason = "the engine's own tests use all of it")]
mod world;

/// The engine, where its simulator expects it.
mod merge {
    pub(crate) use engine::merge::*;
}

use std::time::Duration;

use domain::MergeMethod;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng, SeedableRng};

use fixture::{Fixture, RUNNERS, Rules};
use support::environment;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_was_tested_lands_whatever_is_killed() {
    let kills: u32 = environment("SHOPFLOOR_CHAOS_MERGE_KILLS").unwrap_or(30);
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or_else(|| rand::rng().random());
    let mut random = StdRng::seed_from_u64(seed);
    let method = *[MergeMethod::Merge, MergeMethod::Squash, MergeMethod::Rebase].choose(&mut random).unwrap();
    eprintln!("{kills} kills, {method}, SHOPFLOOR_CHAOS_SEED={seed}");
    let mut fixture = Fixture::open(&mut random, Rules { method, at_once: 3, seconds: "0.15" }).await;
    let (mut left, mut which) = (kills, 0);
    while left > 0 {
        fixture.add(&mut random).await;
        if random.random_ratio(1, 4) {
            fixture.push_to_target();
        }
        // What is killed has begun something.
        fixture.until_tested().await;
        tokio::time::sleep(Duration::from_millis(random.random_range(0..500))).await;
        let pause = Duration::from_millis(random.random_range(0..400));
        which = (which + 1) % RUNNERS;
        let (killed, done) = match random.random_range(0..6) {
            0..=1 => (1, fixture.kill_hub(&mut random).await),
            2..=4 => (1, fixture.kill_runner(which, pause).await),
            _ => (2, fixture.kill_both(which, pause).await),
        };
        left = left.saturating_sub(killed);
        eprintln!("{done}, {left} kills left");
    }
    let open = fixture.waiting().await;
    eprintln!("{} of {} branches have left the queue", fixture.added.len() - open, fixture.added.len());
    fixture.settle().await;
    let summary = auditor::audit(&fixture).await;
    fixture.close().await;
    eprintln!("{summary}");
}
