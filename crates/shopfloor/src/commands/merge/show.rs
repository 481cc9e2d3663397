//! Queues, candidates and runs as text.

use domain::{CandidateId, CandidateState, MergeGate, MergePurpose, MergeRunState};
use protocol::{Candidate, CandidateDetail, MergeForecast, MergeQueue, MergeRun, MergeSettings};

use crate::commands::words;
use crate::output::clean;
use crate::table::{Cell, Style, Table, fields};
use crate::{Failure, Output, when};

/// Queues, one below the other.
pub(super) fn queues(queues: &[MergeQueue], out: &Output) -> String {
    if queues.is_empty() {
        return Style::Dim.paint("no merge queue yet: add a branch (`shopfloor merge add`)", out.color);
    }
    queues.iter().map(|queue| one_queue(queue, out)).collect::<Vec<_>>().join("\n\n")
}

fn one_queue(queue: &MergeQueue, out: &Output) -> String {
    let style = if queue.gate == MergeGate::Open { Style::Green } else { Style::Red };
    let reason = queue.reason.as_deref().map(|reason| format!(": {}", clean(reason))).unwrap_or_default();
    let mut lines = vec![format!(
        "{} is {}{reason}",
        clean(&queue.target),
        style.paint(&queue.gate.word().replace('_', " "), out.color)
    )];
    if queue.no_checks {
        lines
            .push("no checks are configured: a person must confirm each branch (`shopfloor merge confirm`)".to_owned());
    }
    for run in &queue.runs {
        lines.push(describe(run, &queue.candidates, out));
    }
    lines.extend(search(queue).map(|known| clean(&known)));
    let mut table = Table::new(&["ID", "BRANCH…", "STATE", "EXPECTED", "RUNS", "BY", "REASON…"], "no branch waits");
    for candidate in &queue.candidates {
        table.row([
            candidate.id.into(),
            (&candidate.branch).into(),
            state(candidate),
            when::ahead_or(candidate.expected_at, out.now, "-").into(),
            candidate.runs.into(),
            (&candidate.added_by.name).into(),
            note(candidate).into(),
        ]);
    }
    lines.push(table.render(out));
    let expected = queue.expected_at.map(|at| format!(", empty {}", when::ahead(at, out.now))).unwrap_or_default();
    let flaky = clean(&flaky(queue));
    let runs = words::counted(queue.flaky, "flaky run", "flaky runs");
    lines.push(format!("{} % of branches fail, {runs}{flaky}{expected}", queue.failure_percent));
    lines.join("\n")
}

/// Where the search for a branch that fails stands.
fn search(queue: &MergeQueue) -> Option<String> {
    let named = |ids: &[CandidateId]| {
        let there = queue.candidates.iter().filter(|candidate| ids.contains(&candidate.id));
        there.map(|candidate| format!("`{}`", candidate.branch)).collect::<Vec<_>>().join(", ")
    };
    match (queue.suspects.as_slice(), queue.failed_together.as_slice()) {
        ([], []) => None,
        ([], [one]) => Some(format!("{} failed; `{}` is tested without it next", named(&[*one]), queue.target)),
        ([], together) => Some(format!("at least one of {} fails: the next runs find out which", named(together))),
        (suspects, _) => Some(format!("{} failed and is tested once more alone", named(suspects))),
    }
}

/// The checks that failed without a cause.
fn flaky(queue: &MergeQueue) -> String {
    let checks = queue.flaky_checks.iter().map(|check| format!("`{}` {}", check.argv.join(" "), check.runs));
    let checks = checks.collect::<Vec<_>>().join(", ");
    if checks.is_empty() { checks } else { format!(" ({checks})") }
}

/// Why it waits or left, and whether it changes its own checks.
fn note(candidate: &Candidate) -> String {
    let edits = match candidate.edits_checks.as_slice() {
        [] => None,
        files => Some(format!("changes files of the checks: {}", files.join(", "))),
    };
    let fix = candidate.fix.then(|| "fix".to_owned());
    let parts: Vec<String> = [fix, candidate.reason.clone(), edits].into_iter().flatten().collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join("; ") }
}

fn state(candidate: &Candidate) -> Cell {
    let style = match candidate.state {
        CandidateState::Landed => Style::Green,
        CandidateState::Ejected | CandidateState::NeedsPerson => Style::Red,
        _ => Style::Plain,
    };
    Cell::styled(candidate.state.word().replace('_', " "), style)
}

/// What a run tests with what.
fn describe(run: &MergeRun, known: &[Candidate], out: &Output) -> String {
    let name = |id| known.iter().find(|candidate| candidate.id == id).map(|candidate| clean(&candidate.branch));
    let names: Vec<String> = run.candidates.iter().filter_map(|id| name(*id)).collect();
    let what = match run.purpose {
        MergePurpose::Look => "looks for conflicts of",
        MergePurpose::Search => "tests",
        MergePurpose::Confirm => "tests again, alone:",
        MergePurpose::Bare => "tests the target branch as it is",
        MergePurpose::Land => "lands",
    };
    let since = match run.began_at {
        Some(at) => format!("since {}", when::relative(at, out.now)),
        None => "waits for its runner".to_owned(),
    };
    format!("  {what} {} ({since})", names.join(" + "))
}

