//! The hub's end of one runner's link: what is to be sent, and who waits for an answer.

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

/// How many frames may wait for a runner that does not read; then the link is given up.
const QUEUE: usize = 4096;
/// How late a runner's sign of life may be at most, and never later than the next one: that is before any lease ends.
const SLACK: Duration = Duration::from_secs(2);

type Waiting = oneshot::Sender<Result<RunnerAnswer, Problem>>;

/// One runner's link.
pub(super) struct Link {
    pub(super) runner: RunnerId,
    /// Which memory the runner speaks from.
    pub(super) journal: JournalId,
    outgoing: mpsc::Sender<Message>,
    waiting: Mutex<HashMap<u32, Waiting>>,
    ids: AtomicU32,
    patience: Duration,
    heard: Mutex<Heard>,
    /// Cancelled when the link is over.
    pub(super) over: CancellationToken,
}

/// When a runner was last heard from, and how often it is to be.
struct Heard {
    at: Instant,
    every: Duration,
    /// Sessions that do not answer their runner, and when each last did.
    silent: BTreeMap<SessionId, Instant>,
    /// Since when the runner cannot record what happens.
    trouble: Option<Instant>,
}

impl Heard {
    fn is_late(&self) -> bool {
        self.at.elapsed() >= self.every + SLACK.min(self.every)
    }
}

impl Link {
    /// A link; `patience` is how long somebody waits for an answer.
    pub(super) fn new(runner: RunnerId, journal: JournalId, patience: Duration) -> (Self, mpsc::Receiver<Message>) {
        let (outgoing, queue) = mpsc::channel(QUEUE);
        let (waiting, ids, over) = (Mutex::default(), AtomicU32::new(1), CancellationToken::new());
        let every = Duration::from_secs(HEARTBEAT_SECONDS);
        let heard = Mutex::new(Heard { at: Instant::now(), every, silent: BTreeMap::new(), trouble: None });
        (Self { runner, journal, outgoing, waiting, ids, patience, heard, over }, queue)
    }

    /// Notes that the runner was heard from; whether it had been silent for too long.
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

    /// Notes for how long the runner has not been able to record what happens; whether it can again.
    pub(super) fn hears_trouble(&self, lasts: Option<Duration>) -> bool {
        let now = Instant::now();
        let since = lasts.map(|lasts| now.checked_sub(lasts).unwrap_or(now));
        std::mem::replace(&mut self.heard.lock().trouble, since).is_some() && since.is_none()
    }

    /// When the runner was last heard from while it could record what happens: leases hold from then.
    pub(super) fn worked_at(&self) -> Instant {
        let heard = self.heard.lock();
        heard.trouble.map_or(heard.at, |since| since.min(heard.at))
    }

    /// How often the runner is to be heard from.
    pub(super) fn expects(&self, every: Option<u32>) {
        self.heard.lock().every = Duration::from_secs(every.map_or(HEARTBEAT_SECONDS, u64::from));
    }

    /// When the runner was last heard from.
    pub(super) fn heard_at(&self) -> Instant {
        self.heard.lock().at
    }

    /// Whether the runner is heard from as often as it should be.
    pub(super) fn is_heard(&self) -> bool {
        !self.heard.lock().is_late()
    }

    /// Whether the runner is heard from as often as it should be, and can record what happens.
    pub(super) fn works(&self) -> bool {
        let heard = self.heard.lock();
        !heard.is_late() && heard.trouble.is_none()
    }

    /// The sessions that do not answer the runner, each with for how long.
    pub(super) fn silent(&self) -> Vec<(SessionId, Duration)> {
        self.heard.lock().silent.iter().map(|(session, since)| (*session, since.elapsed())).collect()
    }

    /// Queues a frame; false: the link is over.
    pub(super) fn tell(&self, frame: &ToRunner) -> bool {
        let text = serde_json::to_string(frame).expect("frames have string keys and no fallible serializer");
        self.queue(Message::Text(text.into()))
    }

    /// Queues a terminal frame; false: the link is over.
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

    /// Asks and waits for the answer.
    pub(super) async fn ask(&self, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
        let id = self.ids.fetch_add(1, Ordering::Relaxed);
        let (answer, answered) = oneshot::channel();
        self.waiting.lock().insert(id, answer);
        self.tell(&ToRunner::Ask { id, ask });
        let gone = || AppError::new(ProblemKind::Unavailable, "the runner went away before it answered: try again");
        let result = tokio::select! {
            result = timeout(self.patience, answered) => result,
            () = self.over.cancelled() => Ok(Ok(Err(gone().into_problem()))),
        };
        self.waiting.lock().remove(&id);
        match result {
            Ok(Ok(answer)) => answer.map_err(AppError::Problem),
            Ok(Err(_)) => Err(gone()),
            Err(_) => Err(AppError::new(ProblemKind::Unavailable, "the runner did not answer in time: try again")),
        }
    }

    /// A runner's refusal as a client may be told it: it cannot speak for the hub about credentials and rights.
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

    /// Hands an answer to whoever waits for it; nobody may, any more.
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
