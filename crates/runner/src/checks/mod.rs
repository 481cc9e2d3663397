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
use crate::approvals::Approvals;
use crate::background::Background;
use crate::journal::{Change, Journal};
use crate::machine::Machine;
use crate::workspaces::{Unmade, Workspaces};

pub(crate) use commands::environment;

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

    /// Marks a check as running in its workspace; `None` if it runs already.
    fn enter(self: &Arc<Self>, check: &DesiredCheck) -> Option<(Inside, CancellationToken)> {
        let (workspace, stop) = (check.workspace.workspace, CancellationToken::new());
        {
            let mut running = self.running.lock();
            if running.contains_key(&check.report) {
                return None;
            }
            running.insert(check.report, (workspace, stop.clone()));
        }
        Some((Inside::enter(self, workspace), stop))
    }
}

/// Marks a workspace as in use by a check, until dropped.
struct Inside {
    checks: Arc<Checks>,
    workspace: WorkspaceId,
}

impl Inside {
    fn enter(checks: &Arc<Checks>, workspace: WorkspaceId) -> Self {
        checks.inside.send_modify(|inside| inside.push(workspace));
        Self { checks: checks.clone(), workspace }
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.checks.inside.send_modify(|inside| {
            let own = inside.iter().position(|workspace| *workspace == self.workspace);
            own.map(|at| inside.swap_remove(at));
        });
    }
}

/// Checks reports.
#[derive(Debug)]
pub(crate) struct Checker {
    pub(crate) checks: Arc<Checks>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) workspaces: Arc<Workspaces>,
    /// Other people's text runs only with the approval of the runner's owner.
    pub(crate) approvals: Arc<Approvals>,
    pub(crate) background: Background,
}

impl Checker {
    /// Continues the unfinished checks of an earlier runner.
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<(), JournalError> {
        for row in self.journal.checks().await?.into_iter().filter(|row| row.result.is_none()) {
            self.begin(row.desired);
        }
        Ok(())
    }

    /// Starts new checks, repeats results that the hub has forgotten, and cancels unwanted checks.
    pub(crate) async fn take_in(self: &Arc<Self>, wanted: &[DesiredCheck]) -> Result<(), JournalError> {
        self.checks.running.lock().retain(|report, (_, stop)| {
            let stays = wanted.iter().any(|check| check.report == *report);
            if !stays {
                stop.cancel();
            }
            stays
        });
        for row in self.journal.checks().await? {
            let report = row.desired.report;
            match row.result {
                None => self.begin(row.desired),
                Some(result) if !self.journal.owes_check(report).await? => self.journal.tell(result).await,
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn begin(self: &Arc<Self>, check: DesiredCheck) {
        let Some((inside, stop)) = self.checks.enter(&check) else { return };
        let checker = self.clone();
        self.background.spawn(async move {
            // Dropped after everything that the check has open.
            let _inside = inside;
            let report = check.report;
            tokio::select! {
                () = checker.one(&check) => {
                    checker.checks.running.lock().remove(&report);
                }
                () = stop.cancelled() => tracing::info!(%report, "the check is no longer wanted"),
            }
        });
    }

    async fn one(&self, check: &DesiredCheck) {
        let report = check.report;
        let runs = check.criteria.iter().any(|criterion| matches!(criterion, Criterion::Command { .. }));
        // A check that waits for a person does not block others.
        let refused = match trust::settle(self, check).await {
            Ok(refused) => refused,
            Err(Unmade { why, cause }) => return self.failed(report, why, cause).await,
        };
        let turns = if runs { &self.checks.long } else { &self.checks.short };
        let Ok(_turn) = turns.acquire().await else { return };
        tracing::info!(%report, task = %check.task, "checking a report");
        if check.begin_told {
            self.journal.tell(FactBody::Checking { report }).await;
        }
        match perform::perform(self, check, refused).await {
            Ok((results, changes)) => {
                self.finished(report, FactBody::Checked { report, results, changes: Some(changes) }).await;
            }
            Err(Unmade { why, cause }) => self.failed(report, why, cause).await,
        }
    }

    async fn failed(&self, report: ReportId, detail: String, cause: CheckTrouble) {
        tracing::warn!(%report, detail, "could not check a report");
        self.finished(report, FactBody::CheckFailed { report, detail, cause }).await;
    }

    /// Stores and queues the result in one transaction, so that the check is not repeated.
    async fn finished(&self, report: ReportId, result: FactBody) {
        self.journal.write(&[Change::Checked(report, Box::new(result.clone()))], &[result]).await;
    }
}
