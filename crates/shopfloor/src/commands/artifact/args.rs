//! Arguments of `shopfloor artifact`.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::ArtifactId;

use crate::confirm::Yes;

const EXAMPLES: &str = "\
Examples:
  shopfloor artifact put report.pdf --project calc
  shopfloor artifact list --execution 4f2a             # the last digits of its id, or its recipe's name
  shopfloor artifact get summary.md --execution 4f2a --output -
  shopfloor artifact configure --project calc --days 30";

/// Subcommands for artifacts.
#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub(crate) enum ArtifactCommand {
    /// List artifacts, newest first
    List(ListArgs),
    /// Download an artifact; its hash is checked
    Get(GetArgs),
    /// Put a file; the same file with the same name in the same place is one artifact
    Put(PutArgs),
    /// Show an artifact's size, hash and origin
    Show(One),
    /// Remove an artifact
    Remove {
        /// The artifact's id or its exact name
        artifact: String,
        /// Only look in this project (id or name)
        #[arg(long, value_name = "PROJECT")]
        project: Option<String>,
        #[command(flatten)]
        yes: Yes,
    },
    /// Show how large a project's artifacts may be, and how long they are kept
    Settings {
        /// The project's id or name
        #[arg(long, value_name = "PROJECT")]
        project: String,
    },
    /// Change how large a project's artifacts may be, and how long they are kept
    Configure(SettingsArgs),
}

/// One artifact.
#[derive(Debug, Args)]
pub(crate) struct One {
    /// The artifact (id or name)
    pub(crate) artifact: String,
    /// The newest with this name of this execution (id, or the name of its recipe)
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) execution: Option<String>,
    /// Only look in this project (id or name) [default: all projects]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

/// Arguments of `artifact list`.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only in this project (id or name) [default: all projects]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only artifacts of this execution (id, or the name of its recipe)
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) execution: Option<String>,
    /// Only artifacts of this step of the execution
    #[arg(long, value_name = "PATH", requires = "execution")]
    pub(crate) step: Option<String>,
    /// Only artifacts with this name
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// Only artifacts older than this one
    #[arg(long, value_name = "ID")]
    pub(crate) before: Option<ArtifactId>,
    /// How many of each project, at most 200 [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) limit: Option<u32>,
}

/// Arguments of `artifact get`.
#[derive(Debug, Args)]
pub(crate) struct GetArgs {
    #[command(flatten)]
    pub(crate) one: One,
    /// Write to this file; `-` is standard output [default: the artifact's name, in this folder]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    pub(crate) force: bool,
}

/// Arguments of `artifact put`.
#[derive(Debug, Args)]
pub(crate) struct PutArgs {
    /// The file; `-` reads a text from standard input
    pub(crate) file: PathBuf,
    /// The project (id or name) [default: the only one that you see]
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// The artifact's name [default: the file's]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The media type, such as text/markdown [default: by the name's extension]
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) media_type: Option<String>,
    /// The execution that it belongs to (id, or the name of its recipe) [default: that of the session, for its agent]
    #[arg(long, value_name = "EXECUTION")]
    pub(crate) execution: Option<String>,
    /// The path of the execution's step that it belongs to
    #[arg(long, value_name = "PATH")]
    pub(crate) step: Option<String>,
    /// A key of your own: the same key twice puts one artifact
    #[arg(long, value_name = "KEY")]
    pub(crate) key: Option<String>,
}

/// Arguments of `artifact configure`.
#[derive(Debug, Args)]
pub(crate) struct SettingsArgs {
    /// The project's id or name
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: String,
    /// Keep artifacts for this many days; 0: for good
    #[arg(long, value_name = "DAYS")]
    pub(crate) days: Option<u32>,
    /// The largest artifact, in MiB
    #[arg(long, value_name = "MIB")]
    pub(crate) max_mib: Option<u32>,
    /// All artifacts of the project together, in MiB
    #[arg(long, value_name = "MIB")]
    pub(crate) total_mib: Option<u32>,
}
