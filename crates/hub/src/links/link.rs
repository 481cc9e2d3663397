//! The hub's end of one runner's link: outgoing frames and pending requests.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use axum::extract::ws::Message;
use domain::text::plain;
use domain::{JournalId, RunnerId, SessionId};
use parking_lot::Mutex;
use protocol::link::{HEARTBEAT_SECONDS, RunnerAnswer, RunnerAsk, SilentSession, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{Problem, ProblemKind};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use crate::AppError;

/// How many frames may wait for a runner that does not read; then the link is closed.
const QUEUE: usize = 4096;
/// Maximum delay of a runner's heartbeat, and never later than the next one: that is before any lease ends.
const SLACK: Duration = Duration::from_secs(2);

type Waiting = oneshot::Sender<Result<RunnerAnswer, Problem>>;

/// One runner's link.
pub(super) struct Link {
    pub(super) runner: RunnerId,
    /// Identifies the runner's memory.
    pub(super) journal: JournalId,
    outgoing: mpsc::Sender<Message>,
    waiting: Mutex<HashMap<u32, Waiting>>,
    ids: AtomicU32,
    patience: Duration,
    heard: Mutex<Heard>,
    /// Cancelled when the link ends.
    pub(super) over: CancellationToken,
}

/// When a runner was last heard, and how often it should be.
struct Heard {
    at: Instant,
    every: Duration,
    /// Sessions that do not answer their runner, and when each last did.
    silent: BTreeMap<SessionId, Instant>,
    /// Since when the runner cannot record facts.
    trouble: Option<Instant>,
}

/// A pending request; dropped when its caller stops waiting.
struct Waits<'a> {
    link: &'a Link,
    id: u32,
}

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.link.waiting.lock().remove(&self.id);
    }
}

impl Heard {
    fn is_late(&self) -> bool {
        self.at.elapsed() >= self.every + SLACK.min(self.every)
    }
}

impl Link {
    /// A link; `patience` is the time limit for answers.
    pub(super) fn new(runner: RunnerId, journal: JournalId, patience: Duration) -> (Self, mpsc::Receiver<Message>) {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (waiting, ids, over) = (Mutex::default(), AtomicU32::new(1), CancellationToken::new());
        let every = Duration::from_secs(HEARTBEAT_SECONDS);
        let heard = Mutex::new(Heard { at: Instant::now(), every, silent: BTreeMap::new(), trouble: None });
        (Self { runner, journal, outgoing, waiting, ids, patience, heard, over }, queue)
    }

    /// Notes that the runner was heard; whether it had been silent for too long.
    pub(super) fn hears(&self) -> bool {
        let mut heard = self.heard.lock();
        let silent = heard.is_late();
        heard.at = Instant::now();
        silent
    }

    /// Notes which sessions do not answer the runner.
    pub(super) fn hears_not(&self, silent: &[SilentSession]) {
        let now = Instant::now();
        let since = |one: &SilentSession| now.checked_sub(Duration::from_millis(one.silent_ms)).unwrap_or(now);
        self.heard.lock().silent = silent.iter().map(|one| (one.session, since(one))).collect();
    }

    /// Notes since when the runner cannot record facts; whether it can again.
    pub(super) fn hears_trouble(&self, lasts: Option<Duration>) -> bool {
        let now = Instant::now();
        let since = lasts.map(|lasts| now.checked_sub(lasts).unwrap_or(now));
        std::mem::replace(&mut self.heard.lock().trouble, since).is_some() && since.is_none()
    }

    /// When the runner was last heard while it could record facts: leases are renewed from then.
    pub(super) fn worked_at(&self) -> Instant {
        let heard = self.heard.lock();
        heard.trouble.map_or(heard.at, |since| since.min(heard.at))
    }

    /// How often the runner should be heard.
    pub(super) fn expects(&self, every: Option<u32>) {
        self.heard.lock().every = Duration::from_secs(every.map_or(HEARTBEAT_SECONDS, u64::from));
    }

    /// When the runner was last heard.
    pub(super) fn heard_at(&self) -> Instant {
        self.heard.lock().at
    }

    /// Whether the runner is heard as often as it should be.
    pub(super) fn is_heard(&self) -> bool {
        !self.heard.lock().is_late()
    }

    /// Whether the runner is heard as often as it should be, and can record facts.
    pub(super) fn works(&self) -> bool {
        let heard = self.heard.lock();
        !heard.is_late() && heard.trouble.is_none()
    }

    /// The sessions that do not answer the runner, and for how long.
    pub(super) fn silent(&self) -> Vec<(SessionId, Duration)> {
        self.heard.lock().silent.iter().map(|(session, since)| (*session, since.elapsed())).collect()
    }

    /// Queues a frame; false: the link ended.
    pub(super) fn tell(&self, frame: &ToRunner) -> bool {
        let text = serde_json::to_string(frame).expect("frames have string keys and no fallible serializer");
        self.queue(Message::Text(text.into()))
    }

    /// Queues a terminal frame; false: the link ended.
    pub(super) fn tell_frame(&self, frame: &TerminalFrame) -> bool {
        self.queue(Message::Binary(frame.encode().into()))
    }

    fn queue(&self, message: Message) -> bool {
        let queued = self.outgoing.try_send(message).is_ok();
        if !queued {
            self.end();
        }
        queued
    }

    /// Sends a request and waits for the answer.
    pub(super) async fn ask(&self, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
        self.ask_for(ask, self.patience).await
    }

    /// The same for a request that takes its time.
    pub(super) async fn ask_for(&self, ask: RunnerAsk, patience: Duration) -> Result<RunnerAnswer, AppError> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().insert(id, answer);
        let _waits = Waits { link: self, id };
        self.tell(&ToRunner::Ask { id, ask });
        let gone = || AppError::new(ProblemKind::Unavailable, "the runner disconnected before it answered: try again");
        let result = tokio::select! {
            result = timeout(patience, answered) => result,
            () = self.over.cancelled() => Ok(Ok(Err(gone().into_problem()))),
        };
        match result {
            Ok(Ok(answer)) => answer.map_err(AppError::Problem),
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(AppError::new(ProblemKind::Unavailable, "the runner did not answer in time: try again")),
        }
    }

    /// A runner's refusal as clients may see it: a runner cannot speak for the hub about credentials and rights.
    pub(super) fn refusal(problem: &Problem) -> Problem {
        let kind = match problem.kind {
            kind @ (ProblemKind::Invalid
            | ProblemKind::NotFound
            | ProblemKind::Conflict
            | ProblemKind::TooLarge
            | ProblemKind::Storage) => kind,
            _ => ProblemKind::Unavailable,
        };
        Problem::new(kind, plain(&problem.detail, 1500))
    }

    /// Passes an answer to the waiting request, if there still is one.
    pub(super) fn answered(&self, id: u32, answer: Result<RunnerAnswer, Problem>) {
        if let Some(waiting) = self.waiting.lock().remove(&id) {
            let _ = waiting.send(answer);
        }
    }

    /// Ends the link.
    pub(super) fn end(&self) {
        self.over.cancel();
    }
}
