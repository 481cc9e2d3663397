//! What `shopfloor activity …` takes.

use clap::{Args, Subcommand};
use domain::ActivityStatus;
use protocol::Link;

use crate::commands::history::{PageArgs, RangeArgs};
use crate::commands::words;
use crate::text_arg::TextArg;

/// Everything that can be done with activities.
#[derive(Debug, Subcommand)]
pub(crate) enum ActivityCommand {
    /// Start an activity that you own
    Create(CreateArgs),
    /// The activities of one project, or of all that you may see
    List(ListArgs),
    /// One activity
    Show {
        /// Its id or name
        activity: String,
    },
    /// Change an activity; what is not named stays
    Update(UpdateArgs),
    /// The versions of an activity's text, newest first
    History {
        /// Its id or name
        activity: String,
        #[command(flatten)]
        page: PageArgs,
    },
    /// What changed between two versions of an activity's text
    Diff {
        /// Its id or name
        activity: String,
        #[command(flatten)]
        range: RangeArgs,
    },
}

/// A new activity.
#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// The project's id or name
    pub(crate) project: String,
    #[command(flatten)]
    pub(crate) text: TextArg,
    /// Where it stands [default: active]
    #[arg(long, value_parser = words::status())]
    pub(crate) status: Option<ActivityStatus>,
    /// What it is about, as branch=NAME, workspace=ID or session=ID; may be repeated
    #[arg(long = "link", value_name = "KIND=TARGET", value_parser = words::link)]
    pub(crate) links: Vec<Link>,
}

/// Which activities to list.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only those of this project (id or name)
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only those that stand here
    #[arg(long, value_parser = words::status())]
    pub(crate) status: Option<ActivityStatus>,
}

/// Changes to an activity.
#[derive(Debug, Args)]
pub(crate) struct UpdateArgs {
    /// Its id or name
    pub(crate) activity: String,
    #[command(flatten)]
    pub(crate) text: TextArg,
    /// Refuse unless the text's version is still this
    #[arg(long, value_name = "N")]
    pub(crate) expected_version: Option<u32>,
    /// Where it stands
    #[arg(long, value_parser = words::status())]
    pub(crate) status: Option<ActivityStatus>,
    /// What it is about, as branch=NAME, workspace=ID or session=ID; may be repeated, replaces the list
    #[arg(long = "link", value_name = "KIND=TARGET", value_parser = words::link)]
    pub(crate) links: Vec<Link>,
    /// It is about nothing outside the hub
    #[arg(long, conflicts_with = "links")]
    pub(crate) no_links: bool,
}
