//! Blocks: their lanes, and when enough of them are over.

use serde_json::{Map, Value as Json};

use super::lists::Progress;
use super::machine::Machine;
use super::model::{Action, Join, Step as Plan};
use super::tree::{self, At};
use super::{Error, Path, StepState};

/// How many items a `for_each` runs at once if it does not say.
const AT_ONCE: u32 = 4;

/// The lanes of a block so far.
struct Lanes {
    /// Which of them have succeeded.
    succeeded: Vec<bool>,
    done: usize,
    failed: usize,
    error: Option<Error>,
    /// How many must succeed.
    needed: usize,
}

impl Lanes {
    fn take(&mut self, at: usize, progress: Progress) {
        match progress {
            Progress::Open => {}
            Progress::Done => {
                self.succeeded[at] = true;
                self.done += 1;
            }
            Progress::Failed(error) => {
                self.failed += 1;
                self.error = Some(error);
            }
        }
    }

    /// Whether the lanes that are left change nothing.
    fn decided(&self) -> bool {
        self.done >= self.needed || self.failed > self.succeeded.len() - self.needed
    }
}

impl Machine {
    /// Takes a running block as far as it goes.
    pub(super) fn block(&mut self, path: &Path, plan: &Plan) {
        let keys: Vec<String> = self.run(path).lanes.iter().map(|(key, _)| key.clone()).collect();
        let needed = match &plan.action {
            Action::Parallel { join: Join::Any, .. } => 1,
            Action::Parallel { join: Join::AtLeast(needed), .. } => usize::try_from(*needed).unwrap_or(usize::MAX),
            _ => keys.len(),
        };
        let needed = needed.min(keys.len());
        let mut lanes = Lanes { succeeded: vec![false; keys.len()], done: 0, failed: 0, error: None, needed };
        let mut free = match &plan.action {
            Action::ForEach(each) => each.max_parallel.unwrap_or(AT_ONCE).max(1),
            _ => u32::MAX,
        };
        // Lanes that have begun go first: they hold their places.
        let (begun, fresh): (Vec<usize>, Vec<usize>) =
            (0..keys.len()).partition(|at| self.has_begun(path, plan, &keys[*at]));
        for at in begun.into_iter().chain(fresh) {
            if lanes.decided() || free == 0 {
                break;
            }
            let progress = self.list(At(Some((path, &keys[at]))), tree::lane(plan, &keys[at]).unwrap_or_default());
            if matches!(progress, Progress::Open) {
                free -= 1;
            }
            lanes.take(at, progress);
            if self.ended.is_some() {
                return;
            }
        }
        if lanes.decided() {
            self.join(path, plan, &keys, lanes);
        }
    }

    fn has_begun(&self, block: &Path, plan: &Plan, key: &str) -> bool {
        let begun = |step: &Plan| {
            let run = self.next.steps.get(&block.inside(key, &step.id));
            run.is_some_and(|run| run.attempt > 0 || !matches!(run.state, StepState::Skipped { .. }))
        };
        tree::lane(plan, key).unwrap_or_default().iter().any(begun)
    }

    fn join(&mut self, path: &Path, plan: &Plan, keys: &[String], lanes: Lanes) {
        self.cancel_inside(path, plan);
        if lanes.done >= lanes.needed {
            let output = self.block_output(path, plan, keys, &lanes.succeeded);
            return self.succeed(path, plan, output);
        }
        let Some(mut error) = lanes.error else { return };
        if lanes.needed < keys.len() {
            let why = format!("{} of {} failed, and {} must succeed", lanes.failed, keys.len(), lanes.needed);
            error.message = super::short(&format!("{why}: {}", error.message), super::limits::MESSAGE);
        }
        self.fail_with(path, plan, error);
    }

    /// The lane's output, an object of them by name, or a list of them; null for a lane that was stopped or has failed.
    fn block_output(&self, path: &Path, plan: &Plan, keys: &[String], succeeded: &[bool]) -> Json {
        let output = |(key, succeeded): (&String, &bool)| match succeeded {
            true => self.output_of(At(Some((path, key))), tree::lane(plan, key).unwrap_or_default()),
            false => Json::Null,
        };
        let mut outputs = keys.iter().zip(succeeded).map(output);
        match &plan.action {
            Action::Branch { .. } => outputs.next().unwrap_or_default(),
            Action::Parallel { .. } => Json::Object(keys.iter().cloned().zip(outputs).collect::<Map<_, _>>()),
            _ => Json::Array(outputs.collect()),
        }
    }
}
