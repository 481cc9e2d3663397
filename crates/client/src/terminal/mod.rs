//! A session's terminal that outlives its connections: comes back where it was, without a gap and without a repetition.

mod connection;
mod position;

use std::time::Duration;

use domain::SessionId;
use protocol::Session;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::url::HubUrl;
use crate::{ClientError, Token};

/// What a watcher of a terminal learns, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// What the channel is at; comes first, and whenever it changes.
    Watching {
        /// Whether what is typed reaches the terminal.
        may_type: bool,
        /// Whether the session's runner is there.
        reachable: bool,
    },
    /// Begin anew: a terminal of this size, then these bytes.
    Snapshot {
        /// The terminal's width.
        cols: u16,
        /// The terminal's height.
        rows: u16,
        /// The terminal's title.
        title: String,
        /// What shows the screen on a fresh terminal.
        bytes: Vec<u8>,
        /// What to say with [`Terminal::took`] once they are shown.
        end: u64,
    },
    /// Output that follows what came before.
    Data {
        /// The output.
        bytes: Vec<u8>,
        /// What to say with [`Terminal::took`] once they are shown.
        end: u64,
    },
    /// The process ended; nothing follows.
    Exit {
        /// The exit code.
        code: Option<i32>,
        /// The signal that killed it.
        signal: Option<i32>,
    },
    /// The session is at something else; comes beside the terminal's own order.
    State(Box<Session>),
    /// The connection is gone; another is made after a while.
    Lost {
        /// What happened.
        why: String,
        /// How long until the next try.
        retry_in: Duration,
    },
}

/// What a watcher says.
#[derive(Debug)]
enum Saying {
    Took(u64),
    Input(Vec<u8>),
    Resize(u16, u16),
    Refresh,
}

/// An open terminal; closed when it is dropped.
#[derive(Debug)]
pub struct Terminal {
    events: mpsc::Receiver<Result<Event, ClientError>>,
    sayings: mpsc::UnboundedSender<Saying>,
    task: JoinHandle<()>,
}

/// The credit bounds the bytes; this bounds what has none.
const WAITING_EVENTS: usize = 256;

impl Terminal {
    pub(crate) fn start(url: HubUrl, token: Option<Token>, session: SessionId) -> Self {
        let (tell, events) = mpsc::channel(WAITING_EVENTS);
        let (sayings, heard) = mpsc::unbounded_channel();
        let task = tokio::spawn(connection::Connection::new(url, token, session, tell, heard).run());
        Self { events, sayings, task }
    }

    /// What happens next. After an exit or an error nothing does.
    pub async fn next(&mut self) -> Result<Event, ClientError> {
        let ended = || ClientError::Protocol("the terminal has ended".to_owned());
        self.events.recv().await.unwrap_or_else(|| Err(ended()))
    }

    /// Everything up to `end` is shown: more may come.
    pub fn took(&self, end: u64) {
        self.say(Saying::Took(end));
    }

    /// Types; what is typed while there is no connection is lost.
    pub fn input(&self, bytes: impl Into<Vec<u8>>) {
        self.say(Saying::Input(bytes.into()));
    }

    /// The owner's view has this size, also after the next connection.
    pub fn resize(&self, cols: u16, rows: u16) {
        self.say(Saying::Resize(cols, rows));
    }

    /// Asks for the whole screen again.
    pub fn refresh(&self) {
        self.say(Saying::Refresh);
    }

    fn say(&self, saying: Saying) {
        // A terminal that has ended does not listen, which its next event says.
        let _ = self.sayings.send(saying);
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.task.abort();
    }
}
