//! When pending notifications of one channel are sent, and whether as a digest.

use domain::{NotifyKind, Timestamp};

use super::Quiet;

/// How a person wants to be notified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prefs {
    /// Nothing is sent in these hours.
    pub quiet: Option<Quiet>,
    /// How long to wait for further events before sending, in seconds.
    pub gather_seconds: u32,
    /// The longest wait after the first event, in seconds.
    pub at_most_seconds: u32,
}

/// A notification that was not sent yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pending {
    /// What it is about.
    pub kind: NotifyKind,
    /// When the event was committed.
    pub at: Timestamp,
}

/// What is known when a channel is looked at.
#[derive(Debug, Clone)]
pub struct Facts<'a> {
    /// What was not sent yet.
    pub pending: &'a [Pending],
    /// Until when the person counts as looking at the page.
    pub looking_until: Option<Timestamp>,
}

/// What happens to the pending notifications of a channel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// There are none.
    Nothing,
    /// Look again at `until`. Those at the positions in `seen` are dropped: the person saw them on the page.
    Hold {
        /// When to look again.
        until: Timestamp,
        /// Positions in [`Facts::pending`].
        seen: Vec<usize>,
    },
    /// The only one is sent now.
    Send,
    /// All are sent now, as one message.
    Digest,
}

/// Decides about the pending notifications of one channel.
pub fn decide(prefs: &Prefs, facts: &Facts<'_>, now: Timestamp) -> Decision {
    let times = || facts.pending.iter().map(|one| one.at);
    let (Some(oldest), Some(newest)) = (times().min(), times().max()) else { return Decision::Nothing };
    if let Some(until) = facts.looking_until.filter(|until| *until > now) {
        let told = facts.pending.iter().enumerate().filter(|(_, one)| !one.kind.needs_you());
        return Decision::Hold { until, seen: told.map(|(at, _)| at).collect() };
    }
    if let Some(until) = prefs.quiet.as_ref().and_then(|quiet| quiet.end(now)) {
        return Decision::Hold { until, seen: Vec::new() };
    }
    let after = |at: Timestamp, seconds: u32| at.plus_millis(i64::from(seconds) * 1000);
    let due = after(newest, prefs.gather_seconds).min(after(oldest, prefs.at_most_seconds));
    match facts.pending.len() {
        _ if due > now => Decision::Hold { until: due, seen: Vec::new() },
        1 => Decision::Send,
        _ => Decision::Digest,
    }
}

/// How many of each kind, in the order of the kinds.
pub fn counts(kinds: &[NotifyKind]) -> Vec<(NotifyKind, usize)> {
    let count = |kind: &NotifyKind| kinds.iter().filter(|one| *one == kind).count();
    NotifyKind::ALL.iter().map(|kind| (*kind, count(kind))).filter(|(_, count)| *count > 0).collect()
}
