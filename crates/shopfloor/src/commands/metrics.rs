//! `shopfloor metrics`: a project's metrics as numbers and small plots.

mod lines;
mod plot;
#[cfg(test)]
mod tests;

use clap::Args;
use engine::tasks::tally::tally;
use protocol::{Call, Metrics, MetricsPage, Noticed, Project, WorkerMetrics};

use super::words;
use crate::pick::pick;
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output};

/// Arguments of `metrics`.
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// How many hours to show [default: 24]
    #[arg(long, value_name = "N", value_parser = hours)]
    hours: Option<u32>,
}

fn hours(text: &str) -> Result<u32, String> {
    text.parse().ok().filter(|hours| *hours > 0).ok_or_else(|| format!("`{text}` is not a number of hours"))
}

/// Shows them.
pub(crate) async fn run(args: MetricsArgs, context: &Context) -> Result<(), Failure> {
    let client = context.client()?;
    let project = pick::<Project>(&client, &args.project).await?;
    let page = MetricsPage { hours: args.hours };
    let metrics: Metrics = client.ask(Call::WorkMetrics { project, page }).await?;
    context.out.show(&metrics, |out| render(&metrics, out))
}

fn render(metrics: &Metrics, out: &Output) -> String {
    let mut parts = vec![numbers(metrics, out), lines::all(metrics, out)];
    if !metrics.workers.is_empty() {
        parts.push(workers(&metrics.workers, out));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n\n")
}

fn numbers(metrics: &Metrics, out: &Output) -> String {
    let counts = metrics.counts.iter().filter(|count| count.count > 0);
    let counts: Vec<String> = counts.map(|count| format!("{} {}", count.count, count.status)).collect();
    let tally = tally(metrics.counts.iter().map(|count| (count.status, count.count as usize)));
    let or_dash = |value: Option<String>| Cell::from(value.unwrap_or_else(|| "-".to_owned()));
    let asked = match (metrics.over, metrics.interventions) {
        (0, 0) => "-".to_owned(),
        (0, times) => format!("{times}; no task is finished yet"),
        (_, times) => {
            format!("{times}, {} per finished task", words::hundredths(metrics.interventions_per_task))
        }
    };
    let score = |mean: u32| {
        let each = (1..).zip(&metrics.context_scores).map(|(score, count)| format!("{score}: {count}"));
        format!("{} of 5 ({})", words::hundredths(mean), each.collect::<Vec<_>>().join(", "))
    };
    let busy = || {
        let average = if metrics.busy == 0 { "under 0.01".to_owned() } else { words::hundredths(metrics.busy) };
        format!("{average} on average, {} at the peak", metrics.peak)
    };
    let pairs = [
        ("tasks", if counts.is_empty() { "none".into() } else { counts.join(", ").into() }),
        ("progress", or_dash((tally.total > 0).then(|| words::progress(tally)))),
        ("interventions", asked.into()),
        ("context score", or_dash(metrics.context_score.map(score))),
        (
            "speed-up",
            or_dash(
                metrics.speed_up.map(|times| format!("{} × as fast as one after another", words::hundredths(times))),
            ),
        ),
        ("workers at once", or_dash((metrics.peak > 0).then(busy))),
        ("vanished, noticed in", or_dash(metrics.vanished.as_ref().map(noticed))),
        ("failed, noticed in", or_dash(metrics.failures.as_ref().map(noticed))),
        ("wait in the queue", or_dash(metrics.waiting_ms.map(words::stretch))),
        ("used", words::usage(&metrics.usage).into()),
    ];
    fields(out, &pairs)
}

fn noticed(noticed: &Noticed) -> String {
    let (median, longest) = (words::stretch(noticed.median_ms), words::stretch(noticed.longest_ms));
    match noticed.times {
        1 => format!("{longest}, once"),
        times => format!("{median} (median of {times}), {longest} at most"),
    }
}

fn workers(workers: &[WorkerMetrics], out: &Output) -> String {
    let mut table = Table::new(&["WORKER…", "DONE", "FAILED", "CONTEXT", "TOKENS", "COST", "BUSY"], "");
    for worker in workers {
        table.row([
            Cell::styled(&worker.name, Style::Worker(worker.colour)),
            worker.done.into(),
            worker.failed.into(),
            worker.context_score.map_or_else(|| "-".to_owned(), words::hundredths).into(),
            (worker.usage.input_tokens + worker.usage.output_tokens).into(),
            worker.usage.cost_micros.map_or_else(|| "-".to_owned(), words::money).into(),
            words::stretch(worker.busy_ms).into(),
        ]);
    }
    table.render(out)
}
