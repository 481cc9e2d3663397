//! 30 branches wait, the checks take 5 minutes: how long until all have landed or left?

use domain::CandidateId;

use super::world::{World, entry};
use crate::merge::{Ejected, Rates};

const WAITING: usize = 30;

/// What became of one project, on average over the runs.
#[derive(Debug, Default)]
struct Outcome {
    makespan: f64,
    innocents: f64,
}

/// A project whose queue has run long enough to know its rates.
fn known(failure: f64, flaky: f64) -> Rates {
    let (branches, runs) = (10_000.0, 10_000.0);
    Rates {
        failed: (branches * failure) as u32,
        landed: (branches * (1.0 - failure)) as u32,
        runs: runs as u32,
        flaky: (runs * flaky) as u32,
    }
}

fn simulate(failure: f64, flaky: f64, capacity: usize, rates: Rates, times: u64) -> Outcome {
    let mut sum = Outcome::default();
    for seed in 0..times {
        let entries = (0..WAITING).map(|at| entry(at as i64)).collect();
        let mut world = World::new(entries, capacity, seed.wrapping_mul(7919) + 1);
        world.queue.rates = rates;
        let all: Vec<CandidateId> = world.queue.entries.iter().map(|entry| entry.id).collect();
        world.truth.bad = all.into_iter().filter(|_| world.chance.happens(failure)).collect();
        world.flaky = flaky;
        world.run();
        assert!(world.queue.entries.is_empty(), "everything lands or leaves");
        let wrong =
            |(id, why): &&(CandidateId, Ejected)| matches!(why, Ejected::Red { .. }) && !world.truth.bad.contains(id);
        sum.makespan += world.now as f64;
        sum.innocents += world.ejected.iter().filter(wrong).count() as f64;
    }
    let times = times as f64;
    Outcome { makespan: sum.makespan / times, innocents: sum.innocents / times }
}

#[test]
fn the_queue_is_empty_in_time() {
    let goals = [(0.02, [24.0, 16.0, 13.0]), (0.10, [75.0, 50.0, 36.0]), (0.30, [138.0, 92.0, 64.0])];
    let mut late = Vec::new();
    for (failure, goals) in goals {
        for (capacity, goal) in [1, 2, 4].into_iter().zip(goals) {
            let got = simulate(failure, 0.0, capacity, known(failure, 0.0), 100);
            if got.makespan > goal {
                late.push(format!("{failure} fail, {capacity} at once: {:.1} > {goal} minutes", got.makespan));
            }
        }
    }
    assert_eq!(late, Vec::<String>::new());
}

#[test]
fn flaky_runs_eject_almost_nobody() {
    for (failure, capacity) in [(0.02, 4), (0.10, 1), (0.10, 2), (0.10, 4), (0.30, 2)] {
        for rates in [Rates::default(), known(failure, 0.05)] {
            let got = simulate(failure, 0.05, capacity, rates, 100);
            assert!(got.innocents <= 0.05, "{failure} fail, {capacity} at once: {got:?}");
        }
    }
}
