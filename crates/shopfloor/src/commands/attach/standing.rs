//! What the session is at, as its runner says: it may end without ever having had a terminal.

use std::time::Duration;

use client::Client;
use domain::{SessionId, SessionStatus, Timestamp};
use protocol::{Call, Session, SessionDetail};
use tokio::time::{Instant, sleep_until};

use crate::Failure;
use crate::commands::words;

/// How long the terminal of a session that is over may take to say so, too.
const GRACE: Duration = Duration::from_secs(3);

/// What the session is at.
pub(super) struct Standing {
    session: Box<Session>,
    over: Option<Instant>,
}

impl Standing {
    /// Asks the hub.
    pub(super) async fn ask(client: &Client, session: SessionId) -> Result<Self, Failure> {
        let detail: SessionDetail = client.ask(Call::SessionShow { session }).await?;
        let mut standing = Self { session: Box::new(detail.session.clone()), over: None };
        standing.hear(Box::new(detail.session));
        Ok(standing)
    }

    /// The hub says that it is at something else.
    pub(super) fn hear(&mut self, session: Box<Session>) {
        let over = session.state.ended();
        self.over = over.then(|| self.over.unwrap_or_else(|| Instant::now() + GRACE));
        self.session = session;
    }

    /// Its terminal shows something: what is left may take a while.
    pub(super) fn shows(&mut self) {
        self.over = self.over.map(|_| Instant::now() + GRACE);
    }

    /// Waits until it is over and nothing more is to be expected of its terminal.
    pub(super) async fn is_over(&self) {
        match self.over {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// Whether it is over.
    pub(super) fn ended(&self) -> bool {
        self.session.state.ended()
    }

    /// What it is at, in words.
    pub(super) fn words(&self) -> String {
        words::state(&self.session, None, Timestamp::from_millis(0))
    }

    /// Whether it is still being made ready.
    pub(super) fn starts(&self) -> bool {
        self.session.state.status == SessionStatus::Starting
    }

    /// How its process ended, as its terminal says, in the words that are used for its state.
    pub(super) fn exited(&self, code: Option<i32>, signal: Option<i32>) -> String {
        words::exited(self.session.stopping, code, signal)
    }

    /// What keeps it from having a terminal, in words.
    pub(super) fn hindrance(&self) -> Option<String> {
        let waits = matches!(self.session.state.status, SessionStatus::Starting | SessionStatus::Waiting);
        waits.then(|| self.words())
    }
}
