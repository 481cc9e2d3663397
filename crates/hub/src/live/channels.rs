//! The channels that one client has open: whose turn it is to send, and where a client's frames go. Knows nothing of what
//! a channel carries; each kind is an implementation of [`Channel`].

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::ws::Message;
use domain::{Actor, UserId};
use protocol::terminal::{BadTerminalFrame, TerminalFrame};
use protocol::{FromHub, Problem, ProblemKind};
use tokio::sync::Notify;

use super::log::encode;
use crate::hub::Hub;

/// How many channels one client may have open at once.
const MOST: usize = 100;
/// How much is sent before the client's other business gets a turn.
const TURN: usize = 64 * 1024;

/// One open channel of a client. It rings the bell that it was opened with when there may be something to send; to drop
/// it is to close it.
pub(crate) trait Channel: Send + Sync {
    /// Why the client may not have it any more, by the facts of this moment; nothing: it may.
    fn refused(&self, hub: &Hub, actor: &Actor) -> Option<Problem>;

    /// How the channel is, if the client was told otherwise or nothing yet.
    fn news(&mut self) -> Option<FromHub>;

    /// The next frame; nothing: there is none, or the client has not given credit for it.
    fn next(&mut self) -> Option<Vec<u8>>;

    /// The client has processed everything up to this offset.
    fn credit(&mut self, offset: u64);

    /// A user said something. What somebody says who may not ends here.
    fn input(&self, user: UserId, bytes: Vec<u8>);

    /// The client's view has this size.
    fn resize(&self, cols: u16, rows: u16);
}

/// The channels that one client has open.
#[derive(Default)]
pub(crate) struct Channels {
    open: BTreeMap<u32, Box<dyn Channel>>,
    /// Rings when there may be something to send; a ring that nobody waited for is kept.
    wake: Arc<Notify>,
    /// The channel that had the last turn.
    last: u32,
}

impl Channels {
    /// Opens a channel, in place of one with the same number; the frame says how it went.
    pub(crate) async fn open<C: Channel + 'static>(
        &mut self,
        channel: u32,
        opening: impl AsyncFnOnce(Arc<Notify>) -> Result<C, Problem>,
    ) -> Option<FromHub> {
        if self.open.len() >= MOST && !self.open.contains_key(&channel) {
            let detail = format!("at most {MOST} terminals can be watched at once: close some first");
            return Some(FromHub::Unwatched { channel, problem: Problem::new(ProblemKind::Conflict, detail) });
        }
        match opening(self.wake.clone()).await {
            Ok(mut opened) => {
                let news = opened.news();
                self.open.insert(channel, Box::new(opened));
                news
            }
            Err(problem) => Some(FromHub::Unwatched { channel, problem }),
        }
    }

    /// Closes a channel.
    pub(crate) fn close(&mut self, channel: u32) {
        self.open.remove(&channel);
    }

    /// The client's view of a channel has this size.
    pub(crate) fn resize(&self, channel: u32, cols: u16, rows: u16) {
        if let Some(open) = self.open.get(&channel) {
            open.resize(cols, rows);
        }
    }

    /// Takes a client's binary frame to its channel; one that is not open gets nothing.
    pub(crate) fn on_frame(&mut self, actor: &Actor, frame: &[u8]) -> Result<(), Problem> {
        let refuse = |error: BadTerminalFrame| Problem::new(ProblemKind::Invalid, error.to_string());
        match (TerminalFrame::decode(frame).map_err(refuse)?, actor) {
            (TerminalFrame::Input { channel, bytes }, Actor::User { id, .. }) => {
                if let Some(open) = self.open.get(&channel) {
                    open.input(*id, bytes);
                }
                Ok(())
            }
            (TerminalFrame::Input { .. }, _) => Ok(()),
            (TerminalFrame::Credit { channel, offset }, _) => {
                if let Some(open) = self.open.get_mut(&channel) {
                    open.credit(offset);
                    self.wake.notify_one();
                }
                Ok(())
            }
            _ => Err(Problem::new(ProblemKind::Invalid, "a client sends input and credit only")),
        }
    }

    /// Waits until there may be something to send.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// What to send now, each channel in its turn. Rights are judged here, at the moment of sending.
    pub(crate) fn pump(&mut self, hub: &Hub, actor: &Actor) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut budget = TURN;
        for channel in self.in_turn() {
            let Some(open) = self.open.get_mut(&channel) else { continue };
            if let Some(problem) = open.refused(hub, actor) {
                messages.push(Message::Text(encode(&FromHub::Unwatched { channel, problem })));
                self.close(channel);
                continue;
            }
            messages.extend(open.news().map(|news| Message::Text(encode(&news))));
            while budget > 0
                && let Some(frame) = open.next()
            {
                budget = budget.saturating_sub(frame.len());
                messages.push(Message::Binary(frame.into()));
                self.last = channel;
            }
            if budget == 0 {
                // There may be more, here or on another channel.
                self.wake.notify_one();
                break;
            }
        }
        messages
    }

    /// The open channels, beginning after the one that had the last turn.
    fn in_turn(&self) -> Vec<u32> {
        let after = self.open.range(self.last.saturating_add(1)..);
        after.chain(self.open.range(..=self.last)).map(|(channel, _)| *channel).collect()
    }

    /// Wakes the pump when rights may have changed.
    pub(crate) fn reconsider(&self) {
        if !self.open.is_empty() {
            self.wake.notify_one();
        }
    }
}
