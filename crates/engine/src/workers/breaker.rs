//! The circuit breaker of a worker: consecutive failures take it offline, a successful trial brings it back.

use domain::Timestamp;

/// When a worker goes offline, and for how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The number of consecutive failures that opens the breaker.
    pub failures: u32,
    /// The time until a trial, in milliseconds.
    pub cool_down_ms: i64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { failures: 3, cool_down_ms: 60_000 }
    }
}

/// The state of a breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaker {
    /// The worker takes tasks.
    Closed {
        /// Failures since the last success.
        failures: u32,
    },
    /// The worker takes nothing.
    Open {
        /// When a trial is allowed.
        until: Timestamp,
    },
    /// The worker has one task on trial, and takes nothing else.
    HalfOpen,
}

/// The outcome of a task for its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The work was accepted.
    Success,
    /// The worker failed, was lost, or made no progress.
    Failure,
}

impl Default for Breaker {
    fn default() -> Self {
        Self::Closed { failures: 0 }
    }
}

impl Breaker {
    /// The breaker after a task ended.
    pub fn after(self, outcome: Outcome, now: Timestamp, limits: Limits) -> Self {
        match (self, outcome) {
            (_, Outcome::Success) => Self::Closed { failures: 0 },
            (Self::Closed { failures }, Outcome::Failure) if failures + 1 < limits.failures => {
                Self::Closed { failures: failures + 1 }
            }
            // A failed trial opens it again; a late failure while it is open does not extend it.
            (Self::Closed { .. } | Self::HalfOpen, Outcome::Failure) => {
                Self::Open { until: now.plus_millis(limits.cool_down_ms) }
            }
            (open @ Self::Open { .. }, Outcome::Failure) => open,
        }
    }

    /// The breaker after the worker takes a task; `None` if it must not take one.
    pub fn take(self, now: Timestamp) -> Option<Self> {
        match self {
            Self::Closed { .. } => Some(self),
            Self::Open { until } if now >= until => Some(Self::HalfOpen),
            Self::Open { .. } | Self::HalfOpen => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millis(ms)
    }

    #[test]
    fn three_failures_open_it_and_one_trial_decides() {
        let limits = Limits::default();
        let mut breaker = Breaker::default();
        for _ in 0..2 {
            breaker = breaker.take(at(0)).unwrap().after(Outcome::Failure, at(0), limits);
        }
        assert!(breaker.take(at(0)).is_some());
        breaker = breaker.after(Outcome::Failure, at(0), limits);
        assert_eq!(breaker.take(at(59_999)), None);
        let trial = breaker.take(at(60_000)).unwrap();
        assert_eq!(trial.take(at(60_000)), None, "one trial at a time");
        assert_eq!(trial.after(Outcome::Success, at(60_001), limits), Breaker::default());
        assert_eq!(trial.after(Outcome::Failure, at(60_001), limits).take(at(60_002)), None);
    }

    proptest! {
        #[test]
        fn open_breaker_refuses_and_recovers(outcomes in proptest::collection::vec(any::<bool>(), 0..60)) {
            let limits = Limits { failures: 3, cool_down_ms: 10 };
            let (mut breaker, mut now, mut in_a_row) = (Breaker::default(), 0, 0);
            for good in outcomes {
                now += 1;
                match breaker.take(at(now)) {
                    Some(taken) => {
                        let outcome = if good { Outcome::Success } else { Outcome::Failure };
                        in_a_row = if good { 0 } else { in_a_row + 1 };
                        breaker = taken.after(outcome, at(now), limits);
                    }
                    None => prop_assert!(in_a_row >= 3),
                }
            }
            prop_assert!(breaker == Breaker::HalfOpen || breaker.take(at(now + 10)).is_some());
        }
    }
}
