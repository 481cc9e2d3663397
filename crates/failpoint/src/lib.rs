//! Named places where a test lets a process die.
//!
//! `SHOPFLOOR_FAILPOINT=work.begun:3` ends a process without warning when it passes `work.begun` for the third time, as
//! a power cut would: no destructor runs and nothing is flushed. A release build has nothing of it.

/// The places of a hub.
pub const HUB: [&str; 19] = [
    "store.begun",
    "store.before_commit",
    "store.after_commit",
    "store.announced",
    "execution.created",
    "execution.recorded",
    "execution.performed",
    "execution.saved",
    "execution.over",
    "work.begun",
    "work.closed",
    "timer.due",
    "runner.away",
    "conductor.looked",
    "conductor.tended",
    "conductor.handed_on",
    "schedule.ticked",
    "schedule.tended",
    "link.facts_stored",
];

/// The places of a runner.
pub const RUNNER: [&str; 6] =
    ["runner.accepted", "runner.starting", "runner.started", "runner.running", "runner.ended", "runner.end_written"];

/// The places of a hub that carries a handoff: the end of each step, and before and after what a runner does.
pub const HANDOFF_HUB: [&str; 9] = [
    "handoff.write",
    "handoff.save",
    "handoff.publish",
    "handoff.stop",
    "handoff.start",
    "handoff.acknowledge",
    "courier.tended",
    "courier.performed",
    "courier.told",
];

/// The places of a runner whose session is handed off.
pub const HANDOFF_RUNNER: [&str; 5] =
    ["runner.kept", "runner.published", "runner.packed", "runner.unpacked", "runner.stopping"];

/// Passes a place.
#[inline]
pub fn pass(place: &str) {
    #[cfg(debug_assertions)]
    armed::pass(place);
    #[cfg(not(debug_assertions))]
    let _ = place;
}

#[cfg(debug_assertions)]
mod armed {
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// Where to die, and at which passage.
    static ARMED: OnceLock<Option<(String, u32)>> = OnceLock::new();
    static PASSED: AtomicU32 = AtomicU32::new(0);

    pub(super) fn pass(place: &str) {
        let listed = |list: &[&str]| list.contains(&place);
        let known = listed(&super::HUB) || listed(&super::RUNNER);
        let known = known || listed(&super::HANDOFF_HUB) || listed(&super::HANDOFF_RUNNER);
        assert!(known, "`{place}` is not in the lists");
        let armed = ARMED.get_or_init(|| std::env::var("SHOPFLOOR_FAILPOINT").ok().and_then(|text| read(&text)));
        let Some((name, at)) = armed else { return };
        if name == place && PASSED.fetch_add(1, Ordering::SeqCst) + 1 == *at {
            std::process::abort();
        }
    }

    /// `NAME` or `NAME:PASSAGE`.
    pub(super) fn read(text: &str) -> Option<(String, u32)> {
        match text.split_once(':') {
            Some((name, at)) => Some((name.to_owned(), at.parse().ok()?)),
            None => Some((text.to_owned(), 1)),
        }
    }

    #[cfg(test)]
    mod tests {
        #[test]
        fn a_place_and_a_passage_are_read() {
            assert_eq!(super::read("a.b"), Some(("a.b".to_owned(), 1)));
            assert_eq!(super::read("a.b:3"), Some(("a.b".to_owned(), 3)));
            assert_eq!(super::read("a.b:x"), None);
        }
    }
}
