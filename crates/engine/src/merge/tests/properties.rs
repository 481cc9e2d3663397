//! What holds in every history.

use proptest::prelude::*;

use super::world::{World, entry};
use crate::merge::*;

/// What happens to a queue besides its runs.
#[derive(Debug, Clone)]
enum Happens {
    Added { priority: u8, bad: bool, after: Option<usize> },
    Removed(usize),
    Pushed(usize),
    Outsider,
    Time,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        3 => (0u8..10, prop::bool::weighted(0.25), prop::option::weighted(0.2, 0usize..40))
            .prop_map(|(priority, bad, after)| Happens::Added { priority, bad, after }),
        1 => (0usize..40).prop_map(Happens::Removed),
        1 => (0usize..40).prop_map(Happens::Pushed),
        1 => Just(Happens::Outsider),
        6 => Just(Happens::Time),
    ]
}

proptest! {
    // The world asserts that only green commits land, once, and as fast-forwards.
    #[test]
    fn the_good_land_the_bad_leave_and_nobody_starves(
        waiting in 0usize..12,
        capacity in 1usize..5,
        seed: u64,
        history in prop::collection::vec(happens(), 0..40),
        clashes in prop::collection::vec((0usize..12, 0usize..12), 0..3),
    ) {
        let entries: Vec<Entry> = (0..waiting).map(|at| entry(at as i64)).collect();
        let mut world = World::new(entries, capacity, seed);
        world.steady = false;
        let mut all: Vec<_> = world.queue.entries.iter().map(|entry| entry.id).collect();
        let mut removed = Vec::new();
        for (one, other) in clashes {
            if let (Some(one), Some(other)) = (all.get(one), all.get(other)) && one != other {
                world.truth.conflicts.push((*one, *other));
            }
        }
        world.settle();
        for (at, event) in history.into_iter().enumerate() {
            match event {
                Happens::Added { priority, bad, after } => {
                    let after = after.and_then(|at| all.get(at)).copied().into_iter().collect();
                    let added = Entry { priority, after, ..entry(100 + at as i64) };
                    all.push(added.id);
                    if bad {
                        world.truth.bad.insert(added.id);
                    }
                    world.queue.entries.push(added);
                }
                Happens::Removed(at) => {
                    if let Some(id) = all.get(at) {
                        world.queue.entries.retain(|entry| entry.id != *id);
                        removed.push(*id);
                    }
                }
                Happens::Pushed(at) => {
                    if let Some(entry) = all.get(at).and_then(|id| world.queue.entries.iter_mut().find(|e| e.id == *id)) {
                        entry.head = None;
                    }
                }
                Happens::Outsider => world.outsider(false),
                Happens::Time => drop(world.advance()),
            }
            world.settle();
        }
        world.run();
        prop_assert!(world.queue.entries.is_empty(), "left over: {:?}", world.queue);
        prop_assert_eq!(world.froze, 0);
        for (id, why) in &world.ejected {
            if matches!(why, Ejected::Red { .. }) {
                prop_assert!(world.truth.bad.contains(id), "{} is innocent", id);
            }
        }
        for id in &all {
            let left = removed.contains(id) || world.ejected.iter().any(|(other, _)| other == id);
            prop_assert!(left || world.landed.contains(id));
            prop_assert!(!(world.landed.contains(id) && world.truth.bad.contains(id)), "a bad branch landed");
        }
    }

    #[test]
    fn nobody_is_blamed_before_the_commit_below_is_known_to_be_green(
        verdicts in prop::collection::vec(0usize..4, 0..12),
        capacity in 1usize..5,
    ) {
        let mut world = World::new((0..4).map(entry).collect(), capacity, 1);
        world.queue.landings.clear();
        // The verdicts below are not the world's.
        world.flaky = f64::MIN_POSITIVE;
        world.settle();
        for verdict in verdicts {
            world.advance();
            let Some(run) = world.queue.runs.iter_mut().rev().find(|run| run.result.is_some()) else { continue };
            if let Some(tested) = run.result.as_mut().filter(|_| run.purpose != Purpose::Look) {
                tested.verdict = [Verdict::Green, Verdict::Red, Verdict::Red, Verdict::Unproven][verdict];
            }
            for effect in decide(&world.queue) {
                let Effect::Eject { candidate, why: Ejected::Red { run } } = effect else { continue };
                let run = world.queue.runs.iter().find(|other| other.id == run).unwrap();
                prop_assert_eq!(run.stack.last().map(|member| member.id), Some(candidate));
                prop_assert!(run.below().is_some_and(|commit| world.queue.proven(commit)));
            }
            if decide(&world.queue).iter().any(|effect| matches!(effect, Effect::Land { .. })) {
                break;
            }
            world.settle();
        }
    }

    #[test]
    fn every_plan_fits_and_costs_no_more_than_one_branch_after_the_other(
        n in 1usize..=WINDOW, m in 0usize..=WINDOW, slots in 1usize..6, percent in 1u32..60,
        running in prop::collection::vec(1usize..=WINDOW, 0..3),
    ) {
        let m = if m > n { 0 } else { m };
        let search = Search::of(f64::from(percent) / 100.0, slots);
        let last = if m > 0 { m - 1 } else { n };
        let running: Vec<usize> = running.into_iter().filter(|k| *k <= last).take(slots).collect();
        let chosen = search.prefixes(n, m, slots, &running);
        prop_assert!(chosen.len() <= slots && chosen.is_sorted() && chosen.iter().all(|k| (1..=last).contains(k)));
        prop_assert_eq!(chosen.is_empty(), last == 0);
        prop_assert!(m == 1 || running.iter().all(|k| chosen.contains(k)));
        prop_assert!(search.rounds(n, m) <= n as f64 + 1e-6);
    }
}
