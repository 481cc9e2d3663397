//! Top level of the command line: global options and the list of commands.

use std::path::PathBuf;

use clap::{Args, Parser};

use crate::commands::Command;
use crate::settings::Color;

/// The multiplayer control plane for coding agents
#[derive(Debug, Parser)]
#[command(name = "shopfloor", version, arg_required_else_help = true, max_term_width = 100)]
pub struct Cli {
    /// The global options.
    #[command(flatten)]
    pub global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command accepts.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// The hub's address, such as http://127.0.0.1:4720 [env: SHOPFLOOR_HUB]
    #[arg(long, value_name = "URL", global = true)]
    pub hub: Option<String>,
    /// Your token; other users of this machine can read command lines, so prefer --token-file [env: SHOPFLOOR_TOKEN]
    #[arg(long, value_name = "TOKEN", global = true)]
    pub token: Option<String>,
    /// The file with your token; `-` reads the first line of standard input [env: SHOPFLOOR_TOKEN_FILE]
    #[arg(long, value_name = "FILE", global = true, conflicts_with = "token")]
    pub token_file: Option<PathBuf>,
    /// The data directory of the hub on this machine; it contains the hub's address and your token [env:
    /// SHOPFLOOR_DATA_DIR]
    #[arg(long, value_name = "DIR", global = true)]
    pub data_dir: Option<PathBuf>,
    /// Print results as JSON, with the names that the protocol uses
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colours; `auto` uses them on a terminal unless NO_COLOR is set [env: SHOPFLOOR_COLOR]
    #[arg(long, value_name = "WHEN", global = true)]
    pub(crate) color: Option<Color>,
}
