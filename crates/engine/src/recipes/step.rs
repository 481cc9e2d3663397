//! One decision: an event in, the next state and the effects out.

use domain::Timestamp;
use serde_json::Value as Json;

use super::machine::Machine;
use super::{Effect, Error, ErrorKind, Event, Execution, Path, Status, StepRun, StepState};

/// What an event leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The next state.
    pub execution: Execution,
    /// What the store does in the same transaction, in this order.
    pub effects: Vec<Effect>,
}

/// Why a person's operation or answer is not possible; nothing changes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

/// What happens to `execution` because of `event`, which happened at `now`. An event that comes late or twice changes
/// nothing.
pub fn step(execution: &Execution, event: &Event, now: Timestamp) -> Result<Step, Refused> {
    let mut machine = Machine::new(execution, now);
    match event {
        Event::Started => machine.start(),
        Event::Ended { path, attempt, verdict } => machine.ended(path, *attempt, verdict),
        Event::Due { path: Some(path), attempt, timer } => machine.due(path, *attempt, *timer),
        Event::Due { path: None, attempt, .. } => machine.over_time(*attempt),
        Event::RunnerAway { path, attempt, runner } => machine.runner_away(path, *attempt, runner),
        Event::RunnerBack { path, attempt } => machine.runner_back(path, *attempt),
        Event::Answered { path, answer } => machine.answered(path, answer)?,
        Event::Operated { operation, reason } => machine.operated(operation, reason)?,
    }
    machine.advance();
    Ok(Step { effects: tidy(machine.effects), execution: machine.next })
}

/// Whether an execution has nothing to decide without another event: a state between two events always is so.
pub fn is_settled(execution: &Execution) -> bool {
    let mut machine = Machine::new(execution, Timestamp::from_millis(0));
    machine.advance();
    machine.effects.is_empty() && machine.next == *execution
}

/// The steps that a decision has changed.
pub fn changes<'a>(before: &Execution, after: &'a Execution) -> Vec<(&'a Path, &'a StepRun)> {
    after.steps.iter().filter(|(path, run)| before.steps.get(path) != Some(run)).collect()
}

impl Machine {
    fn start(&mut self) {
        if self.next.status == Status::New {
            self.next.status = Status::Running;
            self.set_limit();
        }
    }

    fn over_time(&mut self, round: u32) {
        if round != self.next.round || !matches!(self.next.status, Status::Running | Status::Paused) {
            return;
        }
        let open = |run: &StepRun| !run.state.is_over();
        let path = self.next.steps.iter().find(|(_, run)| open(run)).map(|(path, _)| path.clone());
        let path = path.unwrap_or_else(|| Path::top(self.next.recipe.steps.first().map_or("", |step| &step.id)));
        let error: Error = self.error(&path, ErrorKind::Timeout, "the execution has reached its time limit");
        self.finish(Status::Failed { error });
    }
}

/// Leaves out work that begins and is stopped in the same decision, and its timers.
fn tidy(effects: Vec<Effect>) -> Vec<Effect> {
    let begun_at = |path: &Path, attempt: u32| {
        let begins =
            |effect: &Effect| matches!(effect, Effect::Begin { path: p, attempt: a, .. } if p == path && *a == attempt);
        effects.iter().position(begins)
    };
    let mut void: Vec<(Path, u32)> = Vec::new();
    for (at, effect) in effects.iter().enumerate() {
        if let Effect::Stop { path, attempt } = effect
            && begun_at(path, *attempt).is_some_and(|begun| begun < at)
        {
            void.push((path.clone(), *attempt));
        }
    }
    if void.is_empty() {
        return effects;
    }
    let is_void = |path: &Path, attempt: u32| void.iter().any(|(p, a)| p == path && *a == attempt);
    let kept = |effect: &Effect| match effect {
        Effect::Begin { path, attempt, .. } | Effect::Stop { path, attempt } => !is_void(path, *attempt),
        Effect::SetTimer { path: Some(path), attempt, .. } => !is_void(path, *attempt),
        _ => true,
    };
    effects.into_iter().filter(kept).collect()
}

/// What a step that is over has left for those after it.
pub(super) fn left(state: &StepState) -> Option<&Json> {
    match state {
        StepState::Succeeded { output } | StepState::Skipped { output, .. } => Some(output),
        _ => None,
    }
}
