//! Random recipes and random events, from choices that proptest shrinks or a seed yields.

use serde_json::{Map, Value as Json, json};

use super::check::Checker;
use super::world::*;
use crate::recipes::model::*;
use crate::recipes::*;

/// Where choices come from.
#[derive(Debug, Clone)]
pub(super) enum Chance {
    /// A list; the first choice after its end.
    Tape(Vec<u16>, usize),
    /// SplitMix64.
    Seed(u64),
}

impl Chance {
    /// A number below `n`.
    pub(super) fn pick(&mut self, n: usize) -> usize {
        match self {
            Self::Tape(tape, at) => {
                *at += 1;
                tape.get(*at - 1).map_or(0, |value| usize::from(*value) % n)
            }
            Self::Seed(seed) => {
                *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
                let mixed = (*seed ^ (*seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                usize::try_from((mixed ^ (mixed >> 31)) % n as u64).unwrap()
            }
        }
    }

    /// Happens `percent` times in a hundred; never on an empty tape.
    pub(super) fn happens(&mut self, percent: usize) -> bool {
        self.pick(100) + percent >= 100
    }

    pub(super) fn one<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        if of.is_empty() { None } else { of.get(self.pick(of.len())) }
    }
}

/// A recipe of up to some forty steps.
pub(super) fn random_recipe(chance: &mut Chance) -> Recipe {
    let mut count = 0;
    let steps = list(chance, 0, &mut count);
    let mut plan = recipe(steps);
    plan.timeout = chance.happens(20).then_some(500_000);
    plan.outputs = [("o".to_owned(), expr("steps.s0.output"))].into();
    plan
}

fn list(chance: &mut Chance, depth: usize, count: &mut usize) -> Vec<model::Step> {
    let (mut steps, mut before) = (Vec::new(), Vec::new());
    for _ in 0..=chance.pick(3) {
        let id = format!("s{count}");
        *count += 1;
        let action = action(chance, depth, count, &before);
        let mut step = step_of(&id, action);
        step.when = match chance.pick(12) {
            10 => Some(expr("inputs.a > 1")),
            11 => before.last().map(|id: &String| expr(&format!("steps.{id}.status == 'succeeded'"))),
            _ => None,
        };
        step.timeout = chance.happens(20).then_some(60_000);
        step.retry.attempts = 1 + u32::try_from(chance.pick(3)).unwrap();
        step.continue_on_error = chance.happens(20);
        step.output = chance.happens(10).then(|| json!({ "type": ["string", "object", "array", "null"] }));
        if chance.happens(20) {
            step.idempotency = Idempotency::AtMostOnce;
        }
        steps.push(step);
        before.push(id);
    }
    steps
}

fn action(chance: &mut Chance, depth: usize, count: &mut usize, before: &[String]) -> Action {
    let text = match chance.one(before) {
        Some(id) if chance.happens(30) => template(&format!("{{{{ steps.{id}.output }}}} {{{{ inputs.b }}}}")),
        _ => template("text"),
    };
    let kinds = if depth < 3 && *count < 30 { 12 } else { 7 };
    match chance.pick(kinds) {
        0 | 1 => Action::Run(Run { argv: vec![template("echo"), text], ..Run::default() }),
        2 => Action::Agent(Agent { prompt: Some(text), ..Agent::default() }),
        3 => Action::Wait(Wait { span: Some(template("1m")), ..Wait::default() }),
        4 => Action::Wait(Wait { event: Some(Awaited { kind: "push".to_owned(), matching: None }), ..Wait::default() }),
        5 => Action::Approve(Approve {
            question: text,
            who: Vec::new(),
            count: 1 + u32::try_from(chance.pick(2)).unwrap(),
            not_starter: chance.happens(30),
            form: None,
            deadline: chance.happens(50).then_some(90_000),
            then: [AtDeadline::Fail, AtDeadline::Approve, AtDeadline::Reject][chance.pick(3)],
        }),
        6 if chance.happens(15) => Action::End { success: chance.happens(50), reason: None },
        6 => Action::Notify { to: template("chat"), text },
        7 => Action::Branch {
            cases: vec![
                Case { when: Some(expr("inputs.a == 2")), steps: list(chance, depth + 1, count) },
                Case { when: None, steps: list(chance, depth + 1, count) },
            ],
        },
        8 | 9 => Action::Parallel {
            join: [Join::All, Join::Any, Join::AtLeast(2)][chance.pick(3)],
            branches: (0..=chance.pick(3))
                .map(|at| Branch { name: format!("b{at}"), steps: list(chance, depth + 1, count) })
                .collect(),
        },
        _ => Action::ForEach(ForEach {
            items: expr("inputs.list"),
            name: "item".to_owned(),
            key: chance.happens(50).then(|| expr("item")),
            max_parallel: Some(1 + u32::try_from(chance.pick(3)).unwrap()),
            steps: list(chance, depth + 1, count),
        }),
    }
}

/// An event that could come next: the end of something open, a timer, an answer, an operation, or something that is
/// repeated, late or made up.
pub(super) fn random_event(chance: &mut Chance, execution: &Execution, checker: &Checker, past: &[Event]) -> Event {
    if execution.status == Status::New && !chance.happens(20) {
        return Event::Started;
    }
    if let (Status::Failed { error }, true) = (&execution.status, chance.happens(60)) {
        let path = error.path.clone();
        let operation = match chance.happens(50) {
            true => Operation::Retry { path },
            false => Operation::Skip { path, output: json!("skipped") },
        };
        return Event::Operated { operation, reason: "because".to_owned() };
    }
    match chance.pick(20) {
        0..=9 => {
            let open: Vec<_> = checker.open.iter().collect();
            match chance.one(&open) {
                Some((path, attempt)) => end(chance, execution, path, **attempt),
                None => due(chance, checker),
            }
        }
        10..=13 => due(chance, checker),
        14 | 15 => chance.one(past).cloned().unwrap_or(Event::Started),
        16 => {
            let path = any_path(chance, execution);
            let attempt = u32::try_from(chance.pick(4)).unwrap();
            end(chance, execution, &path, attempt)
        }
        17 => presence(chance, checker),
        _ => Event::Operated { operation: operation(chance, execution), reason: "because".to_owned() },
    }
}

/// A runner is away or back, perhaps not the one of an open attempt.
fn presence(chance: &mut Chance, checker: &Checker) -> Event {
    let open: Vec<_> = checker.open.iter().collect();
    let (path, attempt) =
        chance.one(&open).map_or((Path::top("nothing"), 1), |(path, attempt)| ((*path).clone(), **attempt));
    match chance.happens(40) {
        true => Event::RunnerBack { path, attempt },
        false => Event::RunnerAway { path, attempt, runner: "r1".to_owned() },
    }
}

fn due(chance: &mut Chance, checker: &Checker) -> Event {
    let timers: Vec<_> = checker.timers.iter().cloned().collect();
    match chance.one(&timers) {
        Some((path, attempt, timer)) => Event::Due { path: path.clone(), attempt: *attempt, timer: *timer },
        None => Event::Due { path: None, attempt: 7, timer: TimerKind::Timeout },
    }
}

fn end(chance: &mut Chance, execution: &Execution, path: &Path, attempt: u32) -> Event {
    let action = tree::find(&execution.recipe, path).map(|plan| &plan.action);
    if let Some(Action::Approve(_)) = action {
        let name = ["ann", "bob", "cid"][chance.pick(3)];
        let answer = Answer {
            by: name.to_owned(),
            name: name.to_owned(),
            starter: name == "ann",
            approve: !chance.happens(15),
            data: json!(null),
            comment: String::new(),
        };
        return Event::Answered { path: path.clone(), answer };
    }
    let kinds = [ErrorKind::Failed, ErrorKind::Lost, ErrorKind::Rejected, ErrorKind::Refused];
    let verdict = match chance.pick(10) {
        8 => Verdict::Failed { kind: kinds[chance.pick(4)], message: "no".to_owned() },
        9 => Verdict::Interrupted { why: "a crash".to_owned() },
        _ => Verdict::Succeeded { output: [json!("out"), json!({ "n": 1 }), json!(3)][chance.pick(3)].clone() },
    };
    Event::Ended { path: path.clone(), attempt, verdict }
}

fn any_path(chance: &mut Chance, execution: &Execution) -> Path {
    let mut paths: Vec<Path> = execution.steps.keys().cloned().collect();
    paths.extend(execution.recipe.steps.iter().map(|step| Path::top(&step.id)));
    chance.one(&paths).cloned().unwrap_or_else(|| Path::top("nothing"))
}

fn operation(chance: &mut Chance, execution: &Execution) -> Operation {
    let path = any_path(chance, execution);
    let number = i64::try_from(chance.pick(3)).unwrap();
    match chance.pick(17) {
        0 | 1 => Operation::Pause { now: chance.happens(50) },
        2..=5 => Operation::Resume,
        6..=9 => Operation::Retry { path },
        10..=12 => Operation::Skip { path, output: [Json::Null, json!("skipped")][chance.pick(2)].clone() },
        13 => Operation::Correct { path, output: json!("corrected") },
        14 => {
            let name = ["a", "b", "list"][chance.pick(3)].to_owned();
            let value = if name == "list" { json!(["x", "y"]) } else { json!(number) };
            Operation::ChangeInputs { inputs: [(name, value)].into_iter().collect::<Map<_, _>>() }
        }
        15 => {
            let mut recipe = Recipe::clone(&execution.recipe);
            let at = chance.pick(recipe.steps.len() + 1);
            recipe.steps.insert(at, run(&format!("new{number}")));
            Operation::Swap { version: format!("v{number}"), recipe: Box::new(recipe) }
        }
        _ if chance.happens(10) => Operation::Cancel,
        _ => Operation::Resume,
    }
}
