//! What people do to an execution: pause, resume, cancel, retry, skip.

use std::sync::Arc;

use serde_json::Value as Json;

use super::machine::Machine;
use super::model::{Action, Step as Plan};
use super::step::Refused;
use super::{Operation, Path, Status, StepState, limits, schema, tree};

impl Machine {
    pub(super) fn operated(&mut self, operation: &Operation, reason: &str) -> Result<(), Refused> {
        match operation {
            Operation::Pause { now } => self.pause(*now),
            Operation::Resume => self.resume(),
            Operation::Cancel => self.cancel(),
            Operation::Retry { path } => self.retry(path),
            Operation::Skip { path, output } => self.skip(path, output, reason),
            Operation::Correct { path, output } => self.correct(path, output),
            Operation::ChangeInputs { inputs } => self.change_inputs(inputs),
            Operation::Swap { version, recipe } => self.swap(version, recipe),
            Operation::Reuse { outputs } => self.reuse(outputs),
        }
    }

    /// Refuses to operate on an execution that has not started, or is over for good.
    pub(super) fn is_open(&self) -> Result<(), Refused> {
        match &self.next.status {
            Status::Running | Status::Paused | Status::Failed { .. } => Ok(()),
            Status::New => refuse("the execution has not started"),
            Status::Completed { .. } => refuse("the execution is completed"),
            Status::Cancelled => refuse("the execution is cancelled"),
        }
    }

    fn pause(&mut self, now: bool) -> Result<(), Refused> {
        self.is_open()?;
        if self.next.status.is_over() {
            return refuse("the execution has failed: nothing runs");
        }
        self.next.status = Status::Paused;
        if now {
            let recipe = Arc::clone(&self.next.recipe);
            let paths: Vec<Path> = self.next.steps.keys().cloned().collect();
            for path in paths {
                if let Some(plan) = tree::find(&recipe, &path).filter(|plan| is_interruptible(plan)) {
                    self.hold(&path, plan);
                }
            }
        }
        Ok(())
    }

    /// Stops running work that begins again on resume. The attempt does not count: it has not failed.
    fn hold(&mut self, path: &Path, plan: &Plan) {
        if !matches!(self.state(path), Some(StepState::Running { .. })) {
            return;
        }
        self.halt(path, plan);
        self.close(path, plan, StepState::Held);
        let run = self.run(path);
        run.over_at = None;
        run.counted = run.counted.saturating_sub(1);
    }

    fn resume(&mut self) -> Result<(), Refused> {
        match self.next.status {
            Status::Paused => self.next.status = Status::Running,
            Status::Running => {}
            _ => return refuse("the execution is not paused"),
        }
        Ok(())
    }

    fn cancel(&mut self) -> Result<(), Refused> {
        match &self.next.status {
            Status::Cancelled => {}
            Status::Completed { .. } => return refuse("the execution is completed"),
            Status::Failed { .. } => self.next.status = Status::Cancelled,
            _ => self.finish(Status::Cancelled),
        }
        Ok(())
    }

    fn retry(&mut self, path: &Path) -> Result<(), Refused> {
        self.is_open()?;
        let recipe = Arc::clone(&self.next.recipe);
        let plan = tree::find(&recipe, path).ok_or_else(|| unknown(path))?;
        let failed = self.next.status.is_over();
        match self.state(path) {
            Some(StepState::Failed { .. } | StepState::Interrupted { .. } | StepState::Retrying { .. }) => {}
            Some(StepState::Cancelled) if failed => {}
            Some(state) => return refuse(format!("`{path}` is {}: only a failed step is retried", state.word())),
            None => return refuse(format!("`{path}` has not begun")),
        }
        self.is_last(path)?;
        self.begin_again(path, plan);
        self.reopen_around(path);
        Ok(())
    }

    fn skip(&mut self, path: &Path, output: &Json, reason: &str) -> Result<(), Refused> {
        self.is_open()?;
        let recipe = Arc::clone(&self.next.recipe);
        let plan = tree::find(&recipe, path).ok_or_else(|| unknown(path))?;
        self.fits(plan, output)?;
        let state = self.next.steps.get(path).map(|run| run.state.clone());
        match &state {
            Some(StepState::Succeeded { .. } | StepState::Skipped { .. }) => {
                return refuse(format!("`{path}` is over: correct its output"));
            }
            None => self.has_lane(path)?,
            Some(_) => {}
        }
        self.is_last(path)?;
        if state.as_ref().is_some_and(|state| !state.is_over()) {
            self.halt(path, plan);
        }
        let why = super::short(reason, limits::MESSAGE);
        self.close(path, plan, StepState::Skipped { output: output.clone(), why });
        self.reopen_around(path);
        Ok(())
    }

    /// Refuses an output that the step could not have left itself.
    pub(super) fn fits(&self, plan: &Plan, output: &Json) -> Result<(), Refused> {
        if limits::larger(output, limits::OUTPUT) {
            return refuse(format!("the output is larger than {} KiB: put it into an artifact", limits::OUTPUT / 1024));
        }
        match plan.output.as_ref().filter(|_| !output.is_null()) {
            Some(schema) => schema::check(schema, output)
                .map_err(|why| Refused(format!("the output does not meet the schema: {why}"))),
            None => Ok(()),
        }
    }

    /// Refuses a step whose lane does not exist yet.
    fn has_lane(&self, path: &Path) -> Result<(), Refused> {
        match path.block() {
            None => Ok(()),
            Some((block, key)) => match self.next.steps.get(&block) {
                Some(run) if run.lanes.iter().any(|lane| lane.0 == key) => Ok(()),
                _ => refuse(format!("`{block}` has no lane `{key}` yet")),
            },
        }
    }

    /// Refuses a step if one after it, or after a block around it, has begun: that one has used how it ended.
    pub(super) fn is_last(&self, path: &Path) -> Result<(), Refused> {
        let mut at = path.clone();
        loop {
            let steps = tree::list(&self.next.recipe, &at).unwrap_or_default();
            let own = steps.iter().position(|step| step.id == at.step()).unwrap_or(steps.len());
            for later in steps.iter().skip(own + 1).map(|step| at.beside(&step.id)) {
                if self.next.steps.get(&later).is_some_and(|run| run.attempt > 0) {
                    return refuse(format!("`{later}` has begun since then: rewind to `{path}` instead"));
                }
            }
            match at.block() {
                Some((block, _)) if self.succeeded(&block) => {
                    return refuse(format!("`{block}` is over: rewind to `{path}` instead"));
                }
                Some((block, _)) => at = block,
                None => return Ok(()),
            }
        }
    }

    fn succeeded(&self, path: &Path) -> bool {
        matches!(self.state(path), Some(StepState::Succeeded { .. } | StepState::Skipped { .. }))
    }
}

/// Whether a pause that cannot wait stops the step's work: what an agent or a command does can begin again, while waits,
/// questions, tasks and other executions go on by themselves.
pub(super) fn is_interruptible(plan: &Plan) -> bool {
    matches!(plan.action, Action::Agent(_) | Action::Run(_))
}

pub(super) fn refuse<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused(why.into()))
}

pub(super) fn unknown(path: &Path) -> Refused {
    Refused(format!("there is no step `{path}`"))
}
