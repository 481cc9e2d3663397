//! One connection to a host: its position, and what it wants.

use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// How many bytes beyond the acknowledged ones are sent.
pub(crate) const WINDOW: u64 = 512 << 10;

/// How much is sent at once, byte by byte…
const BURST: u64 = 1 << 20;
/// …and how much in each millisecond after it. Nobody reads faster.
const PER_MS: u64 = 4 << 10;
/// Above that, the screen is sent instead, this often.
const SCREENS: Duration = Duration::from_millis(20);

/// Output is at rest after this long without any.
pub(crate) const AT_REST: Duration = Duration::from_millis(400);

/// Minimum time between observations while there is output.
const SHORTEST_EVERY: Duration = Duration::from_millis(100);

/// A running stream.
#[derive(Debug)]
pub(crate) struct Stream {
    /// The next byte to be sent.
    pub(crate) cursor: u64,
    /// Everything before this was acknowledged.
    pub(crate) acknowledged: u64,
    /// Whether a snapshot must come next.
    pub(crate) snapshot: bool,
    pub(crate) allowance: Allowance,
}

/// How much of a flood is sent.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: u64,
    filled_at: Instant,
    /// Screens are sent instead of bytes; the last one at this time.
    screens: Option<Instant>,
}

/// How a stream continues.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    Bytes,
    Screen,
    Wait(Instant),
}

impl Allowance {
    pub(crate) fn new(now: Instant) -> Allowance {
        Allowance { left: BURST, filled_at: now, screens: None }
    }

    /// How a stream continues that is this many bytes behind.
    pub(crate) fn turn(&mut self, now: Instant, behind: u64) -> Turn {
        let passed = u64::try_from((now - self.filled_at).as_millis()).unwrap_or(u64::MAX);
        if passed > 0 {
            self.left = self.left.saturating_add(passed.saturating_mul(PER_MS)).min(BURST);
            self.filled_at = now;
        }
        if behind <= self.left || (self.screens.is_none() && self.left > 0) {
            return Turn::Bytes;
        }
        match self.screens.map(|last| last + SCREENS) {
            Some(due) if now < due => Turn::Wait(due),
            _ => {
                self.screens = Some(now);
                Turn::Screen
            }
        }
    }

    pub(crate) fn sent(&mut self, bytes: usize, behind: u64) {
        self.left = self.left.saturating_sub(bytes as u64);
        // Everything was sent, and it was not too much.
        if behind == 0 && self.screens.is_some_and(|last| last.elapsed() > SCREENS) {
            self.screens = None;
        }
    }
}

/// A subscription to observations.
#[derive(Debug)]
pub(crate) struct Observer {
    every: Duration,
    told_at: Option<Instant>,
    told_change: u64,
    /// Whether the last observation was at rest.
    told_at_rest: bool,
}

impl Observer {
    pub(crate) fn new(every_ms: u32) -> Observer {
        let every = Duration::from_millis(every_ms.into()).max(SHORTEST_EVERY);
        Observer { every, told_at: None, told_change: 0, told_at_rest: false }
    }

    /// When the next observation is due; `None`: not before a change.
    pub(crate) fn due(&self, change: u64, last_output: Instant) -> Option<Instant> {
        let Some(told_at) = self.told_at else { return Some(last_output) };
        if change == self.told_change && self.told_at_rest {
            return None;
        }
        let at_rest = last_output + AT_REST;
        match change == self.told_change {
            // Nothing new, but the rest was not reported yet.
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
    /// Notified whenever something may have to be sent. The receiver checks the state.
    pub(crate) bell: Rc<Notify>,
    pub(crate) stream: Option<Stream>,
    pub(crate) observer: Option<Observer>,
    /// When a waiting stream continues.
    pub(crate) waits: Option<Instant>,
    /// Set by the clock of the host when the observer is due.
    pub(crate) observe_now: bool,
    /// Whether it has requested anything. Connections after the end learn of it only then, because that closes them.
    pub(crate) asked: bool,
    pub(crate) exit_sent: bool,
    /// Everything was written to it.
    pub(crate) drained: bool,
}

impl Watcher {
    pub(crate) fn new(asked: bool) -> Watcher {
        Watcher {
            bell: Rc::new(Notify::new()),
            stream: None,
            observer: None,
            waits: None,
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
    fn a_flood_is_shown_as_screens_and_what_follows_it_as_bytes() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut allowance = Allowance::new(start);
        assert_eq!(allowance.turn(start, 10 * BURST), Turn::Bytes, "as long as there is something left");
        allowance.sent(BURST as usize, 9 * BURST);
        assert_eq!(allowance.turn(start, 9 * BURST), Turn::Screen);
        assert_eq!(allowance.turn(after(10), BURST), Turn::Wait(start + SCREENS));
        assert_eq!(allowance.turn(after(40), BURST), Turn::Screen);
        assert_eq!(allowance.turn(after(50), 50 * PER_MS), Turn::Bytes, "no more than is left");
        allowance.sent(50 * PER_MS as usize, 0);
        assert_eq!(allowance.turn(after(50), 1), Turn::Wait(after(40) + SCREENS));
        assert_eq!(allowance.turn(after(60), 1), Turn::Bytes);
    }

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
