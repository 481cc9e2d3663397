//! Steps one after the other: conditions, work, waits, approvals, retries, limits.

use serde_json::json;

use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

fn work(effects: &[Effect]) -> Vec<Work> {
    let one = |effect: &Effect| match effect {
        Effect::Begin { work, .. } => Some(Work::clone(work)),
        _ => None,
    };
    effects.iter().filter_map(one).collect()
}

#[test]
fn steps_run_one_after_the_other_and_read_what_came_before() {
    let mut last = says("b", "{{ steps.a.output.text }} {{ execution.person }}");
    last.needs = vec!["linux".to_owned()];
    let mut plan = recipe(vec![run("a"), last]);
    plan.outputs =
        [("said".to_owned(), expr("steps.b.output.text")), ("no".to_owned(), expr("steps.b.output.x"))].into();
    let mut world = World::new(plan);
    assert_eq!(begun(&world.send(Event::Started)), ["a/1"]);
    assert_eq!(world.ok("a", json!({ "text": "hi" })), ["b/1"]);
    let begin = world.effects.last().unwrap();
    let argv = vec!["echo".to_owned(), "hi ann".to_owned()];
    let run = Work::Run { argv, place: Workplace::Shared };
    let needs = vec!["linux".to_owned()];
    assert_eq!(*begin, Effect::Begin { path: path("b"), attempt: 1, work: Box::new(run), needs, at_most_once: false });
    assert_eq!(world.ok("b", json!({ "text": "done" })), Vec::<String>::new());
    let outputs = json!({ "said": "done", "no": null });
    assert_eq!(json!(world.execution.status), json!({ "status": "completed", "outputs": outputs }));
    assert_eq!(world.effects.last(), Some(&Effect::Over));
    world.replayed();
}

#[test]
fn a_step_whose_condition_does_not_hold_is_skipped() {
    let mut skipped = run("a");
    skipped.when = Some(expr("inputs.a > 1"));
    let mut broken = run("b");
    broken.when = Some(expr("inputs.a"));
    broken.continue_on_error = true;
    let world = World::of(vec![skipped, broken, says("c", "{{ steps.a.output is none }}")]);
    assert_eq!(world.states(), "a:skipped b:failed c:running");
}

#[test]
fn a_failed_step_ends_the_execution_unless_it_may_fail() {
    let mut lenient = run("a");
    lenient.continue_on_error = true;
    let mut world = World::of(vec![lenient, says("b", "{{ steps.a.error.kind }}"), run("c")]);
    world.fail("a", ErrorKind::Failed);
    world.fail("b", ErrorKind::Failed);
    assert_eq!(world.error(), (ErrorKind::Failed, "b".to_owned(), "no".to_owned()));
    assert_eq!(world.states(), "a:failed b:failed");
    world.replayed();
}

#[test]
fn a_step_that_reads_what_is_not_there_fails() {
    let world = World::of(vec![says("a", "{{ steps.b.output }}"), run("b")]);
    assert_eq!(world.error().0, ErrorKind::Expression);
    let world = World::of(vec![says("a", "{{ inputs.zzz }}")]);
    assert_eq!(world.error().0, ErrorKind::Expression);
}

#[test]
fn retries_follow_the_policy() {
    let mut flaky = run("a");
    flaky.retry = Retry { attempts: 3, backoff: Backoff::Exponential, first: 10_000, jitter: 0, ..Retry::default() };
    let mut world = World::of(vec![flaky]);
    for (attempt, wait) in [(1, 10), (2, 20)] {
        let effects = world.fail("a", ErrorKind::Lost);
        assert_eq!(timers(&effects, world.now), [(TimerKind::Retry, wait)]);
        assert_eq!(world.state("a"), "retrying");
        assert_eq!(begun(&world.due("a", TimerKind::Retry)), [format!("a/{}", attempt + 1)]);
    }
    world.fail("a", ErrorKind::Lost);
    assert_eq!(world.error().0, ErrorKind::Lost);
    world.replayed();
}

