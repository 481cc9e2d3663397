//! The beginning of a step: its condition, its attempt, its lanes or its work.

use std::collections::BTreeSet;

use domain::Timestamp;
use serde_json::Value as Json;

use super::machine::{End, Machine};
use super::model::{Action, ForEach, Idempotency, Step as Plan, Wait};
use super::scope::Scope;
use super::work::{Fault, work};
use super::{Effect, ErrorKind, Path, StepState, TimerKind, limits};

/// What a beginning step turns out to be.
enum Start {
    /// Its lanes run.
    Lanes(Vec<(String, Json)>),
    /// It waits until then.
    Until(Timestamp),
    /// Its work is in somebody's hands.
    Work(super::Work),
    /// It is done at once.
    Done(Json),
    /// It ends the execution.
    End(bool, String),
}

impl Machine {
    /// Begins a step whose turn it is, or skips it.
    pub(super) fn begin(&mut self, path: &Path, plan: &Plan) {
        if let Some(output) = self.next.reused.get(path).cloned() {
            return self.close(path, plan, StepState::Succeeded { output });
        }
        // A condition is evaluated once, before the first attempt.
        if self.next.steps.get(path).is_none_or(|run| run.attempt == 0) && !self.holds(path, plan) {
            return;
        }
        if self.begun >= limits::BEGUN {
            let why = format!("the execution has begun {} steps, which is the limit", limits::BEGUN);
            let error = self.error(path, ErrorKind::Limit, why);
            return self.close(path, plan, StepState::Failed { error });
        }
        self.begun += 1;
        let now = self.now;
        let run = self.run(path);
        run.attempt += 1;
        run.counted += 1;
        run.answers.clear();
        run.begun_at.get_or_insert(now);
        run.over_at = None;
        run.state = StepState::Running { since: now };
        let mut scope = Scope::new(&self.next, path);
        let start = start(&mut scope, plan, now);
        let used = std::mem::take(&mut scope.used);
        self.run(path).used.extend(used);
        match start {
            Ok(start) => self.set_off(path, plan, start),
            Err(fault) => {
                let error = self.error(path, fault.kind, fault.message);
                self.fail_with(path, plan, error);
            }
        }
    }

    /// Whether the condition of a step holds; if not, the step is over.
    fn holds(&mut self, path: &Path, plan: &Plan) -> bool {
        let Some(when) = &plan.when else { return true };
        let mut scope = Scope::new(&self.next, path);
        let holds = scope.condition(when);
        let used = std::mem::take(&mut scope.used);
        self.run(path).used = used;
        let state = match holds {
            Ok(true) => return true,
            Ok(false) => StepState::Skipped {
                output: Json::Null,
                why: format!("its condition does not hold: {}", when.0.trim()),
            },
            Err(error) => {
                let error = self.error(path, ErrorKind::Expression, format!("`if`: {error}"));
                StepState::Failed { error }
            }
        };
        self.close(path, plan, state);
        false
    }

    fn set_off(&mut self, path: &Path, plan: &Plan, start: Start) {
        match start {
            Start::Done(output) => return self.succeed(path, plan, output),
            Start::End(true, _) => {
                self.ended = Some(End::Success);
                return self.close(path, plan, StepState::Succeeded { output: Json::Null });
            }
            Start::End(false, why) => {
                let error = self.error(path, ErrorKind::Failed, why);
                self.ended = Some(End::Failure(error.clone()));
                return self.close(path, plan, StepState::Failed { error });
            }
            Start::Lanes(lanes) => self.run(path).lanes = lanes,
            Start::Until(at) => self.set_timer(path, TimerKind::Wait, at),
            Start::Work(work) => {
                if let super::Work::Ask { deadline: Some((at, _)), .. } = &work {
                    self.set_timer(path, TimerKind::Deadline, *at);
                }
                let attempt = self.run(path).attempt;
                let at_most_once = plan.idempotency == Idempotency::AtMostOnce;
                let (path, needs) = (path.clone(), plan.needs.clone());
                self.effects.push(Effect::Begin { path, attempt, work: Box::new(work), needs, at_most_once });
            }
        }
        self.set_timeout(path, plan);
    }

