//! Corrected outputs, changed inputs, other versions, rewinds.

use std::sync::Arc;

use serde_json::{Map, json};

use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

fn correct(at: &str, output: serde_json::Value) -> Operation {
    Operation::Correct { path: path(at), output }
}

fn inputs(name: &str, value: serde_json::Value) -> Operation {
    Operation::ChangeInputs { inputs: [(name.to_owned(), value)].into_iter().collect::<Map<_, _>>() }
}

fn swap(steps: Vec<model::Step>) -> Operation {
    Operation::Swap { version: "v2".to_owned(), recipe: Box::new(recipe(steps)) }
}

#[test]
fn an_output_is_corrected_until_it_is_used() {
    let mut world = World::of(vec![run("a"), run("b"), says("c", "{{ steps.a.output[1:] }}"), run("d")]);
    assert!(world.operate(correct("a", json!(1))).unwrap_err().contains("no output"));
    world.ok("a", json!("one"));
    world.operate(correct("a", json!("two"))).unwrap();
    world.ok("b", json!(null));
    assert!(world.operate(correct("a", json!("three"))).unwrap_err().contains("`c` has used it"));
    world.operate(correct("b", json!("B"))).unwrap();
    assert_eq!((world.output("a"), world.output("b")), (json!("two"), json!("B")));
    world.replayed();
}

#[test]
fn an_output_in_a_block_that_is_over_is_not_corrected() {
    let lanes = vec![("l", vec![run("a"), says("b", "{{ steps.a.output }}")]), ("r", vec![run("c")])];
    let mut world = World::of(vec![parallel("p", Join::All, lanes), run("z")]);
    world.ok("p[r]/c", json!(1));
    world.operate(correct("p[r]/c", json!(2))).unwrap();
    world.ok("p[l]/a", json!(1));
    world.ok("p[l]/b", json!(1));
    assert!(world.operate(correct("p[r]/c", json!(3))).unwrap_err().contains("`p` is over"));
    world.operate(correct("p", json!("P"))).unwrap();
}

#[test]
fn inputs_change_until_they_are_used() {
    let mut world = World::of(vec![says("a", "{{ inputs.a }}"), says("b", "{{ inputs.b }}")]);
    assert!(world.operate(inputs("a", json!(5))).unwrap_err().contains("`a` has used"));
    world.operate(inputs("a", json!(1))).unwrap();
    world.operate(inputs("b", json!(6))).unwrap();
    assert!(world.operate(inputs("zzz", json!(6))).unwrap_err().contains("no input"));
    assert!(world.operate(inputs("b", json!("x".repeat(70_000)))).unwrap_err().contains("artifact"));
    world.ok("a", json!(null));
    assert_eq!(world.execution.inputs["b"], json!(6));
    assert!(world.operate(inputs("b", json!(7))).is_err());
}

#[test]
fn another_version_keeps_what_has_begun() {
    let start = || {
        let mut world = World::of(vec![run("a"), run("b"), run("c")]);
        world.ok("a", json!(1));
        world
    };
    let mut world = start();
    world.operate(swap(vec![says("a", "other"), run("b"), run("new"), run("c"), run("d")])).unwrap();
    assert_eq!(world.execution.version, "v2");
    assert_eq!(world.ok("b", json!(1)), ["new/1"]);
    let wait = Wait { span: Some(template("1h")), ..Wait::default() };
    for (steps, why) in [
        (vec![run("b"), run("c")], "`a` has begun and is not"),
        (vec![run("b"), run("a")], "another step before it"),
        (vec![run("a"), run("new"), run("b")], "another step before it"),
        (vec![run("a"), step_of("b", Action::Wait(wait))], "something else"),
        (vec![run("a"), says("b", "different")], "`b` runs"),
        (vec![run("a"), run("b"), run("b")], "two steps"),
    ] {
        let refused = start().operate(swap(steps)).unwrap_err();
        assert!(refused.contains(why), "{refused}");
    }
    world.replayed();
}

