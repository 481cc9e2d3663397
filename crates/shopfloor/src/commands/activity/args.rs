//! Arguments of `shopfloor activity`.

use clap::{Args, Subcommand};
use domain::ActivityStatus;
use protocol::Link;

use crate::commands::history::{PageArgs, RangeArgs};
use crate::commands::words;
use crate::project_arg::ProjectText;
use crate::text_arg::TextArg;

/// Subcommands for activities.
#[derive(Debug, Subcommand)]
pub(crate) enum ActivityCommand {
    /// Start an activity that you own
    Create(CreateArgs),
    /// List the activities of one project, or all that you can see
    List(ListArgs),
    /// Show one activity
    Show {
        /// The activity's id or name
        activity: String,
    },
    /// Change an activity; everything that you do not name stays as it is
    Update(UpdateArgs),
    /// List the versions of an activity's text, newest first
    History {
        /// The activity's id or name
        activity: String,
        #[command(flatten)]
        page: PageArgs,
    },
    /// Show what changed between two versions of an activity's text
    Diff {
        /// The activity's id or name
        activity: String,
        #[command(flatten)]
        range: RangeArgs,
    },
}

/// A new activity.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    #[command(flatten)]
    pub(crate) text: ProjectText,
    /// Its status [default: active]
    #[arg(long, value_parser = words::status())]
    pub(crate) status: Option<ActivityStatus>,
    /// A link, as branch=NAME, workspace=ID or session=ID; may be repeated
    #[arg(long = "link", value_name = "KIND=TARGET", value_parser = words::link)]
    pub(crate) links: Vec<Link>,
}

/// Which activities to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only in this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only with this status
    #[arg(long, value_parser = words::status())]
    pub(crate) status: Option<ActivityStatus>,
}

/// Changes to an activity.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// The activity's id or name
    pub(crate) activity: String,
    #[command(flatten)]
    pub(crate) text: TextArg,
    /// Refuse the change unless the text still has this version
    #[arg(long, value_name = "N")]
    pub(crate) expected_version: Option<u32>,
    /// The new status
    #[arg(long, value_parser = words::status())]
    pub(crate) status: Option<ActivityStatus>,
    /// A link, as branch=NAME, workspace=ID or session=ID; may be repeated, replaces all links
    #[arg(long = "link", value_name = "KIND=TARGET", value_parser = words::link)]
    pub(crate) links: Vec<Link>,
    /// Remove all links
    #[arg(long, conflicts_with = "links")]
    pub(crate) no_links: bool,
}
