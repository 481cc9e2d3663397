//! Blocks: branches, parallel lists, items.

use serde_json::json;

use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

fn fan(join: Join) -> World {
    let lanes = vec![("l", vec![run("a"), run("b")]), ("m", vec![run("c")]), ("r", vec![run("d")])];
    World::of(vec![parallel("p", join, lanes), says("z", "{{ steps.p.output }}")])
}

#[test]
fn all_lanes_must_succeed() {
    let mut world = fan(Join::All);
    assert_eq!(begun(&world.effects), ["p[l]/a/1", "p[m]/c/1", "p[r]/d/1"]);
    assert_eq!(world.ok("p[m]/c", json!("c")), Vec::<String>::new());
    assert_eq!(world.ok("p[l]/a", json!("a")), ["p[l]/b/1"]);
    world.ok("p[r]/d", json!("d"));
    assert_eq!(world.ok("p[l]/b", json!("b")), ["z/1"]);
    assert_eq!(world.output("p"), json!({ "l": "b", "m": "c", "r": "d" }));
    world.replayed();

    let mut world = fan(Join::All);
    world.ok("p[m]/c", json!("c"));
    let effects = world.fail("p[r]/d", ErrorKind::Failed);
    assert_eq!(stopped(&effects), ["p[l]/a/1"]);
    assert_eq!(world.states(), "p:failed p[l]/a:cancelled p[m]/c:succeeded p[r]/d:failed");
    assert_eq!(world.error().1, "p[r]/d");
}

#[test]
fn the_first_lane_is_enough() {
    let mut world = fan(Join::Any);
    world.fail("p[m]/c", ErrorKind::Failed);
    assert_eq!(world.state("p"), "running");
    let before = world.effects.len();
    assert_eq!(world.ok("p[r]/d", json!(4)), ["z/1"]);
    assert_eq!(stopped(&world.effects[before..]), ["p[l]/a/1"]);
    assert_eq!(world.output("p"), json!({ "l": null, "m": null, "r": 4 }));
    assert_eq!(world.state("p[l]/a"), "cancelled");
    assert_eq!(world.ok("p[l]/a", json!("late")), Vec::<String>::new());
}

#[test]
fn enough_lanes_must_succeed() {
    let mut world = fan(Join::AtLeast(2));
    world.fail("p[m]/c", ErrorKind::Failed);
    world.ok("p[r]/d", json!(4));
    assert_eq!(world.state("p"), "running");
    let effects = world.fail("p[l]/a", ErrorKind::Failed);
    assert_eq!(stopped(&effects), Vec::<String>::new());
    assert_eq!(world.error().2, "2 of 3 failed, and 2 must succeed: no");
}

