//! The session's status as its runner reports it: a session may exit without ever having had a terminal.

use std::time::Duration;

use client::Client;
use domain::{SessionId, SessionStatus, Timestamp};
use protocol::{Call, Session, SessionDetail};
use tokio::time::{Instant, sleep_until};

use crate::Failure;
use crate::commands::words;

/// How long to wait for the terminal of an exited session to report the end.
const GRACE: Duration = Duration::from_secs(3);

/// The session's status.
pub(super) struct Standing {
    session: Box<Session>,
    over: Option<Instant>,
}

impl Standing {
    /// Fetches it from the hub.
    pub(super) async fn ask(client: &Client, session: SessionId) -> Result<Self, Failure> {
        let detail: SessionDetail = client.ask(Call::SessionShow { session }).await?;
        let mut standing = Self { session: Box::new(detail.session.clone()), over: None };
        standing.hear(Box::new(detail.session));
        Ok(standing)
    }

    /// Applies a change from the hub.
    pub(super) fn hear(&mut self, session: Box<Session>) {
        let over = session.state.ended();
        self.over = over.then(|| self.over.unwrap_or_else(|| Instant::now() + GRACE));
        self.session = session;
    }

    /// The terminal showed something; its remaining output may take a while.
    pub(super) fn shows(&mut self) {
        self.over = self.over.map(|_| Instant::now() + GRACE);
    }

    /// Waits until the session has exited and no more output of its terminal is expected.
    pub(super) async fn is_over(&self) {
        match self.over {
            Some(at) => sleep_until(at).await,
            None => std::future::pending().await,
        }
    }

    /// Whether it has exited.
    pub(super) fn ended(&self) -> bool {
        self.session.state.ended()
    }

    /// Who can type instead of the watching person, and what they can do.
    pub(super) fn watchers_hint(&self) -> String {
        let (owner, id) = (&self.session.owner.name, self.session.id);
        format!("watching: {owner} owns this session; ask to type with `shopfloor session keyboard request {id}`")
    }

    /// Its state, for people.
    pub(super) fn words(&self) -> String {
        words::state(&self.session, None, Timestamp::from_millis(0))
    }

    /// Whether it is still starting.
    pub(super) fn starts(&self) -> bool {
        self.session.state.status == SessionStatus::Starting
    }

    /// How its process ended according to its terminal, in the words of its state.
    pub(super) fn exited(&self, code: Option<i32>, signal: Option<i32>) -> String {
        words::exited(self.session.stopping, code, signal)
    }

    /// Why it has no terminal yet, for people.
    pub(super) fn hindrance(&self) -> Option<String> {
        let waits = matches!(self.session.state.status, SessionStatus::Starting | SessionStatus::Waiting);
        waits.then(|| self.words())
    }
}
