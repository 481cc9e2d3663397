//! `shopfloor runner`.

mod foreground;
mod hidden;
mod look;
mod noted;
mod options;
mod registration;

use std::collections::HashMap;

use clap::{Args, Subcommand};
use client::Client;
use domain::{RunnerId, RunnerPolicy};
use protocol::{Call, ExecutionFilter, NewRunner, Runner, RunnerAbout, RunnerCreate, RunnerUpdate, Session, Workspace};

pub(crate) use hidden::{hidden, note, of_hub};
pub(crate) use noted::Noted;
pub(crate) use options::{RunArgs, machine_name};
pub(crate) use registration::Registration;

use super::words;
use crate::confirm::{Yes, sure};
use crate::pick::{pick, pick_exact};
use crate::table::{Cell, Style, Table, fields};
use crate::{Context, Failure, Output, when};

const EXAMPLES: &str = "\
Without a subcommand, this process is a runner: it runs sessions for the hub until you stop it. Sessions continue.
Then --token-file is the runner's own token, and --data-dir is the runner's own folder.

Examples:
  shopfloor runner create laptop
  shopfloor runner --hub https://floor.example.com --token-file laptop.token --name laptop --label gpu";

/// Runs a runner on this machine, or manages runners.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = EXAMPLES)]
pub(crate) struct RunnerArgs {
    #[command(subcommand)]
    command: Option<RunnerCommand>,
    #[command(flatten)]
    run: RunArgs,
}

/// Subcommands for runners.
#[derive(Debug, Subcommand)]
pub(crate) enum RunnerCommand {
    /// Register a runner; its token is printed once
    Create {
        /// A name for it, such as your machine's
        name: String,
    },
    /// List the runners of this hub
    List,
    /// Show one runner and its agents
    Show {
        /// The runner's id or name
        runner: String,
    },
    /// Show what is at a path on a runner's machine: folders that begin like it, and the repository there
    Look {
        /// The path; with a final `/`, the folders in it are listed
        #[arg(default_value = "~/", hide_default_value = true)]
        path: String,
        /// One of your runners (id or name) [default: your only connected one]
        #[arg(long)]
        runner: Option<String>,
    },
    /// Remove one of your runners, after asking; takes the exact name or id
    Remove {
        /// The runner's id or name
        runner: String,
        #[command(flatten)]
        yes: Yes,
    },
    /// Change what one of your runners runs for other people
    Update {
        /// The runner's id or name
        runner: String,
        /// What it runs of other people's text without asking you
        #[arg(long, value_parser = words::policy())]
        policy: Option<RunnerPolicy>,
        /// Whether work that other people request runs in a sandbox
        #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
        sandbox_others: Option<bool>,
    },
}

impl RunnerArgs {
    /// Whether this process becomes a runner.
    pub(crate) fn is_run(&self) -> bool {
        self.command.is_none()
    }
}

/// Runs the subcommand.
pub(crate) async fn run(args: RunnerArgs, context: &Context) -> Result<(), Failure> {
    let Some(command) = args.command else {
        return foreground::run(args.run, context).await;
    };
    let out = &context.out;
    match command {
        RunnerCommand::Create { name } => {
            let made: NewRunner = context.client()?.ask(Call::RunnerCreate { input: RunnerCreate { name } }).await?;
            if !out.json {
                out.note(&format!("{}: the token below is not shown again", made.runner.id));
            }
            out.show(&made, |_| made.secret.clone())
        }
        RunnerCommand::List => {
            let client = &context.client()?;
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
            let disk = Disk::of(client, out).await;
            out.show(&runners, |out| table(&runners, &disk, out))
        }
        RunnerCommand::Show { runner } => {
            let client = &context.client()?;
            let id = pick::<Runner>(client, &runner).await?;
            let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
            let found = runners.into_iter().find(|runner| runner.id == id);
            let runner = found.ok_or_else(|| Failure::not_found(format!("there is no runner {id}")))?;
            let disk = Disk::of(client, out).await;
            out.show(&runner, |out| details(&runner, &disk, out))
        }
        RunnerCommand::Look { path, runner } => look::run(&path, runner.as_deref(), context).await,
        RunnerCommand::Remove { runner, yes } => {
            let client = &context.client()?;
            let runner = pick_exact::<Runner>(client, &runner).await?;
            if !yes.yes {
                sure(false, "remove", &named(runner, client).await?, "Its machine can no longer connect.")?;
            }
            client.ask::<()>(Call::RunnerRemove { runner }).await?;
            out.did("removed", runner)
        }
        RunnerCommand::Update { runner, policy, sandbox_others } => {
            let client = &context.client()?;
            if policy.is_none() && sandbox_others.is_none() {
                return Err(Failure::usage("nothing to change").advise("give --policy or --sandbox-others"));
            }
            let runner = pick::<Runner>(client, &runner).await?;
            let input = RunnerUpdate { policy, sandbox_others };
            let runner: Runner = client.ask(Call::RunnerUpdate { runner, input }).await?;
            out.show(&runner, |out| details(&runner, &Disk::default(), out))
        }
    }
}

