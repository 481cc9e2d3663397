//! The words of tasks and workers: parsed from the command line, shown in colours.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use domain::{AnswerAct, AssignStrategy, ReportVerdict, TaskStatus, WorkerStatus};
use engine::tasks::tally::Tally;
use protocol::{TaskLine, Worker};

use crate::table::{Cell, Style};

macro_rules! readers {
    ($($(#[$doc:meta])* $name:ident: $type:ty;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name() -> impl TypedValueParser<Value = $type> {
            let values = <$type>::ALL.iter().map(|value| PossibleValue::new(value.word()).help(value.meaning()));
            PossibleValuesParser::new(values).try_map(|text| text.parse())
        }
    )*};
}

readers! {
    /// Parses a task's status.
    task_status: TaskStatus;
    /// Parses an assignment strategy.
    strategy: AssignStrategy;
    /// Parses what an answer does.
    act: AnswerAct;
}

/// A symbol for a task's status.
pub(crate) fn sign(status: TaskStatus) -> char {
    match status {
        TaskStatus::Blocked => '⊘',
        TaskStatus::Ready => '○',
        TaskStatus::Assigned => '◔',
        TaskStatus::Running => '◑',
        TaskStatus::Reported | TaskStatus::Validating => '◕',
        TaskStatus::Done => '●',
        TaskStatus::Failed => '✗',
        TaskStatus::Escalated => '!',
        TaskStatus::Cancelled => '–',
    }
}

/// The progress of tasks as a sentence.
pub(crate) fn progress(tally: Tally) -> String {
    match tally.percent() {
        Some(percent) => format!("{} of {} done, {percent} %", tally.done, tally.total),
        None => "nothing to do".to_owned(),
    }
}

/// The colour of a task's status.
pub(crate) fn task_style(status: TaskStatus) -> Style {
    match status {
        TaskStatus::Ready => Style::Plain,
        TaskStatus::Assigned | TaskStatus::Running | TaskStatus::Reported | TaskStatus::Validating => Style::Green,
        TaskStatus::Escalated => Style::Yellow,
        TaskStatus::Failed => Style::Red,
        TaskStatus::Blocked | TaskStatus::Done | TaskStatus::Cancelled => Style::Dim,
    }
}

/// Why a task has its status; while a worker works on it, its progress instead.
pub(crate) fn why(task: &TaskLine) -> Option<&str> {
    let (reason, progress) = (task.reason.as_deref(), task.progress.as_deref());
    if task.status.is_held() { progress.or(reason) } else { reason }
}

/// A task's status.
pub(crate) fn task_cell(status: TaskStatus) -> Cell {
    Cell::styled(format!("{} {status}", sign(status)), task_style(status))
}

/// A report's verdict.
pub(crate) fn verdict_style(verdict: ReportVerdict) -> Style {
    match verdict {
        ReportVerdict::Pending => Style::Plain,
        ReportVerdict::Accepted => Style::Green,
        ReportVerdict::Refused | ReportVerdict::Late => Style::Red,
    }
}

/// A worker's status, and why.
pub(crate) fn worker_cell(worker: &Worker) -> Cell {
    let style = match worker.status {
        WorkerStatus::Idle => Style::Plain,
        WorkerStatus::Working => Style::Green,
        WorkerStatus::Paused | WorkerStatus::Spent | WorkerStatus::Stopping => Style::Yellow,
        WorkerStatus::Offline | WorkerStatus::Lost => Style::Red,
        WorkerStatus::Stopped => Style::Dim,
    };
    let why = worker.reason.as_ref().filter(|why| !why.is_empty()).map(|why| format!(": {why}"));
    Cell::styled(format!("{}{}", worker.status, why.unwrap_or_default()), style)
}

/// A worker's name in its colour.
pub(crate) fn worker_name(worker: &Worker) -> Cell {
    Cell::styled(&worker.name, Style::Worker(worker.colour))
}

/// An amount of money.
pub(crate) fn money(micros: u64) -> String {
    let cents = micros % 1_000_000 / 10_000;
    // Tasks cost small amounts.
    if micros < 1_000_000 && !micros.is_multiple_of(10_000) {
        format!("${}.{:04}", micros / 1_000_000, micros % 1_000_000 / 100)
    } else {
        format!("${}.{cents:02}", micros / 1_000_000)
    }
}

/// Parses an amount of money, such as `5.00`.
pub(crate) fn read_money(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not an amount in dollars, such as 5.00");
    let digits = text.trim().trim_start_matches('$');
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    if part.len() > 6 || whole.is_empty() && part.is_empty() || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(wrong());
    }
    let whole: u64 = if whole.is_empty() { 0 } else { whole.parse().map_err(|_| wrong())? };
    let part: u64 = format!("{part:0<6}").parse().map_err(|_| wrong())?;
    // Numbers stay below 2^53 on the wire.
    whole
        .checked_mul(1_000_000)
        .and_then(|micros| micros.checked_add(part))
        .filter(|micros| *micros < 1 << 53)
        .ok_or_else(wrong)
}

/// A number of hundredths as a decimal.
pub(crate) fn hundredths(value: u32) -> String {
    format!("{}.{:02}", value / 100, value % 100)
}

/// A duration in its best unit.
pub(crate) fn stretch(millis: u64) -> String {
    match millis {
        0..1_000 => format!("{millis} ms"),
        1_000..60_000 => format!("{}.{} s", millis / 1_000, millis % 1_000 / 100),
        60_000..3_600_000 => format!("{} min {} s", millis / 60_000, millis / 1_000 % 60),
        _ => format!("{} h {} min", millis / 3_600_000, millis / 60_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_read_and_said() {
        let check = |text: &str, micros: u64| assert_eq!(read_money(text), Ok(micros), "{text}");
        check("5.00", 5_000_000);
        check("$0.5", 500_000);
        check(".000001", 1);
        check("7", 7_000_000);
        for bad in ["", ".", "x", "-1", "1.0000001", "1.2.3", "99999999999999999999", "1,5"] {
            assert!(read_money(bad).is_err(), "{bad}");
        }
        assert_eq!([money(5_000_000), money(12_340_000), money(1_200)], ["$5.00", "$12.34", "$0.0012"]);
    }

    #[test]
    fn stretches_are_said_in_their_best_unit() {
        assert_eq!([stretch(7), stretch(1_250), stretch(61_000)], ["7 ms", "1.2 s", "1 min 1 s"]);
        assert_eq!((stretch(7_260_000), hundredths(305)), ("2 h 1 min".to_owned(), "3.05".to_owned()));
    }
}
