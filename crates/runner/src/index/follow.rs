//! The task that reads recordings into the index: one part at a time, at most half of the time.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use domain::SessionId;
use terminal::recording::Recording;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::file::Held;
use super::read::{Part, part};
use super::rows::{self, BATCH, Line, Progress};
use super::{Index, IndexError};
use crate::journal::{Journal, SessionRow, Step};
use crate::machine::Machine;
use crate::sessions::Sessions;

/// How often to read what running sessions have shown.
const LOOK: Duration = Duration::from_secs(60);

/// What the task needs of the runner.
#[derive(Debug)]
pub(crate) struct Follower {
    pub(crate) index: Arc<Index>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) sessions: Arc<Sessions>,
}

/// What to read next.
#[derive(Debug, Default)]
struct Queue {
    now: VecDeque<SessionId>,
    /// Sessions that ended while no runner read them; the newest last.
    old: Vec<SessionId>,
    /// The sizes of growing recordings that were read to their end.
    sizes: HashMap<SessionId, u64>,
}

impl Follower {
    /// Reads recordings as long as the runner runs.
    pub(crate) async fn follow(self) {
        let Some(mut ended) = self.index.queue.lock().take() else { return };
        let mut queue = Queue { old: self.left_over().await, ..Queue::default() };
        let (mut looks, mut next) = (interval(LOOK), Instant::now());
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            let waits = !queue.now.is_empty() || !queue.old.is_empty();
            tokio::select! {
                biased;
                Some(session) = ended.recv() => queue.now.push_front(session),
                _ = looks.tick() => self.growing(&mut queue).await,
                () = sleep_until(next), if waits => {
                    let begun = Instant::now();
                    self.step(&mut queue).await;
                    next = Instant::now() + begun.elapsed();
                }
            }
        }
    }

    /// Drops the lines of recordings that are gone, and returns the ended sessions that were not read to their end.
    pub(super) async fn left_over(&self) -> Vec<SessionId> {
        let known = match self.index.sessions().await {
            Ok(known) => known,
            Err(error) => {
                tracing::warn!(%error, "could not read the index of terminals");
                self.index.start_over(&error).await;
                Vec::new()
            }
        };
        let Ok(ended) = self.journal.sessions(true).await else { return Vec::new() };
        let done: HashSet<SessionId> = known.iter().filter(|(_, done)| *done).map(|(session, _)| *session).collect();
        for (session, _) in known {
            if !self.has_recording(session).await {
                self.index.forget(session).await;
            }
        }
        let left = ended.iter().filter(|row| !row.memory.forgotten && !done.contains(&row.session));
        left.map(|row| row.session).collect()
    }

    /// Queues the running sessions that have shown something new.
    async fn growing(&self, queue: &mut Queue) {
        let running = self.sessions.all();
        queue.sizes.retain(|session, _| running.contains(session));
        for session in running {
            let size = self.size(session).await;
            if size > 0 && queue.sizes.get(&session) != Some(&size) && !queue.now.contains(&session) {
                queue.sizes.insert(session, size);
                queue.now.push_back(session);
            }
        }
    }

    /// Reads one part of one recording.
    async fn step(&self, queue: &mut Queue) {
        let (session, old) = match queue.now.pop_front() {
            Some(session) => (session, false),
            None => match queue.old.pop() {
                Some(session) => (session, true),
                None => return,
            },
        };
        // Older sessions would be dropped first: do not begin with them.
        if old && self.is_full().await {
            queue.old.clear();
            return;
        }
        match self.read(session).await {
            Ok(true) => {}
            Ok(false) if old => queue.old.push(session),
            Ok(false) => queue.now.push_back(session),
            Err(error) => {
                tracing::warn!(%session, %error, "could not index what a terminal has shown");
                self.index.start_over(&error).await;
            }
        }
    }

    /// Adds the next part of a session; whether it was the last one for now.
    pub(super) async fn read(&self, session: SessionId) -> Result<bool, IndexError> {
        let Ok(Some(row)) = self.journal.session(session).await else { return Ok(true) };
        let before = self.index.progress(session).await?;
        if before.done || row.memory.forgotten {
            return Ok(true);
        }
        let (dir, secrets) = (self.machine.folders.session(session), self.machine.secrets());
        let read = tokio::task::spawn_blocking(move || part(&dir, before.next, secrets)).await;
        let Ok(read) = read else { return Ok(true) };
        let Some(Part { lines, next, from_ms }) = read? else { return Ok(true) };
        let to = Progress { done: next.done && row.step == Step::Ended, ..next };
        self.index.add(&row, &lines, to, from_ms).await?;
        Ok(next.done)
    }

    async fn is_full(&self) -> bool {
        self.index.text_bytes().await.is_ok_and(|size| size > self.index.limit / 10 * 9)
    }

    async fn has_recording(&self, session: SessionId) -> bool {
        tokio::fs::try_exists(self.index.recording(session)).await.unwrap_or(true)
    }

    async fn size(&self, session: SessionId) -> u64 {
        let dir = self.index.recording(session);
        let measure = move || Recording::open(&dir).and_then(|recording| recording.size()).unwrap_or(0);
        tokio::task::spawn_blocking(measure).await.unwrap_or(0)
    }
}

impl Index {
    /// The folder of a session's recording.
    pub(super) fn recording(&self, session: SessionId) -> std::path::PathBuf {
        terminal::Files::new(&self.folders.session(session)).recording()
    }

    /// Every session in the index, and whether all of it was read.
    async fn sessions(&self) -> Result<Vec<(SessionId, bool)>, IndexError> {
        let mut held = self.writer.hold().await?;
        let done = rows::sessions(&mut held.connection).await;
        held.end(done)
    }

    /// How far a session was read.
    async fn progress(&self, session: SessionId) -> Result<Progress, IndexError> {
        let mut held = self.writer.hold().await?;
        let done = rows::progress(&mut held.connection, session).await;
        held.end(done)
    }

    /// The size of all lines.
    pub(super) async fn text_bytes(&self) -> Result<u64, IndexError> {
        let mut held = self.writer.hold().await?;
        let done = rows::size(&mut held.connection).await;
        held.end(done)
    }

    /// Adds lines of a session, a few at a time, so that others can write between them; notes how far it was read, and
    /// makes room.
    async fn add(&self, row: &SessionRow, lines: &[Line], to: Progress, from_ms: u64) -> Result<(), IndexError> {
        let (session, project) = (row.session, row.desired.project);
        for some in lines.chunks(BATCH) {
            let Some(mut held) = self.hold_for(session).await? else { return Ok(()) };
            let done = rows::add(&mut held.connection, session, project, some).await;
            held.end(done)?;
        }
        let Some(mut held) = self.hold_for(session).await? else { return Ok(()) };
        let done = rows::advance(&mut held.connection, session, project, to, from_ms).await;
        held.end(done)?;
        loop {
            let mut held = self.writer.hold().await?;
            let done = rows::make_room(&mut held.connection, session, self.limit).await;
            if !held.end(done)? {
                return Ok(());
            }
        }
    }

    /// The connection to write about a session, while it has a recording. A recording is deleted before its lines are,
    /// so that none of them come back.
    async fn hold_for(&self, session: SessionId) -> Result<Option<Held<'_>>, IndexError> {
        let held = self.writer.hold().await?;
        match tokio::fs::try_exists(self.recording(session)).await? {
            true => Ok(Some(held)),
            false => held.end(Ok(())).map(|()| None),
        }
    }
}
