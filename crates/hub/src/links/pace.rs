//! Limits how fast a runner is read: a flood of frames waits in the runner's own socket.

use std::num::NonZeroU32;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::time::Instant;

/// Counts the frames of one link.
pub(super) struct Pace {
    frames: DefaultDirectRateLimiter,
    clock: DefaultClock,
    resumes: Option<Instant>,
}

impl Pace {
    /// A limit in frames per second.
    pub(super) fn new(per_second: u32) -> Self {
        let quota = Quota::per_second(NonZeroU32::new(per_second).unwrap_or(NonZeroU32::MIN));
        Self { frames: RateLimiter::direct(quota), clock: DefaultClock::default(), resumes: None }
    }

    /// Counts a frame; above the limit, reading pauses for a moment.
    pub(super) fn count(&mut self) {
        if let Err(refused) = self.frames.check() {
            self.resumes = Some(Instant::now() + refused.wait_time_from(self.clock.now()));
        }
    }

    /// Waits until the next frame may be read.
    pub(super) async fn ready(&mut self) {
        if let Some(at) = self.resumes {
            tokio::time::sleep_until(at).await;
            self.resumes = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flood_waits_and_normal_traffic_does_not() {
        let mut pace = Pace::new(100);
        (0..100).for_each(|_| pace.count());
        assert!(pace.resumes.is_none());
        (0..100).for_each(|_| pace.count());
        assert!(pace.resumes.is_some());
        pace.ready().await;
        assert!(pace.resumes.is_none());
    }
}
