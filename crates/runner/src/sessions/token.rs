//! The token of a session's agent, in a file that only it reads: written before the start, and anew before it expires.
//!
//! A folder of its own, because what is replaced in it is also seen by an agent in a sandbox that sees nothing else.

use std::convert::Infallible;
use std::fs::{DirBuilder, File};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use domain::SessionId;
use terminal::HostLink;

use crate::Secret;
use crate::tokens::Tokens;

/// The folder in a session's own that its agent may look into.
pub(super) fn folder(session_dir: &Path) -> PathBuf {
    session_dir.join("agent")
}

/// The file that has the token.
pub(super) fn file(session_dir: &Path) -> PathBuf {
    folder(session_dir).join("token")
}

/// Writes the token; whoever reads it gets all of the old one, or all of the new one.
pub(super) fn write(session_dir: &Path, token: &Secret) -> std::io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder(session_dir))?;
    let (path, fresh) = (file(session_dir), folder(session_dir).join("token.new"));
    let mut out = File::options().create(true).truncate(true).write(true).mode(0o600).open(&fresh)?;
    out.write_all(token.expose().as_bytes())?;
    drop(out);
    std::fs::rename(fresh, path)
}

/// Forgets the token of a session that is over.
pub(super) fn forget(tokens: &Tokens, session: SessionId, session_dir: &Path) {
    tokens.forget(session);
    let path = folder(session_dir);
    if let Err(error) = std::fs::remove_dir_all(&path)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(%session, %error, "an agent's token that has ended could not be removed");
    }
}

/// Renews the token again and again; a token that expired while nobody could be asked is renewed when somebody can.
pub(super) async fn renew(tokens: &Tokens, session: SessionId, session_dir: &Path) -> Infallible {
    // An earlier version put it into the environment, where nothing can be renewed: that one lives with its session.
    while file(session_dir).exists() && tokens.due(session).await {
        let Some(token) = tokens.ask(session).await else { break };
        if let Err(error) = HostLink::mask(session_dir, token.expose()).await {
            tracing::warn!(%session, %error, "the host of a session cannot be told what to mask");
        }
        if let Err(error) = write(session_dir, &token) {
            tracing::error!(%session, %error, "the next token of a session's agent could not be written");
        }
    }
    std::future::pending().await
}
