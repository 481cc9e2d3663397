//! `shopfloor execution show`.

use client::Client;
use domain::{ExecutionStatus, StepStatus};
use protocol::{Call, Execution, ExecutionAttempt, ExecutionDetail, ExecutionStep, Project};

use super::steps::{is_block, newest, took};
use super::tree::{Node, nodes};
use super::{detail, id};
use crate::commands::{recipe, words};
use crate::output::clean;
use crate::table::{Cell, Style, Table, fields};
use crate::{Failure, Output, when};

/// The longest value that the overview shows.
const VALUE: usize = 200;

/// Shows an execution, or one of its steps.
pub(super) async fn run(execution: &str, step: Option<&str>, client: &Client, out: &Output) -> Result<(), Failure> {
    let detail = detail(client, id(client, execution).await?).await?;
    if let Some(path) = step {
        return one(&detail, path, out);
    }
    if out.json {
        return out.show(&detail, |_| String::new());
    }
    let project: Project = client.ask(Call::ProjectShow { project: detail.execution.project }).await?;
    out.show(&detail, |out| render(&detail, &project.name, out))
}

/// Shows a step with its output and attempts.
fn one(detail: &ExecutionDetail, path: &str, out: &Output) -> Result<(), Failure> {
    let Some(step) = detail.steps.iter().find(|step| step.path == path) else {
        let paths: Vec<&str> = detail.steps.iter().map(|step| step.path.as_str()).collect();
        let shown = domain::text::plain(path, 80);
        return Err(Failure::not_found(format!("no step `{shown}` has begun in this execution"))
            .advise(format!("these have: {}", paths.join(", "))));
    };
    let attempts: Vec<&ExecutionAttempt> = detail.attempts.iter().filter(|attempt| attempt.path == path).collect();
    let view = serde_json::json!({ "step": step, "attempts": attempts });
    out.show(&view, |out| whole(step, &attempts, detail.execution.id, out))
}

fn whole(step: &ExecutionStep, attempts: &[&ExecutionAttempt], id: domain::ExecutionId, out: &Output) -> String {
    let status = Cell::styled(status(step.status), words::step_style(step.status));
    let mut pairs = vec![("step", (&step.path).into()), ("kind", step.kind.into()), ("status", status)];
    pairs.extend(step.reason.as_ref().map(|why| ("reason", why.into())));
    let mut parts = vec![fields(out, &pairs)];
    parts.extend(step.question.is_some().then(|| asked(step, id, out)));
    if let Some(output) = &step.output {
        let kept = output["artifact"].as_str().map(|id| format!("All of it: `shopfloor artifact get {}`", clean(id)));
        let lines: Vec<String> = [clean(&format!("{output:#}"))].into_iter().chain(kept).collect();
        parts.push(titled("Output", &lines, out));
    }
    for attempt in attempts {
        let lines = [attempted(attempt, out), clean(&format!("{:#}", attempt.work))];
        parts.push(titled(&format!("Attempt {}", attempt.attempt), &lines, out));
    }
    parts.join("\n\n")
}

fn render(detail: &ExecutionDetail, project: &str, out: &Output) -> String {
    let execution = &detail.execution;
    let mut parts = vec![head(execution, project, out), tree(detail, out)];
    let mut part = |title: &str, lines: Vec<String>| {
        if !lines.is_empty() {
            parts.push(titled(title, &lines, out));
        }
    };
    part("Needs you", needs(detail, out));
    part("Inputs", values(&detail.inputs));
    part("Outputs", detail.outputs.as_ref().map(values).unwrap_or_default());
    let placed = |attempt: &&ExecutionAttempt| {
        attempt.session.is_some() || attempt.called.is_some() || !attempt.tasks.is_empty()
    };
    let line = |attempt: &ExecutionAttempt| format!("  {}: {}", clean(&attempt.path), attempted(attempt, out));
    part("Attempts", detail.attempts.iter().filter(placed).map(line).collect());
    parts.join("\n\n")
}

