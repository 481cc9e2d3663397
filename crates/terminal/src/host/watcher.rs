//! One connection to a host, as the host sees it: how far it has been told, and what it still wants.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// So many bytes beyond what was acknowledged are sent.
pub(crate) const WINDOW: u64 = 512 << 10;

/// Output is at rest after so long without any.
pub(crate) const AT_REST: Duration = Duration::from_millis(400);

/// Observations while there is output are at least so far apart.
const SHORTEST_EVERY: Duration = Duration::from_millis(100);

/// A running stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The next byte to be sent.
    pub(crate) cursor: u64,
    /// Everything before this has been consumed.
    pub(crate) acknowledged: u64,
    /// Whether a snapshot must come next, whatever was acknowledged.
    pub(crate) snapshot: bool,
}

/// A wish to be told what can be seen.
#[derive(Debug)]
pub(crate) struct Observer {
    every: Duration,
    told_at: Option<Instant>,
    told_change: u64,
    /// Whether the last thing told was the screen at rest.
    told_at_rest: bool,
}

impl Observer {
    pub(crate) fn new(every_ms: u32) -> Observer {
        let every = Duration::from_millis(every_ms.into()).max(SHORTEST_EVERY);
        Observer { every, told_at: None, told_change: 0, told_at_rest: false }
    }

    /// When it should be told next; `None`: not before something changes.
    pub(crate) fn due(&self, change: u64, last_output: Instant) -> Option<Instant> {
        let Some(told_at) = self.told_at else { return Some(last_output) };
        if change == self.told_change && self.told_at_rest {
            return None;
        }
        let at_rest = last_output + AT_REST;
        match change == self.told_change {
            // Nothing new, but it has not been said that this is the end of it.
            true => Some(at_rest),
            false => Some(at_rest.min(told_at + self.every)),
        }
    }

    pub(crate) fn told(&mut self, change: u64, now: Instant, last_output: Instant) {
        self.told_at = Some(now);
        self.told_change = change;
        self.told_at_rest = now >= last_output + AT_REST;
    }
}

/// One connection.
pub(crate) struct Watcher {
    /// Rung whenever something may have to be sent. Whoever is woken looks at the state: a ring says nothing itself.
    pub(crate) bell: Rc<Notify>,
    pub(crate) stream: Option<Stream>,
    pub(crate) observer: Option<Observer>,
    /// Set by the clock of the host when the observer is due.
    pub(crate) observe_now: bool,
    /// Whether it has asked for anything. Who connects after the end is not told of it before: that closes the connection.
    pub(crate) asked: bool,
    pub(crate) exit_sent: bool,
    /// Everything that it was to be told has been written.
    pub(crate) drained: bool,
}

impl Watcher {
    pub(crate) fn new(asked: bool) -> Watcher {
        Watcher {
            bell: Rc::new(Notify::new()),
            stream: None,
            observer: None,
            observe_now: false,
            asked,
            exit_sent: false,
            drained: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_come_at_rest_and_seldom_while_busy() {
        let start = Instant::now();
        let mut observer = Observer::new(2000);
        assert_eq!(observer.due(0, start), Some(start), "the first at once");
        observer.told(0, start, start);
        assert_eq!(observer.due(0, start), Some(start + AT_REST), "then when it is at rest");
        let busy = start + Duration::from_millis(300);
        assert_eq!(observer.due(1, busy), Some(busy + AT_REST));
        let busy = start + Duration::from_millis(1900);
        assert_eq!(observer.due(2, busy), Some(start + Duration::from_millis(2000)), "not later than asked for");
        let rest = busy + AT_REST;
        observer.told(2, rest, busy);
        assert_eq!(observer.due(2, busy), None, "nothing changed");
        assert!(observer.due(3, rest + AT_REST).is_some());
    }
}
