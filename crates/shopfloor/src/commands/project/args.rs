//! What `shopfloor project …` takes.

use std::str::FromStr;

use clap::{Args, Subcommand};
use domain::Visibility;
use protocol::Repository;

use crate::commands::history::RangeArgs;
use crate::commands::words;
use crate::text_arg::TextArg;

/// Everything that can be done with projects.
#[derive(Debug, Subcommand)]
pub(crate) enum ProjectCommand {
    /// Create a project that you own
    Create(CreateArgs),
    /// The projects that you may see
    List,
    /// One project
    Show {
        /// Its id or name
        project: String,
    },
    /// Change a project; what is not named stays
    Update(UpdateArgs),
    /// Delete a project and all that is in it
    Delete {
        /// Its id or name
        project: String,
    },
    /// The versions of a project's text, newest first
    History {
        /// Its id or name
        project: String,
    },
    /// What changed between two versions of a project's text
    Diff {
        /// Its id or name
        project: String,
        #[command(flatten)]
        range: RangeArgs,
    },
}

/// A new project.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Name on the first line, then goals and constraints
    #[command(flatten)]
    pub(crate) text: TextArg,
    /// What others may do in it [default: private]
    #[arg(long, value_parser = words::visibility())]
    pub(crate) visibility: Option<Visibility>,
    /// Whether others may look into its sessions
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) share_execution: Option<bool>,
    /// Whether the hub keeps recordings
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) archive_recordings: Option<bool>,
    /// Recordings expire after this many days
    #[arg(long, value_name = "DAYS")]
    pub(crate) retention_days: Option<u32>,
    /// A repository that it works on, as LOCATION or LOCATION#BRANCH; may be repeated
    #[arg(long = "repository", value_name = "LOCATION", value_parser = words::repository)]
    pub(crate) repositories: Vec<Repository>,
}

/// Changes to a project.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Its id or name
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) text: TextArg,
    /// Refuse unless the text's version is still this
    #[arg(long, value_name = "N")]
    pub(crate) expected_version: Option<u32>,
    /// What others may do in it
    #[arg(long, value_parser = words::visibility())]
    pub(crate) visibility: Option<Visibility>,
    /// Whether others may look into its sessions
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) share_execution: Option<bool>,
    /// Whether the hub keeps recordings
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    pub(crate) archive_recordings: Option<bool>,
    /// Recordings expire after this many days, or `never`
    #[arg(long, value_name = "DAYS")]
    pub(crate) retention_days: Option<Retention>,
    /// A repository that it works on, as LOCATION or LOCATION#BRANCH; may be repeated, replaces the list
    #[arg(long = "repository", value_name = "LOCATION", value_parser = words::repository)]
    pub(crate) repositories: Vec<Repository>,
    /// It works on no repository
    #[arg(long, conflicts_with = "repositories")]
    pub(crate) no_repositories: bool,
}

/// How long recordings stay.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Retention {
    /// For ever.
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
