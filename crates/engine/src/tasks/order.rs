//! The order of the queue: by priority, and by age so that no task starves.

use domain::Timestamp;

/// The highest priority; 0 is the lowest.
pub const MAX_PRIORITY: u8 = 9;

/// The extra waiting time that outweighs one level of priority.
const LEVEL_MS: i64 = 10 * 60 * 1000;

/// The position of a task in the queue; the lowest goes first.
///
/// The key is constant while the task waits, so that an index can keep the order: a higher priority counts as a bounded
/// extra waiting time.
pub fn queue_key(ready_at: Timestamp, priority: u8) -> i64 {
    ready_at.as_millis().saturating_sub(i64::from(priority.min(MAX_PRIORITY)) * LEVEL_MS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(at: i64, priority: u8) -> i64 {
        queue_key(Timestamp::from_millis(at), priority)
    }

    proptest! {
        #[test]
        fn of_two_that_wait_as_long_the_more_important_goes_first(at in 0i64..1 << 47, low in 0u8..9, more in 1u8..9) {
            let high = (low + more).min(MAX_PRIORITY);
            prop_assert!(key(at, high) < key(at, low));
        }

        #[test]
        fn every_priority_is_served_in_the_end(at in 0i64..1 << 47, low in 0u8..=9, high in 0u8..=9) {
            let patience = i64::from(MAX_PRIORITY) * LEVEL_MS + 1;
            prop_assert!(key(at, low) < key(at + patience, high), "whatever comes after the wait is behind it");
        }
    }
}
