//! Rate limits: login attempts by address, requests by credential.

use std::net::IpAddr;
use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use crate::options::Limits;

/// Counts by address and credential.
pub(crate) struct Meters {
    entries: DefaultKeyedRateLimiter<IpAddr>,
    requests: DefaultKeyedRateLimiter<String>,
    clock: DefaultClock,
}

impl Meters {
    pub(crate) fn new(limits: &Limits) -> Self {
        let some = |count: u32| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
        Self {
            entries: RateLimiter::keyed(Quota::per_minute(some(limits.entries_per_minute))),
            requests: RateLimiter::keyed(Quota::per_second(some(limits.requests_per_second))),
            clock: DefaultClock::default(),
        }
    }

    /// Counts a login attempt or an invalid credential; `Err` is the number of seconds to wait.
    pub(crate) fn entry(&self, address: IpAddr) -> Result<(), u32> {
        self.entries.check_key(&address).map_err(|refused| wait(refused.wait_time_from(self.clock.now())))
    }

    /// Counts a request of a credential; `Err` is the number of seconds to wait.
    pub(crate) fn request(&self, credential: &str) -> Result<(), u32> {
        self.requests
            .check_key(&credential.to_owned())
            .map_err(|refused| wait(refused.wait_time_from(self.clock.now())))
    }

    /// Forgets quiet addresses and credentials.
    pub(crate) fn tidy(&self) {
        self.entries.retain_recent();
        self.requests.retain_recent();
    }
}

fn wait(time: std::time::Duration) -> u32 {
    u32::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u32::MAX).max(1)
}
