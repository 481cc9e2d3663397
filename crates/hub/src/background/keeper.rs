//! The keeper: keeps the work of parallel lanes as git bundles when their execution is over, so that work which was not
//! chosen outlives its workspace.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use domain::WorkspaceId;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::{Caller, KeepLaneWork, LaneWork, MAX_KEPT_BUNDLE, StoreError};
use tokio::time::{MissedTickBehavior, interval};

use super::mover::unexpected;
use crate::AppError;
use crate::hub::Hub;

/// How often to look.
const EVERY: Duration = Duration::from_secs(10);
/// How often to try to pack a workspace.
const TRIES: u32 = 3;

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut ticks = interval(EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut tries = HashMap::new();
    loop {
        ticks.tick().await;
        if let Err(error) = keep(&hub, &mut tries).await {
            tracing::warn!(%error, "could not keep the work of executions; retried later");
        }
    }
}

async fn keep(hub: &Arc<Hub>, tries: &mut HashMap<WorkspaceId, u32>) -> Result<(), StoreError> {
    let works = hub.store.lane_works().await?;
    tries.retain(|workspace, _| works.iter().any(|work| work.workspace == *workspace));
    for work in works {
        // A runner that is away is asked again when it is back.
        if hub.links.reachable(work.runner).is_err() || tries.get(&work.workspace).is_some_and(|tried| *tried >= TRIES)
        {
            continue;
        }
        *tries.entry(work.workspace).or_default() += 1;
        match bundle(hub, &work).await {
            Ok(bytes) => {
                let LaneWork { execution, path, attempt, workspace, .. } = work;
                let command = KeepLaneWork { execution, path, attempt, bytes };
                if !hub.store.write(&Caller::hub("keeper"), None, command).await?.value {
                    tracing::warn!(%execution, %workspace, "the artifacts of the project have no room for this work");
                }
            }
            Err(error) => {
                let why = error.into_problem().detail;
                tracing::warn!(execution = %work.execution, workspace = %work.workspace, why, "could not keep work");
            }
        }
    }
    Ok(())
}

/// The branch and the uncommitted changes of a workspace, as its runner packs them.
async fn bundle(hub: &Hub, work: &LaneWork) -> Result<Vec<u8>, AppError> {
    let ask = RunnerAsk::Bundle { workspace: work.workspace };
    let RunnerAnswer::Bundle(bundle) = hub.links.ask(work.runner, ask).await? else { return Err(unexpected()) };
    if bundle.bytes > MAX_KEPT_BUNDLE {
        let why = format!("the work is larger than {} MiB: it stays in its workspace", MAX_KEPT_BUNDLE / 1024 / 1024);
        return Err(AppError::new(protocol::ProblemKind::TooLarge, why));
    }
    let mut bytes = Vec::new();
    while (bytes.len() as u64) < bundle.bytes {
        let ask = RunnerAsk::BundlePart { bundle: bundle.bundle.clone(), offset: bytes.len() as u64 };
        let RunnerAnswer::BundlePart(part) = hub.links.ask(work.runner, ask).await? else { return Err(unexpected()) };
        let more = STANDARD.decode(&part.data).map_err(|_| unexpected())?;
        bytes.extend_from_slice(&more);
        if more.is_empty() || part.next != bytes.len() as u64 || part.next > bundle.bytes {
            return Err(unexpected());
        }
    }
    Ok(bytes)
}
