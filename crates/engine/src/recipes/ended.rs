//! The end of an attempt: its work is done, or a timer of it is due.

use std::sync::Arc;

use domain::text::counted;
use serde_json::{Value as Json, json};

use super::machine::{Machine, has_work};
use super::model::{Action, AtDeadline, Idempotency, Step as Plan};
use super::{ErrorKind, Path, Status, StepState, TimerKind, Verdict, tree};

impl Machine {
    /// The work of an attempt has ended.
    pub(super) fn ended(&mut self, path: &Path, attempt: u32, verdict: &Verdict) {
        let recipe = Arc::clone(&self.next.recipe);
        let Some(plan) = tree::find(&recipe, path).filter(|plan| has_work(plan)) else { return };
        if !self.is_running(path, attempt) {
            return;
        }
        match verdict {
            Verdict::Succeeded { output } => self.succeed(path, plan, output.clone()),
            Verdict::Failed { kind, message } => self.fail(path, plan, *kind, message),
            Verdict::Interrupted { why } if plan.idempotency == Idempotency::AtMostOnce => {
                self.close(path, plan, StepState::Interrupted { why: super::short(why, super::limits::MESSAGE) });
                self.run(path).over_at = None;
            }
            Verdict::Interrupted { why } => self.fail(path, plan, ErrorKind::Lost, why),
        }
    }

    /// A timer of a step is due.
    pub(super) fn due(&mut self, path: &Path, attempt: u32, timer: TimerKind) {
        let recipe = Arc::clone(&self.next.recipe);
        let Some(plan) = tree::find(&recipe, path) else { return };
        match timer {
            TimerKind::Retry => {
                let run = self.run_if(path, attempt);
                if run.is_some_and(|state| matches!(state, StepState::Retrying { .. })) {
                    self.try_again(path, plan);
                }
            }
            _ if !self.is_running(path, attempt) => {}
            TimerKind::Timeout => {
                self.halt(path, plan);
                let why = plan.timeout.map_or("it took too long".to_owned(), |limit| {
                    format!("it took longer than {}", counted(limit.div_ceil(1_000), "second", "seconds"))
                });
                self.fail(path, plan, ErrorKind::Timeout, &why);
            }
            TimerKind::Wait if matches!(&plan.action, Action::Wait(wait) if wait.event.is_none()) => {
                self.succeed(path, plan, Json::Null);
            }
            TimerKind::Wait => {}
            TimerKind::Deadline => self.deadline(path, plan),
            TimerKind::Away => self.runner_lost(path, plan),
        }
    }

    /// The next attempt of a step that waits for it.
    fn try_again(&mut self, path: &Path, plan: &Plan) {
        let has_lanes = !self.run(path).lanes.is_empty();
        match tree::is_block(plan) && has_lanes {
            // The lanes that failed go on; those that succeeded keep their outputs.
            true => self.continue_block(path, plan, true),
            false => self.run(path).state = StepState::Held,
        }
    }

    fn deadline(&mut self, path: &Path, plan: &Plan) {
        let Action::Approve(approve) = &plan.action else { return };
        self.halt(path, plan);
        match approve.then {
            AtDeadline::Fail => self.fail(path, plan, ErrorKind::Timeout, "nobody answered before the deadline"),
            AtDeadline::Reject => {
                self.fail(path, plan, ErrorKind::Rejected, "nobody answered before the deadline: rejected");
            }
            AtDeadline::Approve => {
                let by: Vec<String> = self.run(path).answers.iter().map(|answer| answer.name.clone()).collect();
                let comment = "nobody answered before the deadline: approved";
                let output = json!({ "approved": true, "by": by, "data": null, "comment": comment });
                self.succeed(path, plan, output);
            }
        }
    }

    /// Whether this attempt of a step runs, in an execution that is not over.
    pub(super) fn is_running(&self, path: &Path, attempt: u32) -> bool {
        self.run_if(path, attempt).is_some_and(|state| matches!(state, StepState::Running { .. }))
    }

    fn run_if(&self, path: &Path, attempt: u32) -> Option<&StepState> {
        let alive = matches!(self.next.status, Status::Running | Status::Paused);
        self.next.steps.get(path).filter(|run| alive && run.attempt == attempt).map(|run| &run.state)
    }
}
