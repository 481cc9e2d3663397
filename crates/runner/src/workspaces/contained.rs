//! The sandbox of a workspace: what a sandboxed process may have changed runs sandboxed from then on.

use domain::WorkspaceId;
use protocol::Sandbox;
use protocol::link::{DesiredWorkspace, StartFrom};
use worktree::Script;

use super::Workspaces;
use super::make::script;
use crate::JournalError;
use crate::journal::{Change, WorkspaceRow};
use crate::sessions::contain;
use crate::workspaces::Place;

impl Workspaces {
    /// The sandbox in which something that wants this one, or none, runs in a workspace: never wider than an earlier
    /// one. From now on everything there runs in it, also after a restart.
    pub(crate) async fn contained(
        &self,
        workspace: WorkspaceId,
        wanted: Option<&Sandbox>,
    ) -> Result<Option<Sandbox>, String> {
        let _alone = self.counting.lock().await;
        let Some(row) = self.row(workspace).await? else { return Ok(wanted.cloned()) };
        let kept = Sandbox::both(row.sandbox.as_ref(), wanted);
        if kept != row.sandbox {
            let row = WorkspaceRow { sandbox: kept.clone(), ..row };
            self.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
        }
        Ok(kept)
    }

    /// The sandbox that something which wants this one, or none, would run in.
    pub(crate) async fn sandbox_for(
        &self,
        workspace: &DesiredWorkspace,
        wanted: Option<&Sandbox>,
    ) -> Result<Option<Sandbox>, String> {
        let kept = match (self.row(workspace.workspace).await?, &workspace.from) {
            (Some(row), _) => row.sandbox,
            (None, Some(StartFrom::Bundle { contained, .. })) => contained.clone(),
            (None, _) => None,
        };
        Ok(Sandbox::both(kept.as_ref(), wanted))
    }

    /// Stores the sandboxes of workspaces that an earlier version did not store.
    pub(crate) async fn remember_sandboxes(&self) -> Result<(), JournalError> {
        for (workspace, sandbox) in self.journal.sandboxes().await? {
            if let Err(error) = self.contained(workspace, Some(&sandbox)).await {
                tracing::warn!(%workspace, error, "could not store the sandbox of a workspace");
            }
        }
        Ok(())
    }

    /// A project's shell command in the workspace's sandbox, if it has one; an error says why that is not possible.
    pub(super) fn script(&self, row: &WorkspaceRow, place: &Place, line: String) -> Result<Script, String> {
        let mut script = script(row, place, line);
        if row.sandbox.is_some() {
            let adapter = self.machine.adapters.get("command").ok_or("this runner has no adapter for commands")?;
            let wanted = (row.project, row.sandbox.as_ref());
            script.contained = Some(contain(&self.machine, &adapter, wanted, place, Vec::new(), script.argv())?);
        }
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_allows_what_all_its_sandboxes_allow() {
        let of = |network, home| Sandbox { network, home };
        let check = |one: Option<Sandbox>, other: Option<Sandbox>, both_of_them: Option<Sandbox>| {
            assert_eq!(Sandbox::both(one.as_ref(), other.as_ref()), both_of_them);
        };
        check(None, None, None);
        check(Some(of(true, true)), None, Some(of(true, true)));
        check(None, Some(of(false, true)), Some(of(false, true)));
        check(Some(of(false, true)), Some(of(true, false)), Some(of(false, false)));
        check(Some(of(true, true)), Some(of(true, false)), Some(of(true, false)));
    }
}
