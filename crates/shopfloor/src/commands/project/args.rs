//! Arguments of `shopfloor project`.

use std::str::FromStr;

use clap::{Args, Subcommand};
use domain::Visibility;
use protocol::{PortRange, Repository};

use crate::Failure;
use crate::commands::history::{PageArgs, RangeArgs};
use crate::commands::words;
use crate::confirm::Yes;
use crate::project_arg::{ThisProject, ThisProjectText};
use crate::text_arg::TextArg;

/// Subcommands for projects.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Create a project that you own
    Create(CreateArgs),
    /// List the projects that you can see
    List,
    /// Show one project
    Show {
        #[command(flatten)]
        project: ThisProject,
    },
    /// Change a project; everything that you do not name stays as it is
    Update(UpdateArgs),
    /// Delete a project and everything in it, after asking; takes the exact name or id
    Delete {
        #[command(flatten)]
        project: ThisProject,
        #[command(flatten)]
        yes: Yes,
    },
    /// List the versions of a project's text, newest first
    History {
        #[command(flatten)]
        project: ThisProject,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show what changed between two versions of a project's text
    Diff {
        #[command(flatten)]
        project: ThisProject,
        #[command(flatten)]
        range: RangeArgs,
    },
}

/// A new project.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The name on the first line, then goals and constraints
    #[command(flatten)]
    pub(crate) text: TextArg,
    /// What other users may do in it [default: private]
    #[arg(long, value_parser = words::visibility())]
    pub(crate) visibility: Option<Visibility>,
    /// Whether others can see its sessions, terminals and recordings
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) share_execution: Option<bool>,
    /// Has no effect yet: recordings stay on their runner
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) archive_recordings: Option<bool>,
    /// Whether work that other people request runs in a sandbox
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) sandbox_others: Option<bool>,
    /// Delete recordings after this many days
    #[arg(long, value_name = "DAYS")]
    pub(crate) retention_days: Option<u32>,
    /// The key that the short names of its tasks begin with, such as CALC [default: made from its name]
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// A repository: a URL or a folder, optionally with #BRANCH to start from; may be repeated
    #[arg(long = "repo", alias = "repository", value_name = "URL|PATH", value_parser = words::repository)]
    pub(crate) repositories: Vec<Repository>,
    #[command(flatten)]
    pub(crate) repository: RepositoryArgs,
}

/// Options for the last repository.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "For the last --repo")]
pub(crate) struct RepositoryArgs {
    /// A shell command that prepares a new workspace, such as "npm ci"
    #[arg(long, value_name = "COMMAND")]
    setup: Option<String>,
    /// A shell command that runs before a workspace is deleted
    #[arg(long, value_name = "COMMAND")]
    teardown: Option<String>,
    /// An ignored file or folder to copy into new workspaces, such as .env, from a --repo that is a folder; may be
    /// repeated
    #[arg(long, value_name = "PATTERN")]
    copy: Vec<String>,
    /// Ports to divide among its workspaces, such as 4000-4099
    #[arg(long, value_name = "FIRST-LAST", value_parser = words::ports)]
    ports: Option<PortRange>,
}

impl RepositoryArgs {
    /// Whether any of them was given.
    pub(crate) fn is_empty(&self) -> bool {
        self.setup.is_none() && self.teardown.is_none() && self.copy.is_empty() && self.ports.is_none()
    }

    /// Applies them to the last of `repositories`.
    pub(crate) fn apply(self, repositories: &mut [Repository]) -> Result<(), Failure> {
        if self.is_empty() {
            return Ok(());
        }
        let Some(last) = repositories.last_mut() else {
            return Err(Failure::usage("--setup, --teardown, --copy and --ports need a repository")
                .advise("name it with --repo URL or --repo PATH"));
        };
        // An empty text removes the setting.
        let or = |new: Option<String>, old: &mut Option<String>| {
            if let Some(new) = new {
                *old = Some(new).filter(|text| !text.is_empty());
            }
        };
        or(self.setup, &mut last.setup);
        or(self.teardown, &mut last.teardown);
        if !self.copy.is_empty() {
            last.copy = self.copy.into_iter().filter(|pattern| !pattern.is_empty()).collect();
        }
        last.ports = self.ports.or(last.ports.take());
        Ok(())
    }
}

/// Changes to a project.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    #[command(flatten)]
    pub(crate) text: ThisProjectText,
    /// Refuse the change unless the text still has this version
    #[arg(long, value_name = "N")]
    pub(crate) expected_version: Option<u32>,
    /// What other users may do in it
    #[arg(long, value_parser = words::visibility())]
    pub(crate) visibility: Option<Visibility>,
    /// Whether others can see its sessions, terminals and recordings
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) share_execution: Option<bool>,
    /// Has no effect yet: recordings stay on their runner
    #[arg(long, hide = true, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) archive_recordings: Option<bool>,
    /// Whether work that other people request runs in a sandbox
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) sandbox_others: Option<bool>,
    /// Delete recordings after this many days, or `never`
    #[arg(long, value_name = "DAYS")]
    pub(crate) retention_days: Option<Retention>,
    /// The key that the short names of its tasks begin with, such as CALC; their branches keep their names
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
    /// A repository: a URL or a folder, optionally with #BRANCH; may be repeated, replaces the list
    #[arg(long = "repo", alias = "repository", value_name = "URL|PATH", value_parser = words::repository)]
    pub(crate) repositories: Vec<Repository>,
    /// Remove all repositories
    #[arg(long = "no-repos", alias = "no-repositories", conflicts_with = "repositories")]
    pub(crate) no_repositories: bool,
    #[command(flatten)]
    pub(crate) repository: RepositoryArgs,
}

/// How long to keep recordings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Retention {
    /// Forever.
    Never,
    /// This many days.
    Days(u32),
}

impl Retention {
    /// The days, or none.
    pub(crate) fn days(self) -> Option<u32> {
        match self {
            Self::Never => None,
            Self::Days(days) => Some(days),
        }
    }
}

impl FromStr for Retention {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            days => days.parse().map(Self::Days).map_err(|_| "expected a number of days, or `never`".to_owned()),
        }
    }
}