#[test]
fn a_late_event_of_an_earlier_attempt_changes_nothing() {
    let mut flaky = run("a");
    flaky.retry.attempts = 2;
    let mut world = World::of(vec![flaky]);
    world.fail("a", ErrorKind::Failed);
    world.due("a", TimerKind::Retry);
    let before = world.execution.clone();
    let verdict = Verdict::Succeeded { output: json!("old") };
    let late = Event::Ended { path: path("a"), attempt: 1, verdict };
    assert_eq!(world.send(late), []);
    assert_eq!(world.execution, before);
}

#[test]
fn time_limits_stop_the_work() {
    let mut slow = run("a");
    slow.timeout = Some(5_000);
    let mut world = World::of(vec![slow, run("b")]);
    assert_eq!(timers(&world.effects, world.now), [(TimerKind::Timeout, 5)]);
    let effects = world.due("a", TimerKind::Timeout);
    assert_eq!(stopped(&effects), ["a/1"]);
    assert_eq!(world.error().0, ErrorKind::Timeout);

    let mut plan = recipe(vec![run("a")]);
    plan.timeout = Some(60_000);
    let mut world = World::new(plan);
    world.send(Event::Started);
    let effects = world.send(Event::Due { path: None, attempt: 0, timer: TimerKind::Timeout });
    assert_eq!(stopped(&effects), ["a/1"]);
    assert_eq!((world.error().0, world.states()), (ErrorKind::Timeout, "a:cancelled".to_owned()));
    let effects = world.operate(Operation::Retry { path: path("a") }).unwrap();
    assert_eq!(begun(&effects), ["a/2"]);
    assert_eq!(world.send(Event::Due { path: None, attempt: 0, timer: TimerKind::Timeout }), [], "the old time limit");
}

#[test]
fn waits_end_at_their_time() {
    let span = Wait { span: Some(template("{{ inputs.b }}h")), ..Wait::default() };
    let until = Wait { until: Some(template("2026-12-24T18:00:00Z")), ..Wait::default() };
    let mut world = World::of(vec![step_of("a", Action::Wait(span)), step_of("b", Action::Wait(until)), run("c")]);
    assert_eq!(timers(&world.effects, world.now), [(TimerKind::Wait, 7_200)]);
    let effects = world.due("a", TimerKind::Wait);
    let at = effects.iter().find_map(|effect| match effect {
        Effect::SetTimer { at, .. } => Some(at.to_string()),
        _ => None,
    });
    assert_eq!(at.as_deref(), Some("2026-12-24T18:00:00.000Z"));
    assert_eq!(begun(&world.due("b", TimerKind::Wait)), ["c/1"]);
    let bad = Wait { span: Some(template("soon")), ..Wait::default() };
    assert_eq!(World::of(vec![step_of("a", Action::Wait(bad))]).error().0, ErrorKind::Expression);
    let long = Wait { span: Some(template("31d")), ..Wait::default() };
    assert_eq!(World::of(vec![step_of("a", Action::Wait(long))]).error().0, ErrorKind::Limit);
}

#[test]
fn a_wait_for_an_event_has_its_expression_and_a_time_limit() {
    let matching = Some(expr("event.issue == inputs.a and event.x == steps.z.output"));
    let event = Awaited { kind: "push".to_owned(), matching: matching.clone() };
    let mut wait = step_of("a", Action::Wait(Wait { event: Some(event), ..Wait::default() }));
    wait.timeout = Some(1_000);
    let mut world = World::of(vec![run("z"), wait, says("b", "{{ steps.a.output.issue }}")]);
    world.ok("z", json!(7));
    let inputs = json!({ "a": 1, "b": 2, "list": ["x", "y", "z"] });
    let scope = json!({ "inputs": inputs, "steps": { "z": { "status": "succeeded", "attempt": 1, "output": 7 } } });
    assert_eq!(work(&world.effects)[1], Work::Event { kind: "push".to_owned(), matching, scope });
    assert_eq!(owners(&world.execution), [Owner::Event(path("a"), "push".to_owned())]);
    let mut late = World::of(world.execution.recipe.steps.clone());
    late.ok("z", json!(7));
    late.due("a", TimerKind::Timeout);
    assert_eq!(late.error().0, ErrorKind::Timeout);
    assert_eq!(world.ok("a", json!({ "issue": 1 })), ["b/1"]);
}

