//! `shopfloor db …`

use clap::Subcommand;

use crate::{Context, Failure};

/// Everything that can be done with the database.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Write everything into a file that the other kind of database can import
    Export {
        /// The file; `-` is standard output
        file: String,
        /// The database [default: as for `up`]
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
    /// Read everything from such a file into an empty database
    Import {
        /// The file; `-` is standard input
        file: String,
        /// The database [default: as for `up`]
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
    /// Make a consistent copy of a live database
    Backup {
        /// The file
        file: String,
        /// The database [default: as for `up`]
        #[arg(long, value_name = "URL")]
        database: Option<String>,
    },
}

/// Runs one of them.
pub(crate) async fn run(command: DbCommand, context: &Context) -> Result<(), Failure> {
    let _ = (command, context);
    Err(Failure::other("this build cannot move databases yet"))
}
