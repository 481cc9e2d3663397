//! Deletes workspaces; never while a session works there.

use domain::WorkspaceId;
use protocol::link::FactBody;
use protocol::{Problem, ProblemKind};
use worktree::Unfinished;

use super::make::said;
use super::{Place, Workspaces};
use crate::journal::{Change, WorkspaceRow};

impl Workspaces {
    /// Deletes a workspace unless work would be lost, or a session works in it.
    pub(crate) async fn clean(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        self.delete(workspace, Unfinished::Refuse).await
    }

    /// Deletes a workspace with unfinished work, all of which is in its saves, unless a session works in it.
    pub(crate) async fn discard(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        self.delete(workspace, Unfinished::KeepSaved).await
    }

    async fn delete(&self, workspace: WorkspaceId, unfinished: Unfinished) -> Result<(), Problem> {
        if !self.occupants.checks.leave(workspace).await {
            let detail = "a report is being checked in it: try again after the verdict";
            return Err(Problem::new(ProblemKind::Unavailable, detail));
        }
        let busy = self.busy(workspace);
        let _alone = busy.lock().await;
        self.nobody_in(workspace)?;
        let row = self.row(workspace).await.map_err(internal)?;
        if row.is_none() && self.was_never_made(workspace).await? {
            self.journal.tell(FactBody::WorkspaceCleaned { workspace }).await;
            return Ok(());
        }
        let row = row.filter(|row| !row.cleaned).ok_or_else(unknown)?;
        let lost = self.worktrees.would_lose(workspace).await;
        let absent = matches!(lost, Err(worktree::Error::NoWorkspace(_)));
        match lost {
            Ok(reasons) if !reasons.is_empty() && unfinished == Unfinished::Refuse => {
                return Err(problem(worktree::Error::WouldLose { workspace, reasons }));
            }
            Err(error) if !absent => return Err(problem(error)),
            _ => {}
        }
        let teardown = row.desired.repository.as_ref().and_then(|repository| repository.teardown.clone());
        if let Some(line) = teardown.filter(|line| row.ready && !absent && !line.trim().is_empty()) {
            // A failing teardown must not keep the workspace forever.
            if let Err(why) = self.tear_down(workspace, &row, line).await {
                tracing::warn!(%workspace, "the teardown failed: {why}");
            }
        }
        self.watcher.leave(workspace);
        if let Err(error) = self.worktrees.clean(workspace, unfinished).await {
            self.follow(workspace);
            return Err(problem(error));
        }
        let _counted = self.counting.lock().await;
        let row = self.row(workspace).await.map_err(internal)?.unwrap_or(row);
        let row = WorkspaceRow { cleaned: true, ports: None, ..row };
        let fact = FactBody::WorkspaceCleaned { workspace };
        self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[fact]).await;
        Ok(())
    }
}

impl Workspaces {
    async fn tear_down(&self, workspace: WorkspaceId, row: &WorkspaceRow, line: String) -> Result<(), String> {
        let found = self.worktrees.find(workspace).await.map_err(|error| error.to_string())?;
        let place = Place { borrows: self.worktrees.borrows(&found), path: found.path, ports: row.ports.clone() };
        let script = self.script(row, &place, line)?;
        let ran = self.worktrees.teardown(workspace, &script).await;
        ran.map(drop)
            .map_err(|error| format!("{error}{}", said(&self.machine, &self.worktrees.teardown_log(workspace))))
    }

    /// Whether a session for it failed before anything was created.
    async fn was_never_made(&self, workspace: WorkspaceId) -> Result<bool, Problem> {
        let ended = self.journal.sessions(true).await.map_err(|error| internal(error.to_string()))?;
        let wanted = ended.iter().any(|row| row.desired.workspace.workspace == workspace);
        let absent = self.worktrees.would_lose(workspace).await;
        Ok(wanted && matches!(absent, Err(worktree::Error::NoWorkspace(_))))
    }

    pub(super) fn nobody_in(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        match self.occupants.sessions.in_workspace(workspace).first() {
            None => Ok(()),
            Some(session) => {
                let detail = format!("the session {session} works in it: stop it first");
                Err(Problem::new(ProblemKind::Conflict, detail))
            }
        }
    }
}

/// An error for the caller.
pub(crate) fn problem(error: worktree::Error) -> Problem {
    let kind = match &error {
        worktree::Error::NoWorkspace(_) | worktree::Error::NoSave { .. } => ProblemKind::NotFound,
        worktree::Error::ManySaves { .. } => ProblemKind::Invalid,
        worktree::Error::WouldLose { .. }
        | worktree::Error::NotEmpty(_)
        | worktree::Error::NothingBack { .. }
        | worktree::Error::Overwrites { .. } => ProblemKind::Conflict,
        worktree::Error::Io { .. } => ProblemKind::Storage,
        _ => ProblemKind::Internal,
    };
    Problem::new(kind, error.to_string())
}

pub(super) fn unknown() -> Problem {
    Problem::new(ProblemKind::NotFound, "this workspace is not on this runner")
}

pub(super) fn internal(why: String) -> Problem {
    Problem::new(ProblemKind::Internal, why)
}
