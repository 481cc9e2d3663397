//! An execution while it is decided: the next state, and the effects so far.

use std::sync::Arc;

use domain::Timestamp;
use serde_json::Value as Json;

use super::model::{Action, Step as Plan};
use super::{Effect, Error, ErrorKind, Execution, Path, Status, StepRun, StepState, TimerKind};
use super::{limits, retry, schema, short, tree};

/// A decision that is being made.
pub(super) struct Machine {
    /// The next state.
    pub next: Execution,
    /// The effects so far.
    pub effects: Vec<Effect>,
    /// The time of the event.
    pub now: Timestamp,
    /// An `end` step was reached.
    pub ended: Option<End>,
    /// Attempts of all steps.
    pub begun: u32,
}

/// How an `end` step ends an execution.
pub(super) enum End {
    /// It has succeeded.
    Success,
    /// It has failed; its `end` step has this error.
    Failure(Error),
}

impl Machine {
    pub(super) fn new(execution: &Execution, now: Timestamp) -> Self {
        let begun = execution.steps.values().fold(0u32, |sum, run| sum.saturating_add(run.attempt));
        Self { next: execution.clone(), effects: Vec::new(), now, ended: None, begun }
    }

    /// The state of a step; a step that was never looked at is held.
    pub(super) fn run(&mut self, path: &Path) -> &mut StepRun {
        if !self.next.steps.contains_key(path) {
            self.next.steps.insert(path.clone(), StepRun::default());
        }
        self.next.steps.get_mut(path).expect("it was just inserted")
    }

    /// The state of a step, if it was ever looked at.
    pub(super) fn state(&self, path: &Path) -> Option<&StepState> {
        self.next.steps.get(path).map(|run| &run.state)
    }

    /// An error of a step.
    pub(super) fn error(&self, path: &Path, kind: ErrorKind, message: impl AsRef<str>) -> Error {
        Error { path: path.clone(), kind, message: short(message.as_ref(), limits::MESSAGE) }
    }

    /// Moves a step into a final state; its timers go.
    pub(super) fn close(&mut self, path: &Path, plan: &Plan, state: StepState) {
        let now = self.now;
        if self.has_timers(path, plan) {
            self.effects.push(Effect::DropTimers { path: Some(path.clone()) });
        }
        let run = self.run(path);
        run.state = state;
        run.away = None;
        run.over_at = Some(now);
    }

    /// Whether timers of the current attempt may be set.
    pub(super) fn has_timers(&self, path: &Path, plan: &Plan) -> bool {
        match self.state(path) {
            Some(StepState::Retrying { .. }) => true,
            Some(StepState::Running { .. }) => {
                let own = match &plan.action {
                    Action::Wait(wait) => wait.event.is_none(),
                    Action::Approve(approve) => approve.deadline.is_some(),
                    _ => false,
                };
                let away = self.next.steps.get(path).is_some_and(|run| run.away.is_some());
                own || away || plan.timeout.is_some()
            }
            _ => false,
        }
    }

    /// Sets a timer of the current attempt of a step.
    pub(super) fn set_timer(&mut self, path: &Path, timer: TimerKind, at: Timestamp) {
        let attempt = self.run(path).attempt;
        self.effects.push(Effect::SetTimer { path: Some(path.clone()), attempt, timer, at });
    }

    /// Sets the timer of the execution itself.
    pub(super) fn set_limit(&mut self) {
        let limit = self.next.recipe.timeout.unwrap_or(limits::RUNNING).min(limits::RUNNING);
        let (attempt, at) = (self.next.round, self.later(limit));
        self.effects.push(Effect::SetTimer { path: None, attempt, timer: TimerKind::Timeout, at });
    }

    /// A time after now.
    pub(super) fn later(&self, millis: u64) -> Timestamp {
        self.now.plus_millis(i64::try_from(millis).unwrap_or(i64::MAX))
    }

