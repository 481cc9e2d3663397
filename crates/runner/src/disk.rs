//! Keeps the runner's disk usage within its quota.

mod gauge;

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::WorkspaceId;
use worktree::{EvictionFacts, eviction_order};

use self::gauge::Gauge;
use crate::JournalError;
use crate::floor::Floor;
use crate::recordings;

/// How often to measure in any case.
const LOOK: Duration = Duration::from_secs(300);
/// How often to check the free space, which is cheap.
const ASK: Duration = Duration::from_secs(5);

/// Measures, and frees space above the quota, as long as the runner runs.
pub(crate) async fn watch(floor: Arc<Floor>) {
    let (mut looks, mut asks) = (tokio::time::interval(LOOK), tokio::time::interval(ASK));
    for ticks in [&mut looks, &mut asks] {
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    }
    // Without a known free space, only the time decides.
    let mut gauge = floor.options.disk_quota.zip(free(&floor)).map(|(quota, free)| Gauge::new(quota, free));
    let mut retention = floor.retention.subscribe();
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            _ = asks.tick(), if gauge.is_some() => {
                let due = gauge.as_mut().zip(free(&floor)).is_some_and(|(gauge, free)| gauge.is_due(free, Instant::now()));
                if !due {
                    continue;
                }
                looks.reset();
            }
            Ok(()) = retention.changed() => {
                if let Err(error) = recordings::expire(&floor).await {
                    tracing::warn!(%error, "could not delete expired recordings");
                }
                continue;
            }
        }
        let begun = Instant::now();
        let taken = look(&floor).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "could not enforce the disk quota");
            u64::MAX
        });
        if let Some(gauge) = &mut gauge {
            gauge.measured(taken, begun.elapsed(), Instant::now());
        }
    }
}

/// The free space for workspaces.
fn free(floor: &Floor) -> Option<u64> {
    let disk = rustix::fs::statvfs(&floor.options.data_dir).ok()?;
    Some(disk.f_bfree.saturating_mul(disk.f_frsize))
}

/// Measures a workspace and reports its size; `None` if it does not exist.
pub(crate) async fn measure(floor: &Arc<Floor>, workspace: WorkspaceId) -> Option<u64> {
    let bytes = floor.workspaces.worktrees.disk_usage(workspace).await.ok()?;
    floor.workspaces.measured(floor, workspace, bytes).await;
    Some(bytes)
}

/// Measures everything, and frees space if necessary; returns the usage after that, if there is a quota.
async fn look(floor: &Arc<Floor>) -> Result<u64, JournalError> {
    recordings::expire(floor).await?;
    recordings::make_room(floor).await?;
    let trees = &floor.workspaces.worktrees;
    let checked = floor.checks.workspaces();
    let mut facts = Vec::new();
    for (id, row) in floor.journal.workspaces().await? {
        let Some(bytes) = measure(floor, id).await else { continue };
        let in_use = checked.contains(&id) || !floor.sessions.in_workspace(id).is_empty();
        // An unmeasured workspace could have any size.
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
    let Some(quota) = floor.options.disk_quota else { return Ok(0) };
    let workspaces: u64 = facts.iter().map(|fact| fact.bytes).sum();
    let shared = trees.total_usage().await.unwrap_or(workspaces).saturating_sub(workspaces);
    let plan = eviction_order(&facts, quota.saturating_sub(shared));
    let mut taken = shared.saturating_add(workspaces);
    for id in plan.clean {
        match floor.workspaces.clean(floor, id).await {
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
