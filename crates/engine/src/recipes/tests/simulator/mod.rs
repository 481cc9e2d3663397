//! Several hubs, one store, crashes at every commit boundary: nothing is lost, nothing is done twice.
//!
//! A run is one seed: the same seed decides the same. `SHOPFLOOR_SIM_SEEDS=20000` runs more of them, and
//! `SHOPFLOOR_SIM_SEED=17` one.

mod hub;
mod store;
mod verify;

use super::generate::Chance;
use hub::Sim;

/// What a broken implementation does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    /// Nothing is broken.
    None,
    /// A hub writes although another has taken over.
    IgnoreFence,
    /// A transaction leaves out work that begins.
    ForgetEffect,
    /// A transaction leaves out a timer.
    ForgetTimer,
    /// A transaction keeps the timers of what is over.
    KeepTimers,
    /// A step is over in the state, and what follows was not decided.
    LoseStep,
    /// A transaction leaves out its event.
    ForgetEvent,
    /// An effect that must not happen twice begins before its intent is committed.
    NoIntent,
    /// A result is acknowledged before it is committed.
    EarlyAck,
    /// An effect whose intent was found after a crash runs again.
    RunAgain,
}

fn run(seed: u64, fault: Fault) -> Result<(), String> {
    let mut sim = Sim::new(Chance::Seed(seed), fault);
    sim.chaos(160)?;
    sim.calm()?;
    verify::all(&sim)
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn whatever_crashes_nothing_is_lost_or_done_twice() {
    let seeds = match number("SHOPFLOOR_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("SHOPFLOOR_SIM_SEEDS").unwrap_or(1_000),
    };
    for seed in seeds {
        if let Err(why) = run(seed, Fault::None) {
            panic!("SHOPFLOOR_SIM_SEED={seed}: {why}");
        }
    }
}

#[test]
fn a_seed_runs_the_same_again() {
    let end = |seed| {
        let mut sim = Sim::new(Chance::Seed(seed), Fault::None);
        sim.chaos(160).and_then(|()| sim.calm()).unwrap();
        sim.rows.into_iter().map(|row| (row.state, row.history)).collect::<Vec<_>>()
    };
    for seed in [3, 14, 159] {
        assert_eq!(end(seed), end(seed));
    }
}

#[test]
fn planted_faults_are_found() {
    for (fault, why) in [
        (Fault::IgnoreFence, "history"),
        (Fault::ForgetEffect, "not over"),
        (Fault::ForgetTimer, "not over"),
        (Fault::KeepTimers, "it is over, and"),
        (Fault::LoseStep, "stuck"),
        (Fault::ForgetEvent, "decides something else"),
        (Fault::NoIntent, "done 2 times"),
        (Fault::EarlyAck, "not over"),
        (Fault::RunAgain, "done 2 times"),
    ] {
        let found = (0..300).find_map(|seed| run(seed, fault).err().filter(|told| told.contains(why)));
        assert!(found.is_some(), "no seed finds {fault:?}");
    }
}
