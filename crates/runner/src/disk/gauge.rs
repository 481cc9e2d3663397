//! Whether workspaces may have outgrown their quota since they were measured. Pure: the caller brings what is free.

use std::time::{Duration, Instant};

/// No two looks are closer than this.
const REST: Duration = Duration::from_secs(5);
/// After a look nothing is measured for this many times as long as it took: measuring takes 2 % of a core at most.
const SHARE: u32 = 50;
/// What is over its quota, and must be kept, is looked at again when it has grown by this part of the quota.
const STEP: u64 = 50;

/// What is left of a quota, as far as that is known without measuring anything.
#[derive(Debug)]
pub(super) struct Gauge {
    quota: u64,
    /// How much may come before the quota is overrun.
    room: u64,
    /// What was free when that was last asked.
    free: u64,
    /// How much has come since the last look, by whomever.
    come: u64,
    rests_until: Option<Instant>,
}

impl Gauge {
    /// A quota of which nothing is known yet, on a disk that has this much free.
    pub(super) fn new(quota: u64, free: u64) -> Self {
        Self { quota, room: quota, free, come: 0, rests_until: None }
    }

    /// Everything was measured: so much is taken, and that took so long.
    pub(super) fn measured(&mut self, taken: u64, took: Duration, now: Instant) {
        self.room = self.quota.saturating_sub(taken).max(self.quota / STEP);
        self.come = 0;
        self.rests_until = Some(now + REST.max(took.saturating_mul(SHARE)));
    }

    /// The disk has this much free; says whether it is time to measure.
    pub(super) fn is_due(&mut self, free: u64, now: Instant) -> bool {
        // What others delete makes up for nothing that came.
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
    fn it_is_due_once_more_has_come_than_there_was_room_for() {
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
    fn what_others_delete_makes_up_for_nothing() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(900, Duration::ZERO, start);
        let later = start + 10 * SECOND;
        assert!(!gauge.is_due(8940, later) && !gauge.is_due(20_000, later));
        assert!(gauge.is_due(19_940, later), "60 came, and 60 again");
    }

    #[test]
    fn a_look_that_took_long_is_not_soon_repeated() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(999, 2 * SECOND, start);
        assert!(!gauge.is_due(0, start + 99 * SECOND));
        assert!(gauge.is_due(0, start + 100 * SECOND), "what came meanwhile is not forgotten");
        gauge.measured(999, Duration::ZERO, start);
        assert!(!gauge.is_due(0, start + 6 * SECOND), "nothing came");
    }

    #[test]
    fn what_is_overrun_already_is_looked_at_when_it_has_grown_noticeably() {
        let start = Instant::now();
        let mut gauge = Gauge::new(1000, 9000);
        gauge.measured(5000, Duration::ZERO, start);
        assert!(!gauge.is_due(8980, start + 10 * SECOND) && gauge.is_due(8979, start + 10 * SECOND));
    }
}
