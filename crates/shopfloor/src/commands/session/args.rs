//! What `shopfloor session …` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use client::Client;
use protocol::{Activity, ExecutionFilter, Project};

use crate::Failure;
use crate::commands::attach::WatchArgs;
use crate::pick::pick;
use crate::text_arg::TextArg;

/// Everything that can be done with sessions.
#[derive(Debug, Subcommand)]
pub(crate) enum SessionCommand {
    /// Start an agent, a command or a shell in a workspace of its own on one of your runners
    #[command(after_help = EXAMPLES)]
    Spawn(Box<SpawnArgs>),
    /// The sessions that you may see
    List(ListArgs),
    /// One session, with what it was started with
    Show {
        /// Its id or title
        session: String,
    },
    /// Stop one of your sessions; its work is saved first
    Stop {
        /// Its id or title
        session: String,
        /// At once, without asking it first
        #[arg(long)]
        force: bool,
    },
    /// Go on with the conversation of one of your sessions that is over
    Resume {
        /// Its id or title
        session: String,
    },
    /// Say something to the agent of one of your sessions, as if you had typed it
    Send {
        /// Its id or title
        session: String,
        #[command(flatten)]
        text: TextArg,
        /// Leave the text in the agent's input line
        #[arg(long)]
        no_submit: bool,
    },
    /// What a session's terminal has shown, as plain text; before there is one, what the setup prints
    Log {
        /// Its id or title
        session: String,
        /// What the setup of its workspace printed
        #[arg(long)]
        setup: bool,
        /// Only the last lines, up to 10,000 [default: 1000]
        #[arg(long, short = 'n', value_name = "N")]
        lines: Option<u32>,
    },
    /// Look into a session without typing; plain text when there is no terminal
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
    /// The activity that it is for (id or name)
    #[arg(long, value_name = "ACTIVITY", required_unless_present = "project", conflicts_with = "project")]
    pub(crate) activity: Option<String>,
    /// The project (id or name), when there is no activity yet: one is made
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// codex, claude, gemini, opencode, shell, command, or one of your own [default: command, if one is given]
    #[arg(long, value_name = "NAME", required_unless_present = "argv")]
    pub(crate) agent: Option<String>,
    /// What the agent is to do
    #[arg(long, value_name = "TEXT", conflicts_with = "prompt_file")]
    pub(crate) prompt: Option<String>,
    /// Read what the agent is to do from this file; `-` is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) prompt_file: Option<PathBuf>,
    /// The agent works the prompt off alone and ends
    #[arg(long)]
    pub(crate) headless: bool,
    /// The model, instead of the agent's own choice
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Which runner (id or name) [default: the least loaded of yours that fits]. A colleague's, as ann/laptop, where they
    /// work on the same activity: they are asked first
    #[arg(long, value_name = "RUNNER")]
    pub(crate) runner: Option<String>,
    /// Only a runner with this label; may be repeated
    #[arg(long = "label", value_name = "LABEL")]
    pub(crate) labels: Vec<String>,
    /// Which of the project's repositories, by its location [default: the first]
    #[arg(long, value_name = "LOCATION")]
    pub(crate) repository: Option<String>,
    /// The branch to start from [default: the repository's base branch]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) base: Option<String>,
    /// What to call the workspace's own branch [default: made from the activity's name]
    #[arg(long, value_name = "BRANCH")]
    pub(crate) branch: Option<String>,
    /// Work in this workspace (id or branch) of the same activity instead of a fresh one
    #[arg(long, value_name = "WORKSPACE", conflicts_with_all = ["base", "branch", "repository"])]
    pub(crate) workspace: Option<String>,
    /// Let it write nowhere but in its workspace, and hide your home folder; without this it runs as you and can read your keys
    #[arg(long)]
    pub(crate) sandbox: bool,
    /// In its sandbox, without the network
    #[arg(long, requires = "sandbox")]
    pub(crate) no_network: bool,
    /// In its sandbox, let it read your home folder; Shopfloor's own data stays hidden
    #[arg(long, requires = "sandbox")]
    pub(crate) home: bool,
    /// Record what you type, too
    #[arg(long)]
    pub(crate) record_input: bool,
    /// Attach to it at once
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
    /// Those that are over, too
    #[arg(long)]
    all: bool,
}

/// Whose to list.
#[derive(Debug, Args)]
pub(crate) struct ScopeArgs {
    /// Only those of this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Only those of this activity (id or name)
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
    /// The same with ids, and with those that are over.
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
