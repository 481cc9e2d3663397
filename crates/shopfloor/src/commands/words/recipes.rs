//! The words of executions and schedules: parsed from the command line, shown with signs and colours.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use domain::{ExecutionStatus, Overlap, StepStatus, TickOutcome};

use crate::table::{Cell, Style};

/// Parses what happens when a schedule is due while an execution of it is not over.
pub(crate) fn overlap() -> impl TypedValueParser<Value = Overlap> {
    let values = Overlap::ALL.iter().map(|value| PossibleValue::new(value.word()).help(value.meaning()));
    PossibleValuesParser::new(values).try_map(|text| text.parse())
}

/// An execution's status.
pub(crate) fn execution_cell(status: ExecutionStatus, needs_person: bool) -> Cell {
    let asks = if needs_person { ", needs you" } else { "" };
    let style = if needs_person { Style::Yellow } else { execution_style(status) };
    Cell::styled(format!("{} {status}{asks}", execution_sign(status)), style)
}

/// A symbol for an execution's status.
pub(crate) fn execution_sign(status: ExecutionStatus) -> char {
    match status {
        ExecutionStatus::Running => '◑',
        ExecutionStatus::Waiting => '◔',
        ExecutionStatus::Paused => '‖',
        ExecutionStatus::Completed => '●',
        ExecutionStatus::Failed => '✗',
        ExecutionStatus::Cancelled => '–',
    }
}

/// The colour of an execution's status.
pub(crate) fn execution_style(status: ExecutionStatus) -> Style {
    match status {
        ExecutionStatus::Running | ExecutionStatus::Waiting => Style::Plain,
        ExecutionStatus::Paused => Style::Yellow,
        ExecutionStatus::Completed => Style::Green,
        ExecutionStatus::Failed => Style::Red,
        ExecutionStatus::Cancelled => Style::Dim,
    }
}

/// A symbol for a step's status.
pub(crate) fn step_sign(status: StepStatus) -> char {
    match status {
        StepStatus::Pending => '○',
        StepStatus::Running => '◑',
        StepStatus::Waiting | StepStatus::Retrying => '◔',
        StepStatus::Held => '‖',
        StepStatus::Interrupted => '!',
        StepStatus::Succeeded => '●',
        StepStatus::Failed => '✗',
        StepStatus::Skipped => '»',
        StepStatus::Cancelled => '–',
    }
}

/// The colour of a step's status.
pub(crate) fn step_style(status: StepStatus) -> Style {
    match status {
        StepStatus::Running | StepStatus::Waiting => Style::Plain,
        StepStatus::Retrying | StepStatus::Held | StepStatus::Interrupted => Style::Yellow,
        StepStatus::Succeeded => Style::Green,
        StepStatus::Failed => Style::Red,
        StepStatus::Pending | StepStatus::Skipped | StepStatus::Cancelled => Style::Dim,
    }
}

/// The outcome of a schedule's tick.
pub(crate) fn outcome_cell(outcome: TickOutcome) -> Cell {
    let style = match outcome {
        TickOutcome::Started => Style::Green,
        TickOutcome::Queued => Style::Plain,
        TickOutcome::Skipped | TickOutcome::Missed => Style::Yellow,
        TickOutcome::Failed => Style::Red,
    };
    Cell::styled(outcome.word(), style)
}
