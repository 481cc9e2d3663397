//! The write side of one connection: control frames first, then terminals fairly, in bounded memory.
//!
//! Control frames never wait behind output. Each terminal has room for one frame, so that a flooding one waits for the
//! socket and uses no memory; of the waiting ones, the terminal that got least goes first, so that a keystroke's echo
//! does not queue behind a flood.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;
use protocol::link::FromRunner;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// How many control frames may wait.
const CONTROL: usize = 256;

/// The connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the link to the hub is cut")]
pub(crate) struct Cut;

/// The next frame.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outgoing {
    Text(String),
    Bytes(Vec<u8>),
    /// A ping with a number that comes back.
    Ping(u64),
}

/// A connection for its senders. Ends with the connection, so that nothing of it reaches the next one.
#[derive(Debug, Clone)]
pub(crate) struct Link(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    queue: Mutex<Queue>,
    /// There is something to write.
    filled: Notify,
    /// There is room for control frames.
    room: Notify,
    cut: CancellationToken,
}

#[derive(Debug, Default)]
struct Queue {
    control: VecDeque<Outgoing>,
    lanes: BTreeMap<u32, LaneState>,
    /// How much an always-busy terminal has got.
    clock: u64,
}

#[derive(Debug, Default)]
struct LaneState {
    frame: Option<Vec<u8>>,
    /// How much this terminal will have got with its waiting frame.
    given: u64,
    emptied: Arc<Notify>,
}

/// One terminal's lane in the connection.
#[derive(Debug)]
pub(crate) struct Lane {
    link: Link,
    channel: u32,
    emptied: Arc<Notify>,
}

impl Link {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Inner {
            queue: Mutex::default(),
            filled: Notify::new(),
            room: Notify::new(),
            cut: CancellationToken::new(),
        }))
    }

    /// Whether both are the same connection.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Closes it: senders and waiters learn of it.
    pub(crate) fn cut(&self) {
        self.0.cut.cancel();
    }

    /// Returns when it is closed.
    pub(crate) async fn ended(&self) {
        self.0.cut.cancelled().await;
    }

    /// Sends a control frame as soon as there is room.
    pub(crate) async fn send(&self, frame: &FromRunner) -> Result<(), Cut> {
        let text = serde_json::to_string(frame).map_err(|_| Cut)?;
        self.push(Outgoing::Text(text)).await
    }

    pub(super) async fn ping(&self, number: u64) -> Result<(), Cut> {
        self.push(Outgoing::Ping(number)).await
    }

    async fn push(&self, frame: Outgoing) -> Result<(), Cut> {
        let inner = &self.0;
        loop {
            let room = inner.room.notified();
            tokio::pin!(room);
            room.as_mut().enable();
            if inner.cut.is_cancelled() {
                return Err(Cut);
            }
            {
                let mut queue = inner.queue.lock();
                if queue.control.len() < CONTROL {
                    queue.control.push_back(frame);
                    inner.filled.notify_one();
                    return Ok(());
                }
            }
            tokio::select! {
                () = room => {}
                () = inner.cut.cancelled() => return Err(Cut),
            }
        }
    }

    /// A lane for the terminal on `channel`; an earlier one is replaced.
    pub(crate) fn lane(&self, channel: u32) -> Lane {
        let mut queue = self.0.queue.lock();
        let lane = LaneState { given: queue.clock, ..LaneState::default() };
        let emptied = lane.emptied.clone();
        queue.lanes.insert(channel, lane);
        Lane { link: self.clone(), channel, emptied }
    }

    /// The next frame to write; waits for one.
    pub(super) async fn next(&self) -> Result<Outgoing, Cut> {
        loop {
            if self.0.cut.is_cancelled() {
                return Err(Cut);
            }
            if let Some(frame) = self.take() {
                return Ok(frame);
            }
            tokio::select! {
                () = self.0.filled.notified() => {}
                () = self.0.cut.cancelled() => return Err(Cut),
            }
        }
    }

    fn take(&self) -> Option<Outgoing> {
        let mut queue = self.0.queue.lock();
        if let Some(frame) = queue.control.pop_front() {
            self.0.room.notify_one();
            return Some(frame);
        }
        let waiting = queue.lanes.values_mut().filter(|lane| lane.frame.is_some());
        let lane = waiting.min_by_key(|lane| lane.given)?;
        let (frame, given) = (lane.frame.take(), lane.given);
        lane.emptied.notify_one();
        queue.clock = given;
        frame.map(Outgoing::Bytes)
    }
}

