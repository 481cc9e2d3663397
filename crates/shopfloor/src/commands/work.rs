//! `shopfloor work`: how a project hands out its tasks.

use clap::{Args, Subcommand};
use client::Client;
use domain::AssignStrategy;
use protocol::{Call, DoingWhat, Project, WorkConfigure, WorkSettings};

use super::words;
use crate::pick::pick;
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

/// Subcommands for how work is handed out.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// Show how a project hands out its tasks
    Settings {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Change how a project hands out its tasks; everything that you do not name stays as it is
    Configure(Box<ConfigureArgs>),
    /// Show who is doing what in a project
    Doing {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
}

/// Arguments of `work configure`.
#[derive(Debug, Args)]
pub(crate) struct ConfigureArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// Which worker gets which task
    #[arg(long, value_parser = words::strategy())]
    strategy: Option<AssignStrategy>,
    /// Seconds that a lease lasts without a heartbeat
    #[arg(long, value_name = "SECONDS")]
    lease: Option<u32>,
    /// Seconds between a worker's heartbeats
    #[arg(long, value_name = "SECONDS")]
    heartbeat: Option<u32>,
    /// How many missed heartbeats restart a worker
    #[arg(long, value_name = "N")]
    missed: Option<u32>,
    /// Minutes that a worker may hold one task, including retries; 0: no limit while it sends heartbeats
    #[arg(long, value_name = "MINUTES")]
    task_minutes: Option<u32>,
    /// How often refused work returns to the same worker
    #[arg(long, value_name = "N")]
    tries: Option<u32>,
    /// How many workers try a task before a person is asked
    #[arg(long, value_name = "N")]
    workers_per_task: Option<u32>,
    /// How many consecutive failures take a worker offline
    #[arg(long, value_name = "N")]
    breaker: Option<u32>,
    /// Seconds that such a worker stays offline
    #[arg(long, value_name = "SECONDS")]
    breaker_pause: Option<u32>,
    /// Minimum number of workers with auto-scaling
    #[arg(long, value_name = "N")]
    scale_least: Option<u32>,
    /// Maximum number of workers; 0 turns auto-scaling off
    #[arg(long, value_name = "N")]
    scale_most: Option<u32>,
    /// Start workers above this many ready tasks per worker
    #[arg(long, value_name = "N")]
    scale_tasks: Option<u32>,
    /// Stop a worker after this many idle seconds
    #[arg(long, value_name = "SECONDS")]
    scale_idle: Option<u32>,
    /// Budget for all work in dollars; 0: no limit
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    budget: Option<u64>,
}

/// Runs the subcommand.
pub(crate) async fn run(command: WorkCommand, context: &Context) -> Result<(), Failure> {
    let (client, out) = (&context.client()?, &context.out);
    match command {
        WorkCommand::Settings { project } => {
            let project = pick::<Project>(client, &project).await?;
            show(&client.ask(Call::WorkSettings { project }).await?, out)
        }
        WorkCommand::Configure(args) => configure(*args, client, out).await,
        WorkCommand::Doing { project } => {
            let project = pick::<Project>(client, &project).await?;
            let doing: Vec<DoingWhat> = client.ask(Call::WorkDoing { project }).await?;
            out.show(&doing, |out| table(&doing, out))
        }
    }
}

async fn configure(args: ConfigureArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let input = WorkConfigure {
        strategy: args.strategy,
        lease_seconds: args.lease,
        heartbeat_seconds: args.heartbeat,
        missed: args.missed,
        task_minutes: args.task_minutes,
        tries_per_worker: args.tries,
        workers_per_task: args.workers_per_task,
        breaker_failures: args.breaker,
        breaker_seconds: args.breaker_pause,
        scale_least: args.scale_least,
        scale_most: args.scale_most,
        scale_tasks_per_worker: args.scale_tasks,
        scale_idle_seconds: args.scale_idle,
        budget_micros: args.budget,
    };
    if input == WorkConfigure::default() {
        return Err(Failure::usage("nothing to change").advise("pass at least one option; --help lists them"));
    }
    let project = pick::<Project>(client, &args.project).await?;
    show(&client.ask(Call::WorkConfigure { project, input }).await?, out)
}

fn show(settings: &WorkSettings, out: &Output) -> Result<(), Failure> {
    out.show(settings, |out| fields(out, &pairs(settings)))
}

fn pairs(settings: &WorkSettings) -> Vec<(&'static str, Cell)> {
    let WorkSettings { strategy, lease_seconds, heartbeat_seconds, missed, .. } = settings;
    let scale = match settings.scale_most {
        0 => "off".to_owned(),
        most => format!(
            "{} to {most} workers; starts one above {} per worker, stops one after {} s idle",
            settings.scale_least,
            words::counted(settings.scale_tasks_per_worker, "ready task", "ready tasks"),
            settings.scale_idle_seconds
        ),
    };
    let longest = match settings.task_minutes {
        0 => "no limit while the worker sends heartbeats".to_owned(),
        minutes => format!("{minutes} min per worker"),
    };
    let budget =
        settings.budget_micros.filter(|budget| *budget > 0).map_or_else(|| "anything".to_owned(), words::money);
    let by: Vec<&str> = settings.frozen_by.iter().map(|person| person.name.as_str()).collect();
    let (frozen, style) = match by.is_empty() {
        true => ("yes".to_owned(), Style::Plain),
        false => (format!("stopped by {}; if that is you, run `shopfloor thaw`", by.join(", ")), Style::Red),
    };
    vec![
        ("hands out", Cell::styled(frozen, style)),
        ("strategy", format!("{strategy}: {}", strategy.meaning()).into()),
        ("lease", format!("{lease_seconds} s").into()),
        ("heartbeat", format!("every {heartbeat_seconds} s; a worker restarts after {missed} missed").into()),
        ("longest", longest.into()),
        (
            "refused work",
            format!(
                "returns to its worker {}, then goes to up to {}, then to a person",
                words::counted(settings.tries_per_worker, "time", "times"),
                words::counted(settings.workers_per_task, "worker", "workers")
            )
            .into(),
        ),
        (
            "breaker",
            format!(
                "offline for {1} s after {0} in a row",
                words::counted(settings.breaker_failures, "failure", "failures"),
                settings.breaker_seconds
            )
            .into(),
        ),
        ("scale", scale.into()),
        ("budget", budget.into()),
    ]
}

fn table(doing: &[DoingWhat], out: &Output) -> String {
    let mut table = Table::new(&["WHO…", "WHAT…", "FILES…", "SINCE"], "no worker is busy");
    for one in doing {
        let files = if one.files.is_empty() { "-".to_owned() } else { one.files.join(", ") };
        table.row([(&one.who).into(), (&one.what).into(), files.into(), when::relative(one.since, out.now).into()]);
    }
    table.render(out)
}
