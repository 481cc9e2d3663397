//! Until when a session may go on when nobody speaks for it any more.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// When a session ends by itself: it counts also while everybody sleeps, and is the same for all processes of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Milliseconds since the machine started.
    pub at_ms: u64,
    /// Milliseconds that its processes have then before they are killed.
    pub grace_ms: u64,
}

impl Limit {
    /// The session ends in so long.
    pub fn after(time: Duration, grace: Duration) -> Limit {
        Limit { at_ms: millis(uptime() + time), grace_ms: millis(grace) }
    }

    /// What is left; nothing: it is over.
    pub(crate) fn left(&self) -> Option<Duration> {
        Duration::from_millis(self.at_ms).checked_sub(uptime()).filter(|left| !left.is_zero())
    }

    pub(crate) fn grace(&self) -> Duration {
        Duration::from_millis(self.grace_ms)
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn uptime() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}
