//! Recreates a workspace whose whole folder was deleted, from the store.

use std::fs;

use domain::WorkspaceId;

use crate::bare::{self, Oid, oid};
use crate::create::{Plan, blocking};
use crate::layout::{Facts, Home, folder, now, sync};
use crate::save::{newest, saved_ref};
use crate::store::Store;
use crate::{Error, Into, Result, Workspace, Worktrees};

impl Worktrees {
    /// Recreates the folder of a deleted workspace, with the files of a save (default: the newest) and its commits.
    /// Needs no network: the shared store has all of it. The plan says what it was created from.
    pub async fn revive(&self, id: WorkspaceId, plan: &Plan, save: Option<&str>) -> Result<Workspace> {
        self.make_home(id, plan).await?;
        self.restore(id, save, &Into::Workspace).await?;
        let home = self.layout().home(id);
        let copied = self.copy_in(&home, plan).await?;
        let facts = home.facts().ok_or(Error::NoWorkspace(id))?;
        Ok(Workspace { facts, path: home.tree(), copied })
    }

    /// Our part of the folder; the agent's is then missing, as after any loss.
    async fn make_home(&self, id: WorkspaceId, plan: &Plan) -> Result<()> {
        let space = self.space(id);
        let mut space = space.lock().await;
        let home = self.layout().home(id);
        if home.0.exists() {
            return Ok(());
        }
        *space = None;
        let store = Store(self.layout().store(plan.location.as_ref()));
        if !store.0.join("HEAD").exists() || newest(&store, id).await?.is_none() {
            return Err(Error::NoWorkspace(id));
        }
        let making = Home(self.layout().making().join(id.to_string()));
        let aside = making.0.clone();
        blocking(move || crate::beneath::delete(&aside)).await.map_err(Error::io("delete", &making.0))?;
        folder(&making.0)?;
        bare::make(&making.control(), &[&store.objects()])?;
        let facts = Facts {
            id,
            location: plan.location.clone(),
            base: plan.base.clone(),
            base_commit: beginning(&store, id).await?.map(|commit| commit.to_string()),
            branch: plan.location.as_ref().and(plan.branch.clone()),
            created_at: now(),
        };
        making.write_facts(&facts)?;
        sync(&making.0);
        fs::rename(&making.0, &home.0).map_err(Error::io("move into place", &home.0))?;
        sync(&self.layout().workspaces());
        Ok(())
    }
}

/// The commit that a workspace started from: the parent of its first save.
async fn beginning(store: &Store, id: WorkspaceId) -> Result<Option<Oid>> {
    let name = saved_ref(id);
    let first = format!("--grep=shopfloor: where the workspace started ({name})");
    let git = store.git("log").args(["--first-parent", "--fixed-strings", "--max-count=1", "--format=%P"]);
    let parents = git.args([first.as_str()]).operands([name.as_str()]).line().await?;
    parents.split(' ').next().filter(|parent| !parent.is_empty()).map(oid).transpose()
}
