//! One client's open channels: schedules sending and routes the client's frames. Does not know what a channel carries;
//! each kind implements [`Channel`].

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::ws::Message;
use domain::{Actor, UserId};
use protocol::channels::{BadFrame, ClientFrame};
use protocol::{FromHub, Problem, ProblemKind};
use tokio::sync::Notify;

use super::log::encode;
use crate::hub::Hub;

/// How many channels one client may have open at once.
const MOST: usize = 100;
/// How much to send before the client's other traffic gets a turn.
const TURN: usize = 64 * 1024;

/// One open channel of a client. It notifies the bell that it was opened with when there may be something to send.
/// Dropping it closes it.
pub(crate) trait Channel: Send + Sync {
    /// Why the client may no longer have the channel, checked now; `None`: it may.
    fn refused(&self, hub: &Hub, actor: &Actor) -> Option<Problem>;

    /// The channel's state, if the client does not know it yet.
    fn news(&mut self) -> Option<FromHub>;

    /// The next frame; `None` if there is none, or if the client has given no credit for it.
    fn next(&mut self) -> Option<Vec<u8>>;

    /// The client has processed everything up to this offset.
    fn credit(&mut self, offset: u64);

    /// Handles a user's input; ignores it if the user has no right to send it.
    fn input(&self, user: UserId, bytes: Vec<u8>);

    /// The client's view has this size; `take`: its person types there. Only for kinds that have a size.
    fn resize(&self, _size: (u16, u16), _take: bool) {}
}

/// One client's open channels.
#[derive(Default)]
pub(crate) struct Channels {
    open: BTreeMap<u32, Box<dyn Channel>>,
    /// Notified when there may be something to send; a notification without a waiter is kept.
    wake: Arc<Notify>,
    /// The channel that had the last turn.
    last: u32,
}

impl Channels {
    /// Opens a channel, and replaces one with the same number; returns the frame with the result.
    pub(crate) async fn open<C: Channel + 'static>(
        &mut self,
        channel: u32,
        opening: impl AsyncFnOnce(Arc<Notify>) -> Result<C, Problem>,
    ) -> Option<FromHub> {
        if self.open.len() >= MOST && !self.open.contains_key(&channel) {
            let detail = format!("at most {MOST} channels can be open at once: close some terminals first");
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
    pub(crate) fn resize(&self, channel: u32, size: (u16, u16), take: bool) {
        if let Some(open) = self.open.get(&channel) {
            open.resize(size, take);
        }
    }

    /// Routes a client's binary frame to its channel; drops it if the channel is not open.
    pub(crate) fn on_frame(&mut self, actor: &Actor, frame: &[u8]) -> Result<(), Problem> {
        let refuse = |error: BadFrame| Problem::new(ProblemKind::Invalid, error.to_string());
        match (ClientFrame::decode(frame).map_err(refuse)?, actor) {
            (ClientFrame::Input { channel, bytes }, Actor::User { id, .. }) => {
                if let Some(open) = self.open.get(&channel) {
                    open.input(*id, bytes);
                }
            }
            (ClientFrame::Input { .. }, _) => {}
            (ClientFrame::Credit { channel, offset }, _) => {
                if let Some(open) = self.open.get_mut(&channel) {
                    open.credit(offset);
                    self.wake.notify_one();
                }
            }
        }
        Ok(())
    }

    /// Waits until there may be something to send.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// The frames to send now, channels taking turns. Rights are checked here, at the time of sending.
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
