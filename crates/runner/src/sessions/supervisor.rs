//! Starts sessions and follows each until it exits.

use std::sync::Arc;

use super::{Sessions, actor};
use crate::approvals::Approvals;
use crate::background::Background;
use crate::index::Index;
use crate::journal::{Journal, SessionRow};
use crate::lease::Pulse;
use crate::machine::Machine;
use crate::tokens::Tokens;
use crate::workspaces::Workspaces;

/// Starts sessions and follows each until it exits.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) workspaces: Arc<Workspaces>,
    pub(crate) index: Arc<Index>,
    /// Other people's text runs only with the approval of the runner's owner.
    pub(crate) approvals: Arc<Approvals>,
    /// Each agent has its own token.
    pub(crate) tokens: Arc<Tokens>,
    /// How long a session may continue under its lease.
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) background: Background,
}

impl Supervisor {
    /// Starts a session, or continues one of an earlier runner.
    pub(crate) fn begin(self: &Arc<Self>, row: SessionRow) {
        let Some((inbox, stage)) = self.sessions.enter(&row) else { return };
        let (supervisor, session) = (self.clone(), row.session);
        self.background.spawn(async move {
            actor::live(&supervisor, row, inbox, stage).await;
            supervisor.sessions.leave(session);
        });
    }
}
