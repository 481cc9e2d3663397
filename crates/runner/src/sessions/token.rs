//! The token of a session's agent, in a private file: written before the start, and renewed before it expires.
//!
//! In its own folder, so that an agent in a sandbox sees replaced files there and nothing else.

use std::convert::Infallible;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::SessionId;
use terminal::HostLink;

use crate::Secret;
use crate::tokens::Tokens;

/// The folder that a session's agent may read.
pub(super) fn folder(session_dir: &Path) -> PathBuf {
    session_dir.join("agent")
}

/// The file with the token.
pub(super) fn file(session_dir: &Path) -> PathBuf {
    folder(session_dir).join("token")
}

/// Writes the token atomically.
pub(super) fn write(session_dir: &Path, token: &Secret) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder(session_dir))?;
    let (path, fresh) = (file(session_dir), folder(session_dir).join("token.new"));
    let mut out = File::options().create(true).truncate(true).write(true).mode(0o600).open(&fresh)?;
    out.write_all(token.expose().as_bytes())?;
    drop(out);
    std::fs::rename(fresh, path)
}

/// Deletes the token of an exited session.
pub(super) fn forget(tokens: &Tokens, session: SessionId, session_dir: &Path) {
    tokens.forget(session);
    let path = folder(session_dir);
    if let Err(error) = std::fs::remove_dir_all(&path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%session, %error, "could not delete an agent's ended token");
    }
}

/// Renews the token repeatedly; one that expired while the hub was unreachable is renewed later.
pub(super) async fn renew(tokens: &Tokens, session: SessionId, session_dir: &Path) -> Infallible {
    // Earlier versions put it into the environment, where it cannot be renewed: it lives with its session.
    while file(session_dir).exists() && tokens.due(session).await {
        let Some(token) = tokens.ask(session).await else { break };
        if let Err(error) = HostLink::mask(session_dir, token.expose()).await {
            tracing::warn!(%session, %error, "could not send a session's host the secret to mask");
        }
        if let Err(error) = write(session_dir, &token) {
            tracing::error!(%session, %error, "could not write the next token of a session's agent");
        }
    }
    std::future::pending().await
}
