//! Deletes workspaces that were created to check a report, once nobody needs them.
//!
//! Woken when a runner's desired state changes, as with every verdict, when it has reported, or when it connects;
//! failures are retried.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use domain::RunnerId;
use parking_lot::Mutex;
use protocol::ProblemKind;
use protocol::link::RunnerAsk;
use store::{Caller, StoreError, SweepApprovals, SweptCheck};
use tokio::sync::Notify;
use tokio::time::sleep;

use crate::hub::Hub;

/// How long to wait after a runner could not do it.
const AGAIN: Duration = Duration::from_secs(60);

/// The runners that may have such workspaces.
#[derive(Debug, Default)]
pub(crate) struct Untidy {
    runners: Mutex<HashSet<RunnerId>>,
    came: Notify,
}

impl Untidy {
    /// Marks a runner.
    pub(crate) fn at(&self, runner: RunnerId) {
        self.runners.lock().insert(runner);
        self.came.notify_one();
    }

    async fn next(&self) -> HashSet<RunnerId> {
        self.came.notified().await;
        std::mem::take(&mut *self.runners.lock())
    }
}

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let caller = Caller::hub("tidy");
    let mut left = HashSet::new();
    loop {
        let runners = tokio::select! {
            runners = hub.untidy.next() => runners,
            () = sleep(AGAIN), if !left.is_empty() => std::mem::take(&mut left),
        };
        if let Err(error) = hub.store.write(&caller, None, SweepApprovals {}).await {
            tracing::warn!(%error, "could not withdraw approvals that nobody needs any more");
        }
        let linked = hub.links.linked();
        for runner in runners.into_iter().filter(|runner| linked.contains(runner)) {
            let gone = sweep(&hub, &caller, runner).await.unwrap_or_else(|error| {
                tracing::warn!(%error, %runner, "could not delete workspaces of checks");
                false
            });
            if !gone {
                left.insert(runner);
            }
        }
    }
}

/// Deletes a runner's unneeded workspaces; `false`: some remain for now.
async fn sweep(hub: &Hub, caller: &Caller, runner: RunnerId) -> Result<bool, StoreError> {
    let mut gone = true;
    for workspace in hub.store.checked_workspaces(runner).await? {
        let kept = match hub.links.ask(runner, RunnerAsk::Clean { workspace }).await {
            Ok(_) => None,
            Err(error) => match error.into_problem() {
                problem if problem.kind == ProblemKind::NotFound => None,
                // It contains work that is nowhere else: people decide.
                problem if problem.kind == ProblemKind::Conflict => Some(problem.detail),
                problem => {
                    tracing::info!(%workspace, why = problem.detail, "a workspace of a check remains for now");
                    gone = false;
                    continue;
                }
            },
        };
        hub.store.write(caller, None, SweptCheck { workspace, kept }).await?;
    }
    Ok(gone)
}
