//! Arguments of `shopfloor worker`.

use clap::{Args, Subcommand};

use crate::commands::words;
use crate::confirm::Yes;

/// Subcommands for workers.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkerCommand {
    /// Start workers that take a project's tasks, one at a time
    #[command(after_help = EXAMPLES)]
    Start(StartArgs),
    /// List the workers that you can see
    List(ScopeArgs),
    /// Show each worker's task, progress and cost
    Status(ScopeArgs),
    /// Show one worker: its attempts and the decisions about it
    Show {
        /// The worker's id or name
        worker: String,
    },
    /// Change one of your workers; everything that you do not name stays as it is
    Update(UpdateArgs),
    /// Stop one of your workers; its task returns to the queue with its work saved
    Stop {
        /// The worker's id or name
        worker: String,
        /// Kill its session at once
        #[arg(long)]
        force: bool,
    },
    /// Restart one of your workers and reset its breaker
    Restart {
        /// The worker's id or name
        worker: String,
    },
    /// Remove one of your workers, after asking; its history is kept
    Remove {
        /// The worker's id or name
        worker: String,
        #[command(flatten)]
        yes: Yes,
    },
    /// Stop all your workers in a project
    StopAll {
        /// The project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: String,
        /// Kill their sessions at once
        #[arg(long)]
        force: bool,
    },
    /// List decisions about workers and tasks with their reasons, newest first
    Log(LogArgs),
}

const EXAMPLES: &str = "\
Examples:
  shopfloor worker start --project Parser --agent codex --count 4 --budget 5.00
  shopfloor worker start --project Parser --agent claude --model sonnet --role reviewer --ability review
  shopfloor worker start --project Parser --profile reviewer
  shopfloor worker start --project Parser --agent command -- ./work.sh";

/// New workers.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The project whose tasks they take (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// codex, claude, gemini, opencode, command, or your own adapter [default: command, if one is given]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The project's agent profile that they follow; other options win over it
    #[arg(long, value_name = "NAME")]
    pub(crate) profile: Option<String>,
    /// How many workers, at most 32 [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(store::MAX_WORKERS)))]
    pub(crate) count: Option<u32>,
    /// Their role in the team
    #[arg(long, value_name = "ROLE")]
    pub(crate) role: Option<String>,
    /// The model [default: the agent's own choice]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Budget of each worker in dollars; it stops before it exceeds it [default: no limit]
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) budget: Option<u64>,
    /// Hand the task to a fresh session when a session's cost passes this many dollars [default: never]
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) handoff_after_cost: Option<u64>,
    /// An ability, for tasks that need it; may be repeated
    #[arg(long = "ability", value_name = "ABILITY")]
    pub(crate) abilities: Vec<String>,
    /// Which of your runners (id or name) [default: one that has the agent]
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<String>,
    /// Confine their sessions to their workspaces and hide your home folder; without this they run as you and can read
    /// your keys
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// No network in the sandbox
    #[arg(long, requires = "sandbox")]
    pub(crate) no_network: bool,
    /// Make your home folder readable in the sandbox; Shopfloor's data stays hidden
    #[arg(long, requires = "sandbox")]
    pub(crate) home: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "ARGV")]
    pub(crate) argv: Vec<String>,
}

/// Which workers.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

/// Arguments of `worker update`.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The worker's id or name
    pub(crate) worker: String,
    /// The new name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Its budget in dollars; 0: no limit
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) budget: Option<u64>,
    /// Hand its task to a fresh session when a session's cost passes this many dollars; 0: never
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) handoff_after_cost: Option<u64>,
    /// An ability; may be repeated, replaces the list
    #[arg(long = "ability", value_name = "ABILITY")]
    pub(crate) abilities: Vec<String>,
}

/// Arguments of `worker log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Only decisions about this worker (id or name)
    #[arg(long, value_name = "WORKER")]
    pub(crate) worker: Option<String>,
    /// Only decisions about this task (id or title)
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// Only decisions with a lower number
    #[arg(long, value_name = "N")]
    pub(crate) before: Option<u64>,
    /// How many decisions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=500))]
    pub(crate) limit: Option<u32>,
}
