//! `shopfloor task show`.

use domain::{ReportVerdict, TaskStatus};
use engine::metrics::spans::{Span, without};
use protocol::{
    Attempt, Call, Criterion, CriterionResult, Escalation, Project, Report, Task, TaskDetail, TaskLine, Worker,
    WorkerFilter,
};

use super::nobody::Nobody;
use crate::commands::words;
use crate::output::clean;
use crate::table::{Style, fields};
use crate::{Context, Failure, Output, when};

/// Shows one task.
pub(crate) async fn run(task: &str, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    let task = super::id(client, task).await?;
    let mut detail: TaskDetail = client.ask(Call::TaskShow { task }).await?;
    if detail.task.status == TaskStatus::Ready && detail.task.reason.is_none() {
        let filter = WorkerFilter { project: Some(detail.task.project) };
        let workers: Vec<Worker> = client.ask(Call::WorkerList { filter }).await?;
        detail.task.reason = Nobody::of(detail.task.project, &workers, out.now).map(|nobody| nobody.to_string());
    }
    if out.json {
        return out.show(&detail, |_| String::new());
    }
    let project: Project = client.ask(Call::ProjectShow { project: detail.task.project }).await?;
    out.show(&detail, |out| render(&detail, &project.name, out))
}

fn render(detail: &TaskDetail, project: &str, out: &Output) -> String {
    let TaskDetail { task, deps, dependants, attempts, reports, escalations } = detail;
    let mut parts = vec![head(task, attempts, project, out), clean(&task.description)];
    let mut part = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            parts.push(format!("{}\n{}", Style::Bold.paint(title, out.color), lines.join("\n")));
        }
    };
    part("Context", if task.context.is_empty() { Vec::new() } else { vec![indented(&task.context)] });
    part("Acceptance", criteria(&task.acceptance, reports, out));
    part("Dependencies", deps.iter().map(|dep| other(dep, out)).collect());
    part("Dependants", dependants.iter().map(|dep| other(dep, out)).collect());
    let newest = attempts.last().map(|attempt| attempt.number);
    let changes = |attempt: &Attempt| match newest == Some(attempt.number) {
        // The newest work is kept longer than its workspace.
        true => attempt.workspace.map(|_| format!("`shopfloor task diff {}`", task.short)),
        false => attempt.workspace.map(|workspace| format!("`shopfloor workspace diff {workspace}`")),
    };
    part("Attempts", attempts.iter().map(|attempt| tried(attempt, escalations, changes(attempt), out)).collect());
    part("Reports", reports.iter().map(|report| reported(report, out)).collect());
    part("Questions", escalations.iter().map(|escalation| asked(escalation, out)).collect());
    parts.join("\n\n")
}

