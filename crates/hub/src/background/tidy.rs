//! Takes away the workspaces that were made to check a report, once it has its verdict.
//!
//! Woken when a verdict may have come, and when a runner comes; what cannot be asked for now is asked for then.

use std::sync::Arc;

use domain::RunnerId;
use protocol::ProblemKind;
use protocol::link::RunnerAsk;
use store::{Caller, StoreError, SweptCheck};

use crate::hub::Hub;

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let caller = Caller::hub("tidy");
    loop {
        hub.verdicts.notified().await;
        for runner in hub.links.linked() {
            if let Err(error) = sweep(&hub, &caller, runner).await {
                tracing::warn!(%error, %runner, "could not tidy up after checks");
            }
        }
    }
}

async fn sweep(hub: &Hub, caller: &Caller, runner: RunnerId) -> Result<(), StoreError> {
    for workspace in hub.store.checked_workspaces(runner).await? {
        let kept = match hub.links.ask(runner, RunnerAsk::Clean { workspace }).await {
            Ok(_) => None,
            Err(error) => match error.into_problem() {
                problem if problem.kind == ProblemKind::NotFound => None,
                // Something is in it that is nowhere else: people decide.
                problem if problem.kind == ProblemKind::Conflict => Some(problem.detail),
                problem => {
                    tracing::info!(%workspace, why = problem.detail, "a workspace of a check is there for now");
                    continue;
                }
            },
        };
        hub.store.write(caller, None, SweptCheck { workspace, kept }).await?;
    }
    Ok(())
}
