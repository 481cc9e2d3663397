//! What `shopfloor task …` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::TaskStatus;
use protocol::Criterion;

use super::worker_args::{AskArgs, HeartbeatArgs, ReleaseArgs, ReportArgs, TURNS, TakeArgs, TurnArgs};
use crate::commands::words;
use crate::task_file::Format;

/// Everything that can be done with tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Print the JSON Schema of a task file
    Schema,
    /// Say everything that is wrong in a task file, without a hub
    Check(CheckArgs),
    /// Add tasks to a project's queue, all or none
    #[command(after_help = EXAMPLES)]
    Add(Box<AddArgs>),
    /// The tasks that you may see
    List(ListArgs),
    /// One task: its criteria with results, attempts, reports, questions
    Show {
        /// Its id or title
        task: String,
    },
    /// What waits for what
    Graph(GraphArgs),
    /// Follow tasks as they move
    Watch(WatchArgs),
    /// Take a task off the queue; who works on it stops
    Cancel {
        /// Its id or title
        task: String,
        /// Why, for those who read it later
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Put a task that failed, was escalated or cancelled back into the queue
    Retry {
        /// Its id or title
        task: String,
        /// What to do differently; its worker reads it
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
    },
    /// Go on with a task on your own runner; who works on it stops, with its work saved
    TakeOver(TakeOverArgs),
    /// Print tasks as JSONL that `task add --file` takes again
    Export(ExportArgs),
    /// As a worker: take the next task; exit code 3 when there is none
    Take(TakeArgs),
    /// As a worker: renew a lease; exit code 4 when it is lost
    Heartbeat(HeartbeatArgs),
    /// As a worker: hand work back
    Report(Box<ReportArgs>),
    /// For many workers at once: hand back what they did, and take the next
    #[command(after_help = TURNS)]
    Turn(TurnArgs),
    /// As a worker: give a task back undone
    Release(ReleaseArgs),
    /// As a worker: ask a person
    Ask(AskArgs),
}

const EXAMPLES: &str = "\
Examples:
  shopfloor task add --project Parser --file plan.md
  shopfloor task add --project Parser \"Keep comments\" --accept \"command: cargo test\" --accept committed
  shopfloor task add --project Parser --file - < tasks.jsonl

A criterion is one line, or JSON as in `shopfloor task schema`:
  file_exists: PATH           file_matches: PATH regex=… not_regex=… min_words=N parses=json
  command: PROGRAM ARGUMENT…  only_touches: PATTERN…
  committed                   no_conflict_with_base
  any other words: a person judges";

/// Who goes on with a task, and with what.
#[derive(Debug, Args)]
pub(crate) struct TakeOverArgs {
    /// Its id or title
    pub(crate) task: String,
    /// Which of your runners (id or name)
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<String>,
    /// Another agent than before
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Let it write nowhere but in its workspace, and hide your home folder [default: as the worker before]
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// In its sandbox, without the network
    #[arg(long, requires = "sandbox")]
    pub(crate) no_network: bool,
    /// In its sandbox, let it read your home folder; Shopfloor's own data stays hidden
    #[arg(long, requires = "sandbox")]
    pub(crate) home: bool,
    /// Run the command that your colleague chose on your runner, without asking
    #[arg(long, conflicts_with = "argv")]
    pub(crate) yes: bool,
    /// The command that goes on with it, and its arguments
    #[arg(last = true, value_name = "ARGV")]
    pub(crate) argv: Vec<String>,
}

/// Which file to check.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The file; `-` is standard input
    pub(crate) file: PathBuf,
    /// How it is written [default: by its name, else by its content]
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

/// New tasks.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// What is to be done, title first; `-` reads standard input
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) description: Option<String>,
    /// Read tasks from this file: JSON, JSONL or a Markdown list; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// How the file is written [default: by its name, else by its content]
    #[arg(long, requires = "file")]
    pub(crate) format: Option<Format>,
    /// What the worker should know
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    pub(crate) context: Option<String>,
    /// What the report must meet; may be repeated
    #[arg(long = "accept", value_name = "CRITERION", value_parser = plan::criterion, conflicts_with = "file")]
    pub(crate) acceptance: Vec<Criterion>,
    /// The files that it means to change, separated by commas; may be repeated
    #[arg(long, value_name = "PATH", value_delimiter = ',', conflicts_with = "file")]
    pub(crate) files: Vec<String>,
    /// What must be done before (id or title); may be repeated
    #[arg(long = "dep", value_name = "TASK", conflicts_with = "file")]
    pub(crate) deps: Vec<String>,
    /// From 0 to 9; higher goes first [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9), conflicts_with = "file")]
    pub(crate) priority: Option<u8>,
    /// An ability that the worker must have; may be repeated
    #[arg(long = "need", value_name = "ABILITY", conflicts_with = "file")]
    pub(crate) needs: Vec<String>,
    /// The activity that it belongs to (id or name) [default: one is started with the work]
    #[arg(long, value_name = "ACTIVITY", conflicts_with = "file")]
    pub(crate) activity: Option<String>,
}

/// Which tasks.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only those of this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only those of this activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    pub(crate) activity: Option<String>,
    /// Only those that this worker has (id or name)
    #[arg(long, value_name = "WORKER")]
    pub(crate) worker: Option<String>,
}

/// Which tasks to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Only those that are at this; may be repeated
    #[arg(long, value_parser = words::task_status())]
    pub(crate) status: Vec<TaskStatus>,
    /// Those that are done or cancelled, too
    #[arg(long, conflicts_with = "status")]
    pub(crate) all: bool,
}

/// Which graph to draw.
#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Only this task (id or title), what it waits for, and what waits for it
    pub(crate) task: Option<String>,
    /// Print it for Graphviz: `shopfloor task graph --dot | dot -Tsvg > graph.svg`
    #[arg(long)]
    pub(crate) dot: bool,
}

/// What to follow.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// End when nothing moves any more: exit code 0 when all is done, 1 when something failed or stays blocked. While
    /// people must answer first, or nobody takes what is ready, it goes on and says so on standard error
    #[arg(long)]
    pub(crate) until_done: bool,
}

/// What to export.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Leave out what is done or cancelled
    #[arg(long)]
    pub(crate) open: bool,
}
