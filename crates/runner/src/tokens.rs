//! Requests agents' tokens from the hub, again after each lost connection, and knows when to renew them.

use std::collections::HashMap;
use std::time::Duration;

use domain::SessionId;
use parking_lot::Mutex;
use protocol::link::FromRunner;
use tokio::sync::{oneshot, watch};
use tokio::time::Instant;

use crate::Secret;
use crate::link::Link;

/// A hub that could not create one does not answer; it is asked again.
const AGAIN: Duration = Duration::from_secs(15);

/// Pending requests, and when each token is to be renewed.
#[derive(Debug)]
pub(crate) struct Tokens {
    /// The connection to the hub, while there is one.
    links: watch::Receiver<Option<Link>>,
    waiting: Mutex<HashMap<SessionId, oneshot::Sender<Option<Secret>>>>,
    /// `None`: it is never renewed.
    due: Mutex<HashMap<SessionId, Option<Instant>>>,
}

impl Tokens {
    /// Sends its requests over the current connection.
    pub(crate) fn new(links: watch::Receiver<Option<Link>>) -> Self {
        Self { links, waiting: Mutex::default(), due: Mutex::default() }
    }

    /// The token of a session's agent; `None` if the hub says that the session has exited.
    pub(crate) async fn ask(&self, session: SessionId) -> Option<Secret> {
        let mut links = self.links.clone();
        loop {
            let link = links.wait_for(Option::is_some).await.ok()?.clone()?;
            let (answer, answered) = oneshot::channel();
            self.waiting.lock().insert(session, answer);
            if link.send(&FromRunner::TokenWanted { session }).await.is_ok() {
                tokio::select! {
                    token = answered => {
                        if let Ok(token) = token {
                            return token;
                        }
                    }
                    () = tokio::time::sleep(AGAIN) => continue,
                    () = link.ended() => {}
                }
            }
            // The closed link must be gone before another is taken.
            links.wait_for(|now| now.as_ref().is_none_or(|now| !now.is(&link))).await.ok()?;
        }
    }

    /// The hub's answer; dropped if nobody waits for it.
    pub(crate) fn answer(&self, session: SessionId, secret: Option<String>, lives: Option<Duration>) {
        if let Some(waiting) = self.waiting.lock().remove(&session) {
            // At half time: the hub may be away for as long as that before anybody notices.
            self.due.lock().insert(session, lives.map(|lives| Instant::now() + lives / 2));
            let _ = waiting.send(secret.map(Secret::new));
        }
    }

    /// Waits until a session's token is to be renewed; at once for a token of an earlier runner. False: never.
    pub(crate) async fn due(&self, session: SessionId) -> bool {
        let due = self.due.lock().get(&session).copied();
        match due {
            None => true,
            Some(None) => false,
            Some(Some(at)) => {
                tokio::time::sleep_until(at).await;
                true
            }
        }
    }

    /// Forgets an exited session.
    pub(crate) fn forget(&self, session: SessionId) {
        self.waiting.lock().remove(&session);
        self.due.lock().remove(&session);
    }
}
