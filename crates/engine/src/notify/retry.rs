//! When a delivery is tried again: the schedule of Standard Webhooks.

use domain::Timestamp;

/// The wait before each attempt, in seconds since the one before it.
pub const SCHEDULE: [u32; 10] = [0, 5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
/// The longest wait that a receiver may ask for, in seconds.
const LONGEST: u32 = 86_400;

/// The outcome of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver accepted it.
    Delivered,
    /// The receiver is gone for good: HTTP 410, or a push subscription that ended.
    Gone,
    /// The address must not be contacted, so that trying again is pointless.
    Refused,
    /// It failed; `wait_seconds` is what the receiver asked for.
    Failed {
        /// The value of `Retry-After`.
        wait_seconds: Option<u32>,
    },
}

/// What follows an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it was delivered.
    Done,
    /// The channel is disabled, and nothing more is sent to it.
    Disable,
    /// Another attempt at this time.
    Again {
        /// The time.
        at: Timestamp,
    },
    /// Nothing: it failed too often.
    GiveUp,
}

/// What follows attempt number `tried`, which counts from 1.
pub fn next(tried: u32, outcome: Outcome, now: Timestamp) -> Next {
    let wait_seconds = match outcome {
        Outcome::Delivered => return Next::Done,
        Outcome::Gone => return Next::Disable,
        Outcome::Refused => return Next::GiveUp,
        Outcome::Failed { wait_seconds } => wait_seconds.unwrap_or(0).min(LONGEST),
    };
    match SCHEDULE.get(tried as usize) {
        Some(wait) => Next::Again { at: now.plus_millis(i64::from((*wait).max(wait_seconds)) * 1000) },
        None => Next::GiveUp,
    }
}
