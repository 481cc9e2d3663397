//! What holds after every decision, whatever the recipe and the events.

use std::collections::{BTreeMap, BTreeSet};

use domain::Timestamp;

use crate::recipes::model::{Action, Step as Plan};
use crate::recipes::*;

/// Follows the effects of an execution as a store does, and compares them with the state.
#[derive(Debug, Clone, Default)]
pub(super) struct Checker {
    /// Attempts whose work has begun and is neither over nor stopped.
    pub open: BTreeMap<Path, u32>,
    /// Timers that are set.
    pub timers: BTreeSet<(Option<Path>, u32, TimerKind)>,
}

impl Checker {
    /// Sends an event and checks the decision; `None` if it was refused.
    pub(super) fn step(&mut self, before: &Execution, event: &Event, now: Timestamp) -> Result<Option<Step>, String> {
        let decided = step(before, event, now);
        if decided != step(before, event, now) {
            return Err("the same event decides differently".to_owned());
        }
        let Ok(decided) = decided else { return Ok(None) };
        self.follow(before, event, &decided)?;
        twice(event, &decided, now)?;
        is_final(before, event, &decided)?;
        attempts_grow(before, &decided.execution)?;
        in_order(before, &decided)?;
        if let Some(why) = stuck(&decided.execution) {
            return Err(format!("stuck: {why}"));
        }
        self.agrees(&decided.execution)?;
        Ok(Some(decided))
    }

    fn follow(&mut self, before: &Execution, event: &Event, decided: &Step) -> Result<(), String> {
        match event {
            Event::Ended { path, attempt, .. } if self.open.get(path) == Some(attempt) => drop(self.open.remove(path)),
            Event::Due { path, attempt, timer } => {
                self.timers.remove(&(path.clone(), *attempt, *timer));
            }
            _ => {}
        }
        for effect in &decided.effects {
            match effect {
                Effect::Begin { path, attempt, .. } => {
                    if let Some(open) = self.open.insert(path.clone(), *attempt) {
                        return Err(format!("{path} begins attempt {attempt}, and {open} is open"));
                    }
                    if before.steps.get(path).is_some_and(|run| run.attempt >= *attempt) {
                        return Err(format!("{path} begins attempt {attempt} again"));
                    }
                }
                Effect::Stop { path, attempt } => match self.open.remove(path) {
                    Some(open) if open == *attempt => {}
                    open => return Err(format!("{path} stops attempt {attempt}, and {open:?} is open")),
                },
                Effect::SetTimer { path, attempt, timer, .. } => {
                    self.timers.insert((path.clone(), *attempt, *timer));
                }
                Effect::DropTimer { path, attempt, timer } => {
                    if !self.timers.remove(&(Some(path.clone()), *attempt, *timer)) {
                        return Err(format!("{path} drops a timer that is not set"));
                    }
                }
                Effect::DropTimers { path: None } => self.timers.clear(),
                Effect::DropTimers { path } => self.timers.retain(|timer| timer.0 != *path),
                Effect::Over if !decided.execution.status.is_over() => return Err("over, and not over".to_owned()),
                Effect::Over => {}
            }
        }
        Ok(())
    }

    /// Open work and timers are those that the state waits for.
    fn agrees(&self, execution: &Execution) -> Result<(), String> {
        let mut wanted = BTreeSet::new();
        let mut work = BTreeMap::new();
        if matches!(execution.status, Status::Running | Status::Paused) {
            wanted.insert((None, execution.round, TimerKind::Timeout));
        }
        for (path, run) in &execution.steps {
            let plan = tree::find(&execution.recipe, path).ok_or("a step is not in the recipe")?;
            let mut want = |timer| wanted.insert((Some(path.clone()), run.attempt, timer));
            match &run.state {
                StepState::Retrying { .. } => drop(want(TimerKind::Retry)),
                StepState::Running { .. } => {
                    if plan.timeout.is_some() {
                        want(TimerKind::Timeout);
                    }
                    if run.away.is_some() {
                        want(TimerKind::Away);
                    }
                    match &plan.action {
                        Action::Wait(wait) if wait.event.is_none() => drop(want(TimerKind::Wait)),
                        Action::Approve(approve) if approve.deadline.is_some() => drop(want(TimerKind::Deadline)),
                        _ => {}
                    }
                    if machine::has_work(plan) {
                        work.insert(path.clone(), run.attempt);
                    }
                }
                _ => {}
            }
            if run.away.is_some() && !matches!(run.state, StepState::Running { .. }) {
                return Err(format!("the runner of {path} is away, and nothing runs"));
            }
        }
        if work != self.open {
            return Err(format!("the state waits for {work:?}, and open is {:?}", self.open));
        }
        match wanted == self.timers {
            true => Ok(()),
            false => Err(format!("the state waits for {wanted:?}, and set are {:?}", self.timers)),
        }
    }
}

fn twice(event: &Event, decided: &Step, now: Timestamp) -> Result<(), String> {
    let fact = !matches!(event, Event::Answered { .. } | Event::Operated { .. });
    match step(&decided.execution, event, now.plus_millis(5)) {
        Ok(second) if fact && (second.execution != decided.execution || !second.effects.is_empty()) => {
            Err("an event that comes twice changes something".to_owned())
        }
        Err(refused) if fact => Err(format!("a fact is refused: {refused}")),
        _ => Ok(()),
    }
}

fn is_final(before: &Execution, event: &Event, decided: &Step) -> Result<(), String> {
    let changes = decided.execution != *before || !decided.effects.is_empty();
    let may = match &before.status {
        Status::Completed { .. } | Status::Cancelled => false,
        Status::Failed { .. } => matches!(event, Event::Operated { .. }),
        _ => true,
    };
    if changes && !may {
        return Err("an execution that is over changes".to_owned());
    }
    let revives = !decided.execution.status.is_over();
    let asked = matches!(event, Event::Operated { operation: Operation::Retry { .. } | Operation::Skip { .. }, .. });
    match before.status.is_over() && revives && !asked {
        true => Err("an execution comes back without a retry or a skip".to_owned()),
        false => Ok(()),
    }
}

fn attempts_grow(before: &Execution, after: &Execution) -> Result<(), String> {
    for (path, run) in &before.steps {
        let Some(next) = after.steps.get(path) else { return Err(format!("{path} disappears")) };
        if next.attempt < run.attempt {
            return Err(format!("the attempt of {path} shrinks"));
        }
    }
    Ok(())
}

/// No step begins before those before it are over, nor outside of a running block.
fn in_order(before: &Execution, decided: &Step) -> Result<(), String> {
    let after = &decided.execution;
    let begins = |(path, run): &(&Path, &StepRun)| run.attempt > before.steps.get(path).map_or(0, |run| run.attempt);
    for (path, _) in after.steps.iter().filter(begins) {
        let list: &[Plan] = tree::list(&after.recipe, path).unwrap_or_default();
        for earlier in list.iter().take_while(|step| step.id != path.step()) {
            let state = after.steps.get(&path.beside(&earlier.id)).map(|run| &run.state);
            if !state.is_some_and(StepState::is_over) {
                return Err(format!("{path} begins before {} is over", earlier.id));
            }
        }
        if let Some((block, _)) = path.block()
            && !after.steps.contains_key(&block)
        {
            return Err(format!("{path} begins outside of its block"));
        }
    }
    Ok(())
}