    /// An attempt has succeeded: checks the output.
    pub(super) fn succeed(&mut self, path: &Path, plan: &Plan, output: Json) {
        let limit = if tree::is_block(plan) { limits::BLOCK } else { limits::OUTPUT };
        if limits::larger(&output, limit) {
            let why = format!("its output is larger than {} KiB: put it into an artifact", limit / 1024);
            return self.fail(path, plan, ErrorKind::Limit, &why);
        }
        match plan.output.as_ref().map_or(Ok(()), |schema| schema::check(schema, &output)) {
            Ok(()) => self.close(path, plan, StepState::Succeeded { output }),
            Err(why) => {
                self.fail(path, plan, ErrorKind::Output, &format!("its output does not meet the schema: {why}"))
            }
        }
    }

    /// An attempt has failed: it is retried as its policy says, or the step has failed.
    pub(super) fn fail(&mut self, path: &Path, plan: &Plan, kind: ErrorKind, message: &str) {
        let error = self.error(path, kind, message);
        self.fail_with(path, plan, error);
    }

    /// [`Machine::fail`] with the error of a step in the block.
    pub(super) fn fail_with(&mut self, path: &Path, plan: &Plan, error: Error) {
        let run = self.run(path);
        let (counted, attempt) = (run.counted, run.attempt);
        if attempt == 0 || !retry::again(&plan.retry, counted, error.kind) {
            return self.close(path, plan, StepState::Failed { error });
        }
        let wait = retry::delay(&plan.retry, counted, &self.next.context.id, path, attempt);
        let at = self.later(wait);
        if self.has_timers(path, plan) {
            self.effects.push(Effect::DropTimers { path: Some(path.clone()) });
        }
        let run = self.run(path);
        run.away = None;
        run.state = StepState::Retrying { at, error };
        self.set_timer(path, TimerKind::Retry, at);
    }

    /// Stops the work of a running attempt, which may be all of a block's.
    pub(super) fn halt(&mut self, path: &Path, plan: &Plan) {
        if tree::is_block(plan) {
            return self.cancel_inside(path, plan);
        }
        let attempt = self.run(path).attempt;
        if has_work(plan) && matches!(self.state(path), Some(StepState::Running { .. })) {
            self.effects.push(Effect::Stop { path: path.clone(), attempt });
        }
    }

    /// Stops every step in a block that is not over.
    pub(super) fn cancel_inside(&mut self, path: &Path, plan: &Plan) {
        let lanes = self.next.steps.get(path).map(|run| run.lanes.clone()).unwrap_or_default();
        for (key, _) in lanes {
            self.cancel_lane(path, plan, &key);
        }
    }

    /// Stops every step of a lane that is not over.
    pub(super) fn cancel_lane(&mut self, block: &Path, plan: &Plan, key: &str) {
        self.cancel_list(tree::At(Some((block, key))), tree::lane(plan, key).unwrap_or_default());
    }

    /// Stops every step of a list that is not over.
    pub(super) fn cancel_list(&mut self, at: tree::At<'_>, steps: &[Plan]) {
        for plan in steps {
            let path = at.path(&plan.id);
            if self.state(&path).is_some_and(|state| !state.is_over()) {
                self.halt(&path, plan);
                self.close(&path, plan, StepState::Cancelled);
            }
        }
    }

    /// Ends the execution: whatever is left stops.
    pub(super) fn finish(&mut self, status: Status) {
        let recipe = Arc::clone(&self.next.recipe);
        self.cancel_list(tree::At(None), &recipe.steps);
        self.effects.push(Effect::DropTimers { path: None });
        self.effects.push(Effect::Over);
        self.next.status = status;
    }
}

/// Whether something outside of the machine works on a running attempt.
pub(super) fn has_work(plan: &Plan) -> bool {
    match &plan.action {
        Action::Wait(wait) => wait.event.is_some(),
        Action::End { .. } => false,
        _ => !tree::is_block(plan),
    }
}