/// A runner in words, with what is on it.
async fn named(id: RunnerId, client: &Client) -> Result<String, Failure> {
    let runners: Vec<Runner> = client.ask(Call::RunnerList {}).await?;
    let name = runners.into_iter().find(|runner| runner.id == id).map_or_else(String::new, |runner| runner.name);
    let workspaces: Vec<Workspace> = client.ask(Call::WorkspaceList { filter: ExecutionFilter::default() }).await?;
    let sessions: Vec<Session> = client.ask(Call::SessionList { filter: ExecutionFilter::default() }).await?;
    let workspaces = workspaces.iter().filter(|workspace| workspace.runner == id).count();
    let sessions = sessions.iter().filter(|session| session.runner == id).count();
    Ok(format!(
        "runner `{name}` ({id}) with {} and {}",
        words::counted(sessions, "running session", "running sessions"),
        words::counted(workspaces, "workspace", "workspaces")
    ))
}

/// Disk usage of each runner's visible workspaces.
#[derive(Default)]
struct Disk(HashMap<RunnerId, u64>);

impl Disk {
    async fn of(client: &Client, out: &Output) -> Self {
        let mut disk = Self::default();
        if out.json {
            return disk;
        }
        let call = Call::WorkspaceList { filter: ExecutionFilter::default() };
        // Show the runners even if their disk usage is unknown.
        let workspaces: Vec<Workspace> = client.ask(call).await.unwrap_or_default();
        for workspace in workspaces {
            *disk.0.entry(workspace.runner).or_default() += workspace.disk_bytes.unwrap_or(0);
        }
        disk
    }

    fn words(&self, runner: RunnerId) -> Option<String> {
        self.0.get(&runner).filter(|bytes| **bytes > 0).map(|bytes| super::words::bytes(*bytes))
    }
}

fn state_cell(runner: &Runner, out: &Output) -> Cell {
    match (runner.connected, runner.last_seen_at) {
        (true, _) if runner.trouble.is_some() => {
            let why = runner.trouble.as_deref().unwrap_or_default();
            Cell::styled(format!("cannot work: {why}"), Style::Red)
        }
        (true, _) => Cell::styled("connected", Style::Green),
        (false, Some(at)) => Cell::styled(format!("unreachable since {}", when::relative(at, out.now)), Style::Red),
        (false, None) => Cell::styled("never connected", Style::Dim),
    }
}

/// The names of the installed agents.
fn agents(about: &RunnerAbout) -> String {
    let installed = about.agents.iter().filter(|agent| agent.version.is_some());
    let names: Vec<&str> = installed.map(|agent| agent.name.as_str()).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

fn table(runners: &[Runner], disk: &Disk, out: &Output) -> String {
    let titles = &["ID", "NAME…", "OWNER…", "STATE", "MACHINE…", "AGENTS…", "LABELS…", "CAPACITY", "DISK"];
    let mut table = Table::new(titles, "no runners");
    for runner in runners {
        let about = runner.about.as_ref();
        let or = |text: Option<String>| Cell::from(text.filter(|text| !text.is_empty()).unwrap_or("-".to_owned()));
        table.row([
            runner.id.into(),
            (&runner.name).into(),
            (&runner.owner.name).into(),
            state_cell(runner, out),
            or(about.map(|about| about.machine.clone())),
            or(about.map(agents)),
            or(about.map(|about| about.labels.join(", "))),
            or(about.map(|about| about.capacity.to_string())),
            or(disk.words(runner.id)),
        ]);
    }
    table.render(out)
}

fn details(runner: &Runner, disk: &Disk, out: &Output) -> String {
    let mut pairs = vec![
        ("id", runner.id.into()),
        ("name", (&runner.name).into()),
        ("owner", (&runner.owner.name).into()),
        ("state", state_cell(runner, out)),
        ("last seen", when::relative_or(runner.last_seen_at, out.now, "never").into()),
        ("created", when::relative(runner.created_at, out.now).into()),
        ("policy", format!("{}: {}", runner.policy, runner.policy.meaning()).into()),
        (
            "work of others",
            if runner.sandbox_others { "in a sandbox" } else { "in a sandbox if its worker or session says so" }.into(),
        ),
    ];
    pairs.extend(disk.words(runner.id).map(|bytes| ("workspaces", bytes.into())));
    let Some(about) = &runner.about else {
        return fields(out, &pairs);
    };
    pairs.push(("machine", (&about.machine).into()));
    pairs.push(("version", (&about.version).into()));
    pairs.push(("labels", if about.labels.is_empty() { "none".into() } else { about.labels.join(", ").into() }));
    pairs.push(("capacity", words::counted(about.capacity, "session at once", "sessions at once").into()));
    let mut table = Table::new(&["AGENT", "VERSION…", "HEADLESS", "INSTALL…"], "no agents");
    for agent in &about.agents {
        table.row([
            (&agent.name).into(),
            match agent.version.as_deref() {
                Some("") => "always there",
                Some(version) => version,
                None => "not installed",
            }
            .into(),
            super::words::yes(agent.headless).into(),
            agent.install.as_deref().filter(|_| agent.version.is_none()).unwrap_or("").into(),
        ]);
    }
    format!("{}\n\n{}", fields(out, &pairs), table.render(out))
}