fn approve(count: u32) -> Approve {
    Approve {
        question: template("Ship {{ inputs.a }}?"),
        who: Vec::new(),
        count,
        not_starter: false,
        form: None,
        deadline: None,
        then: AtDeadline::Fail,
    }
}

#[test]
fn people_approve() {
    let ask = step_of("a", Action::Approve(Approve { not_starter: true, ..approve(2) }));
    let mut world = World::of(vec![ask, says("b", "{{ steps.a.output.by }}")]);
    assert!(world.answer("a", "ann", true, json!(null)).unwrap_err().contains("started"));
    world.answer("a", "bob", true, json!(null)).unwrap();
    world.answer("a", "bob", true, json!(null)).unwrap();
    assert_eq!(world.state("a"), "running");
    let effects = world.answer("a", "cid", true, json!({ "n": 1 })).unwrap();
    assert_eq!((begun(&effects), stopped(&effects)), (vec!["b/1".to_owned()], vec!["a/1".to_owned()]));
    let output = json!({ "approved": true, "by": ["bob", "cid"], "data": { "n": 1 }, "comment": "" });
    assert_eq!(world.output("a"), output);
    assert!(world.answer("a", "dan", true, json!(null)).unwrap_err().contains("no answer"));
    assert!(world.answer("b", "dan", true, json!(null)).unwrap_err().contains("asks nobody"));
}

#[test]
fn people_reject_and_only_those_who_may() {
    let form = Some(json!({ "type": "object", "required": ["why"] }));
    let ask = Approve { who: vec![template("bob")], form, ..approve(1) };
    let mut world = World::of(vec![step_of("a", Action::Approve(ask.clone()))]);
    assert_eq!(world.answer("a", "cid", true, json!({ "why": 1 })).unwrap_err(), "only bob may answer");
    assert!(world.answer("a", "bob", true, json!({})).unwrap_err().contains("why"));
    world.answer("a", "bob", false, json!(null)).unwrap();
    assert_eq!(world.error(), (ErrorKind::Rejected, "a".to_owned(), "bob rejected it".to_owned()));
}

#[test]
fn at_the_deadline_the_recipe_decides() {
    for (then, kind) in [
        (AtDeadline::Fail, Some(ErrorKind::Timeout)),
        (AtDeadline::Reject, Some(ErrorKind::Rejected)),
        (AtDeadline::Approve, None),
    ] {
        let ask = step_of("a", Action::Approve(Approve { deadline: Some(3_000), then, ..approve(1) }));
        let mut world = World::of(vec![ask]);
        assert_eq!(timers(&world.effects, world.now), [(TimerKind::Deadline, 3)]);
        world.due("a", TimerKind::Deadline);
        match kind {
            Some(kind) => assert_eq!(world.error().0, kind),
            None => assert!(world.is_completed()),
        }
        world.replayed();
    }
}

