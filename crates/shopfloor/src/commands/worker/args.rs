//! What `shopfloor worker …` takes.

use clap::{Args, Subcommand};

use crate::commands::words;

/// Everything that can be done with workers.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Start workers that take a project's tasks, one after the other
    #[command(after_help = EXAMPLES)]
    Start(StartArgs),
    /// The workers that you may see
    List(ScopeArgs),
    /// How the pool does: who works on what, how far, what it cost
    Status(ScopeArgs),
    /// One worker: what it has done, and what was decided about it
    Show {
        /// Its id or name
        worker: String,
    },
    /// Change one of your workers; what is not named stays
    Update(UpdateArgs),
    /// Stop one of your workers; its task goes back with its work saved
    Stop {
        /// Its id or name
        worker: String,
        /// At once, without letting the agent end by itself
        #[arg(long)]
        force: bool,
    },
    /// Start one of your workers afresh, with its breaker closed
    Restart {
        /// Its id or name
        worker: String,
    },
    /// Remove one of your workers; what it did is kept
    Remove {
        /// Its id or name
        worker: String,
    },
    /// Stop all of your workers in a project
    StopAll {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
        /// At once, without letting the agents end by themselves
        #[arg(long)]
        force: bool,
    },
    /// What was decided about workers and tasks, and why, newest first
    Log(LogArgs),
}

const EXAMPLES: &str = "\
Examples:
  shopfloor worker start --project Parser --agent codex --count 4 --budget 5.00
  shopfloor worker start --project Parser --agent claude --model sonnet --role reviewer --ability review
  shopfloor worker start --project Parser --agent command -- ./work.sh";

/// New workers.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The project whose tasks they take (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// codex, claude, gemini, opencode, command, or one of your own [default: command, if one is given]
    #[arg(long, value_name = "NAME", required_unless_present = "argv")]
    pub(crate) agent: Option<String>,
    /// How many, up to 32 [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(store::MAX_WORKERS)))]
    pub(crate) count: Option<u32>,
    /// Who they are in the team
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// The model, instead of the agent's own choice
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// What each may cost in all, in dollars; it stops before it costs more [default: anything]
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) budget: Option<u64>,
    /// Something that they can do, for tasks that need it; may be repeated
    #[arg(long = "ability", value_name = "ABILITY")]
    pub(crate) abilities: Vec<String>,
    /// Which of your runners (id or name) [default: one that has the agent]
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<String>,
    /// Let their sessions write nowhere but in their workspaces, and hide your home folder; without this they run as you and can read your keys
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// In its sandbox, without the network
    #[arg(long, requires = "sandbox")]
    pub(crate) no_network: bool,
    /// In its sandbox, let it read your home folder; Shopfloor's own data stays hidden
    #[arg(long, requires = "sandbox")]
    pub(crate) home: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "ARGV")]
    pub(crate) argv: Vec<String>,
}

/// Whose workers.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only those of this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

/// Changes to a worker.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Its id or name
    pub(crate) worker: String,
    /// What people call it
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// What it may cost in all, in dollars; 0: anything
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) budget: Option<u64>,
    /// Something that it can do; may be repeated, replaces the list
    #[arg(long = "ability", value_name = "ABILITY")]
    pub(crate) abilities: Vec<String>,
}

/// Which decisions to list.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Only those about this worker (id or name)
    #[arg(long, value_name = "WORKER")]
    pub(crate) worker: Option<String>,
    /// Only those about this task (id or title)
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Only those with a lower number
    #[arg(long, value_name = "N")]
    pub(crate) before: Option<u64>,
    /// How many at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: Option<u32>,
}
