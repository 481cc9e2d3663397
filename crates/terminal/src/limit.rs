//! How long a session may run without its runner.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// When a session ends by itself; counts during suspend, and is the same for all processes of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limit {
    /// Milliseconds since the machine started.
    pub at_ms: u64,
    /// Milliseconds before its processes are killed then.
    pub grace_ms: u64,
}

impl Limit {
    /// The session ends after this time.
    pub fn after(time: Duration, grace: Duration) -> Limit {
        Limit { at_ms: millis(uptime() + time), grace_ms: millis(grace) }
    }

    /// The remaining time; `None`: it is up.
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
