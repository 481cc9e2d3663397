//! Runners that are away, come back, or are gone for good.

use serde_json::json;

use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

fn again(attempts: u32) -> World {
    let mut step = run("a");
    step.retry = Retry { attempts, jitter: 0, ..Retry::default() };
    World::of(vec![step, run("b")])
}

#[test]
fn an_attempt_whose_runner_does_not_come_back_is_lost_and_retried() {
    let mut world = again(2);
    let effects = world.away("a");
    assert_eq!(timers(&effects, world.now), [(TimerKind::Away, 15 * 60)]);
    assert_eq!(world.execution.steps[&path("a")].away.as_ref().map(|away| away.runner.as_str()), Some("r1"));
    let effects = world.due("a", TimerKind::Away);
    assert_eq!(stopped(&effects), ["a/1"], "if the runner comes back, it stops what it still does");
    assert_eq!(world.state("a"), "retrying");
    assert_eq!(begun(&world.due("a", TimerKind::Retry)), ["a/2"]);
    assert_eq!(world.execution.steps[&path("a")].away, None);
    // The first runner is back after all: its result comes too late.
    let late = Verdict::Succeeded { output: json!("late") };
    assert_eq!(world.send(Event::Ended { path: path("a"), attempt: 1, verdict: late }), []);
    assert_eq!(world.ok("a", json!("second")), ["b/1"]);
    assert_eq!(world.output("a"), json!("second"));
    world.replayed();
}

#[test]
fn a_runner_that_comes_back_in_time_goes_on() {
    let mut world = again(1);
    world.away("a");
    let effects = world.back("a");
    let attempt = 1;
    assert_eq!(effects, [Effect::DropTimer { path: path("a"), attempt, timer: TimerKind::Away }]);
    // The timer was about to go off when it came back.
    assert_eq!(world.due("a", TimerKind::Away), []);
    assert_eq!(world.back("a"), [], "nobody was away");
    assert_eq!(world.ok("a", json!(1)), ["b/1"]);
    world.replayed();
}

#[test]
fn a_lost_runner_fails_a_step_that_has_no_attempt_left() {
    let mut world = again(1);
    world.away("a");
    world.due("a", TimerKind::Away);
    let why = "the runner `r1` has been away for 15 minutes";
    assert_eq!(world.error(), (ErrorKind::Lost, "a".to_owned(), why.to_owned()));
}

#[test]
fn what_must_not_happen_twice_asks_a_person() {
    let mut step = run("a");
    step.idempotency = Idempotency::AtMostOnce;
    step.retry.attempts = 3;
    let mut world = World::of(vec![step]);
    world.away("a");
    assert_eq!(stopped(&world.due("a", TimerKind::Away)), ["a/1"]);
    assert_eq!(world.state("a"), "interrupted");
    assert_eq!(owners(&world.execution), [Owner::People(path("a"))]);
    assert_eq!(begun(&world.operate(Operation::Retry { path: path("a") }).unwrap()), ["a/2"]);
    world.replayed();
}

#[test]
fn a_recipe_says_how_long_a_runner_may_be_away() {
    let mut plan = recipe(vec![run("a")]);
    plan.lost_after = Some(90_000);
    let mut world = World::new(plan);
    world.send(Event::Started);
    let effects = world.away("a");
    assert_eq!(timers(&effects, world.now), [(TimerKind::Away, 90)]);
}

#[test]
fn only_commands_and_agents_that_run_have_a_runner() {
    let wait = Wait { span: Some(template("1h")), ..Wait::default() };
    let mut world = World::of(vec![run("a"), step_of("w", Action::Wait(wait))]);
    world.away("a");
    world.ok("a", json!(1));
    assert_eq!(world.execution.steps[&path("a")].away, None, "it is over");
    assert_eq!(world.away("a"), []);
    assert_eq!(world.away("w"), []);
}

#[test]
fn a_pause_and_a_time_limit_forget_the_runner() {
    let mut step = run("a");
    step.timeout = Some(60_000);
    let mut world = World::of(vec![step]);
    world.away("a");
    world.operate(Operation::Pause { now: true }).unwrap();
    assert_eq!((world.state("a"), world.execution.steps[&path("a")].away.clone()), ("held", None));
    world.operate(Operation::Resume).unwrap();
    world.away("a");
    world.due("a", TimerKind::Timeout);
    assert_eq!(world.error().0, ErrorKind::Timeout);
    world.replayed();
}
