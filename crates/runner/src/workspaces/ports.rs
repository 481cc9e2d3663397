//! Gives each workspace ports of its own out of its project's range.

use domain::WorkspaceId;
use protocol::PortRange;
use worktree::Ports;

use super::{Workspaces, text};
use crate::floor::Floor;
use crate::journal::Change;

/// How many ports a workspace is given.
const SIZE: u16 = 10;

impl Workspaces {
    /// The ports of a workspace, the same ones for as long as it is there.
    pub(super) async fn share_out(
        &self,
        floor: &Floor,
        workspace: WorkspaceId,
        among: &PortRange,
    ) -> Result<PortRange, String> {
        let _alone = self.ports.lock().await;
        let rows = floor.journal.workspaces().await.map_err(|error| error.to_string())?;
        let mut ports = Ports::default();
        for (id, row) in &rows {
            if let Some(taken) = row.ports.as_ref().filter(|_| !row.cleaned) {
                let _ = ports.take(*id, ours(taken), taken.last - taken.first + 1);
            }
        }
        let size = SIZE.min(among.last.saturating_sub(among.first).saturating_add(1));
        let given = ports.take(workspace, ours(among), size).map_err(text)?;
        let given = PortRange { first: given.first, last: given.last };
        if let Some((_, row)) = rows.into_iter().find(|(id, _)| *id == workspace)
            && row.ports.as_ref() != Some(&given)
        {
            let row = crate::journal::WorkspaceRow { ports: Some(given.clone()), ..row };
            floor.journal.write(&[Change::Workspace(workspace, Box::new(row))], &[]).await;
        }
        Ok(given)
    }
}

pub(super) fn ours(range: &PortRange) -> worktree::PortRange {
    worktree::PortRange { first: range.first, last: range.last }
}
