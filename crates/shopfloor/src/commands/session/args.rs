//! Arguments of `shopfloor session`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use client::Client;
use protocol::{Activity, ExecutionFilter, Project};

use super::KeyboardCommand;
use crate::Failure;
use crate::commands::attach::WatchArgs;
use crate::pick::pick;
use crate::text_arg::TextArg;

/// Subcommands for sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Start an agent, a command or a shell in its own workspace on one of your runners
    #[command(after_help = EXAMPLES)]
    Spawn(Box<SpawnArgs>),
    /// List the sessions that you can see
    List(ListArgs),
    /// Show one session and how it was started
    Show {
        /// The session's id or title
        session: String,
    },
    /// Stop one of your sessions; its work is saved first
    Stop {
        /// The session's id or title
        session: String,
        /// Kill it at once
        #[arg(long)]
        force: bool,
    },
    /// Continue the conversation of one of your exited sessions
    Resume {
        /// The session's id or title
        session: String,
    },
    /// Send a message to the agent of one of your sessions, as if you had typed it
    Send {
        /// The session's id or title
        session: String,
        #[command(flatten)]
        text: TextArg,
        /// Leave the text in the agent's input line
        #[arg(long)]
        no_submit: bool,
    },
    /// Ask the agent of one of your exited sessions about its work; it can only read
    Ask {
        /// The session's id or title
        session: String,
        /// The question
        question: String,
        /// Return at once instead of waiting for the answer
        #[arg(long)]
        no_wait: bool,
    },
    /// List the questions to the agent of an exited session, with the answers
    Questions {
        /// The session's id or title
        session: String,
    },
    /// Print a session's output as plain text; before it has a terminal, the output of the setup
    Log {
        /// The session's id or title
        session: String,
        /// Print the output of the workspace's setup
        #[arg(long)]
        setup: bool,
        /// How many of the last lines, at most 10,000 [default: 1000]
        #[arg(long, short = 'n', value_name = "N")]
        lines: Option<u32>,
    },
    /// Print what a running session's terminal shows now, as plain text
    Screen {
        /// The session's id or title
        session: String,
    },
    /// Ask for the keyboard of a session, hand it over, or take it back
    #[command(subcommand)]
    Keyboard(KeyboardCommand),
    /// Watch a session without typing; prints plain text into a pipe
    Watch(WatchArgs),
}

const EXAMPLES: &str = "\
Examples:
  shopfloor session spawn --project Parser --agent codex --prompt \"Keep comments\" --attach
  shopfloor session spawn --activity \"Lexer keeps trivia\" --agent claude --prompt-file plan.md --headless
  shopfloor session spawn --project Parser -- make test";

/// A new session.
#[derive(Debug, Args)]
pub(crate) struct SpawnArgs {
    /// The activity (id or name)
    #[arg(long, value_name = "ACTIVITY", conflicts_with = "project")]
    pub(crate) activity: Option<String>,
    /// The project (id or name); creates an activity
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// codex, claude, gemini, opencode, shell, command, or your own adapter [default: command, if one is given]
    #[arg(long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// The prompt for the agent
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub(crate) prompt: Option<String>,
    /// Read the prompt from this file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// Run one prompt without interaction and exit
    #[arg(long)]
    pub(crate) headless: bool,
    /// The model [default: the agent's own choice]
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// The runner (id or name) [default: the least loaded of yours that fits]. A colleague's, such as ann/laptop, if
    /// they work on the same activity; they are asked first
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<String>,
    /// Only a runner with this label; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// The project's repository, by its location [default: the first]
    #[arg(long, value_name = "LOCATION")]
    pub(crate) repository: Option<String>,
    /// The branch to start from [default: the repository's base branch]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) base: Option<String>,
    /// Name of the workspace's own branch [default: from the activity's name]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// Use this workspace (id or branch) of the same activity instead of a new one
    #[arg(long, value_name = "WORKSPACE", conflicts_with_all = ["base", "branch", "repository"])]
    pub(crate) workspace: Option<String>,
    /// Confine it to its workspace and hide your home folder; without this it runs as you and can read your keys
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// No network in the sandbox
    #[arg(long, requires = "sandbox")]
    pub(crate) no_network: bool,
    /// Make your home folder readable in the sandbox; Shopfloor's data stays hidden
    #[arg(long, requires = "sandbox")]
    pub(crate) home: bool,
    /// Also record what you type
    #[arg(long)]
    pub(crate) record_input: bool,
    /// Attach to it
    #[arg(long)]
    pub(crate) attach: bool,
    /// The command and its arguments
    #[arg(last = true, value_name = "ARGV")]
    pub(crate) argv: Vec<String>,
}

/// Which sessions or workspaces to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    /// Include exited sessions and deleted workspaces
    #[arg(long)]
    all: bool,
}

/// Project or activity.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only in this activity (id or name)
    #[arg(long, value_name = "ACTIVITY")]
    activity: Option<String>,
}

impl ListArgs {
    /// The same with ids.
    pub(crate) async fn filter(&self, client: &Client) -> Result<ExecutionFilter, Failure> {
        Ok(ExecutionFilter { ended: self.all.then_some(true), ..self.scope.filter(client).await? })
    }
}

impl ScopeArgs {
    /// The same with ids, including or excluding finished ones.
    pub(crate) async fn filter(&self, client: &Client) -> Result<ExecutionFilter, Failure> {
        let project = match &self.project {
            Some(project) => Some(pick::<Project>(client, project).await?),
            None => None,
        };
        let activity = match &self.activity {
            Some(activity) => Some(pick::<Activity>(client, activity).await?),
            None => None,
        };
        Ok(ExecutionFilter { project, activity, ended: Some(true) })
    }
}
