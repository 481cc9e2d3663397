//! Arguments of `shopfloor task`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::TaskStatus;
use protocol::Criterion;

use super::worker_args::{AskArgs, HeartbeatArgs, ReleaseArgs, ReportArgs, TURNS, TakeArgs, TurnArgs};
use crate::commands::words;
use crate::task_file::Format;
use crate::text_arg::TextArg;

/// Subcommands for tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TaskCommand {
    /// Print the JSON Schema of a task file
    Schema,
    /// Check a task file and report every error; needs no hub
    Check(CheckArgs),
    /// Add tasks to a project's queue: all or none
    #[command(after_help = EXAMPLES)]
    Add(Box<AddArgs>),
    /// List the tasks that you can see
    List(ListArgs),
    /// Show one task: criteria with results, attempts, reports, questions
    Show {
        /// The task: CALC-12, its id or its title
        task: String,
    },
    /// Show the changes of a task, as a patch for `git apply`
    Diff {
        /// The task's id or title
        task: String,
        /// Show only the changed files
        #[arg(long)]
        stat: bool,
    },
    /// Show the dependencies between tasks
    Graph(GraphArgs),
    /// Follow tasks as they change
    Watch(WatchArgs),
    /// Change a task that is not over; without options, in your editor
    Edit(Box<EditArgs>),
    /// Ask for more in a done task: it returns to the queue with your words
    Reopen {
        /// The task: CALC-12, its id or its title
        task: String,
        /// What to do now; the next worker reads it
        #[command(flatten)]
        text: TextArg,
    },
    /// Cancel tasks; their workers stop
    Cancel(ManyArgs),
    /// Put failed, escalated or cancelled tasks back into the queue
    Retry(ManyArgs),
    /// Continue a task on your own runner; its worker stops, and its work is kept
    TakeOver(TakeOverArgs),
    /// Export tasks as JSONL that `task add --file` accepts
    Export(ExportArgs),
    /// As a worker: take the next task; exit code 3 if there is none
    Take(TakeArgs),
    /// As a worker: renew the lease; exit code 4 if it is lost
    Heartbeat(HeartbeatArgs),
    /// As a worker: hand in a report
    Report(Box<ReportArgs>),
    /// For many workers at once: hand in reports and take the next tasks
    #[command(after_help = TURNS)]
    Turn(TurnArgs),
    /// As a worker: return a task undone
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
  approved                    merged
  any other text: a person judges";

/// Arguments of `task take-over`.
#[derive(Debug, Args)]
pub(crate) struct TakeOverArgs {
    /// The task: CALC-12, its id or its title
    pub(crate) task: String,
    /// Which of your runners (id or name)
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<String>,
    /// Use another agent
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The goal of its session, beside the task; default: to continue where the earlier session stopped
    #[arg(long, value_name = "TEXT")]
    pub(crate) goal: Option<String>,
    /// Confine it to its workspace and hide your home folder [default: as the worker before]
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// No network in the sandbox
    #[arg(long, requires = "sandbox")]
    pub(crate) no_network: bool,
    /// Make your home folder readable in the sandbox; Shopfloor's data stays hidden
    #[arg(long, requires = "sandbox")]
    pub(crate) home: bool,
    /// Run the command that your colleague chose, without asking you
    #[arg(long, conflicts_with = "argv")]
    pub(crate) yes: bool,
    /// Your own command and its arguments, instead of your colleague's
    #[arg(last = true, value_name = "ARGV")]
    pub(crate) argv: Vec<String>,
}

/// Arguments of `task check`.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The file; `-` is standard input
    pub(crate) file: PathBuf,
    /// The file's format [default: by its name, else by its content]
    #[arg(long)]
    pub(crate) format: Option<Format>,
}

/// New tasks.
#[derive(Debug, Args)]
pub(crate) struct AddArgs {
    /// The project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// The description, title first; `-` reads standard input
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    pub(crate) description: Option<String>,
    /// Read tasks from this file: JSON, JSONL or a Markdown list; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The file's format [default: by its name, else by its content]
    #[arg(long, requires = "file")]
    pub(crate) format: Option<Format>,
    /// Update the open tasks of the project that have the titles of tasks in the file, and add the others
    #[arg(long, requires = "file")]
    pub(crate) update: bool,
    /// Add all tasks of the file, also those whose titles open tasks have
    #[arg(long, requires = "file", conflicts_with = "update")]
    pub(crate) again: bool,
    /// Background that the worker should know
    #[arg(long, value_name = "TEXT", conflicts_with = "file")]
    pub(crate) context: Option<String>,
    /// An acceptance criterion for the report; may be repeated
    #[arg(long = "accept", value_name = "CRITERION", value_parser = plan::criterion, conflicts_with = "file")]
    pub(crate) acceptance: Vec<Criterion>,
    /// The files that the task changes, separated by commas; may be repeated
    #[arg(long, value_name = "PATH", value_delimiter = ',', conflicts_with = "file")]
    pub(crate) files: Vec<String>,
    /// A task that must be done first (CALC-12, id or title); may be repeated
    #[arg(long = "dep", value_name = "TASK", conflicts_with = "file")]
    pub(crate) deps: Vec<String>,
    /// From 0 to 9; higher goes first [default: 5]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9), conflicts_with = "file")]
    pub(crate) priority: Option<u8>,
    /// An ability that the worker must have; may be repeated
    #[arg(long = "need", value_name = "ABILITY", conflicts_with = "file")]
    pub(crate) needs: Vec<String>,
    /// A label, such as ui; may be repeated
    #[arg(long = "label", value_name = "LABEL", conflicts_with = "file")]
    pub(crate) labels: Vec<String>,
    /// The activity that it belongs to (id or name) [default: a new one when the work starts]
    #[arg(long, value_name = "ACTIVITY", conflicts_with = "file")]
    pub(crate) activity: Option<String>,
}

