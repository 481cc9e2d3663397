//! The same queues in the simulator and with real git, hub and runners: how much longer does reality take?

use std::time::Instant;

use domain::MergeMethod;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::branches::Branch;
use crate::fixture::{Fixture, Rules};
use crate::merge::Rates;
use crate::support::environment;
use crate::world::{CHECK, World, entry};

const WAITING: usize = 30;
/// The duration of a check, in seconds.
const SECONDS: &str = "4";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; run by `make bench-merge`"]
async fn real_git_beside_the_simulator() {
    let seed: u64 = environment("SHOPFLOOR_CHAOS_SEED").unwrap_or(1);
    eprintln!("{WAITING} branches wait, the check takes {SECONDS} s, SHOPFLOOR_CHAOS_SEED={seed}");
    let (mut simulated, mut real) = (0.0, 0.0);
    for percent in [2, 10, 30] {
        for at_once in [1, 2, 4] {
            let mut random = StdRng::seed_from_u64(seed);
            let good: Vec<bool> = (0..WAITING).map(|_| !random.random_ratio(percent, 100)).collect();
            let bad = good.iter().filter(|good| !**good).count();
            let expected = simulate(&good, at_once);
            let took = measure(&mut random, &good, at_once).await;
            let ratio = took / expected;
            eprintln!(
                "{percent:2} % fail ({bad}), {at_once} at once: {took:.1} s, simulated {expected:.1} s, ratio {ratio:.2}"
            );
            (simulated, real) = (simulated + expected, real + took);
        }
    }
    eprintln!("all: {real:.1} s, simulated {simulated:.1} s, ratio {:.2}", real / simulated);
}

/// How many seconds a queue takes that spends time only in checks.
fn simulate(good: &[bool], at_once: u32) -> f64 {
    let entries = (0..good.len()).map(|at| entry(i64::try_from(at).unwrap())).collect();
    let mut world = World::new(entries, usize::try_from(at_once).unwrap(), 1);
    // One branch has landed before.
    world.queue.rates = Rates { landed: 1, runs: 1, ..Rates::default() };
    let all = world.queue.entries.iter().zip(good);
    world.truth.bad = all.filter(|(_, good)| !**good).map(|(entry, _)| entry.id).collect();
    world.run();
    world.now as f64 / CHECK as f64 * SECONDS.parse::<f64>().unwrap()
}

/// How many seconds the real queue takes.
async fn measure(random: &mut StdRng, good: &[bool], at_once: u32) -> f64 {
    let rules = Rules { method: MergeMethod::Merge, at_once, seconds: SECONDS };
    let mut fixture = Fixture::open(random, rules).await;
    // So that the tip is known to be green and the runners have the repository.
    fixture.add_all(vec![Branch::single(good.len(), true)]).await;
    fixture.settle().await;
    fixture.pause().await;
    fixture.add_all(good.iter().enumerate().map(|(at, good)| Branch::single(at, *good)).collect()).await;
    let begun = Instant::now();
    fixture.thaw().await;
    fixture.settle().await;
    let took = begun.elapsed().as_secs_f64();
    crate::auditor::audit(&fixture).await;
    fixture.close().await;
    took
}
