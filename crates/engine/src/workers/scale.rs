//! Scaling: more workers when the queue is long, fewer when workers are idle.

use domain::text::counted;
use domain::{Timestamp, WorkerId};

/// Scaling settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The minimum number of workers.
    pub least: u32,
    /// The maximum number of workers.
    pub most: u32,
    /// The number of ready tasks per worker that adds workers.
    pub tasks_per_worker: u32,
    /// The idle time that removes a worker, in milliseconds.
    pub idle_ms: i64,
}

/// A worker's facts for scaling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Worker {
    /// The worker.
    pub id: WorkerId,
    /// Since when the worker is idle; absent if it works.
    pub idle_since: Option<Timestamp>,
    /// Whether the worker takes tasks, now or after its pause; false without a runner or budget.
    pub takes: bool,
}

/// The length of the queue as text.
fn deep(ready: u32, there: u32) -> String {
    let tasks = counted(ready, "task is", "tasks are");
    format!("{tasks} ready for {}", counted(there, "worker", "workers"))
}

/// The scaling decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scale {
    /// No change.
    Keep,
    /// Add workers.
    More {
        /// The number to add.
        count: u32,
        /// The reason.
        reason: String,
    },
    /// Remove these workers.
    Fewer {
        /// The workers with the longest idle time.
        workers: Vec<WorkerId>,
        /// The reason.
        reason: String,
    },
}

/// Decides whether to add or remove workers.
pub fn scale(workers: &[Worker], ready: u32, now: Timestamp, limits: Limits) -> Scale {
    let there = u32::try_from(workers.len()).unwrap_or(u32::MAX);
    let most = limits.most.max(limits.least);
    let wanted = ready.div_ceil(limits.tasks_per_worker.max(1)).clamp(limits.least, most);
    let idle = workers.iter().filter(|worker| worker.takes && worker.idle_since.is_some()).count();
    if there < limits.least || (wanted > there && idle == 0) {
        let count = wanted.max(limits.least) - there;
        return Scale::More { count, reason: deep(ready, there) };
    }
    let mut tired: Vec<(Timestamp, WorkerId)> = workers
        .iter()
        .filter_map(|worker| Some((worker.idle_since?, worker.id)))
        .filter(|(since, _)| ready == 0 && since.plus_millis(limits.idle_ms) <= now)
        .collect();
    tired.sort();
    tired.truncate((there - limits.least.min(there)) as usize);
    if tired.is_empty() {
        return Scale::Keep;
    }
    let reason = format!("no task was ready for {} s", limits.idle_ms / 1000);
    Scale::Fewer { workers: tired.into_iter().map(|(_, worker)| worker).collect(), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: Limits = Limits { least: 1, most: 5, tasks_per_worker: 2, idle_ms: 60_000 };

    fn workers(idle: &[Option<i64>]) -> Vec<Worker> {
        let worker = |since: &Option<i64>| Worker {
            id: WorkerId::generate(),
            idle_since: since.map(Timestamp::from_millis),
            takes: true,
        };
        idle.iter().map(worker).collect()
    }

    #[test]
    fn deep_queues_bring_workers_and_idleness_takes_them() {
        let now = Timestamp::from_millis(100_000);
        let check = |workers: &[Worker], ready| scale(workers, ready, now, LIMITS);
        assert!(matches!(check(&workers(&[None]), 20), Scale::More { count: 4, .. }));
        assert_eq!(check(&workers(&[None, Some(99_999)]), 20), Scale::Keep, "somebody is free already");
        let spent = [Worker { takes: false, ..workers(&[Some(99_999)])[0] }];
        assert!(matches!(check(&spent, 20), Scale::More { count: 4, .. }), "it takes nothing, but it counts");
        assert!(matches!(check(&[], 0), Scale::More { count: 1, .. }));
        let idle = workers(&[Some(50_000), Some(10), Some(20)]);
        let Scale::Fewer { workers, .. } = check(&idle, 0) else { panic!() };
        assert_eq!(workers, [idle[1].id, idle[2].id]);
        assert_eq!(check(&idle, 1), Scale::Keep, "something is ready");
    }

    proptest! {
        #[test]
        fn the_number_stays_within_the_limits(
            idle in proptest::collection::vec(proptest::option::of(0i64..200_000), 0..8),
            ready in 0u32..40, least in 0u32..4, more in 0u32..6,
        ) {
            let limits = Limits { least, most: least + more, ..LIMITS };
            let there = workers(&idle);
            match scale(&there, ready, Timestamp::from_millis(200_000), limits) {
                Scale::Keep => {}
                Scale::More { count, .. } => {
                    prop_assert!(count > 0 && there.len() as u32 + count <= limits.most.max(least));
                }
                Scale::Fewer { workers, .. } => {
                    prop_assert!(!workers.is_empty() && there.len() - workers.len() >= least as usize);
                    for id in workers {
                        prop_assert!(there.iter().any(|worker| worker.id == id && worker.idle_since.is_some()));
                    }
                }
            }
        }
    }
}
