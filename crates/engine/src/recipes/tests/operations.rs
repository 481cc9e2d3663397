//! Pause, resume, cancel, retry, skip.

use serde_json::json;

use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

fn retry(at: &str) -> Operation {
    Operation::Retry { path: path(at) }
}

fn skip(at: &str, output: serde_json::Value) -> Operation {
    Operation::Skip { path: path(at), output }
}

#[test]
fn a_pause_lets_running_work_end_and_begins_nothing() {
    let mut world = World::of(vec![run("a"), run("b")]);
    assert_eq!(world.operate(Operation::Pause { now: false }), Ok(vec![]));
    assert_eq!(world.ok("a", json!(1)), Vec::<String>::new());
    assert_eq!(owners(&world.execution), [Owner::Paused]);
    assert_eq!(begun(&world.operate(Operation::Resume).unwrap()), ["b/1"]);
    world.operate(Operation::Pause { now: false }).unwrap();
    world.ok("b", json!(1));
    assert_eq!(world.execution.status, Status::Paused);
    world.operate(Operation::Resume).unwrap();
    assert!(world.is_completed());
    assert!(world.operate(Operation::Resume).is_err());
    world.replayed();
}

#[test]
fn a_pause_now_stops_agents_and_commands_and_begins_them_again() {
    let wait = Wait { span: Some(template("1h")), ..Wait::default() };
    let lanes = vec![("l", vec![run("a")]), ("r", vec![step_of("w", Action::Wait(wait))])];
    let mut world = World::of(vec![parallel("p", Join::All, lanes)]);
    let effects = world.operate(Operation::Pause { now: true }).unwrap();
    assert_eq!(stopped(&effects), ["p[l]/a/1"]);
    assert_eq!(world.states(), "p:running p[l]/a:held p[r]/w:running");
    assert_eq!(world.ok("p[l]/a", json!("stopped")), Vec::<String>::new());
    assert_eq!(world.state("p[l]/a"), "held");
    assert_eq!(begun(&world.operate(Operation::Resume).unwrap()), ["p[l]/a/2"]);
    let run = &world.execution.steps[&path("p[l]/a")];
    assert_eq!((run.attempt, run.counted), (2, 1));
    world.replayed();
}

#[test]
fn cancel_is_final() {
    let mut world = World::of(vec![run("a"), run("b")]);
    let effects = world.operate(Operation::Cancel).unwrap();
    assert_eq!(stopped(&effects), ["a/1"]);
    assert_eq!(effects.last(), Some(&Effect::Over));
    assert_eq!(world.execution.status, Status::Cancelled);
    for operation in [Operation::Resume, retry("a"), skip("b", json!(null)), Operation::Pause { now: true }] {
        assert!(world.operate(operation.clone()).is_err(), "{operation:?}");
    }
    assert_eq!(world.ok("a", json!(1)), Vec::<String>::new());
}

#[test]
fn a_person_retries_a_failed_step_and_the_execution_goes_on() {
    let lanes = vec![("l", vec![run("a"), run("b")]), ("r", vec![run("c")])];
    let mut world = World::of(vec![parallel("p", Join::All, lanes), run("z")]);
    world.ok("p[l]/a", json!(1));
    world.fail("p[l]/b", ErrorKind::Failed);
    assert!(matches!(world.execution.status, Status::Failed { .. }));
    assert!(world.operate(retry("p[l]/a")).unwrap_err().contains("succeeded"));
    assert!(world.operate(retry("z")).unwrap_err().contains("not begun"));
    let effects = world.operate(retry("p[l]/b")).unwrap();
    assert_eq!(begun(&effects), ["p[l]/b/2", "p[r]/c/2"]);
    assert_eq!(world.execution.steps[&path("p")].attempt, 2);
    world.ok("p[l]/b", json!(2));
    assert_eq!(world.ok("p[r]/c", json!(2)), ["z/1"]);
    world.ok("z", json!(2));
    assert!(world.is_completed());
    world.replayed();
}

