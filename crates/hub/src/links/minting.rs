//! Creates the tokens of a runner's agents: one at a time, at a limited rate.

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

/// Within this time, at most two tokens per session; a runner renews less often.
const AGAIN: Duration = Duration::from_secs(5);
/// One for a session that starts, and one if its runner forgot that it asked.
const TIMES: u32 = 2;
/// How many sessions of one runner get a token within that time; the runner asks again for others.
const MOST: usize = 256;

/// Recent requests for tokens.
#[derive(Debug, Default)]
struct Asked(HashMap<SessionId, (Instant, u32)>);

impl Asked {
    /// Whether to create a token for a session now.
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

/// The queue of a link's token requests.
pub(super) struct Minting {
    queue: mpsc::Sender<SessionId>,
    asked: Mutex<Asked>,
}

impl Minting {
    /// Both ends of a queue.
    pub(super) fn new() -> (Self, mpsc::Receiver<SessionId>) {
        let (queue, wanted) = mpsc::channel(MOST);
        (Self { queue, asked: Mutex::default() }, wanted)
    }

    /// Requests the token of a session. Requests above the limit are dropped: the runner asks again.
    pub(super) fn want(&self, session: SessionId) {
        if self.asked.lock().admits(session, Instant::now()) {
            let _ = self.queue.try_send(session);
        }
    }
}

/// Creates the requested tokens in order until the link ends: a runner has at most one such write in the shared queue.
pub(super) async fn mint(hub: Arc<Hub>, caller: Caller, link: Arc<Link>, mut wanted: mpsc::Receiver<SessionId>) {
    let runner = link.runner;
    while let Some(session) = wanted.recv().await {
        match hub.store.write(&caller, None, MintAgentToken { runner, session }).await {
            Ok(minted) => {
                let lives_seconds = Some(AGENT_TOKEN_SECONDS);
                link.tell(&ToRunner::Token { session, secret: minted.value, lives_seconds });
            }
            Err(error) => tracing::warn!(%error, %session, "could not create an agent's token"),
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