impl Lane {
    /// Returns when the last frame was sent: dropping a lane drops its waiting frame.
    pub(crate) async fn drained(&self) -> Result<(), Cut> {
        let inner = &self.link.0;
        loop {
            if inner.cut.is_cancelled() {
                return Err(Cut);
            }
            if inner.queue.lock().lanes.get(&self.channel).is_none_or(|lane| lane.frame.is_none()) {
                return Ok(());
            }
            tokio::select! {
                () = self.emptied.notified() => {}
                () = inner.cut.cancelled() => return Err(Cut),
            }
        }
    }

    /// Sends one frame, once the previous one was sent.
    pub(crate) async fn send(&self, frame: Vec<u8>) -> Result<(), Cut> {
        let inner = &self.link.0;
        loop {
            if inner.cut.is_cancelled() {
                return Err(Cut);
            }
            {
                let mut queue = inner.queue.lock();
                let clock = queue.clock;
                // Another lane has this channel now.
                let lane = queue.lanes.get_mut(&self.channel).filter(|lane| Arc::ptr_eq(&lane.emptied, &self.emptied));
                let lane = lane.ok_or(Cut)?;
                if lane.frame.is_none() {
                    lane.given = lane.given.max(clock) + frame.len() as u64;
                    lane.frame = Some(frame);
                    inner.filled.notify_one();
                    return Ok(());
                }
            }
            tokio::select! {
                () = self.emptied.notified() => {}
                () = inner.cut.cancelled() => return Err(Cut),
            }
        }
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        let mut queue = self.link.0.queue.lock();
        if queue.lanes.get(&self.channel).is_some_and(|lane| Arc::ptr_eq(&lane.emptied, &self.emptied)) {
            queue.lanes.remove(&self.channel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(frame: Outgoing) -> String {
        match frame {
            Outgoing::Text(text) => text,
            Outgoing::Bytes(bytes) => format!("{} bytes of {}", bytes.len(), bytes[0]),
            Outgoing::Ping(_) => "ping".to_owned(),
        }
    }

    #[tokio::test]
    async fn control_overtakes_output_and_an_echo_overtakes_a_flood() {
        let link = Link::new();
        let (flood, echo) = (link.lane(1), link.lane(2));
        flood.send(vec![1; 30_000]).await.unwrap();
        assert_eq!(text(link.next().await.unwrap()), "30000 bytes of 1");
        flood.send(vec![1; 30_000]).await.unwrap();
        echo.send(vec![2; 3]).await.unwrap();
        link.send(&FromRunner::Heartbeat { silent: Vec::new(), trouble: None }).await.unwrap();
        assert!(text(link.next().await.unwrap()).contains("heartbeat"));
        assert_eq!(text(link.next().await.unwrap()), "3 bytes of 2");
        assert_eq!(text(link.next().await.unwrap()), "30000 bytes of 1");
    }

    #[tokio::test]
    async fn two_floods_take_turns() {
        let link = Link::new();
        let (one, two) = (link.lane(1), link.lane(2));
        let mut order = Vec::new();
        one.send(vec![1; 100]).await.unwrap();
        two.send(vec![2; 100]).await.unwrap();
        for _ in 0..6 {
            let Outgoing::Bytes(bytes) = link.next().await.unwrap() else { panic!("not output") };
            order.push(bytes[0]);
            let lane = if bytes[0] == 1 { &one } else { &two };
            lane.send(vec![bytes[0]; 100]).await.unwrap();
        }
        assert_eq!(order.iter().filter(|first| **first == 1).count(), 3, "{order:?}");
    }

    #[tokio::test]
    async fn a_lane_holds_one_frame_and_waits_with_the_next() {
        let link = Link::new();
        let lane = link.lane(7);
        lane.send(vec![1]).await.unwrap();
        let second = tokio::spawn(async move { lane.send(vec![2]).await.map(|()| lane) });
        assert_eq!(link.next().await.unwrap(), Outgoing::Bytes(vec![1]));
        assert_eq!(link.next().await.unwrap(), Outgoing::Bytes(vec![2]));
        second.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn waiters_learn_that_the_line_is_closed() {
        let link = Link::new();
        let lane = link.lane(7);
        lane.send(vec![1]).await.unwrap();
        let waits = tokio::spawn(async move { lane.send(vec![2]).await });
        link.cut();
        assert_eq!(waits.await.unwrap(), Err(Cut));
        assert_eq!(link.send(&FromRunner::Heartbeat { silent: Vec::new(), trouble: None }).await, Err(Cut));
        assert_eq!(link.next().await, Err(Cut));
    }

    #[tokio::test]
    async fn a_reused_channel_gets_no_old_frames() {
        let link = Link::new();
        let old = link.lane(7);
        old.send(vec![1]).await.unwrap();
        let new = link.lane(7);
        assert_eq!(old.send(vec![2]).await, Err(Cut));
        drop(old);
        new.send(vec![3]).await.unwrap();
        assert_eq!(link.next().await.unwrap(), Outgoing::Bytes(vec![3]));
    }
}
