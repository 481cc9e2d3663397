//! Arguments of the worker verbs, for scripts that work on tasks.

use clap::Args;

use crate::commands::words;
use crate::text_arg::TextArg;

/// Arguments of `task take`.
#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Only this task (id or title) [default: the next one in the queue]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// The worker's name; the same name is the same worker
    #[arg(long, value_name = "NAME")]
    pub(crate) worker: Option<String>,
    /// An ability of the worker; may be repeated
    #[arg(long = "ability", value_name = "ABILITY")]
    pub(crate) abilities: Vec<String>,
    /// Wait up to this many seconds for a task
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) wait: u32,
}

/// A task and the worker's hold on it.
#[derive(Debug, Args)]
pub(crate) struct HoldArgs {
    /// The task: CALC-12 or its id
    pub(crate) task: String,
    /// The lease's fence, as printed by `task take`
    #[arg(long, value_name = "N", env = "SHOPFLOOR_FENCE", hide_env_values = true)]
    pub(crate) fence: u64,
}

/// Arguments of `task heartbeat`.
#[derive(Debug, Args)]
pub(crate) struct HeartbeatArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// The progress, as a short text
    #[arg(long, value_name = "TEXT")]
    pub(crate) progress: Option<String>,
}

/// Arguments of `task report`.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// A summary of the work
    #[command(flatten)]
    pub(crate) summary: TextArg,
    /// A created or changed file; may be repeated
    #[arg(long = "deliverable", value_name = "PATH")]
    pub(crate) files: Vec<String>,
    /// The branch with the work
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// A commit with the work; may be repeated
    #[arg(long = "commit", value_name = "HASH")]
    pub(crate) commits: Vec<String>,
    /// How well the task was described, from 1 to 5
    #[arg(long, value_name = "1-5", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) context_score: Option<u8>,
    /// Input tokens used
    #[arg(long, value_name = "N")]
    pub(crate) input_tokens: Option<u64>,
    /// Output tokens used
    #[arg(long, value_name = "N")]
    pub(crate) output_tokens: Option<u64>,
    /// The cost in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) cost: Option<u64>,
    /// The task cannot be done, and why
    #[arg(long, value_name = "REASON")]
    pub(crate) failed: Option<String>,
    /// Wait up to this many seconds for the verdict; exit code 0 then means accepted, 1 anything else
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) wait: u32,
}

/// Arguments of `task release`.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// The reason
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// Arguments of `task ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// The question
    pub(crate) question: String,
    /// An answer to choose from; may be repeated
    #[arg(long = "option", value_name = "TEXT")]
    pub(crate) options: Vec<String>,
    /// Context that the person needs to decide
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: String,
    /// Return the task until there is an answer
    #[arg(long)]
    pub(crate) give_up: bool,
}

/// An example of a turn.
pub(crate) const TURNS: &str = r#"Example:
  shopfloor task turn --project P '{"takes": [{"worker": "anvil"}, {"worker": "birch"}]}' --json
  shopfloor task turn --project P --file turn.json
turn.json:
  {"reports": [{"task": "tsk_…", "report": {"fence": 1, "summary": "done"}}], "takes": [{"worker": "anvil"}]}"#;

/// Arguments of `task turn`.
#[derive(Debug, Args)]
pub(crate) struct TurnArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Reports and takes, as JSON
    #[command(flatten)]
    pub(crate) turn: TextArg,
}
