//! Merge runs: builds stacks, runs their checks and lands them, as the hub orders, and to the end even after a crash.

mod land;
mod run_checks;
mod test;
mod trust;

use std::collections::HashMap;
use std::sync::Arc;

use domain::MergeRunId;
use parking_lot::Mutex;
use protocol::link::{DesiredMerge, FactBody, MergeOrder};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use worktree::Worktrees;

use crate::JournalError;
use crate::approvals::Approvals;
use crate::background::Background;
use crate::journal::{Change, Journal};
use crate::machine::Machine;

/// Performs merge runs.
#[derive(Debug)]
pub(crate) struct Merger {
    /// The unfinished runs.
    pub(crate) running: Mutex<HashMap<MergeRunId, CancellationToken>>,
    /// A run that runs checks takes a turn.
    pub(crate) turns: Semaphore,
    pub(crate) journal: Arc<Journal>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) worktrees: Worktrees,
    /// Other people's text runs only with the approval of the runner's owner.
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) background: Background,
}

impl Merger {
    /// Continues the unfinished runs of an earlier runner.
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<(), JournalError> {
        for row in self.journal.merges().await?.into_iter().filter(|row| row.result.is_none()) {
            self.begin(row.desired);
        }
        Ok(())
    }

    /// Starts new runs, repeats results that the hub has forgotten, and cancels unwanted runs.
    pub(crate) async fn take_in(self: &Arc<Self>, wanted: &[DesiredMerge]) -> Result<(), JournalError> {
        self.running.lock().retain(|run, stop| {
            let stays = wanted.iter().any(|merge| merge.run == *run);
            if !stays {
                stop.cancel();
            }
            stays
        });
        for row in self.journal.merges().await? {
            let run = row.desired.run;
            match row.result {
                None => self.begin(row.desired),
                Some(result) if !self.journal.owes_merge(run).await? => self.journal.tell(result).await,
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn begin(self: &Arc<Self>, merge: DesiredMerge) {
        let (run, stop) = (merge.run, CancellationToken::new());
        {
            let mut running = self.running.lock();
            if running.contains_key(&run) {
                return;
            }
            running.insert(run, stop.clone());
        }
        let merger = self.clone();
        self.background.spawn(async move {
            tokio::select! {
                result = merger.one(&merge) => {
                    // Stored and queued in one transaction, so that the run is not repeated.
                    merger.journal.write(&[Change::Merged(run, Box::new(result.clone()))], &[result]).await;
                    merger.running.lock().remove(&run);
                }
                () = stop.cancelled() => tracing::info!(%run, "the merge run is no longer wanted"),
            }
        });
    }

    async fn one(&self, merge: &DesiredMerge) -> FactBody {
        let run = merge.run;
        match &merge.order {
            MergeOrder::Test { base, candidates, checks } => {
                let order = test::Order { merge, base: base.as_deref(), candidates, checks };
                FactBody::MergeTested { run, test: self.test(order).await }
            }
            MergeOrder::Land { base, commit, .. } => {
                FactBody::MergeLanded { run, land: self.land(merge, base, commit).await }
            }
        }
    }
}
