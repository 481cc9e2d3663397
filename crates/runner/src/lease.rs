//! A runner's view of leases: it stops a task's session before another worker can get the task. If the runner is killed
//! or stopped, the session's host does so a little later.
//!
//! The hub counts a lease from when it last heard the runner, and the runner from when it sent the last answered
//! message, which is earlier; both by their own clocks, whose rates may differ slightly.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::SessionId;
use terminal::{HostLink, Limit};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use crate::folders::Folders;
use crate::journal::Journal;
use crate::sessions::Sessions;

/// Minimum margin for clocks and for stopping.
const LEAST: Duration = Duration::from_secs(2);

/// The heartbeat interval, and the last answered message.
#[derive(Debug)]
pub(crate) struct Pulse {
    every: watch::Sender<Option<Duration>>,
    started: Instant,
    /// When the last answered message was sent.
    word: watch::Sender<Option<Instant>>,
}

impl Default for Pulse {
    fn default() -> Self {
        Self { every: watch::Sender::new(None), started: Instant::now(), word: watch::Sender::new(None) }
    }
}

impl Pulse {
    /// Sets the heartbeat interval that the hub wants; `None`: the default.
    pub(crate) fn beat(&self, every: Option<Duration>) {
        self.every.send_if_modified(|now| std::mem::replace(now, every) != every);
    }

    /// The heartbeat interval that the hub wants.
    pub(crate) fn every(&self) -> watch::Receiver<Option<Duration>> {
        self.every.subscribe()
    }

    /// The hub answered a message that was sent then.
    pub(crate) fn answered(&self, sent: Instant) {
        self.word.send_if_modified(|word| {
            let news = Some(sent) > *word;
            *word = (*word).max(Some(sent));
            news
        });
    }

    /// When a session's host ends it by itself; `None` as long as the hub has not answered.
    pub(crate) fn limit(&self, lease: Duration) -> Option<Limit> {
        let heard = (*self.word.borrow())?;
        let left = (heard + (lease - skew(lease) / 2)).saturating_duration_since(Instant::now());
        Some(Limit::after(left, skew(lease) / 4))
    }
}

/// How long before a lease's end its session is stopped.
pub(crate) fn skew(lease: Duration) -> Duration {
    (lease / 10).max(LEAST).min(lease / 4)
}

/// Which sessions must stop now, and when the next one must unless the hub answers.
fn overdue(
    word: Instant,
    now: Instant,
    leases: &[(SessionId, Duration)],
) -> (Vec<(SessionId, Duration)>, Option<Instant>) {
    let ends = |lease: Duration| word + (lease - skew(lease));
    let (over, on): (Vec<_>, Vec<_>) = leases.iter().copied().partition(|(_, lease)| ends(*lease) <= now);
    (over, on.into_iter().map(|(_, lease)| ends(lease)).min())
}

/// Enforces the leases of sessions that work on tasks.
#[derive(Debug)]
pub(crate) struct Leases {
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) folders: Folders,
}

impl Leases {
    /// Stops sessions of tasks whose leases may end unnoticed, as long as the runner runs.
    pub(crate) async fn keep(self) {
        let (mut word, mut begun) = (self.pulse.word.subscribe(), self.sessions.begun());
        let mut limited = HashSet::new();
        loop {
            let heard = word.borrow_and_update().unwrap_or(self.pulse.started);
            begun.mark_unchanged();
            let leases = self.sessions.leases();
            self.renew(&leases, &mut limited).await;
            let (over, next) = overdue(heard, Instant::now(), &leases);
            let trouble = self.journal.trouble().map(|trouble| trouble.why);
            for (session, lease) in over {
                let silent = heard.elapsed().as_secs();
                tracing::warn!(%session, silent, "stopping a task's session before its lease ends: the lease was not renewed");
                let cause = match &trouble {
                    Some(why) => format!("its runner could not record its work for {silent} s: {why}"),
                    None => format!("the hub had not answered its runner for {silent} s"),
                };
                let why = format!("stopped: {cause}; after {} s another worker may get the task", lease.as_secs());
                self.sessions.cut_off(session, why, skew(lease) / 2);
            }
            tokio::select! {
                Ok(()) = word.changed() => {}
                Ok(()) = begun.changed() => {}
                () = at(next) => {}
            }
        }
    }

    /// Sends each host the time until which its session may run without this runner. A host that is starting gets it with
    /// its launch, and one that is gone needs none.
    async fn renew(&self, leases: &[(SessionId, Duration)], limited: &mut HashSet<SessionId>) {
        for (session, lease) in leases {
            if let Some(limit) = self.pulse.limit(*lease) {
                limited.insert(*session);
                let _ = HostLink::until(&self.folders.session(*session), Some(limit)).await;
            }
        }
        let over: Vec<SessionId> =
            limited.extract_if(|session| leases.iter().all(|(leased, _)| leased != session)).collect();
        for session in over.into_iter().filter(|session| self.sessions.is_free(*session)) {
            let _ = HostLink::until(&self.folders.session(session), None).await;
        }
    }
}

async fn at(instant: Option<Instant>) {
    match instant {
        Some(instant) => sleep_until(instant).await,
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_margin_remains_to_stop_before_a_lease_ends() {
        let seconds = Duration::from_secs;
        assert_eq!(skew(seconds(90)), seconds(9));
        assert_eq!(skew(seconds(12)), seconds(2));
        assert_eq!(skew(seconds(2)), Duration::from_millis(500), "short leases are not all skew");
    }

    proptest! {
        #[test]
        fn a_session_stops_before_its_lease_can_end_and_not_before_it_must(
            leases in proptest::collection::vec(2_u64..86_400, 0..8),
            silent_ms in 0_u64..200_000_000,
        ) {
            let word = Instant::now();
            let now = word + Duration::from_millis(silent_ms);
            let leases: Vec<_> =
                leases.into_iter().map(|lease| (SessionId::generate(), Duration::from_secs(lease))).collect();
            let (over, next) = overdue(word, now, &leases);
            for (session, lease) in &leases {
                let stops = over.iter().any(|(stopped, _)| stopped == session);
                let left = lease.checked_sub(now - word);
                prop_assert!(stops || left.is_some_and(|left| left > skew(*lease)), "it runs too long");
                prop_assert!(!stops || left.is_none_or(|left| left <= skew(*lease)), "it is stopped too soon");
                // A clock that runs one percent slower than the hub's still stops in time.
                prop_assert!((*lease - skew(*lease)).mul_f64(1.01) < *lease);
                prop_assert!(stops || next.is_some_and(|next| next > now && next <= word + *lease));
            }
            prop_assert_eq!(next.is_none(), over.len() == leases.len());
        }

        #[test]
        fn a_session_with_regular_answers_is_never_stopped(
            lease in 2_u64..1_000,
            beats in proptest::collection::vec(0_u64..330, 1..60),
        ) {
            let lease = Duration::from_secs(lease);
            let leases = [(SessionId::generate(), lease)];
            let mut word = Instant::now();
            for thousandths in beats {
                // Answered after at most a third of the lease, and checked just before.
                let gap = lease * u32::try_from(thousandths).unwrap_or(0) / 1000;
                prop_assert!(overdue(word, word + gap, &leases).0.is_empty());
                word += gap;
            }
        }
    }
}
