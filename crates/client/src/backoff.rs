//! Waits before retries: growing, and different for each client.

use std::time::Duration;

use rand::Rng;

/// Growing, bounded, jittered waits.
#[derive(Debug, Clone)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    tries: u32,
}

impl Backoff {
    /// Starts around `base`, doubles with each try and never exceeds `cap`.
    pub fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, tries: 0 }
    }

    /// The next wait, between half of its ceiling and the whole.
    pub fn next_wait(&mut self) -> Duration {
        let ceiling = self.ceiling();
        self.tries = self.tries.saturating_add(1);
        // Half of it is random, so that clients that lost the same hub do not return together.
        ceiling.mul_f64(rand::rng().random_range(0.5..=1.0)).min(self.cap)
    }

    /// The connection worked: the next wait is short again.
    pub fn reset(&mut self) {
        self.tries = 0;
    }

    fn ceiling(&self) -> Duration {
        let factor = 1_u32.checked_shl(self.tries).unwrap_or(u32::MAX);
        self.base.saturating_mul(factor).min(self.cap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn waits_are_bounded_and_grow(base in 1_u64..5_000, cap in 1_u64..120_000, tries in 0_usize..80) {
            let (base, cap) = (Duration::from_millis(base), Duration::from_millis(cap));
            let mut backoff = Backoff::new(base, cap);
            for index in 0..=tries {
                let wait = backoff.next_wait();
                let ceiling = base.saturating_mul(1_u32.checked_shl(index as u32).unwrap_or(u32::MAX)).min(cap);
                prop_assert!(wait <= cap, "{wait:?} is above the cap {cap:?}");
                // A nanosecond of slack for the rounding of the multiplication.
                prop_assert!(wait + Duration::from_nanos(1) >= ceiling / 2 && wait <= ceiling, "{wait:?} of {ceiling:?}");
            }
            backoff.reset();
            prop_assert!(backoff.next_wait() <= base.min(cap));
        }
    }

    #[test]
    fn two_clients_do_not_wait_equally_long() {
        let waits: std::collections::HashSet<_> =
            (0..50).map(|_| Backoff::new(Duration::from_secs(1), Duration::from_secs(30)).next_wait()).collect();
        assert!(waits.len() > 40, "only {} different waits of 50", waits.len());
    }
}
