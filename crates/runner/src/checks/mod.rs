//! Checks reports: a few at a time, concurrently with everything else, and to the end even after a crash.

mod changes;
mod commands;
mod commit;
mod perform;
mod trust;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use domain::{ReportId, WorkspaceId};
use parking_lot::Mutex;
use protocol::Criterion;
use protocol::link::{CheckTrouble, DesiredCheck, FactBody};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;

use crate::JournalError;
use crate::floor::Floor;
use crate::journal::Change;
use crate::workspaces::Unmade;

/// How many reports with commands, which may build and test a whole project, to check at once.
const LONG: usize = 2;
/// How many other reports to check at once.
const SHORT: usize = 2;
/// How long a cancelled check may take to leave its workspace.
const LEAVES: Duration = Duration::from_secs(10);

/// The unfinished checks.
#[derive(Debug)]
pub(crate) struct Checks {
    running: Mutex<HashMap<ReportId, (WorkspaceId, CancellationToken)>>,
    /// The workspaces in use by checks, including cancelled ones that still run.
    inside: watch::Sender<Vec<WorkspaceId>>,
    long: Semaphore,
    short: Semaphore,
}

impl Default for Checks {
    fn default() -> Self {
        let (long, short) = (Semaphore::new(LONG), Semaphore::new(SHORT));
        Self { running: Mutex::default(), inside: watch::Sender::default(), long, short }
    }
}

impl Checks {
    /// Continues the unfinished checks of an earlier runner.
    pub(crate) async fn resume(&self, floor: &Arc<Floor>) -> Result<(), JournalError> {
        for row in floor.journal.checks().await?.into_iter().filter(|row| row.result.is_none()) {
            self.begin(floor, row.desired);
        }
        Ok(())
    }

    /// Starts new checks, repeats results that the hub has forgotten, and cancels unwanted checks.
    pub(crate) async fn take_in(&self, floor: &Arc<Floor>, wanted: &[DesiredCheck]) -> Result<(), JournalError> {
        self.running.lock().retain(|report, (_, stop)| {
            let stays = wanted.iter().any(|check| check.report == *report);
            if !stays {
                stop.cancel();
            }
            stays
        });
        for row in floor.journal.checks().await? {
            let report = row.desired.report;
            match row.result {
                None => self.begin(floor, row.desired),
                Some(result) if !floor.journal.owes_check(report).await? => floor.journal.tell(result).await,
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// The workspaces in which a check runs, or soon will.
    pub(crate) fn workspaces(&self) -> Vec<WorkspaceId> {
        self.running.lock().values().map(|(workspace, _)| *workspace).collect()
    }

    /// Waits until no check runs in a workspace; `false`: it still does.
    pub(crate) async fn leave(&self, workspace: WorkspaceId) -> bool {
        let mut inside = self.inside.subscribe();
        let left = inside.wait_for(|inside| !inside.contains(&workspace));
        tokio::time::timeout(LEAVES, left).await.is_ok()
    }

    fn begin(&self, floor: &Arc<Floor>, check: DesiredCheck) {
        let (report, stop) = (check.report, CancellationToken::new());
        {
            let mut running = self.running.lock();
            if running.contains_key(&report) {
                return;
            }
            running.insert(report, (check.workspace.workspace, stop.clone()));
        }
        let shared = floor.clone();
        let inside = Inside::enter(floor, check.workspace.workspace);
        floor.spawn(async move {
            // Dropped after everything that the check has open.
            let _inside = inside;
            tokio::select! {
                () = one(&shared, &check) => {
                    shared.checks.running.lock().remove(&report);
                }
                () = stop.cancelled() => tracing::info!(%report, "the check is no longer wanted"),
            }
        });
    }
}

/// Marks a workspace as in use by a check, until dropped.
struct Inside {
    floor: Arc<Floor>,
    workspace: WorkspaceId,
}

impl Inside {
    fn enter(floor: &Arc<Floor>, workspace: WorkspaceId) -> Self {
        floor.checks.inside.send_modify(|inside| inside.push(workspace));
        Self { floor: floor.clone(), workspace }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.floor.checks.inside.send_modify(|inside| {
            let own = inside.iter().position(|workspace| *workspace == self.workspace);
            own.map(|at| inside.swap_remove(at));
        });
    }
}

async fn one(floor: &Arc<Floor>, check: &DesiredCheck) {
    let report = check.report;
    let runs = check.criteria.iter().any(|criterion| matches!(criterion, Criterion::Command { .. }));
    // A check that waits for a person does not block others.
    let refused = match trust::settle(floor, check).await {
        Ok(refused) => refused,
        Err(Unmade { why, cause }) => return failed(floor, report, why, cause).await,
    };
    let turns = if runs { &floor.checks.long } else { &floor.checks.short };
    let Ok(_turn) = turns.acquire().await else { return };
    tracing::info!(%report, task = %check.task, "checking a report");
    if check.begin_told {
        floor.journal.tell(FactBody::Checking { report }).await;
    }
    match perform::perform(floor, check, refused).await {
        Ok((results, changes)) => {
            finished(floor, report, FactBody::Checked { report, results, changes: Some(changes) }).await;
        }
        Err(Unmade { why, cause }) => failed(floor, report, why, cause).await,
    }
}

async fn failed(floor: &Floor, report: ReportId, detail: String, cause: CheckTrouble) {
    tracing::warn!(%report, detail, "could not check a report");
    finished(floor, report, FactBody::CheckFailed { report, detail, cause }).await;
}

/// Stores and queues the result in one transaction, so that the check is not repeated.
async fn finished(floor: &Floor, report: ReportId, result: FactBody) {
    floor.journal.write(&[Change::Checked(report, Box::new(result.clone()))], &[result]).await;
}
