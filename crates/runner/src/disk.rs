//! Keeps what the runner takes on the disk within its budget.

use std::sync::Arc;
use std::time::Duration;

use domain::WorkspaceId;
use worktree::{EvictionFacts, eviction_order};

use crate::JournalError;
use crate::floor::Floor;
use crate::recordings;

/// How often it is looked.
const LOOK: Duration = Duration::from_secs(300);

/// Measures, and makes room where the budget is spent, as long as the runner runs.
pub(crate) async fn watch(floor: Arc<Floor>) {
    let mut looks = tokio::time::interval(LOOK);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut retention = floor.retention.subscribe();
    loop {
        tokio::select! {
            _ = looks.tick() => {}
            Ok(()) = retention.changed() => {
                if let Err(error) = recordings::expire(&floor).await {
                    tracing::warn!(%error, "recordings that have expired could not be thrown away");
                }
                continue;
            }
        }
        if let Err(error) = look(&floor).await {
            tracing::warn!(%error, "the disk's budget could not be looked after");
        }
    }
}

/// Measures a workspace and tells the hub what it takes; nothing when it is not there.
pub(crate) async fn measure(floor: &Arc<Floor>, workspace: WorkspaceId) -> Option<u64> {
    let bytes = floor.workspaces.worktrees.disk_usage(workspace).await.ok()?;
    floor.workspaces.measured(floor, workspace, bytes).await;
    Some(bytes)
}

async fn look(floor: &Arc<Floor>) -> Result<(), JournalError> {
    recordings::expire(floor).await?;
    recordings::make_room(floor).await?;
    let trees = &floor.workspaces.worktrees;
    let mut facts = Vec::new();
    for (id, row) in floor.journal.workspaces().await? {
        let Some(bytes) = measure(floor, id).await else { continue };
        let in_use = !floor.sessions.in_workspace(id).is_empty();
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
    let Some(quota) = floor.options.disk_quota else { return Ok(()) };
    let workspaces: u64 = facts.iter().map(|fact| fact.bytes).sum();
    let shared = trees.total_usage().await.unwrap_or(workspaces).saturating_sub(workspaces);
    let plan = eviction_order(&facts, quota.saturating_sub(shared));
    for id in plan.clean {
        match floor.workspaces.clean(floor, id).await {
            Ok(()) => tracing::info!(workspace = %id, "a workspace was deleted to make room"),
            Err(problem) => tracing::info!(workspace = %id, why = problem.detail, "a workspace is kept"),
        }
    }
    if plan.still_over > 0 {
        tracing::warn!(bytes = plan.still_over, "the disk's quota is overrun by work that must be kept");
    }
    Ok(())
}
