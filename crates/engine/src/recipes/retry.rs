//! Whether and when a failed attempt is followed by another.

use super::model::{Backoff, Retry};
use super::{ErrorKind, Path};

/// Whether a policy retries this kind of error after this many attempts.
pub(super) fn again(policy: &Retry, counted: u32, kind: ErrorKind) -> bool {
    let retried = match policy.on.is_empty() {
        // The same expression over the same values fails again.
        true => !matches!(kind, ErrorKind::Rejected | ErrorKind::Expression),
        false => policy.on.contains(&kind),
    };
    retried && counted < policy.attempts
}

/// The wait before the next attempt, in milliseconds. The jitter depends on the execution, the step and the attempt
/// alone, so that a history decides the same again.
pub(super) fn delay(policy: &Retry, counted: u32, execution: &str, path: &Path, attempt: u32) -> u64 {
    let failures = u64::from(counted.max(1));
    let wait = match policy.backoff {
        Backoff::Fixed => policy.first,
        Backoff::Linear => policy.first.saturating_mul(failures),
        Backoff::Exponential => policy.first.saturating_mul(1u64.checked_shl(counted.max(1) - 1).unwrap_or(u64::MAX)),
    };
    let wait = wait.min(policy.max);
    let span = u128::from(wait) * u128::from(policy.jitter.min(100)) / 100;
    let share = u128::from(hash(&format!("{execution}/{path}/{attempt}")) >> 32);
    let varied = u128::from(wait) - span + ((2 * span * share) >> 32);
    u64::try_from(varied).unwrap_or(wait)
}

/// FNV-1a, finished by SplitMix64: histories depend on it, so it never changes.
fn hash(text: &str) -> u64 {
    let fnv = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(backoff: Backoff, jitter: u32) -> Retry {
        Retry { attempts: 5, backoff, first: 1_000, max: 6_000, jitter, on: Vec::new() }
    }

    #[test]
    fn waits_grow_as_the_policy_says() {
        let waits = |backoff| -> Vec<u64> {
            (1..=5).map(|counted| delay(&policy(backoff, 0), counted, "e", &Path::top("a"), counted)).collect()
        };
        assert_eq!(waits(Backoff::Fixed), [1_000; 5]);
        assert_eq!(waits(Backoff::Linear), [1_000, 2_000, 3_000, 4_000, 5_000]);
        assert_eq!(waits(Backoff::Exponential), [1_000, 2_000, 4_000, 6_000, 6_000]);
    }

    #[test]
    fn jitter_is_the_same_for_the_same_attempt_and_stays_in_its_share() {
        let wait =
            |execution: &str, attempt| delay(&policy(Backoff::Fixed, 20), 1, execution, &Path::top("a"), attempt);
        // Histories depend on this number.
        assert_eq!(wait("e", 1), wait("e", 1));
        let all: Vec<u64> = (0..200).map(|attempt| wait("e", attempt)).collect();
        assert!(all.iter().all(|wait| (800..=1_200).contains(wait)));
        assert!(all.iter().any(|wait| *wait < 900) && all.iter().any(|wait| *wait > 1_100));
        assert_ne!(wait("e", 1), wait("f", 1));
    }

    #[test]
    fn a_policy_chooses_its_errors() {
        let mut policy = policy(Backoff::Fixed, 0);
        assert!(again(&policy, 4, ErrorKind::Lost) && !again(&policy, 5, ErrorKind::Lost));
        assert!(!again(&policy, 1, ErrorKind::Rejected));
        policy.on = vec![ErrorKind::Rejected];
        assert!(again(&policy, 1, ErrorKind::Rejected) && !again(&policy, 1, ErrorKind::Lost));
    }
}
