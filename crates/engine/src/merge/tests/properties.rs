//! What holds in every history.

use std::collections::BTreeSet;

use domain::CandidateId;
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

/// Branches that build only on those before them.
fn branches() -> impl Strategy<Value = Vec<Entry>> {
    let one = (0u8..3, prop::bool::weighted(0.1), 0i64..5, 0usize..4, prop::collection::vec(0usize..12, 0..2));
    prop::collection::vec(one, 0..12).prop_map(|all| {
        let mut entries: Vec<Entry> = Vec::new();
        for (at, (priority, fix, added, path, below)) in all.into_iter().enumerate() {
            let after = below.into_iter().filter(|below| *below < at).map(|below| entries[below].id).collect();
            let paths = vec![format!("file{path}")];
            entries.push(Entry { priority, fix, after, paths, ..entry(added) });
        }
        entries
    })
}

proptest! {
    #[test]
    fn the_order_has_every_branch_once_and_each_behind_those_that_it_builds_on(
        entries in branches(), started in prop::collection::vec(0usize..12, 0..4),
    ) {
        let started: Vec<CandidateId> =
            started.into_iter().filter_map(|at| entries.get(at)).map(|entry| entry.id).collect();
        let ordered = order(&entries, &started);
        prop_assert_eq!(ordered.iter().collect::<BTreeSet<_>>().len(), entries.len());
        prop_assert_eq!(ordered.len(), entries.len());
        let place = |id: &CandidateId| ordered.iter().position(|other| other == id);
        for entry in &entries {
            prop_assert!(entry.after.iter().all(|below| place(below) < place(&entry.id)));
        }
    }

    #[test]
    fn a_shared_file_moves_a_branch_by_one_place_at_most(entries in branches()) {
        let free = |entry: &Entry| Entry { after: Vec::new(), ..entry.clone() };
        let entries: Vec<Entry> = entries.iter().map(free).collect();
        let apart: Vec<Entry> = entries.iter().map(|entry| Entry { paths: Vec::new(), ..entry.clone() }).collect();
        let (moved, unmoved) = (order(&entries, &[]), order(&apart, &[]));
        for (at, id) in moved.iter().enumerate() {
            let before = unmoved.iter().position(|other| other == id).unwrap();
            prop_assert!(before.abs_diff(at) <= 1, "moved from {before} to {at}");
        }
    }

    // The world asserts that only green commits land, once, as fast-forwards, and behind those that they build on.
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
                    world.add(added);
                }
                Happens::Removed(at) => {
                    if let Some(id) = all.get(at) {
                        world.leaves(*id);
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
        // Only what builds on a branch that left stays, for a person.
        let held: BTreeSet<_> = world.queue.entries.iter().filter(|entry| entry.held.is_some()).map(|e| e.id).collect();
        let stays: BTreeSet<_> = world.queue.entries.iter().map(|entry| entry.id).collect();
        for id in &stays {
            let mut pairs = world.builds_on.iter();
            let waits = held.contains(id) || pairs.any(|(above, below)| above == id && stays.contains(below));
            prop_assert!(waits, "left over: {:?}", world.queue);
        }
        prop_assert_eq!(world.froze, 0);
        for (id, why) in &world.ejected {
            if matches!(why, Ejected::Red { .. }) {
                prop_assert!(world.truth.bad.contains(id), "{} is innocent", id);
            }
        }
        for id in &all {
            let left = stays.contains(id) || removed.contains(id) || world.ejected.iter().any(|(other, _)| other == id);
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