#[test]
fn items_run_some_at_once() {
    let mut world = World::of(vec![each("e", "inputs.list", Some("item"), 2, vec![says("a", "{{ item }} {{ key }}")])]);
    assert_eq!(begun(&world.effects), ["e[x]/a/1", "e[y]/a/1"]);
    assert_eq!(world.ok("e[y]/a", json!("Y")), ["e[z]/a/1"]);
    world.ok("e[z]/a", json!("Z"));
    world.ok("e[x]/a", json!("X"));
    assert_eq!(world.output("e"), json!(["X", "Y", "Z"]));
    let argv = world.effects.iter().find_map(|effect| match effect {
        Effect::Begin { work, .. } => match work.as_ref() {
            Work::Run { argv, .. } => Some(argv.join(" ")),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(argv.as_deref(), Some("echo x x"));
    world.replayed();
}

#[test]
fn items_are_a_list_with_different_keys_within_the_limit() {
    for (items, key, why) in [
        ("inputs.a", None, "not a list"),
        ("['x', 'y', 'x']", Some("item"), "two items"),
        ("[['x']]", Some("item"), "a text or a number"),
        ("['']", Some("item"), "cannot be the key"),
        ("['a]/b']", Some("item"), "cannot be the key"),
    ] {
        let world = World::of(vec![each("e", items, key, 2, vec![run("a")])]);
        assert!(world.error().2.contains(why), "{items}: {}", world.error().2);
    }
    let mut plan = recipe(vec![each("e", "inputs.list", None, 2, vec![run("a")])]);
    plan.inputs[2].default = Some(json!((0..501).collect::<Vec<_>>()));
    let mut world = World::new(plan);
    world.send(Event::Started);
    assert_eq!(world.error().0, ErrorKind::Limit);
    let world = World::of(vec![each("e", "[]", None, 2, vec![run("a")])]);
    assert!(world.is_completed());
}

#[test]
fn five_thousand_steps_are_the_limit() {
    let inner = each("f", "inputs.list", None, 500, vec![run("a")]);
    let mut plan = recipe(vec![each("e", "inputs.list", None, 500, vec![inner])]);
    plan.inputs[2].default = Some(json!((0..100).collect::<Vec<_>>()));
    let inputs = complete(&plan, &Default::default()).unwrap();
    let execution = Execution::new(std::sync::Arc::new(plan), "v".to_owned(), context(), inputs);
    let next = step(&execution, &Event::Started, context().started_at).unwrap();
    let Status::Failed { error } = &next.execution.status else { panic!("{:?}", next.execution.status) };
    assert_eq!(error.kind, ErrorKind::Limit);
    assert_eq!(begun(&next.effects), Vec::<String>::new());
}

#[test]
fn the_first_case_that_holds_is_chosen() {
    let case = |when: Option<&str>, id: &str| Case { when: when.map(expr), steps: vec![run(id)] };
    let branch = |cases| step_of("p", Action::Branch { cases });
    let cases = vec![case(Some("inputs.a > 1"), "a"), case(Some("inputs.a == 1"), "b"), case(None, "c")];
    let mut world = World::of(vec![branch(cases), says("z", "{{ steps.p.output }}")]);
    assert_eq!(begun(&world.effects), ["p[1]/b/1"]);
    assert_eq!(world.ok("p[1]/b", json!("B")), ["z/1"]);
    assert_eq!(world.output("p"), json!("B"));
    let world = World::of(vec![branch(vec![case(Some("false"), "a")]), run("z")]);
    assert_eq!(world.states(), "p:succeeded z:running");
}

#[test]
fn a_lane_leaves_the_output_of_its_last_step_that_ran() {
    let mut skipped = run("b");
    skipped.when = Some(expr("false"));
    let lanes = vec![("l", vec![run("a"), skipped])];
    let mut world = World::of(vec![parallel("p", Join::All, lanes)]);
    world.ok("p[l]/a", json!("A"));
    assert_eq!(world.output("p"), json!({ "l": "A" }));
}

#[test]
fn a_step_reads_its_list_and_those_around_it() {
    let inner = vec![says("a", "{{ steps.first.output }} {{ item }}"), says("b", "{{ steps.a.output }}")];
    let other = vec![says("c", "{{ steps.a.output }}")];
    let block = parallel("p", Join::All, vec![("l", inner), ("r", other)]);
    let mut world = World::of(vec![run("first"), each("e", "[7]", None, 1, vec![block])]);
    world.ok("first", json!("one"));
    assert_eq!(world.state("e[0]/p[r]/c"), "failed", "another lane is not visible");
    assert_eq!(world.state("e[0]/p[l]/a"), "cancelled");
}

#[test]
fn a_block_is_retried_from_where_it_failed() {
    let mut block = parallel("p", Join::All, vec![("l", vec![run("a"), run("b")]), ("r", vec![run("c")])]);
    block.retry = Retry { attempts: 2, ..Retry::default() };
    let mut world = World::of(vec![block]);
    world.ok("p[l]/a", json!(1));
    world.fail("p[l]/b", ErrorKind::Failed);
    assert_eq!(world.states(), "p:retrying p[l]/a:succeeded p[l]/b:failed p[r]/c:cancelled");
    assert_eq!(begun(&world.due("p", TimerKind::Retry)), ["p[l]/b/2", "p[r]/c/2"]);
    world.ok("p[r]/c", json!(3));
    world.ok("p[l]/b", json!(2));
    assert!(world.is_completed());
    world.replayed();
}

#[test]
fn the_time_limit_of_a_block_stops_its_lanes() {
    let mut block = parallel("p", Join::All, vec![("l", vec![run("a")]), ("r", vec![run("c")])]);
    block.timeout = Some(9_000);
    let mut world = World::of(vec![block]);
    let effects = world.due("p", TimerKind::Timeout);
    assert_eq!(stopped(&effects), ["p[l]/a/1", "p[r]/c/1"]);
    assert_eq!(world.error().0, ErrorKind::Timeout);
}
