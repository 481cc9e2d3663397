//! A session's terminal that survives reconnects, without gaps or repetitions.

mod connection;
mod position;

use std::time::Duration;

use domain::SessionId;
use protocol::Session;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::url::HubUrl;
use crate::{ClientError, Token};

/// Events of a terminal, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The channel's status; comes first, and whenever it changes.
    Watching {
        /// Whether typed keys reach the terminal.
        may_type: bool,
        /// Whether the session's runner is connected.
        reachable: bool,
    },
    /// Start over: a terminal of this size with this screen.
    Snapshot {
        /// The terminal's width.
        cols: u16,
        /// The terminal's height.
        rows: u16,
        /// The terminal's title.
        title: String,
        /// Bytes that draw the screen on an empty terminal.
        bytes: Vec<u8>,
        /// The position to pass to [`Terminal::took`] once they are shown.
        end: u64,
    },
    /// Output that follows the last event.
    Data {
        /// The output.
        bytes: Vec<u8>,
        /// The position to pass to [`Terminal::took`] once they are shown.
        end: u64,
    },
    /// The process ended; no further events.
    Exit {
        /// The exit code.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
    },
    /// The session changed; not ordered with the terminal's output.
    State(Box<Session>),
    /// The connection is lost; it is retried after a while.
    Lost {
        /// The reason.
        why: String,
        /// How long until the next try.
        retry_in: Duration,
    },
}

/// What a watcher sends.
#[derive(Debug)]
enum Saying {
    Took(u64),
    Input(Vec<u8>),
    Resize { size: (u16, u16), take: bool },
    Refresh,
}

/// An open terminal; closed when it is dropped.
#[derive(Debug)]
pub struct Terminal {
    events: mpsc::Receiver<Result<Event, ClientError>>,
    sayings: mpsc::UnboundedSender<Saying>,
    task: JoinHandle<()>,
}

/// The credit bounds the bytes; this bounds everything else.
const WAITING_EVENTS: usize = 256;

impl Terminal {
    pub(crate) fn start(url: HubUrl, token: Option<Token>, session: SessionId) -> Self {
        let (tell, events) = mpsc::channel(WAITING_EVENTS);
        let (sayings, heard) = mpsc::unbounded_channel();
        let task = tokio::spawn(connection::Connection::new(url, token, session, tell, heard).run());
        Self { events, sayings, task }
    }

    /// The next event; none follows an exit or an error.
    pub async fn next(&mut self) -> Result<Event, ClientError> {
        let ended = || ClientError::Protocol("the terminal has ended".to_owned());
        self.events.recv().await.unwrap_or_else(|| Err(ended()))
    }

    /// Confirms that everything up to `end` is shown.
    pub fn took(&self, end: u64) {
        self.say(Saying::Took(end));
    }

    /// Types; keys typed without a connection are lost.
    pub fn input(&self, bytes: impl Into<Vec<u8>>) {
        self.say(Saying::Input(bytes.into()));
    }

    /// Reports the size of the view, also for later connections. The session gets it if this view was the last to take
    /// the size, or if the session is fresh.
    pub fn resize(&self, cols: u16, rows: u16) {
        self.say(Saying::Resize { size: (cols, rows), take: false });
    }

    /// Gives the session the size of this view, because its person types here.
    pub fn take_size(&self, cols: u16, rows: u16) {
        self.say(Saying::Resize { size: (cols, rows), take: true });
    }

    /// Requests the whole screen again.
    pub fn refresh(&self) {
        self.say(Saying::Refresh);
    }

    fn say(&self, saying: Saying) {
        // An ended terminal has no receiver; its next event says so.
        let _ = self.sayings.send(saying);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.task.abort();
    }
}
