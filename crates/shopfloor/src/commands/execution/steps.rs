//! The steps of an execution: which one a person means, and how long it took.

use domain::{StepKind, Timestamp};
use protocol::{ExecutionAttempt, ExecutionDetail, ExecutionStep};

use crate::Failure;

/// Steps that a command is about when none is named.
pub(super) struct Wanted {
    /// Whether a step is one of them.
    pub(super) is: fn(&ExecutionStep) -> bool,
    /// The error if there is none.
    pub(super) none: &'static str,
    /// The error if there are several.
    pub(super) several: &'static str,
}

/// The path of the only step that is meant.
pub(super) fn only(detail: &ExecutionDetail, wanted: &Wanted) -> Result<String, Failure> {
    let found = detail.steps.iter().filter(|step| !is_block(step.kind) && (wanted.is)(step));
    let found: Vec<&str> = found.map(|step| step.path.as_str()).collect();
    let execution = &detail.execution;
    match found.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => {
            let detail = format!("{}: execution {} is {}", wanted.none, execution.id, execution.status);
            Err(Failure::conflict(detail).advise(format!("see `shopfloor execution show {}`", execution.id)))
        }
        several => Err(Failure::usage(format!("{}: {}", wanted.several, several.join(", ")))
            .advise("name one of them after the execution")),
    }
}

/// Whether a step contains other steps.
pub(super) fn is_block(kind: StepKind) -> bool {
    matches!(kind, StepKind::Parallel | StepKind::ForEach | StepKind::Branch)
}

/// The newest attempt of a step.
pub(super) fn newest<'a>(detail: &'a ExecutionDetail, path: &str) -> Option<&'a ExecutionAttempt> {
    detail.attempts.iter().rfind(|attempt| attempt.path == path)
}

/// How long an attempt ran, or has waited to begin, in milliseconds.
pub(super) fn took(attempt: &ExecutionAttempt, now: Timestamp) -> u64 {
    let from = attempt.began_at.unwrap_or(attempt.created_at);
    let to = attempt.ended_at.unwrap_or(now);
    u64::try_from(to.as_millis().saturating_sub(from.as_millis())).unwrap_or(0)
}
