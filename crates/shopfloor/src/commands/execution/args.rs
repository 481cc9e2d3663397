//! Arguments of `shopfloor execution`.

use clap::{Args, Subcommand};
use domain::ExecutionId;

use crate::commands::recipe::RunArgs;
use crate::given::InputArgs;

const EXAMPLES: &str = "\
Examples:
  shopfloor execution list --project calc --open
  shopfloor execution show 4f2a                        # the last digits of its id, or its recipe's name
  shopfloor execution approve 4f2a --comment \"Looks good\"
  shopfloor execution retry 4f2a fix --reason \"the network is back\"
  shopfloor execution skip 4f2a test --output '{\"exit_code\": 0}'";

/// Subcommands for executions.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ExecutionCommand {
    /// Start an execution; the same as `recipe run`
    Start(RunArgs),
    /// List executions, newest first
    List(ListArgs),
    /// Show an execution: its steps with attempts, questions, sessions and cost
    Show {
        /// The execution (id, or the name of its recipe)
        execution: String,
        /// Show this step with its output and attempts
        step: Option<String>,
    },
    /// Follow an execution until it is over; exit code 1 if it does not complete
    Watch {
        /// The execution (id, or the name of its recipe)
        execution: String,
    },
    /// Show what happened in an execution, oldest first
    Log(LogArgs),
    /// Pause an execution: no further step begins
    Pause {
        #[command(flatten)]
        of: Of,
        /// Stop running steps, too; their work is saved, and they begin again on resume
        #[arg(long)]
        now: bool,
    },
    /// Resume a paused execution
    Resume(Of),
    /// Cancel an execution and stop what it runs
    Cancel(Of),
    /// Answer the question of a step
    Answer {
        /// Approve
        #[arg(long, conflicts_with = "reject", required_unless_present = "reject")]
        approve: bool,
        /// Reject
        #[arg(long)]
        reject: bool,
        #[command(flatten)]
        answer: AnswerArgs,
    },
    /// Approve what a step asks
    Approve(AnswerArgs),
    /// Reject what a step asks
    Reject(AnswerArgs),
    /// Run a failed or interrupted step again
    Retry(StepArgs),
    /// End a step with an output that you give
    Skip {
        #[command(flatten)]
        at: StepArgs,
        /// The output as JSON; `@FILE` reads a file [default: null]
        #[arg(long, value_name = "JSON")]
        output: Option<String>,
    },
    /// Replace the output of a step that no other step has used yet
    Correct {
        /// The execution (id, or the name of its recipe)
        execution: String,
        /// The path of the step, as `execution show` prints it
        step: String,
        /// The output as JSON; `@FILE` reads a file
        #[arg(long, value_name = "JSON")]
        output: String,
        #[command(flatten)]
        why: Why,
    },
    /// Change inputs that no step has used yet
    Inputs {
        #[command(flatten)]
        of: Of,
        #[command(flatten)]
        inputs: InputArgs,
    },
    /// Follow another version of the recipe from here on
    Swap(SwapArgs),
    /// Start a new execution at a step; it takes over the outputs of the steps before
    Rewind {
        /// The execution (id, or the name of its recipe)
        execution: String,
        /// The path of the step, as `execution show` prints it
        step: String,
        #[command(flatten)]
        why: Why,
    },
    /// Decide the stored history again; exit code 1 if today's decisions differ
    Replay {
        /// The execution (id, or the name of its recipe)
        execution: String,
    },
}

/// Why a person intervenes.
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// Why; kept in the log
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) reason: String,
}

/// An execution, and why.
#[derive(Debug, Args)]
pub(crate) struct Of {
    /// The execution (id, or the name of its recipe)
    pub(crate) execution: String,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// A step of an execution, and why.
#[derive(Debug, Args)]
pub(crate) struct StepArgs {
    /// The execution (id, or the name of its recipe)
    pub(crate) execution: String,
    /// The path of the step, as `execution show` prints it [default: the only one that it fits]
    pub(crate) step: Option<String>,
    #[command(flatten)]
    pub(crate) why: Why,
}

/// An answer to the question of a step.
#[derive(Debug, Args)]
pub(crate) struct AnswerArgs {
    /// The execution (id, or the name of its recipe)
    pub(crate) execution: String,
    /// The path of the step, as `execution show` prints it [default: the only one that asks]
    pub(crate) step: Option<String>,
    /// The answer's data as JSON, if the step has a form; `@FILE` reads a file
    #[arg(long, value_name = "JSON")]
    pub(crate) data: Option<String>,
    /// A comment; later steps can read it
    #[arg(long, alias = "reason", value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) comment: String,
}

/// Arguments of `execution list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only in this project (id or name) [default: all projects]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only executions of this recipe (name or id)
    #[arg(long, value_name = "NAME")]
    pub(crate) recipe: Option<String>,
    /// Only executions that are not over
    #[arg(long)]
    pub(crate) open: bool,
    /// Only executions older than this one
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<ExecutionId>,
    /// How many of each project, at most 200 [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

/// Arguments of `execution log`.
#[derive(Debug, Args)]
pub(crate) struct LogArgs {
    /// The execution (id, or the name of its recipe)
    pub(crate) execution: String,
    /// Only entries after this number
    #[arg(long, value_name = "N")]
    pub(crate) after: Option<u32>,
    /// How many entries, at most 1000 [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

/// Arguments of `execution swap`.
#[derive(Debug, Args)]
pub(crate) struct SwapArgs {
    #[command(flatten)]
    pub(crate) of: Of,
    /// The version, by number or content hash [default: the newest]
    #[arg(long, value_name = "VERSION")]
    pub(crate) version: Option<String>,
    /// Only show the difference between the two versions
    #[arg(long)]
    pub(crate) diff: bool,
}
