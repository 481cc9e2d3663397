//! Lists of steps: one after the other, until one of them is open or has failed.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::machine::{End, Machine};
use super::model::Step as Plan;
use super::scope::Scope;
use super::tree::At;
use super::{Error, Path, Status, StepState, tree};

/// How far a list of steps is.
pub(super) enum Progress {
    /// A step of it is not over.
    Open,
    /// All are over.
    Done,
    /// A step has failed.
    Failed(Error),
}

impl Machine {
    /// Begins everything whose turn it is, and ends what is over.
    pub(super) fn advance(&mut self) {
        if self.next.status != Status::Running {
            return;
        }
        let recipe = Arc::clone(&self.next.recipe);
        let progress = self.list(At(None), &recipe.steps);
        match (self.ended.take(), progress) {
            (Some(End::Failure(error)), _) | (None, Progress::Failed(error)) => self.finish(Status::Failed { error }),
            (Some(End::Success), _) | (None, Progress::Done) => {
                let outputs = self.outputs();
                self.finish(Status::Completed { outputs });
            }
            (None, Progress::Open) => {}
        }
    }

    /// Takes a list as far as it goes.
    pub(super) fn list(&mut self, at: At<'_>, steps: &[Plan]) -> Progress {
        for plan in steps {
            let path = at.path(&plan.id);
            self.one(&path, plan);
            match self.state(&path) {
                Some(StepState::Failed { error }) if !plan.continue_on_error => return Progress::Failed(error.clone()),
                Some(StepState::Succeeded { .. } | StepState::Skipped { .. } | StepState::Failed { .. }) => {}
                _ => return Progress::Open,
            }
            if self.ended.is_some() {
                return Progress::Open;
            }
        }
        Progress::Done
    }

    /// The output of a list: that of its last step which left one.
    pub(super) fn output_of(&self, at: At<'_>, steps: &[Plan]) -> Json {
        let output = |plan: &Plan| match self.state(&at.path(&plan.id))? {
            StepState::Succeeded { output } => Some(output.clone()),
            StepState::Skipped { output, .. } if !output.is_null() => Some(output.clone()),
            _ => None,
        };
        steps.iter().rev().find_map(output).unwrap_or_default()
    }

    fn one(&mut self, path: &Path, plan: &Plan) {
        if matches!(self.state(path), None | Some(StepState::Held)) {
            self.begin(path, plan);
        }
        if tree::is_block(plan) && matches!(self.state(path), Some(StepState::Running { .. })) {
            self.block(path, plan);
        }
    }

    /// The recipe's outputs; null where an expression reads what is not there, such as the output of a skipped step.
    fn outputs(&self) -> Map<String, Json> {
        let recipe = &self.next.recipe;
        // The outputs read what a step after the last one could.
        let end = Path::top("");
        let one = |(name, expr)| {
            let value = Scope::new(&self.next, &end).expression(expr).unwrap_or_default();
            (String::clone(name), value)
        };
        recipe.outputs.iter().map(one).collect()
    }
}
