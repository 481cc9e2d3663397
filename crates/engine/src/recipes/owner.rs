//! Who makes an execution go on: there is always somebody.

use super::machine::has_work;
use super::model::Action;
use super::{Execution, Path, Status, StepRun, StepState, step, tree};

/// Something or somebody that makes an execution go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// A hub, which starts it.
    Hub,
    /// A person, who resumes it.
    Paused,
    /// The work of a step.
    Work(Path),
    /// A timer: the end of a wait, or the next attempt.
    Timer(Path),
    /// An event of the project.
    Event(Path, String),
    /// People: an approval, or a step that a crash has interrupted.
    People(Path),
}

/// Everything that makes an execution go on; empty if it is over.
pub fn owners(execution: &Execution) -> Vec<Owner> {
    match execution.status {
        Status::New => vec![Owner::Hub],
        Status::Paused => vec![Owner::Paused],
        Status::Running => execution.steps.iter().filter_map(|(path, run)| owner(execution, path, run)).collect(),
        Status::Completed { .. } | Status::Failed { .. } | Status::Cancelled => Vec::new(),
    }
}

fn owner(execution: &Execution, path: &Path, run: &StepRun) -> Option<Owner> {
    let plan = tree::find(&execution.recipe, path)?;
    match (&run.state, &plan.action) {
        (StepState::Retrying { .. }, _) => Some(Owner::Timer(path.clone())),
        (StepState::Interrupted { .. }, _) => Some(Owner::People(path.clone())),
        (StepState::Running { .. }, Action::Approve(_)) => Some(Owner::People(path.clone())),
        (StepState::Running { .. }, Action::Wait(wait)) => Some(match &wait.event {
            Some(event) => Owner::Event(path.clone(), event.kind.clone()),
            None => Owner::Timer(path.clone()),
        }),
        (StepState::Running { .. }, _) if has_work(plan) => Some(Owner::Work(path.clone())),
        _ => None,
    }
}

/// Why nothing makes an execution go on that is not over, if so. It never happens; the auditor looks.
pub fn stuck(execution: &Execution) -> Option<String> {
    if execution.status.is_over() {
        let open = execution.steps.iter().find(|(_, run)| !run.state.is_over());
        return open.map(|(path, run)| format!("it is over, and `{path}` is {}", run.state.word()));
    }
    if let Some((path, _)) = execution.steps.iter().find(|(path, _)| tree::find(&execution.recipe, path).is_none()) {
        return Some(format!("`{path}` is not in the recipe"));
    }
    if owners(execution).is_empty() {
        return Some("nothing runs, and it waits for nothing".to_owned());
    }
    (!step::is_settled(execution)).then(|| "a decision was not made".to_owned())
}
