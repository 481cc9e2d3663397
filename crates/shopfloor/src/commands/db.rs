//! `shopfloor db`.

use std::fs::{File, OpenOptions, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use store::transfer::{self, TransferError};
use tokio::io::{BufReader, BufWriter, stdin, stdout};

use super::serve_args::ServeArgs;
use super::words;
use crate::failure::chain;
use crate::{Context, Failure};

/// Subcommands for the database.
#[derive(Debug, Subcommand)]
pub(crate) enum DbCommand {
    /// Export the database into a file that SQLite and PostgreSQL can both import; the hub may be running
    Export(Transfer),
    /// Import such a file into an empty database
    Import(Transfer),
    /// Make a consistent copy of the database; the hub may be running
    Backup(Transfer),
}

/// The file and the database.
#[derive(Debug, Args)]
pub(crate) struct Transfer {
    /// The file; `-` is standard output (export) or standard input (import)
    file: PathBuf,
    /// The database [default: as for `up`]
    #[arg(long, value_name = "URL")]
    database: Option<String>,
}

/// Runs the subcommand.
pub(crate) async fn run(command: DbCommand, context: &Context) -> Result<(), Failure> {
    let (DbCommand::Export(args) | DbCommand::Import(args) | DbCommand::Backup(args)) = &command;
    let serve = ServeArgs::with_database(args.database.clone());
    let url = serve.settle(&context.layers, &context.settings.data_dir.value)?.database.value;
    let file = args.file.as_path();
    let done = match command {
        DbCommand::Export(_) => format!("exported {}", words::counted(export(&url, file).await?, "row", "rows")),
        DbCommand::Import(_) => format!("imported {}", words::counted(import(&url, file).await?, "row", "rows")),
        DbCommand::Backup(_) => {
            backup(&url, file).await?;
            format!("made the backup {}", file.display())
        }
    };
    context.out.note(&done);
    Ok(())
}

async fn export(url: &str, file: &Path) -> Result<u64, Failure> {
    if file == Path::new("-") {
        return transfer::export(url, &mut BufWriter::new(stdout())).await.map_err(failed);
    }
    let target = create(file)?;
    let copy = target.try_clone().map_err(|error| unusable(file, &error))?;
    let exported = transfer::export(url, &mut BufWriter::new(tokio::fs::File::from_std(target))).await;
    match exported {
        Ok(rows) => copy.sync_all().map(|()| rows).map_err(|error| unusable(file, &error)),
        Err(error) => {
            // Half an export is worse than none: delete it.
            let _ = std::fs::remove_file(file);
            Err(failed(error))
        }
    }
}

async fn import(url: &str, file: &Path) -> Result<u64, Failure> {
    if file == Path::new("-") {
        return transfer::import(url, &mut BufReader::new(stdin())).await.map_err(failed);
    }
    let source = tokio::fs::File::open(file).await.map_err(|error| unusable(file, &error))?;
    transfer::import(url, &mut BufReader::new(source)).await.map_err(failed)
}

async fn backup(url: &str, file: &Path) -> Result<(), Failure> {
    transfer::backup(url, file).await.map_err(failed)?;
    // A copy must be as private as the data directory.
    std::fs::set_permissions(file, Permissions::from_mode(0o600)).map_err(|error| unusable(file, &error))
}

fn create(file: &Path) -> Result<File, Failure> {
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    created.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Failure::conflict(format!("{} already exists", file.display())).advise("choose another name")
        }
        _ => unusable(file, &error),
    })
}

fn unusable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("could not use {}: {error}", file.display()))
}

fn failed(error: TransferError) -> Failure {
    match error {
        TransferError::NotEmpty | TransferError::Exists(_) => Failure::conflict(error.to_string()),
        TransferError::Archive { .. } => Failure::usage(error.to_string()),
        TransferError::Io(ref io) if io.kind() == std::io::ErrorKind::BrokenPipe => Failure::PipeClosed,
        other => Failure::other(chain(&other)),
    }
}