fn head(task: &Task, attempts: &[Attempt], project: &str, out: &Output) -> String {
    let mut pairs = vec![
        ("task", (&task.short).into()),
        ("id", task.id.into()),
        ("status", words::task_cell(task.status)),
        ("project", project.into()),
        ("priority", task.priority.into()),
        ("added", format!("by {}, {}", task.created_by.name, when::relative(task.created_at, out.now)).into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("why", task.reason.clone());
    add("progress", task.progress.clone());
    let holder = attempts.last().filter(|attempt| attempt.ended_at.is_none());
    add("worker", holder.map(|attempt| format!("{} ({})", attempt.worker_name, attempt.agent)));
    let lease = task.lease.as_ref();
    add("lease", lease.map(|lease| format!("ends {}, fence {}", when::ahead(lease.expires_at, out.now), lease.fence)));
    add("session", task.session.map(|session| format!("`shopfloor attach {session}`")));
    add("activity", task.activity.map(|activity| activity.to_string()));
    add("files", (!task.files.is_empty()).then(|| task.files.join(", ")));
    add("labels", (!task.labels.is_empty()).then(|| task.labels.join(", ")));
    add("needs", (!task.needs.is_empty()).then(|| task.needs.join(", ")));
    fields(out, &pairs)
}

/// Each criterion with its result in the newest checked report.
fn criteria(criteria: &[Criterion], reports: &[Report], out: &Output) -> Vec<String> {
    let judged =
        reports.iter().rev().find(|report| report.verdict != ReportVerdict::Late && !report.results.is_empty());
    let results = judged.map(|report| report.results.as_slice()).unwrap_or_default();
    let result = |at: usize| results.iter().find(|result| usize::try_from(result.criterion) == Ok(at));
    criteria.iter().enumerate().map(|(at, criterion)| criterion_line(criterion, result(at), out)).collect()
}

fn criterion_line(criterion: &Criterion, result: Option<&CriterionResult>, out: &Output) -> String {
    let (mark, style) = match result.map(|result| result.passed) {
        Some(Some(true)) => ("✓ met     ", Style::Green),
        Some(Some(false)) => ("✗ not met ", Style::Red),
        Some(None) if matches!(criterion, Criterion::Merged {}) => ("… waits   ", Style::Yellow),
        Some(None) => ("? review  ", Style::Yellow),
        None => ("  no check", Style::Dim),
    };
    let why = result.filter(|result| result.passed != Some(true)).map(|result| result.reason.as_str());
    let why = why.filter(|why| !why.is_empty()).map(|why| format!("\n{}", deeper(why, 15))).unwrap_or_default();
    format!("  {}  {}{why}", style.paint(mark, out.color), clean(&plan::say_criterion(criterion)).replace('\n', " "))
}

fn other(task: &TaskLine, out: &Output) -> String {
    let status = format!("{} {:<10}", words::sign(task.status), task.status);
    let title = clean(&task.title).replace('\n', " ");
    format!("  {}  {}  {title}", words::task_style(task.status).paint(&status, out.color), task.short)
}

fn tried(attempt: &Attempt, asked: &[Escalation], changes: Option<String>, out: &Output) -> String {
    let end = attempt.ended_at.map(|end| {
        let answered = |one: &Escalation| one.answered_at.unwrap_or(end).as_millis();
        let breaks: Vec<Span> = asked.iter().map(|one| (one.created_at.as_millis(), answered(one))).collect();
        let worked = without((attempt.started_at.as_millis(), end.as_millis()), &breaks);
        format!(" after {}", words::stretch(worked))
    });
    let begun = when::relative(attempt.started_at, out.now);
    let (number, who, agent) = (attempt.number, &attempt.worker_name, &attempt.agent);
    let outcome = format!("{}{}", attempt.outcome.word().replace('_', " "), end.unwrap_or_default());
    let mut lines = vec![format!("  {number}. {who} ({agent}), taken {begun}: {outcome}")];
    lines.extend(attempt.reason.as_ref().map(|why| deeper(why, 5)));
    let mut add = |name: &str, value: Option<String>| lines.extend(value.map(|value| format!("     {name}: {value}")));
    add("branch", attempt.branch.clone());
    add("changes", changes);
    for session in &attempt.sessions {
        add("session", Some(format!("`shopfloor session log {session}`, `shopfloor recording play {session}`")));
    }
    let used = attempt.usage.input_tokens + attempt.usage.output_tokens > 0;
    add("usage", used.then(|| words::usage(&attempt.usage)));
    clean(&lines.join("\n"))
}

fn reported(report: &Report, out: &Output) -> String {
    let verdict = words::verdict_style(report.verdict).paint(report.verdict.word(), out.color);
    let score = report.context_score.map(|score| format!(", context {score} of 5")).unwrap_or_default();
    let how = if report.collected { ", from the agent's last message" } else { "" };
    let at = when::relative(report.at, out.now);
    let mut lines =
        vec![format!("  attempt {}, {at}: {verdict}{score}{how}", report.attempt), deeper(&report.summary, 5)];
    lines.extend(report.reason.as_ref().map(|why| deeper(&format!("{}: {why}", report.verdict), 5)));
    let given = &report.deliverables;
    let mut add = |name: &str, value: String| {
        if !value.is_empty() {
            lines.push(format!("     {name}: {}", clean(&value).replace('\n', " ")));
        }
    };
    add("files", given.files.join(", "));
    add("branch", given.branch.clone().unwrap_or_default());
    let earlier = match given.more_commits {
        0 => String::new(),
        more => format!("{more} earlier, "),
    };
    add("commits", format!("{earlier}{}", given.commits.join(", ")));
    lines.join("\n")
}

fn asked(escalation: &Escalation, out: &Output) -> String {
    let asked = when::relative(escalation.created_at, out.now);
    let question = deeper(&escalation.question, 5);
    match escalation.answered_at {
        Some(_) => {
            let act = escalation.act.map(|act| format!(" ({act})")).unwrap_or_default();
            let answer = deeper(escalation.answer.as_deref().unwrap_or_default(), 5);
            let by = escalation.answered_by.as_ref();
            let by = by.map_or("settled".to_owned(), |by| format!("{} answered", clean(&by.name)));
            format!("  {}, {asked}:\n{question}\n  {by}{act}:\n{answer}", escalation.kind)
        }
        None => {
            let open = Style::Yellow.paint("needs you", out.color);
            let how = format!("`shopfloor escalation answer {} \"…\"`", escalation.id);
            format!("  {open}, {}, {asked}: {how}\n{question}", escalation.kind)
        }
    }
}

fn indented(text: &str) -> String {
    deeper(text, 2)
}

/// Indents other people's text.
fn deeper(text: &str, columns: usize) -> String {
    let lines = clean(text);
    lines.lines().map(|line| format!("{}{line}", " ".repeat(columns))).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
