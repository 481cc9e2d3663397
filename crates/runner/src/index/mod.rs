//! The search index of what the terminals of this runner's sessions have shown.
//!
//! It is derived from the recordings, in a SQLite file of its own. One background task reads recordings: ended ones once
//! to their end, growing ones once a minute. Nothing waits for it, and without it only searches fail. Lines go when
//! their recording goes, and the oldest lines go first when there are too many.

mod file;
mod find;
mod follow;
mod read;
mod rows;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use domain::SessionId;
use parking_lot::Mutex;
use tokio::sync::mpsc;

use crate::folders::Folders;
pub(crate) use find::PATIENCE;
pub(crate) use follow::Follower;

use file::File;

/// Why the index is not usable now.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IndexError {
    /// A file cannot be used.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It cannot be read or written.
    #[error("the index of terminals failed: {0}")]
    Sql(#[from] sqlx::Error),
    /// It has another format.
    #[error("the index of terminals has another format")]
    Format,
}

/// The index.
#[derive(Debug)]
pub(crate) struct Index {
    folders: Folders,
    /// The maximum size of all lines, in bytes.
    limit: u64,
    /// How long a search may take.
    patience: Duration,
    writer: File,
    /// Searches do not wait for writes.
    reader: File,
    ended: mpsc::UnboundedSender<SessionId>,
    /// Taken by the task that reads recordings.
    queue: Mutex<Option<mpsc::UnboundedReceiver<SessionId>>>,
}

impl Index {
    /// The index in a data directory, which holds at most this much text and answers within this time.
    pub(crate) fn new(folders: &Folders, limit: u64, patience: Duration) -> Arc<Self> {
        let (ended, queue) = mpsc::unbounded_channel();
        let path = path(folders.data_dir());
        Arc::new(Self {
            folders: folders.clone(),
            limit,
            patience,
            writer: File::new(path.clone()),
            reader: File::new(path),
            ended,
            queue: Mutex::new(Some(queue)),
        })
    }

    /// A session has exited: its recording is complete.
    pub(crate) fn ended(&self, session: SessionId) {
        let _ = self.ended.send(session);
    }

    /// Deletes a session's lines: its recording was deleted.
    pub(crate) async fn forget(&self, session: SessionId) {
        if let Err(error) = self.try_forget(session).await {
            tracing::warn!(%session, %error, "could not delete a session's lines from the index of terminals");
            self.start_over(&error).await;
        }
    }

    async fn try_forget(&self, session: SessionId) -> Result<(), IndexError> {
        let mut held = self.writer.hold().await?;
        let done = rows::forget(&mut held.connection, session).await;
        held.end(done)
    }

    /// Deletes the index if it cannot be repaired: the next start builds a new one.
    async fn start_over(&self, error: &IndexError) {
        if file::is_beyond_repair(error) {
            tracing::warn!(%error, "rebuilding the index of terminals");
            self.reader.close().await;
            self.writer.remove().await;
        }
    }
}

fn path(data_dir: &Path) -> std::path::PathBuf {
    data_dir.join("terminals.db")
}

#[cfg(test)]
mod tests;