#[test]
fn a_person_retries_a_whole_block() {
    let mut world = World::of(vec![parallel("p", Join::Any, vec![("l", vec![run("a")]), ("r", vec![run("c")])])]);
    world.fail("p[l]/a", ErrorKind::Failed);
    world.fail("p[r]/c", ErrorKind::Failed);
    assert_eq!(begun(&world.operate(retry("p")).unwrap()), ["p[l]/a/2", "p[r]/c/2"]);
    world.ok("p[l]/a", json!(1));
    assert!(world.is_completed());
}

#[test]
fn a_person_does_not_wait_for_the_next_attempt() {
    let mut flaky = run("a");
    flaky.retry.attempts = 2;
    let mut world = World::of(vec![flaky]);
    world.fail("a", ErrorKind::Failed);
    let effects = world.operate(retry("a")).unwrap();
    assert_eq!(begun(&effects), ["a/2"]);
    assert!(effects.contains(&Effect::DropTimers { path: Some(path("a")) }));
    assert!(world.operate(retry("a")).unwrap_err().contains("running"));
}

#[test]
fn a_step_that_others_came_after_is_not_retried() {
    let mut lenient = run("a");
    lenient.continue_on_error = true;
    let mut world = World::of(vec![lenient, run("b")]);
    world.fail("a", ErrorKind::Failed);
    assert!(world.operate(retry("a")).unwrap_err().contains("rewind"));
    assert!(world.operate(skip("a", json!(1))).unwrap_err().contains("rewind"));
}

#[test]
fn a_person_skips_running_failed_and_later_steps() {
    let mut world = World::of(vec![run("a"), run("b"), says("c", "{{ steps.a.output }}"), run("d")]);
    world.operate(skip("b", json!("B"))).unwrap();
    let effects = world.operate(skip("a", json!("A"))).unwrap();
    assert_eq!((stopped(&effects), begun(&effects)), (vec!["a/1".to_owned()], vec!["c/1".to_owned()]));
    world.fail("c", ErrorKind::Failed);
    assert_eq!(begun(&world.operate(skip("c", json!(null))).unwrap()), ["d/1"]);
    assert!(world.operate(skip("a", json!(1))).unwrap_err().contains("correct"));
    assert!(world.operate(skip("nope", json!(1))).unwrap_err().contains("no step"));
    world.ok("d", json!(1));
    assert!(world.is_completed());
    assert!(world.operate(skip("d", json!(1))).is_err());
    world.replayed();
}

#[test]
fn a_skipped_output_meets_the_schema_and_the_limit() {
    let mut typed = run("a");
    typed.output = Some(json!({ "type": "integer" }));
    let mut world = World::of(vec![typed]);
    assert!(world.operate(skip("a", json!("x"))).unwrap_err().contains("schema"));
    assert!(world.operate(skip("a", json!("x".repeat(70_000)))).unwrap_err().contains("artifact"));
    world.operate(skip("a", json!(1))).unwrap();
}

#[test]
fn lanes_that_do_not_exist_yet_cannot_be_skipped() {
    let block = parallel("p", Join::All, vec![("l", vec![run("b")])]);
    let mut world = World::of(vec![run("a"), block]);
    assert!(world.operate(skip("p[l]/b", json!(1))).unwrap_err().contains("no lane"));
}

#[test]
fn nothing_is_operated_before_the_start_but_cancelled() {
    let mut world = World::new(recipe(vec![run("a")]));
    for operation in [Operation::Resume, retry("a"), skip("a", json!(1)), Operation::Pause { now: false }] {
        assert!(world.operate(operation).is_err());
    }
    world.operate(Operation::Cancel).unwrap();
    assert_eq!(world.send(Event::Started), []);
    assert_eq!(world.execution.status, Status::Cancelled);
}
