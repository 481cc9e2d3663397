//! Remembers callers by name, a bounded number per credential, at constant cost.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

/// Maximum names per credential. One more replaces the one that was silent for longest.
pub(super) const MOST: usize = 100;
/// How often to look for silent callers.
const TIDY: Duration = Duration::from_secs(30);

/// A remembered caller.
pub(super) trait Seat {
    /// The time since its last call.
    fn silent_for(&self) -> Duration;
    /// Whether it holds nothing.
    fn is_empty(&self) -> bool;
    /// Whether it was silent for so long that it will not return.
    fn forgotten(&self) -> bool;
}

/// Callers by credential and name.
#[derive(Debug)]
pub(super) struct Desks<S> {
    of: HashMap<String, HashMap<String, S>>,
    tidied: Instant,
}

/// There is no place: every name of the credential holds something.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl<S: Seat> Desks<S> {
    pub(super) fn new() -> Self {
        Self { of: HashMap::new(), tidied: Instant::now() }
    }

    /// A caller's place; a new one if it has none.
    pub(super) fn seat(&mut self, credential: &str, name: &str, fresh: impl FnOnce() -> S) -> Result<&S, NoRoom> {
        if self.tidied.elapsed() >= TIDY {
            self.tidy();
        }
        let names = self.of.entry(credential.to_owned()).or_default();
        if !names.contains_key(name) && names.len() >= MOST {
            let idle = names.iter().filter(|(_, seat)| seat.is_empty()).max_by_key(|(_, seat)| seat.silent_for());
            let idle = idle.map(|(name, _)| name.clone()).ok_or(NoRoom)?;
            names.remove(&idle);
        }
        Ok(names.entry(name.to_owned()).or_insert_with(fresh))
    }

    fn tidy(&mut self) {
        self.tidied = Instant::now();
        self.of.retain(|_, names| {
            names.retain(|_, seat| !seat.forgotten());
            !names.is_empty()
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    /// Counts how often it is looked at.
    struct Chair<'a> {
        silent: u64,
        busy: bool,
        looks: &'a Cell<usize>,
    }

    impl Seat for Chair<'_> {
        fn silent_for(&self) -> Duration {
            self.looks.set(self.looks.get() + 1);
            Duration::from_secs(self.silent)
        }

        fn is_empty(&self) -> bool {
            self.looks.set(self.looks.get() + 1);
            !self.busy
        }

        fn forgotten(&self) -> bool {
            self.looks.set(self.looks.get() + 1);
            self.silent > 300
        }
    }

    #[test]
    fn one_credential_keeps_a_hundred_names_at_no_cost_to_others() {
        let looks = &Cell::new(0);
        let chair = |silent, busy| move || Chair { silent, busy, looks };
        let mut desks = Desks::new();
        for name in 0..50_000_u64 {
            assert!(desks.seat("tok_a", &name.to_string(), chair(name % 300, false)).is_ok());
        }
        assert_eq!(desks.of["tok_a"].len(), MOST);
        looks.set(0);
        for _ in 0..1000 {
            assert!(desks.seat("tok_b", "one", chair(0, false)).is_ok());
        }
        assert_eq!(looks.get(), 0, "other credentials are not visited");
    }

    #[test]
    fn a_name_with_work_is_never_replaced() {
        let looks = &Cell::new(0);
        let chair = |silent, busy| move || Chair { silent, busy, looks };
        let mut desks = Desks::new();
        for name in 0..MOST {
            assert!(desks.seat("tok_a", &name.to_string(), chair(1, name != 7)).is_ok());
        }
        assert!(desks.seat("tok_a", "fresh", chair(0, true)).is_ok());
        assert!(!desks.of["tok_a"].contains_key("7"), "only that one held nothing");
        assert_eq!(desks.seat("tok_a", "more", chair(0, false)).err(), Some(NoRoom));
        assert!(desks.seat("tok_a", "8", chair(0, false)).is_ok(), "a known name has its place");
        assert!(desks.seat("tok_b", "late", chair(400, false)).is_ok());
        desks.tidy();
        assert!(desks.of.contains_key("tok_a"));
        assert!(!desks.of.contains_key("tok_b"), "a long-silent name is forgotten");
    }
}
