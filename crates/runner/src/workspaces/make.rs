//! Makes a workspace and sets it up, once, however many sessions want it and however often the runner is killed.

use std::sync::Arc;

use domain::WorkspaceId;
use protocol::link::{DesiredSession, FactBody};
use worktree::{Plan, Progress};

use super::{Place, Workspaces};
use crate::clock::now;
use crate::floor::Floor;
use crate::journal::{Change, WorkspaceRow};

impl Workspaces {
    /// The folder with the code in it; nothing of the code has run.
    pub(crate) async fn make(&self, floor: &Arc<Floor>, desired: &DesiredSession) -> Result<Place, String> {
        let workspace = desired.workspace.workspace;
        let busy = self.busy(workspace);
        let _alone = busy.lock().await;
        let row = self.row(floor, workspace).await?;
        if let Some(row) = row.as_ref().filter(|row| row.cleaned) {
            let branch = &row.desired.branch;
            return Err(format!("its workspace was deleted; `{branch}` and its saves are kept"));
        }
        let place = match self.create(desired).await {
            Ok(place) => place,
            Err(why) => {
                self.failed(floor, workspace, &why).await;
                return Err(why);
            }
        };
        let ports = row.as_ref().and_then(|row| row.ports.clone());
        if row.is_none() {
            let row = fresh(desired, &place);
            floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
        }
        Ok(Place { ports, ..place })
    }

    /// Runs what makes a fresh workspace ready, and tells the hub that it is.
    pub(crate) async fn set_up(
        &self,
        floor: &Arc<Floor>,
        desired: &DesiredSession,
        place: Place,
    ) -> Result<Place, String> {
        let workspace = desired.workspace.workspace;
        let busy = self.busy(workspace);
        let _alone = busy.lock().await;
        let Some(mut row) = self.row(floor, workspace).await?.filter(|row| !row.ready) else { return Ok(place) };
        row.ready = true;
        row.used_at = now();
        let ready = FactBody::WorkspaceReady {
            workspace,
            path: place.path.to_string_lossy().into_owned(),
            branch: row.desired.repository.is_some().then(|| row.desired.branch.clone()),
            base: row.base.clone(),
            ports: place.ports.clone(),
        };
        floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[ready]).await;
        Ok(place)
    }

    /// What is remembered of a workspace.
    pub(crate) async fn row(&self, floor: &Floor, workspace: WorkspaceId) -> Result<Option<WorkspaceRow>, String> {
        floor.journal.workspace(workspace).await.map_err(|error| error.to_string())
    }

    async fn create(&self, desired: &DesiredSession) -> Result<Place, String> {
        let wanted = &desired.workspace;
        let mut plan = Plan::default();
        if let Some(repository) = &wanted.repository {
            plan.location = Some(repository.location.parse().map_err(text)?);
            let base = wanted.base.as_ref().or(repository.base_branch.as_ref());
            plan.base = base.map(|base| base.parse()).transpose().map_err(text)?;
            plan.branch = Some(wanted.branch.parse().map_err(text)?);
            plan.copy = repository.copy.clone();
        }
        let made = self.worktrees.create(wanted.workspace, &plan, &Progress::none()).await.map_err(text)?;
        Ok(Place { workspace: wanted.workspace, path: made.path, ports: None })
    }

    async fn failed(&self, floor: &Floor, workspace: WorkspaceId, why: &str) {
        tracing::warn!(%workspace, why, "the workspace could not be made");
        floor.journal.tell(FactBody::WorkspaceFailed { workspace, detail: why.to_owned() }).await;
    }
}

fn fresh(desired: &DesiredSession, place: &Place) -> WorkspaceRow {
    WorkspaceRow {
        project: desired.project,
        activity: desired.activity,
        desired: desired.workspace.clone(),
        ready: false,
        path: Some(place.path.clone()),
        base: None,
        ports: None,
        stats: None,
        disk_bytes: None,
        saved_at: None,
        used_at: now(),
        cleaned: false,
    }
}

fn text(error: worktree::Error) -> String {
    error.to_string()
}