/// A branch that was added, removed or confirmed.
pub(super) fn one(candidate: &Candidate, out: &Output) -> Result<(), Failure> {
    out.show(candidate, |out| fields(out, &pairs(candidate, out)))
}

fn pairs(candidate: &Candidate, out: &Output) -> Vec<(&'static str, Cell)> {
    let by = if candidate.by_agent { " (agent)" } else { "" };
    let mut pairs: Vec<(&'static str, Cell)> = vec![
        ("id", candidate.id.into()),
        ("branch", (&candidate.branch).into()),
        ("lands on", (&candidate.target).into()),
        ("state", state(candidate)),
        ("note", note(candidate).into()),
        ("added", format!("{} by {}{by}", when::relative(candidate.added_at, out.now), candidate.added_by.name).into()),
        (
            "cost",
            format!("{}, {}", words::counted(candidate.runs, "run", "runs"), words::clock(candidate.cost_ms)).into(),
        ),
    ];
    if let Some(commit) = &candidate.landed {
        pairs.push(("landed as", commit.into()));
    }
    pairs
}

/// A branch with its runs and their logs.
pub(super) fn detail(detail: &CandidateDetail, out: &Output) -> String {
    let mut text = fields(out, &pairs(&detail.candidate, out));
    for run in &detail.runs {
        let ended = run.ended_at.unwrap_or(run.created_at);
        let state = run.state.word().replace('_', " ");
        let style = match run.state {
            MergeRunState::Green | MergeRunState::Landed => Style::Green,
            MergeRunState::Red | MergeRunState::NotLanded | MergeRunState::Lost => Style::Red,
            _ => Style::Plain,
        };
        text.push_str(&format!(
            "\n\n{} {} with {} ({})",
            run.purpose,
            style.paint(&state, out.color),
            words::counted(u32::try_from(run.candidates.len()).unwrap_or(0), "branch", "branches"),
            when::relative(ended, out.now)
        ));
        if let Some(why) = &run.detail {
            text.push_str(&format!(": {}", clean(why)));
        }
        for check in &run.checks {
            let took = words::clock(check.duration_ms);
            let outcome = check.outcome.word().replace('_', " ");
            text.push_str(&format!("\n  {}: {outcome} in {took}", clean(&check.argv.join(" "))));
            for line in check.log.lines() {
                text.push_str(&format!("\n    {}", clean(line)));
            }
        }
    }
    text
}

/// The branches that have left.
pub(super) fn history(ended: &[Candidate], out: &Output) -> String {
    let titles = ["ID", "BRANCH…", "STATE", "WHEN", "RUNS", "CHECK TIME", "BY", "REASON…"];
    let mut table = Table::new(&titles, "no branch has left the queue");
    for candidate in ended {
        table.row([
            candidate.id.into(),
            (&candidate.branch).into(),
            state(candidate),
            when::relative_or(candidate.ended_at, out.now, "-").into(),
            candidate.runs.into(),
            words::clock(candidate.cost_ms).into(),
            (&candidate.added_by.name).into(),
            note(candidate).into(),
        ]);
    }
    table.render(out)
}

/// One line about a branch that left.
pub(super) fn left(candidate: &Candidate) -> String {
    let reason = candidate.reason.as_deref().map(|reason| format!(": {}", clean(reason))).unwrap_or_default();
    format!("{} {}{reason}", clean(&candidate.branch), candidate.state.word().replace('_', " "))
}

/// A forecast.
pub(super) fn forecast(forecast: &MergeForecast) -> String {
    let waiting = words::counted(forecast.waiting, "branch waits", "branches wait");
    let prefixes: Vec<String> = forecast.prefixes.iter().map(u32::to_string).collect();
    let next = match prefixes.is_empty() {
        true => "nothing would be tested".to_owned(),
        false => format!("the next runs would test the first {} together", prefixes.join(", ")),
    };
    let rounds = f64::from(forecast.rounds_percent) / 100.0;
    let time = forecast.expected_ms.map_or_else(|| "time unknown until the checks ran".to_owned(), words::clock);
    format!(
        "{waiting}; {next}\nexpected {rounds:.1} rounds of checks ({time}), with {} at once and {} % failing",
        forecast.at_once, forecast.failure_percent
    )
}

/// How a project merges.
pub(super) fn settings(settings: &MergeSettings, out: &Output) -> Result<(), Failure> {
    out.show(settings, |out| {
        let checks: Vec<String> = settings
            .checks
            .iter()
            .map(|check| format!("{} (at most {} s)", check.argv.join(" "), check.seconds))
            .collect();
        let checks = match checks.is_empty() {
            true => Cell::styled("none: a person must confirm each branch", Style::Red),
            false => checks.join("; ").into(),
        };
        let pairs = [
            ("checks", checks),
            ("method", format!("{}: {}", settings.method, settings.method.meaning()).into()),
            ("adders", format!("{}: {}", settings.adders, settings.adders.meaning()).into()),
            ("at once", settings.at_once.into()),
        ];
        fields(out, &pairs)
    })
}
