//! What the verbs of workers take, for scripts that work tasks off.

use clap::Args;

use crate::commands::words;
use crate::text_arg::TextArg;

/// Who takes a task, and which.
#[derive(Debug, Args)]
pub(crate) struct TakeArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Only this task (id or title) [default: the next one in the queue]
    #[arg(long, value_name = "TASK")]
    pub(crate) task: Option<String>,
    /// What the worker is called; the same name is the same worker
    #[arg(long, value_name = "NAME")]
    pub(crate) worker: Option<String>,
    /// What the worker can do; may be repeated
    #[arg(long = "ability", value_name = "ABILITY")]
    pub(crate) abilities: Vec<String>,
    /// Wait so many seconds for a task
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) wait: u32,
}

/// The task that a worker has, and its hold on it.
#[derive(Debug, Args)]
pub(crate) struct HoldArgs {
    /// The task's id
    pub(crate) task: String,
    /// The fence of the lease, as `task take` has said it
    #[arg(long, value_name = "N", env = "SHOPFLOOR_FENCE", hide_env_values = true)]
    pub(crate) fence: u64,
}

/// A sign of life.
#[derive(Debug, Args)]
pub(crate) struct HeartbeatArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// How far it is, in words
    #[arg(long, value_name = "TEXT")]
    pub(crate) progress: Option<String>,
}

/// What is handed back.
#[derive(Debug, Args)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// What was done, in words
    #[command(flatten)]
    pub(crate) summary: TextArg,
    /// A file that was made or changed; may be repeated
    #[arg(long = "deliverable", value_name = "PATH")]
    pub(crate) files: Vec<String>,
    /// The branch that it is on
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// A commit that it is in; may be repeated
    #[arg(long = "commit", value_name = "HASH")]
    pub(crate) commits: Vec<String>,
    /// How well the task could be understood
    #[arg(long, value_name = "1-5", value_parser = clap::value_parser!(u8).range(1..=5))]
    pub(crate) context_score: Option<u8>,
    /// Tokens that were sent to the model
    #[arg(long, value_name = "N")]
    pub(crate) input_tokens: Option<u64>,
    /// Tokens that came back
    #[arg(long, value_name = "N")]
    pub(crate) output_tokens: Option<u64>,
    /// What it cost, in dollars
    #[arg(long, value_name = "DOLLARS", value_parser = words::read_money)]
    pub(crate) cost: Option<u64>,
    /// It could not be done: why
    #[arg(long, value_name = "REASON")]
    pub(crate) failed: Option<String>,
    /// Wait so many seconds for the verdict; then exit code 0 means accepted, 1 anything else
    #[arg(long, value_name = "SECONDS", default_value_t = 0, hide_default_value = true)]
    pub(crate) wait: u32,
}

/// Giving a task back.
#[derive(Debug, Args)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// Why
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
}

/// A question to a person.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// The question
    pub(crate) question: String,
    /// An answer to choose; may be repeated
    #[arg(long = "option", value_name = "TEXT")]
    pub(crate) options: Vec<String>,
    /// What a person needs to know to decide
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) context: String,
    /// Let the task go until there is an answer
    #[arg(long)]
    pub(crate) give_up: bool,
}

/// What a turn looks like.
pub(crate) const TURNS: &str = r#"Example:
  shopfloor task turn --project P '{"takes": [{"worker": "anvil"}, {"worker": "birch"}]}' --json
  shopfloor task turn --project P --file turn.json
turn.json:
  {"reports": [{"task": "tsk_…", "report": {"fence": 1, "summary": "done"}}], "takes": [{"worker": "anvil"}]}"#;

/// What some workers hand back, and who of them takes the next task.
#[derive(Debug, Args)]
pub(crate) struct TurnArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Reports and takes, as JSON
    #[command(flatten)]
    pub(crate) turn: TextArg,
}
