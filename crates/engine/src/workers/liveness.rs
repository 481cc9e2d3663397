//! Heartbeats and time limits: when a silent worker is gone, how long a check waits for its runner, and how long a
//! provider's limit pauses a worker.

use domain::Timestamp;

/// Heartbeat settings of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// The interval, in milliseconds.
    pub every_ms: i64,
    /// The number of consecutive heartbeats that may be missed.
    pub missed: u32,
}

impl Default for Heartbeat {
    fn default() -> Self {
        Self { every_ms: 30_000, missed: 3 }
    }
}

/// The shortest heartbeat interval.
const SHORTEST_SECONDS: u32 = 1;
/// The longest heartbeat interval.
const LONGEST_SECONDS: u32 = 10;

/// When a worker that was last heard from at `last` counts as gone.
pub fn gone_at(last: Timestamp, heartbeat: Heartbeat) -> Timestamp {
    let silence = heartbeat.every_ms.saturating_mul(i64::from(heartbeat.missed));
    last.plus_millis(silence.max(i64::from(3 * SHORTEST_SECONDS) * 1000))
}

/// The heartbeat interval of a runner in seconds: three heartbeats fit into a lease, and into the time after which its
/// workers count as gone.
pub fn sign_seconds(lease_seconds: u32, heartbeat_seconds: u32, missed: u32) -> u32 {
    let patience = lease_seconds.min(heartbeat_seconds.saturating_mul(missed));
    (patience / 3).clamp(SHORTEST_SECONDS, LONGEST_SECONDS)
}

/// How often the hub stores heartbeats, in seconds: once per worker heartbeat, and at least three times per lease.
pub fn renew_seconds(lease_seconds: u32, heartbeat_seconds: u32, missed: u32) -> u32 {
    let patience = lease_seconds.min(heartbeat_seconds.saturating_mul(missed));
    heartbeat_seconds.min(patience / 3).max(SHORTEST_SECONDS)
}

/// When the hub stops waiting for an offline runner to check a report: after the length of a lease.
///
/// `last` is when the runner was last connected; absent if it was removed, which ends the wait at once. The hub could
/// hear from no runner before `hub`.
pub fn check_given_up_at(last: Option<Timestamp>, hub: Timestamp, lease_ms: i64) -> Timestamp {
    last.map_or(hub, |last| last.max(hub).plus_millis(lease_ms))
}

/// The end of a pause after a provider's limit: the reset time that the provider names, within bounds.
pub fn paused_until(now: Timestamp, retry_after_seconds: Option<u64>) -> Timestamp {
    const USUAL: u64 = 60;
    // The longest limits of providers last a week.
    const LONGEST: u64 = 8 * 24 * 3600;
    let seconds = retry_after_seconds.unwrap_or(USUAL).clamp(1, LONGEST);
    now.plus_millis(i64::try_from(seconds * 1000).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_missed_heartbeats_are_a_worker_that_is_gone() {
        let at = |ms| Timestamp::from_millis(ms);
        assert_eq!(gone_at(at(1_000), Heartbeat::default()), at(91_000));
        assert_eq!(paused_until(at(0), Some(7)), at(7_000));
        assert_eq!(paused_until(at(0), None), at(60_000));
        assert_eq!(paused_until(at(0), Some(0)), at(1_000));
        assert_eq!(paused_until(at(0), Some(7 * 24 * 3600)), at(7 * 24 * 3_600_000));
        assert_eq!(paused_until(at(0), Some(u64::MAX)), at(8 * 24 * 3_600_000));
    }

    #[test]
    fn signs_of_life_follow_the_shortest_patience() {
        assert_eq!((sign_seconds(90, 30, 3), renew_seconds(90, 30, 3)), (10, 30));
        assert_eq!((sign_seconds(6, 2, 3), renew_seconds(6, 2, 3)), (2, 2));
        assert_eq!((sign_seconds(600, 30, 1), renew_seconds(600, 30, 1)), (10, 10), "one missed is one too many");
        assert_eq!((sign_seconds(2, 1, 1), renew_seconds(2, 1, 1)), (1, 1));
        let at = |ms| Timestamp::from_millis(ms);
        assert_eq!(gone_at(at(0), Heartbeat { every_ms: 1_000, missed: 1 }), at(3_000), "three signs must be missed");
    }

    #[test]
    fn a_check_waits_for_its_runner_as_long_as_a_lease_holds() {
        let at = |ms| Timestamp::from_millis(ms);
        assert_eq!(check_given_up_at(Some(at(5_000)), at(1_000), 90_000), at(95_000));
        assert_eq!(check_given_up_at(Some(at(5_000)), at(60_000), 90_000), at(150_000), "the hub was away, too");
        assert_eq!(check_given_up_at(None, at(60_000), 90_000), at(60_000), "it never comes back");
    }
}
