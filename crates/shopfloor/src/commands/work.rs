//! `shopfloor work …`: how a project hands out its tasks.

use clap::{Args, Subcommand};
use client::Client;
use domain::AssignStrategy;
use protocol::{Call, DoingWhat, Project, WorkConfigure, WorkSettings};

use super::words;
use crate::pick::pick;
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

/// Everything that can be done with how work is handed out.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkCommand {
    /// How a project hands out its tasks
    Settings {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Change how a project hands out its tasks; what is not named stays
    Configure(Box<ConfigureArgs>),
    /// Who is doing what in a project now
    Doing {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
}

/// Changes to how tasks are handed out.
#[derive(Debug, Args)]
pub(crate) struct ConfigureArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: String,
    /// Who takes which task
    #[arg(long, value_parser = words::strategy())]
    strategy: Option<AssignStrategy>,
    /// How long a lease holds without a sign of life, in seconds
    #[arg(long, value_name = "SECONDS")]
    lease: Option<u32>,
    /// How often a worker gives a sign of life, in seconds
    #[arg(long, value_name = "SECONDS")]
    heartbeat: Option<u32>,
    /// How many signs of life may be missed before a worker is restarted
    #[arg(long, value_name = "N")]
    missed: Option<u32>,
    /// How long a worker may have one task, with all its tries, in minutes; 0: as long as it gives signs of life
    #[arg(long, value_name = "MINUTES")]
    task_minutes: Option<u32>,
    /// How often refused work goes back to the same worker
    #[arg(long, value_name = "N")]
    tries: Option<u32>,
    /// How many workers try before a person is asked
    #[arg(long, value_name = "N")]
    workers_per_task: Option<u32>,
    /// How many failures in a row take a worker offline
    #[arg(long, value_name = "N")]
    breaker: Option<u32>,
    /// For how long, in seconds
    #[arg(long, value_name = "SECONDS")]
    breaker_pause: Option<u32>,
    /// Never fewer workers, while it scales by itself
    #[arg(long, value_name = "N")]
    scale_least: Option<u32>,
    /// Never more workers; 0: it does not scale by itself
    #[arg(long, value_name = "N")]
    scale_most: Option<u32>,
    /// More workers when so many ready tasks wait for each
    #[arg(long, value_name = "N")]
    scale_tasks: Option<u32>,
    /// Fewer workers when one had nothing to do for so many seconds
    #[arg(long, value_name = "SECONDS")]
    scale_idle: Option<u32>,
    /// What all the work may cost, in dollars; 0: anything
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    budget: Option<u64>,
}

/// Runs one of them.
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
        return Err(Failure::usage("there is nothing to change").advise("give at least one option; --help lists them"));
    }
    let project = pick::<Project>(client, &args.project).await?;
    show(&client.ask(Call::WorkConfigure { project, input }).await?, out)
}

fn show(settings: &WorkSettings, out: &Output) -> Result<(), Failure> {
    out.show(settings, |out| fields(out, &pairs(settings)))
}

fn pairs(settings: &WorkSettings) -> Vec<(&'static str, Cell)> {
    let WorkSettings { strategy, lease_seconds, heartbeat_seconds, missed, .. } = settings;
    let counted = |count: u32, one: &str, many: &str| words::counted(u64::from(count), one, many);
    let scale = match settings.scale_most {
        0 => "not by itself".to_owned(),
        most => format!(
            "{} to {most} workers; more when {} ready tasks wait for each, fewer after {} s with nothing to do",
            settings.scale_least, settings.scale_tasks_per_worker, settings.scale_idle_seconds
        ),
    };
    let longest = match settings.task_minutes {
        0 => "a worker may have a task as long as it gives signs of life".to_owned(),
        minutes => format!("a worker may have a task for {minutes} min"),
    };
    let budget =
        settings.budget_micros.filter(|budget| *budget > 0).map_or_else(|| "anything".to_owned(), words::money);
    let by: Vec<&str> = settings.frozen_by.iter().map(|person| person.name.as_str()).collect();
    let (frozen, style) = match by.is_empty() {
        true => ("yes".to_owned(), Style::Plain),
        false => (format!("not to workers of {}; `shopfloor thaw` undoes your own", by.join(", ")), Style::Red),
    };
    vec![
        ("hands out", Cell::styled(frozen, style)),
        ("strategy", format!("{strategy}: {}", strategy.meaning()).into()),
        ("lease", format!("{lease_seconds} s").into()),
        ("heartbeat", format!("every {heartbeat_seconds} s; {missed} missed restart a worker").into()),
        ("longest", longest.into()),
        (
            "refused work",
            format!(
                "goes back {}, then to up to {}, then a person is asked",
                counted(settings.tries_per_worker, "time", "times"),
                counted(settings.workers_per_task, "worker", "workers")
            )
            .into(),
        ),
        (
            "breaker",
            format!(
                "{} in a row, for {} s",
                counted(settings.breaker_failures, "failure", "failures"),
                settings.breaker_seconds
            )
            .into(),
        ),
        ("scale", scale.into()),
        ("budget", budget.into()),
    ]
}

fn table(doing: &[DoingWhat], out: &Output) -> String {
    let mut table = Table::new(&["WHO…", "WHAT…", "FILES…", "SINCE"], "nobody is doing anything");
    for one in doing {
        let files = if one.files.is_empty() { "-".to_owned() } else { one.files.join(", ") };
        table.row([(&one.who).into(), (&one.what).into(), files.into(), when::relative(one.since, out.now).into()]);
    }
    table.render(out)
}
