//! Asks the hub for the tokens of agents, again after each lost connection, until it answers.

use std::collections::HashMap;
use std::time::Duration;

use domain::SessionId;
use parking_lot::Mutex;
use protocol::link::FromRunner;
use tokio::sync::{oneshot, watch};

use crate::Secret;
use crate::link::Line;

/// A hub that could not make one says nothing; it is asked again.
const AGAIN: Duration = Duration::from_secs(15);

/// Who waits for which session's token.
#[derive(Debug, Default)]
pub(crate) struct Tokens(Mutex<HashMap<SessionId, oneshot::Sender<Option<Secret>>>>);

impl Tokens {
    /// The token of a session's agent; nothing when the hub says that the session is over.
    pub(crate) async fn ask(&self, session: SessionId, mut lines: watch::Receiver<Option<Line>>) -> Option<Secret> {
        loop {
            let line = lines.wait_for(Option::is_some).await.ok()?.clone()?;
            let (answer, answered) = oneshot::channel();
            self.0.lock().insert(session, answer);
            if line.send(&FromRunner::TokenWanted { session }).await.is_ok() {
                tokio::select! {
                    token = answered => {
                        if let Ok(token) = token {
                            return token;
                        }
                    }
                    () = tokio::time::sleep(AGAIN) => continue,
                    () = line.ended() => {}
                }
            }
            // The line that is over must be gone before another is taken.
            lines.wait_for(|now| now.as_ref().is_none_or(|now| !now.is(&line))).await.ok()?;
        }
    }

    /// The hub's answer; one that nobody waits for is dropped.
    pub(crate) fn answer(&self, session: SessionId, secret: Option<String>) {
        if let Some(waiting) = self.0.lock().remove(&session) {
            let _ = waiting.send(secret.map(Secret::new));
        }
    }
}
