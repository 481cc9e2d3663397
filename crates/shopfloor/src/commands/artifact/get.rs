//! `shopfloor artifact get`.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use client::Client;
use domain::artifacts::name_trouble;
use protocol::Artifact;
use sha2::{Digest, Sha256};
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncWriteExt;

use super::args::GetArgs;
use super::found;
use crate::output::clean;
use crate::{Failure, Output};

/// Downloads an artifact into a file that did not exist, or to standard output.
pub(super) async fn run(args: GetArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let artifact = found(&args.one, client).await?;
    if args.output.as_deref() == Some(Path::new("-")) {
        return print(&artifact, client, out).await;
    }
    let path = match args.output {
        Some(path) => path,
        None => own_name(&artifact)?,
    };
    let written = if args.force { beside(&path) } else { path.clone() };
    let file = OpenOptions::new().write(true).create_new(true).open(&written).await;
    let file = file.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::conflict(format!("{} exists already", written.display()))
            .advise("give another name with --output, or replace it with --force"),
        _ => unwritable(&written, &error),
    })?;
    let mut done = save(&artifact, client, file, &written).await;
    if done.is_ok() && args.force {
        done = tokio::fs::rename(&written, &path).await.map_err(|error| unwritable(&path, &error));
    }
    if let Err(failure) = done {
        // A part of the content is of no use.
        let _ = tokio::fs::remove_file(&written).await;
        return Err(failure);
    }
    let shown = serde_json::json!({ "artifact": artifact, "file": path.display().to_string() });
    out.show(&shown, |_| clean(&path.display().to_string()))
}

/// The artifact's own name. The hub accepts only plain file names; this does not rely on it.
fn own_name(artifact: &Artifact) -> Result<PathBuf, Failure> {
    match name_trouble(&artifact.name) {
        None if !artifact.name.chars().any(char::is_control) => Ok(PathBuf::from(&artifact.name)),
        _ => Err(Failure::usage("the artifact's name is no plain file name: give a file with --output")),
    }
}

/// A new file in the same folder, which takes the place of the old one when it is complete.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.part", std::process::id()));
    path.with_file_name(name)
}

async fn save(artifact: &Artifact, client: &Client, mut file: File, path: &Path) -> Result<(), Failure> {
    let mut download = client.download(artifact.id).await?;
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(piece) = download.next().await? {
        size += piece.len() as u64;
        hash.update(&piece);
        file.write_all(&piece).await.map_err(|error| unwritable(path, &error))?;
    }
    file.sync_all().await.map_err(|error| unwritable(path, &error))?;
    intact(artifact, size, &hex::encode(hash.finalize()))
}

/// Refuses content that is not what the hub promised.
fn intact(artifact: &Artifact, size: u64, sha256: &str) -> Result<(), Failure> {
    match size == artifact.size && sha256 == artifact.sha256 {
        true => Ok(()),
        false => Err(Failure::other(format!(
            "the download was damaged: {size} bytes with the hash {sha256} instead of {} with {}; try again",
            artifact.size, artifact.sha256
        ))),
    }
}

/// Writes the content to standard output; what could drive a terminal is made harmless there.
async fn print(artifact: &Artifact, client: &Client, out: &Output) -> Result<(), Failure> {
    let terminal = std::io::stdout().is_terminal();
    let mut download = client.download(artifact.id).await?;
    let (mut hash, mut size) = (Sha256::new(), 0);
    while let Some(piece) = download.next().await? {
        size += piece.len() as u64;
        hash.update(&piece);
        match terminal {
            true => out.bytes(clean(&String::from_utf8_lossy(&piece)).as_bytes())?,
            false => out.bytes(&piece)?,
        }
    }
    intact(artifact, size, &hex::encode(hash.finalize()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::other(format!("could not write {}: {error}", path.display()))
}
