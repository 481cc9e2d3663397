//! The queue of one runner's facts for the database, bounded in number and bytes, so that the hub can serve any number
//! of runners.

use std::sync::Arc;

use domain::JournalId;
use protocol::link::{Fact, MAX_LINK_FRAME, ToRunner};
use store::Caller;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

use super::link::Link;
use super::socket::take;
use crate::hub::Hub;

/// How many facts may be queued; further ones wait in the socket.
const FACTS: usize = 1024;
/// How many bytes may be queued.
const BYTES: usize = 4 * MAX_LINK_FRAME;

/// A queued fact and its share of the limit.
struct Waits {
    fact: Fact,
    _room: OwnedSemaphorePermit,
}

/// The sending end.
pub(super) struct Facts {
    queue: mpsc::Sender<Waits>,
    room: Arc<Semaphore>,
}

/// The receiving end.
pub(super) struct Queue(mpsc::Receiver<Waits>);

impl Facts {
    /// Both ends of a queue.
    pub(super) fn new() -> (Self, Queue) {
        let (queue, waiting) = mpsc::channel(FACTS);
        (Self { queue, room: Arc::new(Semaphore::new(BYTES)) }, Queue(waiting))
    }

    /// Queues a fact whose frame had this many bytes; waits while the queue is full.
    pub(super) async fn hand_on(&self, fact: Fact, bytes: usize) {
        let bytes = u32::try_from(bytes.clamp(1, MAX_LINK_FRAME)).unwrap_or(u32::MAX);
        // Neither is closed before the link ends.
        let Ok(room) = self.room.clone().acquire_many_owned(bytes).await else { return };
        let _ = self.queue.send(Waits { fact, _room: room }).await;
    }
}

impl Queue {
    /// The queued facts; `None`: the link ended.
    async fn next(&mut self) -> Option<(Vec<Fact>, Vec<OwnedSemaphorePermit>)> {
        let mut waits = Vec::new();
        self.0.recv_many(&mut waits, FACTS).await;
        let (facts, room): (Vec<_>, Vec<_>) = waits.into_iter().map(|one| (one.fact, one._room)).unzip();
        (!facts.is_empty()).then_some((facts, room))
    }
}

/// Stores facts, many in one transaction, and acknowledges them.
pub(super) async fn store(hub: Arc<Hub>, caller: Caller, link: Arc<Link>, journal: JournalId, mut queue: Queue) {
    while let Some((facts, room)) = queue.next().await {
        match take(&hub, &caller, link.runner, journal, facts).await {
            Ok(number) => {
                failpoint::pass("link.facts_stored");
                link.tell(&ToRunner::Ack { number });
            }
            Err(error) => {
                // Unacknowledged facts are sent again on the next link.
                tracing::warn!(%error, runner = %link.runner, "could not store a runner's facts");
                link.end();
            }
        }
        drop(room);
    }
}

#[cfg(test)]
mod tests {
    use domain::{SessionId, Timestamp};
    use futures_util::FutureExt;
    use protocol::link::FactBody;

    use super::*;

    #[tokio::test]
    async fn facts_wait_in_the_socket_when_the_queue_is_full() {
        let (facts, mut queue) = Facts::new();
        let fact = || {
            let body = FactBody::SessionProgress { session: SessionId::generate() };
            Fact { number: 1, at: Timestamp::from_millis(0), body }
        };
        for _ in 0..4 {
            facts.hand_on(fact(), MAX_LINK_FRAME).now_or_never().expect("there is room");
        }
        assert!(facts.hand_on(fact(), 1).now_or_never().is_none(), "not even for a short one");
        let (taken, room) = queue.next().await.expect("they wait");
        assert_eq!(taken.len(), 4);
        assert!(facts.hand_on(fact(), 1).now_or_never().is_none(), "until they are stored");
        drop(room);
        facts.hand_on(fact(), usize::MAX).now_or_never().expect("there is room again");
        // Without tokio's own budget, which would interrupt such a long loop.
        let another = || tokio::task::unconstrained(facts.hand_on(fact(), 100)).now_or_never();
        for _ in 1..FACTS {
            another().expect("there is room");
        }
        assert!(another().is_none(), "there are enough");
    }
}
