//! Assigns each workspace its own ports from its project's range.

use domain::WorkspaceId;
use protocol::PortRange;
use protocol::link::FactBody;
use worktree::Ports;

use super::{Workspaces, text};
use crate::journal::{Change, WorkspaceRow};

/// How many ports a workspace gets, if the range has as many.
const SIZE: u16 = 10;

impl Workspaces {
    /// The ports of a workspace: the same while it is in use, and after that until others need them.
    pub(super) async fn share_out(&self, workspace: WorkspaceId, among: &PortRange) -> Result<PortRange, String> {
        let _alone = self.ports.lock().await;
        let _counted = self.counting.lock().await;
        let rows = self.journal.workspaces().await.map_err(|error| error.to_string())?;
        let mut ports = Ports::default();
        for (id, row) in &rows {
            if let Some(taken) = row.ports.as_ref().filter(|_| !row.cleaned) {
                let _ = ports.take(*id, ours(taken), taken.last - taken.first + 1);
            }
        }
        let size = SIZE.min(among.last.saturating_sub(among.first).saturating_add(1));
        let idle = |id: &WorkspaceId| *id != workspace && !self.is_in_use(*id);
        let mut idle: Vec<_> = rows.iter().filter(|(id, row)| row.ports.is_some() && idle(id)).collect();
        idle.sort_by_key(|(_, row)| std::cmp::Reverse(row.used_at));
        let mut taken_back = Vec::new();
        let given = loop {
            match ports.take(workspace, ours(among), size) {
                Ok(given) => break PortRange { first: given.first, last: given.last },
                // It is not in use: it gets other ports next time.
                Err(error) => match idle.pop() {
                    Some((id, row)) => {
                        ports.release(*id);
                        taken_back.push((*id, row));
                    }
                    None => return Err(text(error)),
                },
            }
        };
        let overlaps = |range: &PortRange| range.first <= given.last && given.first <= range.last;
        taken_back.retain(|(_, row)| row.ports.as_ref().is_some_and(overlaps));
        let mut news: Vec<(WorkspaceId, WorkspaceRow)> =
            taken_back.into_iter().map(|(id, row)| (id, WorkspaceRow { ports: None, ..row.clone() })).collect();
        if let Some((_, row)) = rows.iter().find(|(id, _)| *id == workspace)
            && row.ports.as_ref() != Some(&given)
        {
            news.push((workspace, WorkspaceRow { ports: Some(given.clone()), ..row.clone() }));
        }
        for (id, row) in news {
            let told: Vec<FactBody> = row.ready.then(|| ready(id, &row)).into_iter().collect();
            self.journal.write(&[Change::Workspace(id, Box::new(row))], &told).await;
        }
        Ok(given)
    }
}

/// Reports a workspace whose ports changed.
fn ready(workspace: WorkspaceId, row: &WorkspaceRow) -> FactBody {
    FactBody::WorkspaceReady {
        workspace,
        path: row.path.as_ref().map(|path| path.to_string_lossy().into_owned()).unwrap_or_default(),
        branch: row.desired.repository.is_some().then(|| row.desired.branch.clone()),
        base: row.base.clone(),
        ports: row.ports.clone(),
    }
}

pub(super) fn ours(range: &PortRange) -> worktree::PortRange {
    worktree::PortRange { first: range.first, last: range.last }
}
