//! Publishes branches, and packs accepted work for other runners.

use std::path::Path;

use domain::{HandoffId, ReportId, WorkspaceId};
use protocol::link::{Bundle, KeptAll, MAX_BUNDLE, PublishWork, Published};
use protocol::{Problem, ProblemKind};
use worktree::{BranchName, Location, Oid, Worktrees};

use super::Asks;
use crate::workspaces::problem;

/// Where documents are kept as files.
const NOTES: &str = ".shopfloor/handoffs";
/// How many uncommitted paths to name.
const DIRTY: usize = 200;

impl Asks {
    /// Makes a branch with this work appear at its repository.
    pub(super) async fn publish(
        &self,
        location: &str,
        work: PublishWork,
        branch: &str,
        replaces: Option<&str>,
    ) -> Result<Published, Problem> {
        let worktrees = &self.workspaces.worktrees;
        let location = self.location(location)?;
        let branch: BranchName = branch.parse().map_err(problem)?;
        let commit = match work {
            PublishWork::Kept { report, commit } => kept(worktrees, &location, &report.to_string(), &commit).await?,
            PublishWork::Handoff { handoff, commit } => {
                kept(worktrees, &location, &handoff.to_string(), &commit).await?
            }
            PublishWork::Workspace { workspace } => {
                worktrees.keep_work(workspace, &workspace.to_string()).await.map_err(problem)?.commit
            }
        };
        let replaces: Option<Oid> = replaces.map(str::parse).transpose().map_err(problem)?;
        worktrees.publish(&location, &branch, &commit, replaces.as_ref()).await.map_err(problem)?;
        failpoint::pass("runner.published");
        let default_branch = worktrees.default_branch(&location).await.map_err(problem)?;
        Ok(Published { commit: commit.to_string(), default_branch: default_branch.map(|name| name.to_string()) })
    }

    /// Keeps everything in a workspace for a handoff.
    pub(super) async fn keep_all(
        &self,
        workspace: WorkspaceId,
        handoff: HandoffId,
        note: Option<String>,
    ) -> Result<KeptAll, Problem> {
        let message = format!("Work in progress, handed off as {handoff}");
        let worktrees = &self.workspaces.worktrees;
        if let Some(note) = note {
            let path = Path::new(NOTES).join(format!("{handoff}.md"));
            worktrees.put_file(workspace, &path, &note).await.map_err(problem)?;
        }
        let all = worktrees.keep_everything(workspace, &handoff.to_string(), &message).await.map_err(problem)?;
        failpoint::pass("runner.kept");
        let dirty = all.dirty.iter().take(DIRTY).map(|path| path.to_string_lossy().into_owned()).collect();
        Ok(KeptAll {
            base: all.kept.base.map(|base| base.to_string()),
            head: all.head.map(|head| head.to_string()),
            tree: all.kept.tree.to_string(),
            commit: all.kept.commit.to_string(),
            dirty,
            more_dirty: all.dirty.len().saturating_sub(DIRTY) as u64,
        })
    }

    /// Packs accepted work that was kept here.
    pub(super) async fn pack_work(&self, location: &str, report: ReportId) -> Result<Bundle, Problem> {
        let location = self.location(location)?;
        let limit = usize::try_from(MAX_BUNDLE).unwrap_or(usize::MAX);
        let bytes = self.workspaces.worktrees.pack_work(&location, &report.to_string(), limit).await;
        self.bundles.keep(bytes.map_err(problem)?).await
    }

    /// The place of a repository on this machine.
    pub(super) fn location(&self, location: &str) -> Result<Location, Problem> {
        self.machine.location(location).parse().map_err(problem)
    }
}

/// The commit of accepted work, if it is what the hub means.
async fn kept(worktrees: &Worktrees, location: &Location, name: &str, commit: &str) -> Result<Oid, Problem> {
    let found = worktrees.kept(location, name).await.map_err(problem)?;
    found
        .filter(|found| found.as_str() == commit)
        .ok_or_else(|| Problem::new(ProblemKind::NotFound, "this runner no longer has that work: run the task again"))
}
