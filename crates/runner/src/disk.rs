//! Keeps the runner's disk usage within its quota.

mod gauge;

use std::sync::Arc;
use std::time::{Duration, Instant};

use worktree::{EvictionFacts, eviction_order};

use self::gauge::Gauge;
use crate::JournalError;
use crate::folders::Folders;
use crate::journal::Journal;
use crate::recordings::Recordings;
use crate::workspaces::Workspaces;

/// How often to measure in any case.
const LOOK: Duration = Duration::from_secs(300);
/// How often to check the free space, which is cheap.
const ASK: Duration = Duration::from_secs(5);

/// The runner's disk usage and its quota.
#[derive(Debug)]
pub(crate) struct Disk {
    /// Maximum size of workspaces and shared object stores; `None`: no limit.
    pub(crate) quota: Option<u64>,
    pub(crate) folders: Folders,
    pub(crate) journal: Arc<Journal>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) recordings: Arc<Recordings>,
}

impl Disk {
    /// Measures, and frees space above the quota, as long as the runner runs.
    pub(crate) async fn watch(self) {
        let (mut looks, mut asks) = (tokio::time::interval(LOOK), tokio::time::interval(ASK));
        for ticks in [&mut looks, &mut asks] {
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        }
        // Without a known free space, only the time decides.
        let mut gauge = self.quota.zip(self.free()).map(|(quota, free)| Gauge::new(quota, free));
        let mut retention = self.recordings.retention();
        loop {
            tokio::select! {
                _ = looks.tick() => {}
                _ = asks.tick(), if gauge.is_some() => {
                    let due = gauge.as_mut().zip(self.free()).is_some_and(|(gauge, free)| gauge.is_due(free, Instant::now()));
                    if !due {
                        continue;
                    }
                    looks.reset();
                }
                Ok(()) = retention.changed() => {
                    if let Err(error) = self.recordings.expire().await {
                        tracing::warn!(%error, "could not delete expired recordings");
                    }
                    continue;
                }
            }
            let begun = Instant::now();
            let taken = self.look().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "could not enforce the disk quota");
                u64::MAX
            });
            if let Some(gauge) = &mut gauge {
                gauge.measured(taken, begun.elapsed(), Instant::now());
            }
        }
    }

    /// The free space for workspaces.
    fn free(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(self.folders.data_dir()).ok()?;
        Some(disk.f_bfree.saturating_mul(disk.f_frsize))
    }

    /// Measures everything, and frees space if necessary; returns the usage after that, if there is a quota.
    async fn look(&self) -> Result<u64, JournalError> {
        self.recordings.expire().await?;
        self.recordings.make_room().await?;
        let trees = &self.workspaces.worktrees;
        let mut facts = Vec::new();
        for (id, row) in self.journal.workspaces().await? {
            let Some(bytes) = self.workspaces.measure(id).await else { continue };
            let in_use = self.workspaces.is_in_use(id);
            // Without statistics, assume uncommitted and unpushed work.
            let stats = row.stats.as_ref();
            facts.push(EvictionFacts {
                id,
                bytes,
                in_use,
                finished: !in_use,
                uncommitted: stats.is_none_or(|stats| stats.uncommitted),
                unpushed: stats.map_or(1, |stats| stats.unpushed),
                used_at: row.used_at,
            });
        }
        let Some(quota) = self.quota else { return Ok(0) };
        let workspaces: u64 = facts.iter().map(|fact| fact.bytes).sum();
        let shared = trees.total_usage().await.unwrap_or(workspaces).saturating_sub(workspaces);
        let plan = eviction_order(&facts, quota.saturating_sub(shared));
        let mut taken = shared.saturating_add(workspaces);
        for id in plan.clean {
            match self.workspaces.clean(id).await {
                Ok(()) => {
                    let freed = facts.iter().find(|fact| fact.id == id).map_or(0, |fact| fact.bytes);
                    taken = taken.saturating_sub(freed);
                    tracing::info!(workspace = %id, "deleted a workspace to free space");
                }
                Err(problem) => tracing::info!(workspace = %id, why = problem.detail, "kept a workspace"),
            }
        }
        if plan.still_over > 0 {
            tracing::warn!(bytes = plan.still_over, "the disk quota is exceeded by work that must be kept");
        }
        Ok(taken)
    }
}