    /// A block runs again, as a new attempt.
    pub(super) fn new_attempt(&mut self, path: &Path, plan: &Plan) {
        let now = self.now;
        self.begun += 1;
        let run = self.run(path);
        run.attempt += 1;
        run.counted += 1;
        run.over_at = None;
        run.state = StepState::Running { since: now };
        self.set_timeout(path, plan);
    }

    fn set_timeout(&mut self, path: &Path, plan: &Plan) {
        if let Some(timeout) = plan.timeout {
            let at = self.later(timeout);
            self.set_timer(path, TimerKind::Timeout, at);
        }
    }
}

fn start(scope: &mut Scope<'_>, plan: &Plan, now: Timestamp) -> Result<Start, Fault> {
    Ok(match &plan.action {
        Action::Branch { cases } => {
            for (at, case) in cases.iter().enumerate() {
                if case.when.as_ref().map_or(Ok(true), |when| scope.condition(when))? {
                    return Ok(Start::Lanes(vec![(at.to_string(), Json::Null)]));
                }
            }
            Start::Done(Json::Null)
        }
        Action::Parallel { branches, .. } => {
            Start::Lanes(branches.iter().map(|branch| (branch.name.clone(), Json::Null)).collect())
        }
        Action::ForEach(each) => Start::Lanes(items(scope, each)?),
        Action::Wait(wait) if wait.event.is_none() => Start::Until(until(scope, wait, now)?),
        Action::End { success, reason } => {
            let why = reason.as_ref().map_or(Ok(String::new()), |reason| scope.template(reason))?;
            Start::End(*success, if why.is_empty() { "the recipe ends here".to_owned() } else { why })
        }
        _ => match work(scope, plan, now)? {
            work if limits::larger(&work, limits::WORK) => {
                let most = limits::WORK / 1024;
                return Err(Fault::limit(format!("its work is larger than {most} KiB: put it into an artifact")));
            }
            work => Start::Work(work),
        },
    })
}

fn items(scope: &mut Scope<'_>, each: &ForEach) -> Result<Vec<(String, Json)>, Fault> {
    let Json::Array(items) = scope.expression(&each.items)? else {
        return Err(Fault::expression(format!("`{}` is not a list", each.items.0.trim())));
    };
    if items.len() > limits::ITEMS {
        return Err(Fault::limit(format!(
            "there are {} items, and at most {} are possible",
            items.len(),
            limits::ITEMS
        )));
    }
    let (mut lanes, mut seen) = (Vec::new(), BTreeSet::new());
    for (at, item) in items.into_iter().enumerate() {
        let key = match &each.key {
            None => at.to_string(),
            Some(key) => {
                scope.look_at(&each.name, item.clone());
                key_text(scope.expression(key)?)?
            }
        };
        if !seen.insert(key.clone()) {
            return Err(Fault::expression(format!("two items have the key `{key}`")));
        }
        lanes.push((key, item));
    }
    Ok(lanes)
}

fn key_text(key: Json) -> Result<String, Fault> {
    let key = match key {
        Json::String(key) => key,
        Json::Number(key) => key.to_string(),
        _ => return Err(Fault::expression("the key of an item is a text or a number")),
    };
    let bad = key.is_empty() || key.contains("]/") || key.chars().any(char::is_control);
    match bad || key.len() > limits::KEY {
        true => Err(Fault::expression(format!("`{}` cannot be the key of an item", super::short(&key, 40)))),
        false => Ok(key),
    }
}

fn until(scope: &mut Scope<'_>, wait: &Wait, now: Timestamp) -> Result<Timestamp, Fault> {
    if let Some(until) = &wait.until {
        let text = scope.template(until)?;
        return text
            .trim()
            .parse()
            .map_err(|_| Fault::expression(format!("`{text}` is not a time: write `2026-12-24T18:00:00Z`")));
    }
    let text = wait.span.as_ref().map_or(Ok("0s".to_owned()), |span| scope.template(span))?;
    let span = super::span(&text)
        .ok_or_else(|| Fault::expression(format!("`{text}` is not a time span: write `90s` or `2h`")))?;
    match span > limits::RUNNING {
        true => Err(Fault::limit("a wait is at most 30 days")),
        false => Ok(now.plus_millis(i64::try_from(span).unwrap_or(i64::MAX))),
    }
}
