//! Single histories that people ask about.

use domain::CandidateId;

use super::world::{World, entry};
use crate::merge::*;

fn world(count: i64, capacity: usize) -> (World, Vec<CandidateId>) {
    let entries: Vec<Entry> = (0..count).map(entry).collect();
    let ids = entries.iter().map(|entry| entry.id).collect();
    (World::new(entries, capacity, 1), ids)
}

#[test]
fn the_culprit_leaves_and_the_others_land_in_order() {
    let (mut world, ids) = world(5, 1);
    world.truth.bad.insert(ids[2]);
    world.run();
    assert_eq!(world.landed, [ids[0], ids[1], ids[3], ids[4]]);
    assert!(matches!(&world.ejected[..], [(id, Ejected::Red { .. })] if *id == ids[2]));
}

#[test]
fn a_branch_that_conflicts_with_one_ahead_waits_and_leaves_when_that_one_has_landed() {
    let (mut world, ids) = world(3, 2);
    world.truth.conflicts.push((ids[0], ids[1]));
    world.run();
    assert_eq!(world.landed, [ids[0], ids[2]]);
    assert!(matches!(&world.ejected[..], [(id, Ejected::Conflict { .. })] if *id == ids[1]));
}

#[test]
fn a_branch_that_conflicts_with_a_culprit_lands() {
    let (mut world, ids) = world(2, 1);
    world.truth.conflicts.push((ids[0], ids[1]));
    world.truth.bad.insert(ids[0]);
    world.run();
    assert_eq!((world.landed.as_slice(), world.ejected.len()), (&ids[1..], 1));
}

#[test]
fn a_red_tip_freezes_the_queue_and_blames_nobody() {
    let (mut world, ids) = world(4, 2);
    world.outsider(true);
    world.run();
    assert_eq!((world.froze, world.ejected.len(), world.landed.len()), (1, 0, 0));
    assert_eq!(world.queue.gate, Gate::TipRed);
    let fix = Entry { fix: true, ..entry(9) };
    world.queue.entries.push(fix.clone());
    world.run();
    assert_eq!((world.queue.gate, world.landed[0]), (Gate::Open, fix.id));
    assert_eq!(&world.landed[1..], ids);
}

#[test]
fn a_fix_that_fixes_nothing_leaves_and_the_next_one_is_tried() {
    let (mut world, ids) = world(1, 1);
    world.outsider(true);
    let fixes = [Entry { fix: true, ..entry(8) }, Entry { fix: true, ..entry(9) }];
    world.queue.entries.extend(fixes.clone());
    world.truth.bad.insert(fixes[0].id);
    world.run();
    assert_eq!(world.landed, [fixes[1].id, ids[0]]);
    assert_eq!(world.ejected.len(), 1);
}

#[test]
fn an_outsiders_push_costs_runs_and_nothing_else() {
    let (mut world, ids) = world(6, 2);
    world.settle();
    world.outsider(false);
    world.run();
    assert_eq!((world.landed, world.ejected.len()), (ids, 0));
}

#[test]
fn nothing_starts_while_the_queue_is_paused_or_a_person_is_needed() {
    let (mut world, _) = world(2, 1);
    world.queue.gate = Gate::Paused;
    assert_eq!(decide(&world.queue), []);
    world.queue.gate = Gate::Open;
    world.queue.entries.iter_mut().for_each(|entry| entry.held = Some(Held::Unchecked));
    assert_eq!(decide(&world.queue), []);
}

#[test]
fn a_level_that_changes_something_else_than_its_branch_stops_the_queue() {
    let (mut world, ids) = world(1, 1);
    world.settle();
    world.advance();
    let Some(Run { result: Some(tested), .. }) = world.queue.runs.last_mut() else { panic!("no run") };
    let Level::Merged { differs, .. } = &mut tested.levels[0] else { panic!("not merged") };
    differs.push("other.rs".to_owned());
    let halt = Effect::Halt { candidate: ids[0], paths: vec!["other.rs".to_owned()] };
    assert_eq!(decide(&world.queue), [halt]);
}

#[test]
fn the_search_for_a_failing_branch_can_be_followed() {
    let (mut world, ids) = world(4, 1);
    world.truth.bad.insert(ids[1]);
    assert_eq!(world.queue.known(), Known::default());
    let mut seen = Vec::new();
    world.settle();
    while world.advance() {
        world.settle();
        seen.push(world.queue.known());
    }
    assert!(seen.iter().any(|known| known.failed_together.len() > 1 && ids.starts_with(&known.failed_together)));
    assert!(seen.iter().all(|known| known.suspects.is_empty() || known.suspects == [ids[1]]), "{seen:?}");
    assert_eq!(world.queue.known(), Known::default());
}

/// The next run finds the only branch at another commit.
fn moved(pinned: bool) -> (World, CandidateId) {
    let (mut world, ids) = world(1, 1);
    world.queue.entries[0].pinned = pinned;
    world.settle();
    world.advance();
    let Some(Run { result: Some(tested), .. }) = world.queue.runs.last_mut() else { panic!("no run") };
    tested.levels = vec![Level::Moved { head: Some("pushed".to_owned()) }];
    tested.verdict = Verdict::Unproven;
    (world, ids[0])
}

#[test]
fn accepted_work_whose_branch_moved_leaves_the_queue() {
    let (world, candidate) = moved(true);
    let why = Ejected::Moved { head: Some("pushed".to_owned()) };
    assert_eq!(decide(&world.queue), [Effect::Eject { candidate, why }]);
}

#[test]
fn another_branch_that_moved_is_tested_again() {
    let (mut world, candidate) = moved(false);
    assert!(matches!(&decide(&world.queue)[..], [Effect::Start { stack, .. }] if *stack == [candidate]));
    world.run();
    assert_eq!((world.landed, world.ejected), (vec![candidate], vec![]));
}

#[test]
fn an_urgent_branch_goes_first_and_one_that_waits_long_is_not_overtaken() {
    let minutes = |count: i64| count * 60_000;
    let (old, new) = (entry(0), Entry { priority: 9, ..entry(minutes(89)) });
    assert_eq!(order(&[old.clone(), new.clone()], &[]), [new.id, old.id]);
    let late = Entry { priority: 9, ..entry(minutes(91)) };
    assert_eq!(order(&[late.clone(), old.clone()], &[]), [old.id, late.id]);
}

#[test]
fn branches_that_were_tested_together_stay_in_front() {
    let (first, second) = (entry(1), entry(2));
    let urgent = Entry { priority: 9, ..entry(3) };
    let all = [first.clone(), second.clone(), urgent.clone()];
    assert_eq!(order(&all, &[second.id, first.id]), [second.id, first.id, urgent.id]);
}

#[test]
fn neighbours_that_change_the_same_file_are_kept_apart() {
    let path = |at, path: &str| Entry { paths: vec![path.to_owned()], ..entry(at) };
    let (a, b, c) = (path(1, "x"), path(2, "x"), path(3, "y"));
    assert_eq!(order(&[a.clone(), b.clone(), c.clone()], &[]), [a.id, c.id, b.id]);
    let dependent = Entry { after: vec![b.id], ..c };
    assert_eq!(order(&[a.clone(), b.clone(), dependent.clone()], &[]), [a.id, b.id, dependent.id]);
}