#[test]
fn another_version_keeps_lanes() {
    let block = |names: &[&str]| {
        let lanes = names.iter().map(|name| (*name, vec![run(&format!("in-{name}"))])).collect();
        parallel("p", Join::All, lanes)
    };
    let mut world = World::of(vec![block(&["l", "r"])]);
    assert!(world.operate(swap(vec![block(&["l"])])).unwrap_err().contains("lane `r`"));
    world.operate(swap(vec![block(&["l", "r", "new"]), run("z")])).unwrap();
}

#[test]
fn a_new_version_needs_its_inputs() {
    let mut world = World::of(vec![run("a")]);
    let mut plan = recipe(vec![run("a")]);
    plan.inputs.remove(0);
    plan.inputs.push(Input { name: "more".to_owned(), description: String::new(), schema: json!({}), default: None });
    let operation = Operation::Swap { version: "v2".to_owned(), recipe: Box::new(plan.clone()) };
    assert!(world.operate(operation).unwrap_err().contains("`more` is missing"));
    plan.inputs.last_mut().unwrap().default = Some(json!(1));
    world.operate(Operation::Swap { version: "v2".to_owned(), recipe: Box::new(plan) }).unwrap();
    assert_eq!(world.execution.inputs.keys().collect::<Vec<_>>(), ["b", "list", "more"]);
}

#[test]
fn a_rewind_is_a_new_execution_that_takes_over_outputs() {
    let lanes = vec![("l", vec![run("b"), run("c")]), ("r", vec![run("d")])];
    let steps = || vec![run("a"), parallel("p", Join::All, lanes.clone()), run("z")];
    let mut world = World::of(steps());
    for (step, output) in [("a", "A"), ("p[l]/b", "B"), ("p[l]/c", "C"), ("p[r]/d", "D"), ("z", "Z")] {
        world.ok(step, json!(output));
    }
    let kept = |to: &str| -> Vec<String> {
        rewind(&world.execution, &path(to)).unwrap().keys().map(ToString::to_string).collect()
    };
    assert_eq!(kept("a"), Vec::<String>::new());
    assert_eq!(kept("p"), ["a"]);
    assert_eq!(kept("p[l]/c"), ["a", "p[l]/b", "p[r]/d"]);
    assert_eq!(kept("z"), ["a", "p", "p[l]/b", "p[l]/c", "p[r]/d"]);
    let outputs = rewind(&world.execution, &path("p[l]/c")).unwrap();
    let mut again = World::new(recipe(steps()));
    again.operate(Operation::Reuse { outputs }).unwrap();
    assert_eq!(begun(&again.send(Event::Started)), ["p[l]/c/1"]);
    assert_eq!(again.ok("p[l]/c", json!("C2")), ["z/1"]);
    assert_eq!(again.output("p"), json!({ "l": "C2", "r": "D" }));
    assert!(again.operate(Operation::Reuse { outputs: [].into() }).is_err());
    again.replayed();
}

#[test]
fn inputs_are_complete_and_checked() {
    let mut plan = recipe(vec![]);
    plan.inputs[0].schema = json!({ "type": "integer" });
    plan.inputs[1].default = None;
    let given = |value: serde_json::Value| complete(&plan, value.as_object().unwrap());
    assert_eq!(given(json!({ "b": 1 })).unwrap()["a"], json!(1));
    let wrong = given(json!({ "a": "x", "c": 1 })).unwrap_err();
    assert_eq!(wrong.len(), 3, "{wrong:?}");
}

#[test]
fn a_difference_is_told() {
    let mut world = World::of(vec![run("a")]);
    let before = world.execution.clone();
    world.ok("a", json!(1));
    let told = differences(&world.execution, &before).join("\n");
    assert!(told.contains("`a` is succeeded, and was decided again as running"), "{told}");
    let mut other = world.execution.clone();
    other.recipe = Arc::new(recipe(vec![run("b")]));
    assert!(stuck(&other).is_none() || other.status.is_over());
}
