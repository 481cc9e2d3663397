//! The recipes that come with Shopfloor.

use std::collections::{BTreeSet, VecDeque};

use domain::Timestamp;
use engine::recipes::model::Context;
use engine::recipes::{Answer, Effect, ErrorKind, Event, Execution, Status, TimerKind, Verdict, Work, step};
use serde_json::{Map, Value as Json, json};

use crate::{Format, inputs, read, templates};

#[test]
fn they_are_right_without_warnings() {
    let names: BTreeSet<&str> = templates().iter().map(|shipped| shipped.name).collect();
    assert_eq!(names.len(), 6);
    for shipped in templates() {
        let checked = read(shipped.text, Format::Yaml).unwrap_or_else(|errors| panic!("{}", super::lines(&errors)));
        assert_eq!(checked.recipe.name, shipped.name);
        assert_eq!(checked.warnings, [], "{}", shipped.name);
        assert!(shipped.text.starts_with("# "), "{} has comments", shipped.name);
        assert!(checked.recipe.inputs.iter().all(|input| !input.description.is_empty()), "{}", shipped.name);
        let agent = checked.recipe.inputs.iter().find(|input| input.name == "agent").and_then(|it| it.default.clone());
        assert_eq!(agent, Some(json!("codex")), "{}", shipped.name);
    }
}

/// The inputs that each needs.
fn given(name: &str) -> Map<String, Json> {
    let given = match name {
        "fix-issue" => json!({ "issue": "42; rm -rf /" }),
        "review-pr" => json!({ "branch": "x" }),
        "dependency-update" => json!({ "packages": "serde,tokio" }),
        "best-of-n" => json!({ "task": "x" }),
        "release-notes" => json!({ "version": "1.2.3", "since": "v1.2.2" }),
        _ => json!({}),
    };
    given.as_object().cloned().unwrap()
}

fn begin(name: &str) -> Execution {
    let shipped = templates().iter().find(|shipped| shipped.name == name).unwrap();
    let recipe = read(shipped.text, Format::Yaml).unwrap().recipe;
    let inputs = inputs(&recipe, &given(name)).unwrap();
    let context =
        Context { id: "exe_1".into(), project: "calc".into(), person: "ann".into(), started_at: at(), trigger: None };
    Execution::new(recipe.into(), "v".into(), context, inputs)
}

fn at() -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000)
}

/// Lets an execution go on to its end; each work is answered by `answer`.
fn run(name: &str, answer: impl Fn(&str, &Work) -> Verdict) -> (Execution, Vec<Work>) {
    let (mut execution, mut works) = (begin(name), Vec::new());
    let mut events = VecDeque::from([Event::Started]);
    while let Some(event) = events.pop_front() {
        let decided = step(&execution, &event, at()).unwrap();
        execution = decided.execution;
        for effect in decided.effects {
            match effect {
                Effect::Begin { path, work, .. } if matches!(*work, Work::Ask { .. }) => {
                    let data = match path.step() {
                        "choose" => json!({ "branch": "b0" }),
                        _ => json!({ "changes": "shorter" }),
                    };
                    let answer = Answer { data, ..yes() };
                    events.push_back(Event::Answered { path, answer });
                }
                Effect::Begin { path, attempt, work, .. } => {
                    let verdict = answer(path.step(), &work);
                    works.push(*work);
                    events.push_back(Event::Ended { path, attempt, verdict });
                }
                Effect::SetTimer { path, attempt, timer: TimerKind::Retry, .. } => {
                    events.push_back(Event::Due { path, attempt, timer: TimerKind::Retry });
                }
                _ => {}
            }
        }
    }
    (execution, works)
}

fn yes() -> Answer {
    serde_json::from_value(json!({ "by": "usr_1", "name": "ann", "approve": true })).unwrap()
}

fn well(_: &str, _: &Work) -> Verdict {
    Verdict::Succeeded { output: json!({ "branch": "b0", "summary": "done", "text": "", "data": null }) }
}

fn badly() -> Verdict {
    Verdict::Failed { kind: ErrorKind::Failed, message: "exited with 1".into() }
}

#[test]
fn shipped_templates_complete() {
    for shipped in templates() {
        let (execution, works) = run(shipped.name, well);
        let Status::Completed { outputs } = &execution.status else {
            panic!("{}: {:?} {:#?}", shipped.name, execution.status, execution.steps)
        };
        assert!(outputs.values().all(|output| !output.is_null()), "{}: {outputs:?}", shipped.name);
        assert!(!works.is_empty());
        for work in works {
            let Work::Agent { agent, accept, .. } = work else { continue };
            assert_eq!(agent.as_deref(), Some("codex"));
            for criterion in accept.iter().filter(|it| it["kind"] == "command") {
                assert_eq!(criterion["argv"], json!(["make", "test"]), "{}", shipped.name);
            }
        }
    }
}

#[test]
fn nightly_checks_that_fail_are_repaired_and_said() {
    let (execution, works) =
        run("nightly-checks", |step, work| if step == "check" { badly() } else { well(step, work) });
    assert!(matches!(execution.status, Status::Failed { .. }), "{:?}", execution.status);
    assert!(
        works
            .iter()
            .any(|work| matches!(work, Work::Agent { prompt: Some(text), .. } if text.contains("exited with 1")))
    );
    assert!(works.iter().any(|work| matches!(work, Work::Notify { text, .. } if text.contains("b0 repairs them"))));
}

#[test]
fn one_attempt_that_fails_leaves_the_others() {
    for name in ["best-of-n", "review-pr", "dependency-update"] {
        let failed = std::cell::Cell::new(false);
        let (execution, _) = run(name, |step, work| {
            if ["attempt", "review", "update"].contains(&step) && !failed.replace(true) {
                badly()
            } else {
                well(step, work)
            }
        });
        assert!(matches!(execution.status, Status::Completed { .. }), "{name}: {:?}", execution.status);
    }
}
