//! `shopfloor worker show`.

use protocol::{WorkerAttempt, WorkerDetail};

use super::{Names, cost, log_table};
use crate::commands::words;
use crate::table::{Style, Table, fields};
use crate::{Output, when};

/// Everything about one worker.
pub(super) fn render(detail: &WorkerDetail, names: &Names, out: &Output) -> String {
    let title = |text: &str| Style::Bold.paint(text, out.color);
    let mut parts = vec![head(detail, out)];
    parts.push(format!("{}\n{}", title("Attempts"), attempts(&detail.attempts, out)));
    if !detail.log.is_empty() {
        parts.push(format!("{}\n{}", title("Decisions"), log_table(&detail.log, names, out)));
    }
    parts.join("\n\n")
}

fn head(detail: &WorkerDetail, out: &Output) -> String {
    let worker = &detail.worker;
    let mut pairs = vec![
        ("id", worker.id.into()),
        ("name", words::worker_name(worker)),
        ("status", words::worker_cell(worker)),
        ("kind", worker.kind.into()),
        ("agent", (&worker.agent).into()),
        ("owner", (&worker.owner.name).into()),
        ("project", worker.project.into()),
        (
            "tasks",
            format!(
                "{} done, {} failed, {} in a row",
                worker.done,
                worker.failed,
                words::counted(worker.failures, "failure", "failures")
            )
            .into(),
        ),
        ("cost", cost(worker).into()),
        ("usage", words::usage(&worker.usage).into()),
        ("started", when::relative(worker.created_at, out.now).into()),
        ("seen", when::relative_or(worker.seen_at, out.now, "never").into()),
    ];
    let mut add = |name, value: Option<String>| pairs.extend(value.map(|value| (name, value.into())));
    add("until", worker.until.map(|until| when::ahead(until, out.now)));
    add("hands off", worker.handoff_after_micros.map(|cost| format!("after {} in a session", words::money(cost))));
    add("model", worker.model.clone());
    add("role", worker.role.clone());
    add("abilities", (!worker.abilities.is_empty()).then(|| worker.abilities.join(", ")));
    add("runner", worker.runner.map(|runner| runner.to_string()));
    add("task", worker.task.map(|task| task.to_string()));
    add("session", worker.session.map(|session| format!("`shopfloor attach {session}`")));
    add("queue", (!worker.queue.is_empty()).then(|| waiting(worker.queue.len())));
    add("context score", worker.context_score.map(|score| format!("{} of 5", words::hundredths(score))));
    fields(out, &pairs)
}

fn waiting(count: usize) -> String {
    words::counted(count, "open question", "open questions")
}

fn attempts(attempts: &[WorkerAttempt], out: &Output) -> String {
    let mut table = Table::new(&["TASK", "TITLE…", "OUTCOME", "WHY…", "TAKEN", "TOOK"], "nothing yet");
    for WorkerAttempt { task, title, attempt } in attempts {
        let took = attempt.ended_at.map(|end| end.as_millis().saturating_sub(attempt.started_at.as_millis()));
        table.row([
            task.into(),
            title.into(),
            attempt.outcome.word().replace('_', " ").into(),
            attempt.reason.as_deref().unwrap_or("-").into(),
            when::relative(attempt.started_at, out.now).into(),
            took.map_or_else(|| "-".to_owned(), |took| words::stretch(u64::try_from(took).unwrap_or(0))).into(),
        ]);
    }
    table.render(out)
}
