//! Whether workspaces may have exceeded their quota since the last measurement. Pure: the caller brings the free space.

use std::time::{Duration, Instant};

/// Minimum time between two measurements.
const REST: Duration = Duration::from_secs(5);
/// Pause after a measurement, as a multiple of its duration: measuring takes at most 2 % of a core.
const SHARE: u32 = 50;
/// Work above the quota that must be kept is measured again after growing by this part of the quota.
const STEP: u64 = 50;

/// The remaining quota, as far as known without measuring.
#[derive(Debug)]
pub(super) struct Gauge {
    quota: u64,
    /// How much may be added before the quota is exceeded.
    room: u64,
    /// The free space at the last check.
    free: u64,
    /// How much was added since the last measurement, by any process.
    come: u64,
    rests_until: Option<Instant>,
}

impl Gauge {
    /// A quota without measurements, on a disk with this much free space.
    pub(super) fn new(quota: u64, free: u64) -> Self {
        Self { quota, room: quota, free, come: 0, rests_until: None }
    }

    /// Stores a measurement: the usage, and how long measuring took.
    pub(super) fn measured(&mut self, taken: u64, took: Duration, now: Instant) {
        self.room = self.quota.saturating_sub(taken).max(self.quota / STEP);
        self.come = 0;
        self.rests_until = Some(now + REST.max(took.saturating_mul(SHARE)));
    }

    /// Stores the free space; whether it is time to measure.
    pub(super) fn is_due(&mut self, free: u64, now: Instant) -> bool {
        // Deletions by others do not compensate for additions.
        self.come = self.come.saturating_add(self.free.saturating_sub(free));
        self.free = free;
        self.come > self.room && self.rests_until.is_none_or(|until| until <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn quota_is_remeasured_after_growth_beyond_free_space() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(900, Duration::ZERO, start);
        let later = start + 10 * SECOND;
        assert!(!gauge.is_due(8950, later) && !gauge.is_due(8900, later), "there was room for 100");
        assert!(gauge.is_due(8899, later));
        gauge.measured(400, Duration::ZERO, later);
        assert!(!gauge.is_due(8400, later + 10 * SECOND), "there is room for 600 now");
    }

    #[test]
    fn deletions_by_others_do_not_compensate() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(900, Duration::ZERO, start);
        let later = start + 10 * SECOND;
        assert!(!gauge.is_due(8940, later) && !gauge.is_due(20_000, later));
        assert!(gauge.is_due(19_940, later), "60 were added, and 60 again");
    }

    #[test]
    fn a_slow_measurement_is_not_repeated_soon() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(999, 2 * SECOND, start);
        assert!(!gauge.is_due(0, start + 99 * SECOND));
        assert!(gauge.is_due(0, start + 100 * SECOND), "additions in between count");
        gauge.measured(999, Duration::ZERO, start);
        assert!(!gauge.is_due(0, start + 6 * SECOND), "nothing was added");
    }

    #[test]
    fn an_exceeded_quota_is_measured_after_noticeable_growth() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(5000, Duration::ZERO, start);
        assert!(!gauge.is_due(8980, start + 10 * SECOND) && gauge.is_due(8979, start + 10 * SECOND));
    }
}
