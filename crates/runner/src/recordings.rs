//! The disk usage of recordings, and which to delete to free space.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use domain::{ProjectId, SessionId};
use protocol::link::FactBody;
use terminal::recording::Recording;
use tokio::sync::watch;

use crate::JournalError;
use crate::clock::now;
use crate::folders::Folders;
use crate::index::Index;
use crate::journal::{Change, Journal, SessionRow};
use crate::link::Link;

const DAY_MS: i64 = 24 * 3600 * 1000;

/// A recording's size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Size {
    pub(crate) output_bytes: u64,
    pub(crate) disk_bytes: u64,
    pub(crate) duration_ms: u64,
}

/// The size of the recording in `dir`. Reads files: not for an async thread.
pub(crate) fn size(dir: &Path) -> Size {
    let Ok(recording) = Recording::open(&terminal::Files::new(dir).recording()) else { return Size::default() };
    Size {
        output_bytes: recording.offsets().map_or(0, |there| there.end),
        disk_bytes: recording.size().unwrap_or(0),
        duration_ms: recording.duration().map_or(0, |duration| duration.as_millis() as u64),
    }
}

/// The same for a growing recording, without reading it: it lasts until now.
pub(crate) fn glance(dir: &Path) -> Size {
    let Ok(recording) = Recording::open(&terminal::Files::new(dir).recording()) else { return Size::default() };
    let since = now().as_millis() - recording.header().started_at.saturating_mul(1000);
    let duration_ms = u64::try_from(since).unwrap_or(0);
    Size { output_bytes: 0, disk_bytes: recording.size().unwrap_or(0), duration_ms }
}

/// The recordings of this runner's sessions.
#[derive(Debug)]
pub(crate) struct Recordings {
    journal: Arc<Journal>,
    folders: Folders,
    index: Arc<Index>,
    /// Maximum disk usage; `None`: no limit.
    limit: Option<u64>,
    /// How many days to keep each project's recordings, once the hub has sent it.
    retention: watch::Sender<BTreeMap<ProjectId, u32>>,
    /// The connection to the hub, while there is one.
    link: watch::Receiver<Option<Link>>,
}

impl Recordings {
    pub(crate) fn new(
        journal: Arc<Journal>,
        folders: Folders,
        index: Arc<Index>,
        limit: Option<u64>,
        link: watch::Receiver<Option<Link>>,
    ) -> Self {
        Self { journal, folders, index, limit, retention: watch::Sender::default(), link }
    }

    /// Takes over the hub's retention in days for each project; empty: unknown.
    pub(crate) fn retain(&self, retention: BTreeMap<ProjectId, u32>) {
        self.retention.send_if_modified(|known| {
            let differs = *known != retention;
            *known = retention;
            differs
        });
    }

    /// Notified when the hub's retention changes.
    pub(crate) fn retention(&self) -> watch::Receiver<BTreeMap<ProjectId, u32>> {
        self.retention.subscribe()
    }

    /// Deletes recordings of exited sessions until the rest fits, oldest first.
    pub(crate) async fn make_room(&self) -> Result<(), JournalError> {
        let Some(limit) = self.limit else { return Ok(()) };
        let (ended, running) = (self.journal.sessions(true).await?, self.journal.sessions(false).await?);
        let mut all = Vec::new();
        for row in ended.iter().chain(&running).filter(|row| !row.memory.forgotten) {
            let may_go = row.step == crate::journal::Step::Ended && !row.keep;
            all.push((row.session, self.disk(row.session).await, may_go));
        }
        for session in too_much(&all, limit) {
            let Some(row) = ended.iter().find(|row| row.session == session) else { continue };
            self.throw_away(row, "deleted a recording to free space").await;
        }
        Ok(())
    }

    /// Deletes recordings that are older than their project's retention; only while the hub is connected, which knows what
    /// to keep.
    pub(crate) async fn expire(&self) -> Result<(), JournalError> {
        let retention = self.retention.borrow().clone();
        if retention.is_empty() || self.link.borrow().is_none() {
            return Ok(());
        }
        for row in self.journal.sessions(true).await? {
            let Some(days) = retention.get(&row.desired.project) else { continue };
            let ended = row.memory.state.as_ref().map(|state| state.since);
            let expired = ended.is_some_and(|ended| now().as_millis() - ended.as_millis() > i64::from(*days) * DAY_MS);
            if !expired || row.keep {
                continue;
            }
            if row.memory.forgotten {
                // Earlier releases left them.
                let dir = self.folders.session(row.session);
                if let Ok(Err(error)) = tokio::task::spawn_blocking(move || forget_events(&dir)).await {
                    tracing::warn!(session = %row.session, %error, "could not delete an agent's output");
                }
            } else {
                self.throw_away(&row, "deleted an expired recording").await;
            }
        }
        Ok(())
    }

    /// Deletes an exited session's recording and its agent's lines, and reports it.
    async fn throw_away(&self, row: &SessionRow, why: &str) {
        let session = row.session;
        let dir = self.folders.session(session);
        let gone = tokio::task::spawn_blocking(move || {
            let before = size(&dir);
            forget_events(&dir)?;
            std::fs::remove_dir_all(terminal::Files::new(&dir).recording()).map(|()| before)
        });
        let before = match gone.await {
            Ok(Ok(before)) => before,
            Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => return,
            Ok(Err(error)) => return tracing::warn!(%session, %error, "could not delete a recording"),
            Err(_) => return,
        };
        self.index.forget(session).await;
        tracing::info!(%session, bytes = before.disk_bytes, "{why}");
        let mut memory = row.memory.clone();
        memory.forgotten = true;
        let (output_bytes, duration_ms) = (before.output_bytes, before.duration_ms);
        let fact = FactBody::Recorded { session, output_bytes, disk_bytes: 0, duration_ms };
        self.journal.write(&[Change::Memory(session, Box::new(memory))], &[fact]).await;
    }

    async fn disk(&self, session: SessionId) -> u64 {
        let dir = terminal::Files::new(&self.folders.session(session)).recording();
        let measure = move || Recording::open(&dir).and_then(|recording| recording.size()).unwrap_or(0);
        tokio::task::spawn_blocking(measure).await.unwrap_or(0)
    }
}

/// Deletes an agent's printed lines: they contain what the recording shows.
fn forget_events(dir: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(dir.join(agents::lines::EVENTS_FILE)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Which recordings to delete, of (session, size, deletable), oldest first, so that the rest fits the limit.
fn too_much(all: &[(SessionId, u64, bool)], limit: u64) -> Vec<SessionId> {
    let mut total: u64 = all.iter().map(|(_, size, _)| size).sum();
    // Ids are ordered by creation time.
    let mut may_go: Vec<_> = all.iter().filter(|(_, size, may_go)| *may_go && *size > 0).collect();
    may_go.sort_by_key(|(session, ..)| *session);
    let mut gone = Vec::new();
    for (session, size, _) in may_go {
        if total <= limit {
            break;
        }
        total -= size;
        gone.push(*session);
    }
    gone
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_deletable_recordings_go_first() {
        let ids: Vec<_> = (0..4).map(|_| SessionId::generate()).collect();
        let all = [(ids[0], 10, false), (ids[1], 20, true), (ids[2], 30, true), (ids[3], 40, true)];
        let check = |limit, expected: &[SessionId]| assert_eq!(too_much(&all, limit), expected);
        check(100, &[]);
        check(99, &ids[1..2]);
        check(50, &ids[1..3]);
        check(0, &ids[1..4]);
    }
}
