//! Restores saves; never while a session works there.

use domain::WorkspaceId;
use protocol::link::{DesiredWorkspace, StartFrom};
use protocol::{Problem, ProblemKind};
use worktree::{Into as Target, Progress};

use super::clean::{internal, problem, unknown};
use super::make::{Purpose, Unmade, plan, ready};
use super::{Place, Workspaces};
use crate::clock::now;
use crate::journal::{Change, WorkspaceRow};

impl Workspaces {
    /// Restores a save into its workspace, which is created again if it was deleted.
    pub(crate) async fn restore(&self, workspace: WorkspaceId, save: Option<&str>) -> Result<(), Problem> {
        let busy = self.busy(workspace);
        let _alone = busy.lock().await;
        self.nobody_in(workspace)?;
        let row = self.row(workspace).await.map_err(internal)?.ok_or_else(unknown)?;
        if !row.cleaned && self.worktrees.find(workspace).await.is_err() {
            return self.revive(workspace, row, save).await;
        }
        if !row.cleaned {
            self.worktrees.restore(workspace, save, &Target::Workspace).await.map_err(problem)?;
            return self.save(workspace).await.map_err(problem);
        }
        let place = match self.make_again(&row).await {
            Ok(place) => place,
            Err(unmade) => return Err(self.put_aside(workspace, save, &unmade.why).await),
        };
        match self.worktrees.restore(workspace, save, &Target::Workspace).await {
            // A deleted workspace had nothing that is not on its branch.
            Err(worktree::Error::NothingBack { .. }) if save.is_none() => {}
            Err(error) => return Err(problem(error)),
            Ok(_) => {}
        }
        let ready = ready(workspace, &row, &place);
        {
            let _counted = self.counting.lock().await;
            let row = self.row(workspace).await.map_err(internal)?.unwrap_or(row);
            // Not ready in the journal: the next session runs its setup first.
            let row = WorkspaceRow { cleaned: false, ready: false, path: Some(place.path), used_at: now(), ..row };
            self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[ready]).await;
        }
        self.follow(workspace);
        self.save(workspace).await.map_err(problem)
    }

    /// Creates a workspace again whose folder was deleted by somebody else.
    async fn revive(&self, workspace: WorkspaceId, row: WorkspaceRow, save: Option<&str>) -> Result<(), Problem> {
        // Its base branch was determined when it was created.
        let base = row.base.clone().or_else(|| row.desired.base.clone());
        let plan = plan(&self.machine, &DesiredWorkspace { base, ..row.desired.clone() }).map_err(internal)?;
        let revived = self.worktrees.revive(workspace, &plan, save).await.map_err(problem)?;
        let borrows = self.worktrees.borrows(&revived);
        let place = Place { path: revived.path, ports: row.ports.clone(), borrows };
        let ready = ready(workspace, &row, &place);
        // What its setup created is gone with the folder.
        let row = WorkspaceRow { ready: false, path: Some(place.path), used_at: now(), ..row };
        self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[ready]).await;
        self.follow(workspace);
        self.save(workspace).await.map_err(problem)
    }

    /// Puts the files of a save into a separate folder, because the workspace cannot be created; says where.
    async fn put_aside(&self, workspace: WorkspaceId, save: Option<&str>, why: &str) -> Problem {
        let folder = self.machine.folders.restored(workspace);
        match self.worktrees.restore(workspace, save, &Target::Folder(folder)).await {
            Ok(path) => {
                let aside =
                    format!("its workspace cannot be created again ({why}); its files are in {}", path.display());
                Problem::new(ProblemKind::Conflict, aside)
            }
            Err(error) => problem(error),
        }
    }

    /// The folder of a deleted workspace: with its branch as pushed, or else as it began.
    async fn make_again(&self, row: &WorkspaceRow) -> Result<Place, Unmade> {
        let pushed = Some(StartFrom::Branch { branch: row.desired.branch.clone() });
        let again = async |from: Option<StartFrom>| {
            let wanted = DesiredWorkspace { from, ..row.desired.clone() };
            let purpose = Purpose { project: row.project, activity: row.activity, wanted: &wanted };
            self.create(purpose, Some(row.clone()), &Progress::none()).await
        };
        match again(pushed.filter(|_| row.desired.repository.is_some())).await {
            Ok(place) => Ok(place),
            Err(_) => again(None).await,
        }
    }
}
