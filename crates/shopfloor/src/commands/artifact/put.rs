//! `shopfloor artifact put`.

use std::io::Read;
use std::path::Path;

use client::{Client, View};
use futures_util::stream;
use protocol::{ARTIFACT_TEXT, Artifact, ArtifactContent, ArtifactPut, Call, Execution};
use sha2::{Digest, Sha256};
use tokio::fs::File;
use tokio::io::AsyncReadExt;

use super::args::PutArgs;
use super::{about, project_of};
use crate::pick::pick_of;
use crate::{Failure, Output};

/// How much of a file is in memory at once.
const PIECE: usize = 64 * 1024;

/// Puts a file, or a text from standard input.
pub(super) async fn run(args: PutArgs, client: &Client, out: &Output) -> Result<(), Failure> {
    let project = project_of(client, args.project.as_deref()).await?;
    let execution = match &args.execution {
        Some(execution) => Some(pick_of::<Execution>(client, args.project.as_deref(), execution).await?),
        None => None,
    };
    let stdin = args.file == Path::new("-");
    let mut input = ArtifactPut {
        name: name(&args, stdin)?,
        media_type: args.media_type.clone(),
        execution,
        path: args.step.clone(),
        ..Default::default()
    };
    if stdin {
        input.text = Some(read_text()?);
    } else {
        let content = measure(&args.file).await?;
        input.sha256 = Some(send(&args.file, &content, client, project).await?.sha256);
    }
    let call = Call::ArtifactPut { project, input };
    let put: Artifact = match &args.key {
        Some(key) => Artifact::from_answer(client.call_with_key(call, Some(key)).await?)
            .ok_or_else(|| Failure::other("the hub's answer is not an artifact"))?,
        None => client.ask(call).await?,
    };
    out.show(&put, |out| about(&put, out))
}

fn name(args: &PutArgs, stdin: bool) -> Result<String, Failure> {
    if let Some(name) = &args.name {
        return Ok(name.clone());
    }
    let own = args.file.file_name().and_then(|name| name.to_str()).filter(|_| !stdin);
    own.map(str::to_owned).ok_or_else(|| Failure::usage("give the artifact a name with --name"))
}

fn read_text() -> Result<String, Failure> {
    let mut text = String::new();
    let read = std::io::stdin().lock().take(ARTIFACT_TEXT as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| Failure::usage(format!("standard input cannot be read as text: {error}")))?;
    match text.len() > ARTIFACT_TEXT {
        true => Err(Failure::usage(format!(
            "standard input has more than {} KiB: write it to a file, and give the file",
            ARTIFACT_TEXT / 1024
        ))),
        false => Ok(text),
    }
}

/// Size and hash of a file.
async fn measure(path: &Path) -> Result<ArtifactContent, Failure> {
    let (mut file, mut hash, mut size) = (open(path).await?, Sha256::new(), 0);
    let mut piece = vec![0; PIECE];
    loop {
        let read = file.read(&mut piece).await.map_err(|error| unreadable(path, &error))?;
        if read == 0 {
            return Ok(ArtifactContent { sha256: hex::encode(hash.finalize()), size });
        }
        hash.update(&piece[..read]);
        size += read as u64;
    }
}

async fn send(
    path: &Path,
    content: &ArtifactContent,
    client: &Client,
    project: domain::ProjectId,
) -> Result<ArtifactContent, Failure> {
    let file = open(path).await?;
    // Only as much as was measured: a file may grow meanwhile.
    let pieces = stream::try_unfold(file.take(content.size), |mut file| async move {
        let mut piece = vec![0; PIECE];
        let read = file.read(&mut piece).await?;
        piece.truncate(read);
        Ok((read > 0).then(|| (piece.into(), file)))
    });
    Ok(client.send_content(project, content, pieces).await?)
}

async fn open(path: &Path) -> Result<File, Failure> {
    let metadata = tokio::fs::metadata(path).await.map_err(|error| unreadable(path, &error))?;
    if !metadata.is_file() {
        return Err(Failure::usage(format!("{} is not a file", path.display())));
    }
    File::open(path).await.map_err(|error| unreadable(path, &error))
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("could not read {}: {error}", path.display()))
}