/// Changes to a task; everything that you do not name stays as it is.
#[derive(Debug, Args)]
pub(crate) struct EditArgs {
    /// The task: CALC-12, its id or its title
    pub(crate) task: String,
    /// The description, title first; `-` reads standard input
    #[arg(long, value_name = "TEXT")]
    pub(crate) description: Option<String>,
    /// Background that the worker should know
    #[arg(long, value_name = "TEXT")]
    pub(crate) context: Option<String>,
    /// An acceptance criterion; may be repeated, replaces the list
    #[arg(long = "accept", value_name = "CRITERION", value_parser = plan::criterion)]
    pub(crate) acceptance: Vec<Criterion>,
    /// Remove all acceptance criteria
    #[arg(long = "no-accept", conflicts_with = "acceptance")]
    pub(crate) no_acceptance: bool,
    /// The files that the task changes, separated by commas; may be repeated, replaces the list
    #[arg(long, alias = "file", value_name = "PATH", value_delimiter = ',')]
    pub(crate) files: Vec<String>,
    /// Remove all files
    #[arg(long, conflicts_with = "files")]
    pub(crate) no_files: bool,
    /// A task that must be done first (CALC-12, id or title); may be repeated, replaces the list
    #[arg(long = "after", alias = "dep", value_name = "TASK")]
    pub(crate) deps: Vec<String>,
    /// Remove all dependencies
    #[arg(long = "no-after", alias = "no-deps", conflicts_with = "deps")]
    pub(crate) no_deps: bool,
    /// From 0 to 9; higher goes first
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    pub(crate) priority: Option<u8>,
    /// An ability that the worker must have; may be repeated, replaces the list
    #[arg(long = "need", value_name = "ABILITY")]
    pub(crate) needs: Vec<String>,
    /// Remove all needs
    #[arg(long, conflicts_with = "needs")]
    pub(crate) no_needs: bool,
    /// A label, such as ui; may be repeated, replaces the list
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// Remove all labels
    #[arg(long = "no-label", alias = "no-labels", conflicts_with = "labels")]
    pub(crate) no_labels: bool,
}

impl EditArgs {
    /// Whether no change was named.
    pub(crate) fn is_empty(&self) -> bool {
        let none = [self.no_acceptance, self.no_files, self.no_deps, self.no_needs, self.no_labels];
        let texts = self.description.is_none() && self.context.is_none() && self.priority.is_none();
        let lists = [&self.files, &self.deps, &self.needs, &self.labels];
        texts && lists.iter().all(|list| list.is_empty()) && self.acceptance.is_empty() && !none.contains(&true)
    }
}

/// Tasks by name, or by what they have in common.
#[derive(Debug, Args)]
pub(crate) struct ManyArgs {
    /// The tasks: CALC-12, ids or titles
    pub(crate) tasks: Vec<String>,
    /// Why; people read it later, and the next worker of a retried task
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// Only tasks with this status; may be repeated
    #[arg(long, value_parser = words::task_status(), conflicts_with = "tasks")]
    pub(crate) status: Vec<TaskStatus>,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// All tasks that it applies to, in all projects or in those named
    #[arg(long, conflicts_with = "tasks")]
    pub(crate) all: bool,
    /// Do not ask
    #[arg(long)]
    pub(crate) yes: bool,
}

/// Which tasks.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only in this activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    pub(crate) activity: Option<String>,
    /// Only tasks of this worker (id or name)
    #[arg(long, value_name = "WORKER")]
    pub(crate) worker: Option<String>,
}

/// Which tasks to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Only with this status; may be repeated
    #[arg(long, value_parser = words::task_status())]
    pub(crate) status: Vec<TaskStatus>,
    /// Only with this label; may be repeated: tasks that have them all
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// Include done and cancelled tasks
    #[arg(long, conflicts_with = "status")]
    pub(crate) all: bool,
}

/// Which graph to draw.
#[derive(Debug, Args)]
pub(crate) struct GraphArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Only this task (CALC-12, id or title), its dependencies and its dependants
    pub(crate) task: Option<String>,
    /// Print Graphviz: `shopfloor task graph --dot | dot -Tsvg > graph.svg`
    #[arg(long)]
    pub(crate) dot: bool,
}

/// Arguments of `task watch`.
#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Exit when no task can make progress: with 0 if all are done, with 1 if a task failed or stays blocked. While a
    /// person must answer or no worker takes a ready task, keep running and say so on standard error
    #[arg(long)]
    pub(crate) until_done: bool,
}

/// Arguments of `task export`.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
    /// Leave out done and cancelled tasks
    #[arg(long)]
    pub(crate) open: bool,
}
