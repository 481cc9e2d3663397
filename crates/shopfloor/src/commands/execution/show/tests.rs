//! An execution in the middle: lanes, a retry, a question, steps to come.

use domain::{ExecutionId, ProjectId, RecipeId, SessionId, UserId};
use serde_json::{Value, json};

use super::*;

const RECIPE: &str = "\
name: deploy
steps:
  - id: fan
    parallel:
      branches:
        left: [{id: build, run: [make]}]
        right: [{id: lint, run: [make, lint]}]
  - id: each
    for_each: {items: \"['a', 'b']\", as: one, key: one, steps: [{id: say, notify: {to: chat, text: hi}}]}
  - id: choose
    branch:
      - {if: \"1 > 2\", steps: [{id: never, end: success}]}
      - else: [{id: ask, approve: {question: Go?, count: 2}}]
  - id: tell
    notify: {to: chat, text: done}
";

fn step(path: &str, kind: &str, status: &str) -> Value {
    json!({"path": path, "kind": kind, "status": status, "attempt": 1, "reason": null, "output": null, "question": null,
           "retry_at": null})
}

fn sample() -> ExecutionDetail {
    let recipe = recipes::read(RECIPE, recipes::Format::Yaml).unwrap().recipe;
    let mut retried = step("fan[right]/lint", "run", "retrying");
    retried["attempt"] = json!(2);
    retried["reason"] = json!("exited with 2:\u{1b}[2J\nno");
    retried["retry_at"] = json!("1970-01-01T00:02:00Z");
    let mut asking = step("choose[1]/ask", "approve", "waiting");
    asking["question"] = json!({"question": "Go?\nReally?", "who": ["ann", "bo"], "count": 2, "approved_by": ["ann"],
                                "form": {"type": "object"}, "deadline": "1970-01-01T01:00:00Z"});
    let (session, at) = (SessionId::generate(), |seconds: i64| domain::Timestamp::from_millis(seconds * 1000));
    let view = json!({
        "execution": {
            "id": ExecutionId::generate(), "project": ProjectId::generate(), "recipe": RecipeId::generate(),
            "name": "deploy", "number": 3, "version": "sha256:0123456789abcdef", "status": "running", "reason": null,
            "current": ["fan[right]/lint"], "needs_person": true, "steps_over": 1, "revision": 4,
            "started_by": {"id": UserId::generate(), "name": "ann"}, "schedule": null, "parent": null,
            "cost_micros": 1_500_000, "created_at": at(0), "ended_at": null,
        },
        "model": recipe,
        "inputs": {"issue": 42, "words": "a\u{9b}b"},
        "outputs": null,
        "steps": [
            step("fan", "parallel", "running"),
            step("fan[left]/build", "run", "succeeded"),
            retried,
            step("each", "for_each", "running"),
            step("each[b]/say", "notify", "succeeded"),
            step("choose", "branch", "running"),
            asking,
        ],
        "attempts": [{
            "path": "fan[left]/build", "attempt": 1, "work": {"argv": ["make"]}, "state": "succeeded", "reason": null,
            "session": session, "workspace": null, "tasks": [], "called": null, "created_at": at(1), "began_at": at(11),
            "ended_at": at(14), "cost_micros": 20_000,
        }],
    });
    serde_json::from_value(view).unwrap()
}

fn output(seconds: i64) -> Output {
    Output { json: false, color: false, width: None, now: domain::Timestamp::from_millis(seconds * 1000) }
}

#[test]
fn the_steps_are_a_tree_with_what_is_still_to_come() {
    let detail = sample();
    let names: Vec<String> =
        nodes(&detail).iter().map(|node| format!("{}{}", "  ".repeat(node.depth), node.name)).collect();
    let expected = [
        "fan",
        "  [left]",
        "    build",
        "  [right]",
        "    lint",
        "each",
        "  [b]",
        "    say",
        "choose",
        "  ask",
        "tell",
    ];
    assert_eq!(names, expected);
    let text = tree(&detail, &output(60));
    for part in ["● succeeded  3.0 s", "◔ retrying", "next attempt in 1 min", "○ pending", "asks: Go? Really?"] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "{text}");
}

#[test]
fn what_needs_a_person_comes_with_its_command() {
    let detail = sample();
    let id = detail.execution.id;
    let text = render(&detail, "calc", &output(60));
    for part in [
        "◑ running, needs you",
        "cost       $1.50",
        "choose[1]/ask asks of ann, bo, 1 of 2 approved (ann), until in 59 min:\n    Go?\n    Really?\n    data: {\"type\":\"object\"}",
        &format!("`shopfloor execution approve {id} 'choose[1]/ask' --data JSON`, or `reject`"),
        "  issue: 42\n  words: \"a\u{FFFD}b\"",
        "fan[left]/build: attempt 1 succeeded, waited 10.0 s, ran 3.0 s, $0.02, `shopfloor session log ses_",
    ] {
        assert!(text.contains(part), "`{part}` is not in:\n{text}");
    }
}

#[test]
fn steps_that_the_recipe_no_longer_has_are_shown_too() {
    let mut detail = sample();
    detail.model = json!({"name": "x", "steps": []});
    let text = tree(&detail, &output(60));
    assert!(text.contains("fan[left]/build") && text.contains("choose[1]/ask"), "{text}");
}
