//! Keeps what the runner takes on the disk within its budget.

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

/// How often it is looked, whether or not anything seems to have come.
const LOOK: Duration = Duration::from_secs(300);
/// How often the disk is asked what is free, which costs nothing.
const ASK: Duration = Duration::from_secs(5);

/// What the runner takes on the disk, and may take.
#[derive(Debug)]
pub(crate) struct Disk {
    /// What workspaces and shared object stores may take; absent: no limit.
    pub(crate) quota: Option<u64>,
    pub(crate) folders: Folders,
    pub(crate) journal: Arc<Journal>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) recordings: Arc<Recordings>,
}

impl Disk {
    /// Measures, and makes room where the budget is spent, as long as the runner runs.
    pub(crate) async fn watch(self) {
        let (mut looks, mut asks) = (tokio::time::interval(LOOK), tokio::time::interval(ASK));
        for ticks in [&mut looks, &mut asks] {
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        }
        // Where the disk does not say what is free, the time alone decides.
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
                        tracing::warn!(%error, "recordings that have expired could not be thrown away");
                    }
                    continue;
                }
            }
            let begun = Instant::now();
            let taken = self.look().await.unwrap_or_else(|error| {
                tracing::warn!(%error, "the disk's budget could not be looked after");
                u64::MAX
            });
            if let Some(gauge) = &mut gauge {
                gauge.measured(taken, begun.elapsed(), Instant::now());
            }
        }
    }

    /// What is free where the workspaces are.
    fn free(&self) -> Option<u64> {
        let disk = rustix::fs::statvfs(self.folders.data_dir()).ok()?;
        Some(disk.f_bfree.saturating_mul(disk.f_frsize))
    }

    /// Measures everything, and makes room where there must be some; what is taken after that, if there is a quota.
    async fn look(&self) -> Result<u64, JournalError> {
        self.recordings.expire().await?;
        self.recordings.make_room().await?;
        let trees = &self.workspaces.worktrees;
        let mut facts = Vec::new();
        for (id, row) in self.journal.workspaces().await? {
            let Some(bytes) = self.workspaces.measure(id).await else { continue };
            let in_use = self.workspaces.is_in_use(id);
            // What was never counted might be anything.
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
                    tracing::info!(workspace = %id, "a workspace was deleted to make room");
                }
                Err(problem) => tracing::info!(workspace = %id, why = problem.detail, "a workspace is kept"),
            }
        }
        if plan.still_over > 0 {
            tracing::warn!(bytes = plan.still_over, "the disk's quota is overrun by work that must be kept");
        }
        Ok(taken)
    }
}
