//! When to examine which workspace: soon after its last change, never too late, and within a share of the processor.
//! Pure.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use domain::WorkspaceId;

/// Timings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tempo {
    /// How long a workspace must be quiet before it is examined.
    pub quiet: Duration,
    /// How long to wait for quiet.
    pub restless: Duration,
    /// Deadline after the last change, however busy the machine.
    pub promise: Duration,
    /// The same while changes never end.
    pub longest: Duration,
    /// The share of one core for examinations before their deadlines.
    pub share: f64,
}

impl Default for Tempo {
    fn default() -> Self {
        Self {
            quiet: Duration::from_secs(1),
            restless: Duration::from_secs(8),
            promise: Duration::from_secs(7),
            longest: Duration::from_secs(40),
            share: 0.03,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Changed {
    first: Instant,
    last: Instant,
}

/// The workspaces to examine.
#[derive(Debug)]
pub(crate) struct Pace {
    tempo: Tempo,
    waiting: HashMap<WorkspaceId, Changed>,
    /// Available processor time in seconds; negative after an overdraft.
    credit: f64,
    counted: Instant,
}

/// Maximum credit, so that a quiet floor reacts at once.
const MOST_CREDIT: f64 = 0.5;
const MOST_DEBT: f64 = -3.0;

impl Pace {
    pub(crate) fn new(tempo: Tempo, now: Instant) -> Self {
        Self { tempo, waiting: HashMap::new(), credit: MOST_CREDIT, counted: now }
    }

    /// A workspace changed.
    pub(crate) fn changed(&mut self, id: WorkspaceId, now: Instant) {
        self.waiting.entry(id).or_insert(Changed { first: now, last: now }).last = now;
    }

    pub(crate) fn forget(&mut self, id: WorkspaceId) {
        self.waiting.remove(&id);
    }

    /// An examination took this much processor time.
    pub(crate) fn spent(&mut self, cost: Duration, now: Instant) {
        self.earn(now);
        self.credit = (self.credit - cost.as_secs_f64()).max(MOST_DEBT);
    }

    fn earn(&mut self, now: Instant) {
        let since = now.saturating_duration_since(self.counted).as_secs_f64();
        self.credit = (self.credit + since * self.tempo.share).min(MOST_CREDIT);
        self.counted = now;
    }

    /// The workspace that is due now; removes it.
    pub(crate) fn take(&mut self, now: Instant) -> Option<WorkspaceId> {
        self.earn(now);
        let (id, due) = self.earliest()?;
        if due > now {
            return None;
        }
        self.waiting.remove(&id);
        Some(id)
    }

    /// When the next one is due.
    pub(crate) fn next(&mut self, now: Instant) -> Option<Instant> {
        self.earn(now);
        let (_, due) = self.earliest()?;
        if self.credit >= 0.0 {
            return Some(due);
        }
        let paid = now + Duration::from_secs_f64(-self.credit / self.tempo.share.max(0.001));
        let soonest = self.waiting.values().map(|changed| self.soon(changed)).min()?;
        Some(due.min(paid.max(soonest)))
    }

    fn earliest(&self) -> Option<(WorkspaceId, Instant)> {
        let due = |changed: &Changed| if self.credit >= 0.0 { self.soon(changed) } else { self.late(changed) };
        self.waiting.iter().map(|(id, changed)| (*id, due(changed))).min_by_key(|(id, due)| (*due, *id))
    }

    fn soon(&self, changed: &Changed) -> Instant {
        (changed.last + self.tempo.quiet).min(changed.first + self.tempo.restless)
    }

    fn late(&self, changed: &Changed) -> Instant {
        (changed.last + self.tempo.promise).min(changed.first + self.tempo.longest)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn a_change_is_looked_at_once_it_is_quiet() {
        let start = Instant::now();
        let mut pace = Pace::new(Tempo::default(), start);
        let id = WorkspaceId::generate();
        pace.changed(id, start);
        pace.changed(id, start + ms(900));
        assert_eq!(pace.next(start + ms(950)), Some(start + ms(1900)));
        assert_eq!(pace.take(start + ms(1899)), None);
        assert_eq!(pace.take(start + ms(1900)), Some(id));
        assert_eq!(pace.next(start + ms(1900)), None);
    }

    #[test]
    fn endless_changes_are_examined_anyway() {
        let start = Instant::now();
        let mut pace = Pace::new(Tempo::default(), start);
        let id = WorkspaceId::generate();
        for n in 0..80 {
            pace.changed(id, start + ms(n * 100));
            assert_eq!(pace.take(start + ms(n * 100)), None);
        }
        assert_eq!(pace.take(start + ms(8000)), Some(id));
    }

    proptest! {
        /// In any case the last change is examined by its deadline, and the share holds over time.
        #[test]
        fn every_change_is_examined_in_time_within_the_share_of_work(
            changes in prop::collection::vec((0u64..60_000, 0usize..50), 1..400), cost in 1u64..60
        ) {
            let tempo = Tempo::default();
            let start = Instant::now();
            let mut pace = Pace::new(tempo, start);
            let ids: Vec<WorkspaceId> = (0..50).map(|_| WorkspaceId::generate()).collect();
            let mut changes = changes;
            changes.sort_unstable();
            let mut last: HashMap<WorkspaceId, u64> = HashMap::new();
            let mut changes = changes.into_iter().peekable();
            let (mut spent, mut forced) = (0, 0);
            let mut now = 0;
            while now < 75_000 {
                while let Some((at, who)) = changes.next_if(|(at, _)| *at <= now) {
                    pace.changed(ids[who], start + ms(at));
                    last.insert(ids[who], at);
                }
                if let Some(id) = pace.take(start + ms(now)) {
                    let at = last.remove(&id).unwrap();
                    forced += u64::from(now - at >= 7000);
                    spent += cost;
                    now += cost;
                    pace.spent(ms(cost), start + ms(now));
                } else {
                    now += 50;
                }
                for at in last.values() {
                    // 7 s are promised; then the fifty before it may each take their time.
                    prop_assert!(now - at <= 7000 + 50 + 50 * cost, "{} {}", now, at);
                }
            }
            prop_assert!(last.is_empty());
            // A second is saved up at first; each look that was promised may overdraw.
            let allowed = 75_000.0 * tempo.share + 1000.0 + cost as f64 + (forced * cost) as f64;
            prop_assert!((spent as f64) <= allowed, "{} {}", spent, allowed);
        }
    }
}
