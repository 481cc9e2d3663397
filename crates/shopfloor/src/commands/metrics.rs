//! `shopfloor metrics`: how the work in a project goes, in numbers and small plots.

mod plot;

use clap::Args;
use protocol::{Call, Metrics, MetricsPage, MetricsPoint, Project, WorkerMetrics};

use super::words;
use crate::pick::pick;
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output};

/// Of what, and since when.
#[derive(Debug, Args)]
pub(crate) struct MetricsArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// The last so many hours [default: 24]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    hours: Option<u32>,
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
    let mut parts = vec![numbers(metrics, out)];
    let plots = plots(&metrics.series, out);
    if !plots.is_empty() {
        parts.push(plots);
    }
    if !metrics.workers.is_empty() {
        parts.push(workers(&metrics.workers, out));
    }
    parts.join("\n\n")
}

fn numbers(metrics: &Metrics, out: &Output) -> String {
    let counts = metrics.counts.iter().filter(|count| count.count > 0);
    let counts: Vec<String> = counts.map(|count| format!("{} {}", count.count, count.status)).collect();
    let or_dash = |value: Option<String>| Cell::from(value.unwrap_or_else(|| "-".to_owned()));
    let asked =
        format!("{}, {} for each task", metrics.interventions, words::hundredths(metrics.interventions_per_task));
    let pairs = [
        ("tasks", if counts.is_empty() { "none".into() } else { counts.join(", ").into() }),
        ("people were asked", asked.into()),
        ("context score", or_dash(metrics.context_score.map(|score| format!("{} of 5", words::hundredths(score))))),
        ("speed-up", or_dash(metrics.speed_up.map(|times| format!("{} × one worker", words::hundredths(times))))),
        ("noticed after", or_dash(metrics.detection_ms.map(words::stretch))),
        ("a task waits", or_dash(metrics.waiting_ms.map(words::stretch))),
        ("used", words::usage(&metrics.usage).into()),
    ];
    fields(out, &pairs)
}

fn plots(series: &[MetricsPoint], out: &Output) -> String {
    if series.is_empty() {
        return String::new();
    }
    let room = out.width.map_or(60, |width| width.saturating_sub(40).clamp(10, 120));
    let line = |name: &str, of: fn(&MetricsPoint) -> u64, say: fn(u64) -> String, style: Style, sums: bool| {
        let values: Vec<u64> = series.iter().map(of).collect();
        let most = values.iter().copied().max().unwrap_or(0);
        let plot = plot::line(&values, room, sums);
        format!("{name:<14} {}  at most {}", style.paint(&plot, out.color), say(most))
    };
    let number = |value: u64| value.to_string();
    let begin = series.first().map(|point| crate::when::relative(point.at, out.now)).unwrap_or_default();
    [
        Style::Dim.paint(&format!("since {begin}"), out.color),
        line("done", |point| point.done.into(), number, Style::Green, true),
        line("failed", |point| point.failed.into(), number, Style::Red, true),
        line("people asked", |point| point.interventions.into(), number, Style::Yellow, true),
        line(
            "at work",
            |point| point.busy.into(),
            |busy| words::hundredths(u32::try_from(busy).unwrap_or(0)),
            Style::Plain,
            false,
        ),
        line("tokens", |point| point.tokens, number, Style::Plain, true),
        line("cost", |point| point.cost_micros, words::money, Style::Plain, true),
    ]
    .join("\n")
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

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{ProjectId, TaskStatus, Timestamp, WorkerId};
    use protocol::{TaskCount, Usage};

    #[test]
    fn metrics_are_numbers_and_plots() {
        let usage = Usage { input_tokens: 1_000, cached_tokens: 0, output_tokens: 200, cost_micros: Some(1_500_000) };
        let point = |hour: i64, done: u32| MetricsPoint {
            at: Timestamp::from_millis(hour * 3_600_000),
            done,
            failed: 0,
            interventions: 1,
            tokens: 100,
            cost_micros: 10_000,
            busy: 250,
        };
        let metrics = Metrics {
            project: ProjectId::generate(),
            counts: vec![
                TaskCount { status: TaskStatus::Done, count: 30 },
                TaskCount { status: TaskStatus::Failed, count: 0 },
            ],
            interventions: 3,
            interventions_per_task: 10,
            context_score: Some(425),
            speed_up: Some(271),
            detection_ms: Some(15_300),
            waiting_ms: None,
            usage: usage.clone(),
            workers: vec![WorkerMetrics {
                worker: WorkerId::generate(),
                name: "codex-1".into(),
                colour: 0,
                done: 30,
                failed: 0,
                context_score: None,
                usage,
                busy_ms: 7_260_000,
            }],
            series: vec![point(0, 0), point(1, 4), point(2, 8)],
        };
        let out = Output { json: false, color: false, width: None, now: Timestamp::from_millis(3 * 3_600_000) };
        let text = render(&metrics, &out);
        for part in [
            "tasks              30 done\n",
            "people were asked  3, 0.10 for each task",
            "context score      4.25 of 5",
            "speed-up           2.71 × one worker",
            "noticed after      15.3 s",
            "a task waits       -",
            "since 3 hours ago",
            "done            ▄█  at most 8",
            "at work        ███  at most 2.50",
            "codex-1  30    0       -        1200    $1.50  2 h 1 min",
        ] {
            assert!(text.contains(part), "`{part}` is not in:\n{text}");
        }
    }
}
