//! What happened in an execution, in a line.

use engine::recipes::{Event, Operation, TimerKind, Verdict};

/// An event in a line.
pub(super) fn what(event: &Event) -> String {
    match event {
        Event::Started => "started".to_owned(),
        Event::Ended { path, attempt, verdict } => {
            let again = if *attempt > 1 { format!(" (attempt {attempt})") } else { String::new() };
            match verdict {
                Verdict::Succeeded { .. } => format!("step `{path}` succeeded{again}"),
                Verdict::Failed { message, .. } => format!("step `{path}` failed{again}: {message}"),
                Verdict::Interrupted { why } => format!("step `{path}` was interrupted{again}: {why}"),
            }
        }
        Event::Due { path: None, .. } => "the time limit was reached".to_owned(),
        Event::Due { path: Some(path), timer, .. } => match timer {
            TimerKind::Timeout => format!("step `{path}` reached its time limit"),
            TimerKind::Retry => format!("step `{path}` is due for its next attempt"),
            TimerKind::Wait => format!("the wait of step `{path}` is over"),
            TimerKind::Away => format!("the runner of step `{path}` did not come back in time"),
            TimerKind::Deadline => format!("the deadline of step `{path}` has passed"),
        },
        Event::RunnerAway { path, runner, .. } => format!("the runner `{runner}` of step `{path}` is away"),
        Event::RunnerBack { path, .. } => format!("the runner of step `{path}` is back"),
        Event::Answered { path, answer } => {
            let what = if answer.approve { "approved" } else { "rejected" };
            let words = if answer.comment.is_empty() { String::new() } else { format!(": {}", answer.comment) };
            format!("{} {what} step `{path}`{words}", answer.name)
        }
        Event::Operated { operation, reason } => match reason.as_str() {
            "" => operated(operation),
            why => format!("{}: {why}", operated(operation)),
        },
    }
}

fn operated(operation: &Operation) -> String {
    match operation {
        Operation::Pause { now: true } => "paused; running steps were stopped".to_owned(),
        Operation::Pause { now: false } => "paused".to_owned(),
        Operation::Resume => "resumed".to_owned(),
        Operation::Cancel => "cancelled".to_owned(),
        Operation::Retry { path } => format!("step `{path}` was retried"),
        Operation::Skip { path, .. } => format!("step `{path}` was skipped"),
        Operation::Correct { path, .. } => format!("the output of step `{path}` was corrected"),
        Operation::ChangeInputs { inputs } => {
            let names: Vec<&str> = inputs.keys().map(String::as_str).collect();
            format!("inputs changed: {}", names.join(", "))
        }
        Operation::Swap { .. } => "the recipe was swapped for another version".to_owned(),
        Operation::Reuse { outputs } => format!("took over {} outputs of an earlier execution", outputs.len()),
    }
}
