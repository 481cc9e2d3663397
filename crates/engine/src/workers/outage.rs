//! Outages of an agent on a machine, whatever its task: how long its workers pause, and when one of them probes.

use domain::{HoldUp, Timestamp};

use crate::workers::liveness::paused_until;

/// An outage of an agent on a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outage {
    /// The cause.
    pub cause: HoldUp,
    /// The number of consecutive failures, counting only the first session and the probes.
    pub failures: u32,
    /// When it started.
    pub since: Timestamp,
    /// When one worker may probe.
    pub probe_at: Timestamp,
}

/// How long a session may be held up before it loses its task; longer than agents usually retry.
const PATIENCE_MS: i64 = 120_000;
/// The extra time after the reset that a provider names.
const GRACE_MS: i64 = 60_000;
/// The number of failed starts before a person is notified.
const START_UPS: u32 = 3;

/// The outage after a hold-up ended a session. `probed` says that the session was the probe; older sessions add no
/// information.
pub fn after_failure(
    open: Option<Outage>,
    probed: bool,
    cause: HoldUp,
    retry_after_seconds: Option<u64>,
    now: Timestamp,
) -> Outage {
    let before = match open {
        Some(open) if !probed => return open,
        Some(open) => open,
        None => Outage { cause, failures: 0, since: now, probe_at: now },
    };
    let probe_at = match retry_after_seconds {
        Some(seconds) if cause == HoldUp::RateLimit => paused_until(now, Some(seconds)),
        _ => now.plus_millis(delay_ms(cause, before.failures)),
    };
    Outage { cause, failures: before.failures.saturating_add(1), since: before.since, probe_at }
}

/// The delay until the next probe: doubles with each failure, up to a maximum.
fn delay_ms(cause: HoldUp, failures: u32) -> i64 {
    let (first, longest) = match cause {
        HoldUp::StartUp => (2_000, 60_000),
        HoldUp::RateLimit => (60_000, 900_000),
        HoldUp::Auth | HoldUp::Overloaded | HoldUp::Network => (15_000, 900_000),
    };
    i64::min(first << failures.min(16), longest)
}

impl Outage {
    /// Whether a worker may probe; `probing` says that one already does.
    pub fn may_probe(&self, probing: bool, now: Timestamp) -> bool {
        !probing && now >= self.probe_at
    }

    /// Whether to notify a person: once, and of failed starts only if they repeat.
    pub fn is_news(&self) -> bool {
        self.cause != HoldUp::StartUp || self.failures >= START_UPS
    }
}

/// When a session that is held up since `since` loses its task. `until` is the reset that the provider named.
pub fn given_up_at(since: Timestamp, until: Option<Timestamp>) -> Timestamp {
    let patience = since.plus_millis(PATIENCE_MS);
    until.map_or(patience, |until| patience.max(until.plus_millis(GRACE_MS)))
}

/// The cause as text for everybody who sees the project.
pub fn in_words(cause: HoldUp, agent: &str, runner: &str) -> String {
    match cause {
        HoldUp::Auth => format!("`{agent}` on `{runner}` is not logged in: its provider refuses its login"),
        HoldUp::RateLimit => format!("a provider's limit blocks `{agent}` on `{runner}`"),
        HoldUp::Overloaded => format!("the provider of `{agent}` on `{runner}` answers with errors"),
        HoldUp::Network => format!("the provider of `{agent}` on `{runner}` does not answer, or drops the connection"),
        HoldUp::StartUp => format!("`{agent}` could not start on `{runner}`"),
    }
}

/// Advice for a person.
pub fn advice(cause: HoldUp, agent: &str, runner: &str, login: Option<&str>) -> String {
    match (cause, login) {
        (HoldUp::Auth, Some(login)) => format!("Log in to `{agent}` on `{runner}`: `{login}`."),
        (HoldUp::Auth, None) => format!("Log in to `{agent}` on `{runner}`."),
        (HoldUp::StartUp, _) => format!("Look at its session, and start `{agent}` on `{runner}` by hand."),
        _ => "Nothing needs to be done if the provider recovers.".to_owned(),
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
    fn the_next_try_comes_later_after_each_that_failed() {
        let first = after_failure(None, false, HoldUp::Overloaded, None, at(0));
        assert_eq!((first.failures, first.probe_at), (1, at(15_000)));
        assert!(!first.may_probe(false, at(14_999)) && first.may_probe(false, at(15_000)));
        assert!(!first.may_probe(true, at(15_000)), "one at a time");
        let other = after_failure(Some(first), false, HoldUp::Overloaded, None, at(1_000));
        assert_eq!(other, first, "the failure of a session that began earlier says nothing new");
        let second = after_failure(Some(first), true, HoldUp::Network, None, at(16_000));
        assert_eq!((second.failures, second.probe_at, second.since), (2, at(46_000), at(0)));
        assert_eq!(second.cause, HoldUp::Network);
    }

    #[test]
    fn a_provider_that_says_when_is_asked_then() {
        let limit = after_failure(None, false, HoldUp::RateLimit, Some(3_600), at(0));
        assert_eq!(limit.probe_at, at(3_600_000));
        assert_eq!(after_failure(None, false, HoldUp::RateLimit, None, at(0)).probe_at, at(60_000));
        let start = after_failure(None, false, HoldUp::StartUp, Some(3_600), at(0));
        assert_eq!((start.probe_at, start.is_news()), (at(2_000), false));
    }

    #[test]
    fn repeated_start_failures_notify_a_person() {
        let mut open = None;
        let mut news = Vec::new();
        for _ in 0..4 {
            let next = after_failure(open, open.is_some(), HoldUp::StartUp, None, at(0));
            news.push(next.is_news());
            open = Some(next);
        }
        assert_eq!(news, [false, false, true, true]);
        assert!(after_failure(None, false, HoldUp::Auth, None, at(0)).is_news());
    }

    #[test]
    fn an_outage_without_progress_is_given_up() {
        assert_eq!(given_up_at(at(0), None), at(120_000));
        assert_eq!(given_up_at(at(0), Some(at(30_000))), at(120_000));
        assert_eq!(given_up_at(at(0), Some(at(3_600_000))), at(3_660_000));
    }

    #[test]
    fn an_expired_login_names_the_command_that_renews_it() {
        let login = advice(HoldUp::Auth, "codex", "here", Some("codex login"));
        assert_eq!(login, "Log in to `codex` on `here`: `codex login`.");
    }

    proptest! {
        #[test]
        fn an_outage_is_always_retried(failures in 0_u32..200, cause in 0..HoldUp::ALL.len()) {
            let (cause, now) = (HoldUp::ALL[cause], at(1_000));
            let open = Outage { cause, failures, since: at(0), probe_at: at(0) };
            let next = after_failure(Some(open), true, cause, None, now);
            prop_assert!(next.probe_at > now && next.probe_at <= now.plus_millis(900_000));
            prop_assert!(next.may_probe(false, next.probe_at));
        }
    }
}