#[test]
fn work_is_rendered() {
    let agent = Agent {
        profile: Some(template("fixer")),
        prompt: Some(template("Fix {{ inputs.a }}")),
        accept: vec![Value(json!({ "text": "{{ inputs.b }}" }))],
        workspace: Place::New,
        ..Agent::default()
    };
    let again = Agent { workspace: Place::Of("a".to_owned()), ..Agent::default() };
    let tasks = vec![json!({ "title": "t{{ inputs.a }}" }), json!("{{ steps.a.output.tasks }}")];
    let call = [("n".to_owned(), Value(json!("{{ inputs.b }}")))].into();
    let merge = Action::Merge { branch: template("{{ steps.a.output.branch }}") };
    let notify = Action::Notify { to: template("chat"), text: template("Done {{ inputs.a }}") };
    let argv_of = Run { argv_of: Some(expr("['ls'] + inputs.list")), ..Run::default() };
    let mut world = World::of(vec![
        step_of("a", Action::Agent(agent)),
        step_of("b", Action::Agent(again)),
        step_of("c", Action::Task { tasks }),
        step_of("d", Action::Call { recipe: "other".to_owned(), inputs: call }),
        step_of("e", merge),
        step_of("f", notify),
        step_of("g", Action::Run(argv_of)),
        step_of("h", Action::Merge { branch: template(" ") }),
    ]);
    world.ok("a", json!({ "branch": "w", "tasks": [{ "title": "u" }] }));
    for step in ["b", "c", "d", "e", "f", "g"] {
        world.ok(step, json!(null));
    }
    let works = work(&world.effects);
    let prompt = |work: &Work| match work {
        Work::Agent { prompt, accept, place, .. } => (prompt.clone(), accept.clone(), place.clone()),
        work => panic!("{work:?}"),
    };
    assert_eq!(prompt(&works[0]), (Some("Fix 1".to_owned()), vec![json!({ "text": 2 })], Workplace::New));
    assert_eq!(prompt(&works[1]).2, Workplace::Of(path("a")));
    assert_eq!(works[2], Work::Tasks { tasks: vec![json!({ "title": "t1" }), json!({ "title": "u" })] });
    let inputs = json!({ "n": 2 }).as_object().cloned().unwrap();
    assert_eq!(works[3], Work::Call { recipe: "other".to_owned(), inputs });
    assert_eq!(works[4], Work::Merge { branch: "w".to_owned() });
    assert_eq!(works[5], Work::Notify { to: "chat".to_owned(), text: "Done 1".to_owned() });
    let argv = ["ls", "x", "y", "z"].map(str::to_owned).to_vec();
    assert_eq!(works[6], Work::Run { argv, place: Workplace::Shared });
    assert_eq!(world.error().1, "h");
}

#[test]
fn outputs_meet_their_schema_and_limit() {
    let mut typed = run("a");
    typed.output = Some(json!({ "type": "object", "required": ["n"] }));
    typed.retry.attempts = 2;
    let mut world = World::of(vec![typed]);
    world.ok("a", json!({}));
    assert_eq!(world.state("a"), "retrying");
    world.due("a", TimerKind::Retry);
    world.ok("a", json!({ "n": "x".repeat(70_000) }));
    let (kind, _, message) = world.error();
    assert_eq!(kind, ErrorKind::Limit);
    assert!(message.contains("artifact"), "{message}");
}

#[test]
fn an_interrupted_effect_waits_for_a_person() {
    let mut once = run("a");
    once.idempotency = Idempotency::AtMostOnce;
    once.retry.attempts = 5;
    let mut world = World::of(vec![once, run("b")]);
    world.interrupted("a");
    assert_eq!(world.state("a"), "interrupted");
    assert_eq!(owners(&world.execution), [Owner::People(path("a"))]);
    assert_eq!(begun(&world.operate(Operation::Retry { path: path("a") }).unwrap()), ["a/2"]);
    let mut world = World::of(vec![run("a")]);
    world.interrupted("a");
    assert_eq!(world.error().0, ErrorKind::Lost);
}

#[test]
fn end_ends_everything() {
    let end = |success| step_of("end", Action::End { success, reason: Some(template("no {{ inputs.a }}")) });
    let lanes = |end| vec![("l", vec![run("a")]), ("r", vec![run("b"), end])];
    let mut world = World::of(vec![parallel("p", Join::All, lanes(end(true))), run("z")]);
    let effects = {
        world.ok("p[r]/b", json!(null));
        world.effects.clone()
    };
    assert_eq!(stopped(&effects), ["p[l]/a/1"]);
    assert!(world.is_completed());
    let mut world = World::of(vec![parallel("p", Join::All, lanes(end(false))), run("z")]);
    world.ok("p[r]/b", json!(null));
    assert_eq!(world.error(), (ErrorKind::Failed, "p[r]/end".to_owned(), "no 1".to_owned()));
    let effects = world.operate(Operation::Skip { path: path("p[r]/end"), output: json!(null) }).unwrap();
    assert_eq!(begun(&effects), ["p[l]/a/2"]);
}