fn titled(title: &str, lines: &[String], out: &Output) -> String {
    format!("{}\n{}", Style::Bold.paint(title, out.color), lines.join("\n"))
}

fn head(execution: &Execution, project: &str, out: &Output) -> String {
    let version = format!("{} version {} ({})", execution.name, execution.number, recipe::hash(&execution.version));
    let by = if execution.schedule.is_some() { "a schedule for " } else { "" };
    let started = format!("{} by {by}{}", when::relative(execution.created_at, out.now), execution.started_by.name);
    let mut pairs = vec![
        ("execution", execution.id.into()),
        ("recipe", version.into()),
        ("project", project.into()),
        ("status", words::execution_cell(execution.status, execution.needs_person)),
        ("started", started.into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("reason", execution.reason.clone());
    let length = |end: domain::Timestamp| end.as_millis().saturating_sub(execution.created_at.as_millis());
    let length = execution.ended_at.and_then(|end| u64::try_from(length(end)).ok()).map(words::stretch);
    add("took", length);
    add("cost", execution.cost_micros.map(words::money));
    add("schedule", execution.schedule.map(|id| format!("`shopfloor schedule show {id}`")));
    add("parent", execution.parent.map(|id| format!("`shopfloor execution show {id}`")));
    fields(out, &pairs)
}

fn tree(detail: &ExecutionDetail, out: &Output) -> String {
    let titles = ["STEP", "KIND", "STATUS", "TIME", "TRIES", "COST", "NOTE…"];
    let mut table = Table::new(&titles, "no steps");
    for node in nodes(detail) {
        let attempt = node.step.and_then(|step| newest(detail, &step.path));
        let leaf = node.step.filter(|step| !is_block(step.kind));
        let tries =
            leaf.filter(|step| step.attempt > 1).map_or_else(|| "-".to_owned(), |step| step.attempt.to_string());
        let cost = node.step.and_then(|step| cost(detail, &step.path));
        table.row([
            Cell::styled(format!("{}{}", "  ".repeat(node.depth), node.name), Style::Plain),
            node.kind.map_or_else(|| "-".into(), |kind| kind.word().replace('_', " ").into()),
            state(&node),
            attempt.map_or_else(|| "-".to_owned(), |attempt| words::stretch(took(attempt, out.now))).into(),
            tries.into(),
            cost.map_or_else(|| "-".to_owned(), words::money).into(),
            node.step.map_or_else(|| "-".to_owned(), |step| note(step, out)).into(),
        ]);
    }
    table.render(out)
}

fn state(node: &Node<'_>) -> Cell {
    match node.status() {
        Some(found) => Cell::styled(status(found), words::step_style(found)),
        None => "-".into(),
    }
}

fn status(status: StepStatus) -> String {
    format!("{} {status}", words::step_sign(status))
}

/// What all attempts of a step cost, as far as known.
fn cost(detail: &ExecutionDetail, path: &str) -> Option<u64> {
    let costs = detail.attempts.iter().filter(|attempt| attempt.path == path).filter_map(|attempt| attempt.cost_micros);
    costs.reduce(u64::saturating_add)
}

/// What a step waits for, or why it is as it is.
pub(super) fn note(step: &ExecutionStep, out: &Output) -> String {
    let retry = step.retry_at.map(|at| format!("next attempt {}", when::ahead(at, out.now)));
    let asks = step.question.as_ref().map(|asked| format!("asks: {}", asked.question.trim()));
    let parts: Vec<String> = [asks, step.reason.clone(), retry].into_iter().flatten().collect();
    if parts.is_empty() { "-".to_owned() } else { clean(&parts.join("; ")).replace('\n', " ") }
}

/// What waits for a person, with the commands that answer.
fn needs(detail: &ExecutionDetail, out: &Output) -> Vec<String> {
    let id = detail.execution.id;
    let failed = detail.execution.status == ExecutionStatus::Failed;
    let leaves = detail.steps.iter().filter(|step| !is_block(step.kind));
    let one = |step: &ExecutionStep| match step.status {
        _ if step.question.is_some() => Some(asked(step, id, out)),
        StepStatus::Interrupted => Some(decide(step, "was interrupted", id)),
        StepStatus::Failed if failed => Some(decide(step, "has failed", id)),
        _ => None,
    };
    leaves.filter_map(one).collect()
}

/// The question of a step, and the command that answers it.
pub(super) fn asked(step: &ExecutionStep, id: domain::ExecutionId, out: &Output) -> String {
    let Some(question) = &step.question else { return String::new() };
    let who = if question.who.is_empty() { String::new() } else { format!(" of {}", question.who.join(", ")) };
    let until = question.deadline.map(|at| format!(", until {}", when::ahead(at, out.now))).unwrap_or_default();
    let count = match question.count {
        0 | 1 => String::new(),
        count => format!(", {} of {count} approved", question.approved_by.len()),
    };
    let by =
        if question.approved_by.is_empty() { String::new() } else { format!(" ({})", question.approved_by.join(", ")) };
    let words = clean(question.question.trim()).lines().collect::<Vec<_>>().join("\n    ");
    let data = if question.form.is_some() { " --data JSON" } else { "" };
    let path = quoted(&step.path);
    let mut lines = vec![
        clean(&format!("  {} asks{who}{count}{by}{until}:", step.path)),
        format!("    {words}"),
        format!("    `shopfloor execution approve {id} {path}{data}`, or `reject`"),
    ];
    if let Some(form) = &question.form {
        lines.insert(2, format!("    data: {}", clean(&form.to_string())));
    }
    lines.join("\n")
}

fn decide(step: &ExecutionStep, what: &str, id: domain::ExecutionId) -> String {
    let why = step.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let said = clean(&format!("  {} {what}{why}", step.path)).replace('\n', " ");
    let path = quoted(&step.path);
    format!("{said}\n    `shopfloor execution retry {id} {path}`, or `skip` with an --output")
}

/// A path as a shell takes it: brackets are patterns.
fn quoted(path: &str) -> String {
    let path = clean(path);
    if path.contains('[') { format!("'{}'", path.replace('\'', "'\\''")) } else { path }
}

/// The fields of an object, one below the other.
fn values(object: &serde_json::Value) -> Vec<String> {
    let fields = object.as_object().into_iter().flatten();
    let line = |(name, value): (&String, &serde_json::Value)| {
        let text = crate::table::shorten(&clean(&value.to_string()), VALUE);
        format!("  {}: {text}", clean(name))
    };
    fields.map(line).collect()
}

/// What an attempt ran, and where it can be looked at.
fn attempted(attempt: &ExecutionAttempt, out: &Output) -> String {
    let mut parts = vec![format!("attempt {} {}", attempt.attempt, attempt.state)];
    parts.extend(attempt.reason.clone());
    parts.extend(attempt.late.clone());
    let waited = attempt.began_at.map(|at| at.as_millis().saturating_sub(attempt.created_at.as_millis()));
    let waited = waited.and_then(|waited| u64::try_from(waited).ok()).filter(|waited| *waited >= 1_000);
    parts.extend(waited.map(|waited| format!("waited {}", words::stretch(waited))));
    parts.push(format!(
        "{} {}",
        if attempt.began_at.is_some() { "ran" } else { "waits" },
        words::stretch(took(attempt, out.now))
    ));
    parts.extend(attempt.cost_micros.map(words::money));
    parts.extend(attempt.session.map(|id| format!("`shopfloor session log {id}`")));
    parts.extend(attempt.workspace.map(|id| format!("`shopfloor workspace diff {id}`")));
    parts.extend(attempt.called.map(|id| format!("`shopfloor execution show {id}`")));
    parts.extend(attempt.tasks.iter().map(|id| format!("`shopfloor task show {id}`")));
    clean(&parts.join(", ")).replace('\n', " ")
}

#[cfg(test)]
mod tests;
