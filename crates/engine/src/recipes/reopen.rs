//! The way back: a step begins again, and so the blocks around it and the execution go on.

use std::sync::Arc;

use super::machine::Machine;
use super::model::Step as Plan;
use super::tree::{self, At};
use super::{Effect, Path, Status, StepState};

impl Machine {
    /// A step begins again when its turn comes, as if it had not failed before.
    pub(super) fn begin_again(&mut self, path: &Path, plan: &Plan) {
        self.run(path).counted = 0;
        let has_lanes = !self.run(path).lanes.is_empty();
        match tree::is_block(plan) && has_lanes {
            true => self.continue_block(path, plan, true),
            false => self.hold_open(path, plan),
        }
    }

    fn hold_open(&mut self, path: &Path, plan: &Plan) {
        self.close(path, plan, StepState::Held);
        self.run(path).over_at = None;
    }

    /// The blocks around a step, and the execution, go on. What was stopped because the step failed begins again.
    pub(super) fn reopen_around(&mut self, path: &Path) {
        let recipe = Arc::clone(&self.next.recipe);
        let failed = matches!(self.next.status, Status::Failed { .. });
        for block in tree::blocks(path) {
            let Some(plan) = tree::find(&recipe, &block) else { continue };
            if !matches!(self.state(&block), Some(StepState::Running { .. })) {
                self.run(&block).counted = 0;
                self.continue_block(&block, plan, false);
            }
        }
        if failed {
            self.next.status = Status::Running;
            self.next.round += 1;
            self.set_limit();
            self.reopen_list(At(None), &recipe.steps, false);
        }
    }

    /// A block goes on as a new attempt with the lanes that it has; what was stopped in it begins again, and on request
    /// what failed.
    pub(super) fn continue_block(&mut self, path: &Path, plan: &Plan, failed: bool) {
        if self.has_timers(path, plan) {
            self.effects.push(Effect::DropTimers { path: Some(path.clone()) });
        }
        self.new_attempt(path, plan);
        let lanes = self.run(path).lanes.clone();
        for (key, _) in lanes {
            self.reopen_list(At(Some((path, &key))), tree::lane(plan, &key).unwrap_or_default(), failed);
        }
    }

    fn reopen_list(&mut self, at: At<'_>, steps: &[Plan], failed: bool) {
        for plan in steps {
            let path = at.path(&plan.id);
            match self.state(&path) {
                Some(StepState::Cancelled) => {}
                Some(StepState::Failed { .. }) if failed && !plan.continue_on_error => self.run(&path).counted = 0,
                _ => continue,
            }
            let has_lanes = !self.run(&path).lanes.is_empty();
            match tree::is_block(plan) && has_lanes {
                true => self.continue_block(&path, plan, failed),
                false => self.hold_open(&path, plan),
            }
        }
    }
}
