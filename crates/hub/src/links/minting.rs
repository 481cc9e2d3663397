//! Makes the tokens of a runner's agents: one at a time, and no more often than an agent can need one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::SessionId;
use parking_lot::Mutex;
use protocol::link::ToRunner;
use store::{AGENT_TOKEN_SECONDS, Caller, MintAgentToken};
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::link::Link;
use crate::hub::Hub;

/// Within this time a session's token is made twice at most; a runner asks again only after longer.
const AGAIN: Duration = Duration::from_secs(5);
/// Once for a session that starts, and once more for one whose runner has forgotten that it asked.
const TIMES: u32 = 2;
/// How many sessions of one runner get a token within that time; others are asked for again by the runner.
const MOST: usize = 256;

/// Which sessions' tokens were asked for lately.
#[derive(Debug, Default)]
struct Asked(HashMap<SessionId, (Instant, u32)>);

impl Asked {
    /// Whether a token is to be made for a session now.
    fn admits(&mut self, session: SessionId, now: Instant) -> bool {
        self.0.retain(|_, (at, _)| now.saturating_duration_since(*at) < AGAIN);
        if self.0.len() >= MOST && !self.0.contains_key(&session) {
            return false;
        }
        let (_, times) = self.0.entry(session).or_insert((now, 0));
        *times += 1;
        *times <= TIMES
    }
}

/// The way to a link's tokens.
pub(super) struct Minting {
    queue: mpsc::Sender<SessionId>,
    asked: Mutex<Asked>,
}

impl Minting {
    /// A way to ask, and what is asked for.
    pub(super) fn new() -> (Self, mpsc::Receiver<SessionId>) {
        let (queue, wanted) = mpsc::channel(MOST);
        (Self { queue, asked: Mutex::default() }, wanted)
    }

    /// A runner wants the token of a session. What comes too often is dropped: a runner without an answer asks again.
    pub(super) fn want(&self, session: SessionId) {
        if self.asked.lock().admits(session, Instant::now()) {
            let _ = self.queue.try_send(session);
        }
    }
}

/// Makes what is wanted, in order, until the link ends: a runner never has two such writes in the queue of all.
pub(super) async fn mint(hub: Arc<Hub>, caller: Caller, link: Arc<Link>, mut wanted: mpsc::Receiver<SessionId>) {
    let runner = link.runner;
    while let Some(session) = wanted.recv().await {
        match hub.store.write(&caller, None, MintAgentToken { runner, session }).await {
            Ok(minted) => {
                let lives_seconds = Some(AGENT_TOKEN_SECONDS);
                link.tell(&ToRunner::Token { session, secret: minted.value, lives_seconds });
            }
            Err(error) => tracing::warn!(%error, %session, "could not make an agent's token"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_gets_a_few_tokens_and_each_session_two() {
        let (mut asked, start) = (Asked::default(), Instant::now());
        let one = SessionId::generate();
        assert_eq!((0..6000).filter(|_| asked.admits(one, start)).count(), 2);
        assert_eq!((0..6000).filter(|_| asked.admits(SessionId::generate(), start)).count(), MOST - 1);
        assert!(asked.0.len() <= MOST);
        assert!(!asked.admits(one, start + AGAIN / 2));
        assert!(asked.admits(one, start + AGAIN), "a renewal comes much later");
        assert_eq!(asked.0.len(), 1, "what is past is forgotten");
    }
}
