//! Begins sessions and stays with each until it is over, with all that a session needs.

use std::sync::Arc;

use super::{Sessions, actor};
use crate::approvals::Approvals;
use crate::background::Background;
use crate::journal::{Journal, SessionRow};
use crate::lease::Pulse;
use crate::machine::Machine;
use crate::tokens::Tokens;
use crate::workspaces::Workspaces;

/// Begins sessions and stays with each until it is over.
#[derive(Debug)]
pub(crate) struct Supervisor {
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) machine: Arc<Machine>,
    pub(crate) workspaces: Arc<Workspaces>,
    /// What others wrote runs only when the runner's owner allows it.
    pub(crate) approvals: Arc<Approvals>,
    /// Each agent has a token of its own.
    pub(crate) tokens: Arc<Tokens>,
    /// Until when a session may go on under its lease.
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) background: Background,
}

impl Supervisor {
    /// Begins with a session, or goes on with one that an earlier runner had.
    pub(crate) fn begin(self: &Arc<Self>, row: SessionRow) {
        let Some((inbox, stage)) = self.sessions.enter(&row) else { return };
        let (supervisor, session) = (self.clone(), row.session);
        self.background.spawn(async move {
            actor::live(&supervisor, row, inbox, stage).await;
            supervisor.sessions.leave(session);
        });
    }
}
