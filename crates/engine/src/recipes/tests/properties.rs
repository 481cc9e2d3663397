//! Random recipes and random events: what always holds.

use proptest::prelude::*;

use super::check::Checker;
use super::generate::{Chance, random_event, random_recipe};
use super::world::World;
use crate::recipes::*;

fn live(mut chance: Chance, events: usize, mut look: impl FnMut(&Execution)) -> Result<(), String> {
    let mut world = World::new(random_recipe(&mut chance));
    let mut checker = Checker::default();
    for _ in 0..events {
        let past: Vec<Event> = world.history.iter().map(|(_, event)| event.clone()).collect();
        let event = random_event(&mut chance, &world.execution, &checker, &past);
        world.now = world.now.plus_millis(i64::try_from(chance.pick(3)).unwrap_or(0) * 10_000);
        let decided = checker.step(&world.execution, &event, world.now);
        let told = |why| format!("{why}\nafter {event:?}\nin {}", world.states());
        let Some(decided) = decided.map_err(told)? else { continue };
        world.execution = decided.execution;
        world.history.push((world.now, event));
        look(&world.execution);
    }
    world.replayed();
    Ok(())
}

fn word(status: &Status) -> &'static str {
    match status {
        Status::New => "new",
        Status::Running => "running",
        Status::Paused => "paused",
        Status::Completed { .. } => "completed",
        Status::Failed { .. } => "failed",
        Status::Cancelled => "cancelled",
    }
}

/// `PROPTEST_CASES` runs more of them.
fn config() -> ProptestConfig {
    let mut config = ProptestConfig { max_shrink_iters: 3_000, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = 250;
    }
    config
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn whatever_happens_the_decisions_are_sound(recipe in prop::collection::vec(any::<u16>(), 0..900)) {
        if let Err(why) = live(Chance::Tape(recipe, 0), 120, |_| {}) {
            prop_assert!(false, "{}", why);
        }
    }
}

#[test]
fn many_seeds_reach_every_state() {
    let mut words = std::collections::BTreeSet::new();
    for seed in 0..150 {
        let mut look = |execution: &Execution| {
            words.extend(execution.steps.values().map(|run| run.state.word()));
            words.insert(word(&execution.status));
        };
        live(Chance::Seed(seed), 120, &mut look).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    let all = ["cancelled", "completed", "failed", "held", "interrupted", "paused", "retrying", "running", "skipped"];
    for word in all {
        assert!(words.contains(word), "no execution is ever {word}: {words:?}");
    }
}
