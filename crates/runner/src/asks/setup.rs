//! The output of a workspace's setup, also while it runs.

use domain::SessionId;
use protocol::{Problem, ProblemKind, SessionLog};

use super::{Asks, on_a_thread};
use crate::workspaces::last_lines;

/// The last lines of it.
pub(super) async fn log(asks: &Asks, session: SessionId, lines: usize) -> Result<SessionLog, Problem> {
    let failed = |error: &dyn std::fmt::Display| Problem::new(ProblemKind::Internal, error.to_string());
    let row = asks.journal.session(session).await.map_err(|error| failed(&error))?;
    let row = row.ok_or_else(|| Problem::new(ProblemKind::NotFound, "this runner does not know that session"))?;
    let log = asks.workspaces.worktrees.setup_log(row.desired.workspace.workspace);
    let mut secrets = asks.machine.secrets();
    on_a_thread(move || {
        let printed = last_lines(&log, lines, &mut secrets).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Problem::new(ProblemKind::NotFound, "no setup has run in its workspace"),
            _ => Problem::new(ProblemKind::Internal, format!("could not read the setup's output: {error}")),
        })?;
        Ok(SessionLog { text: printed.text(), truncated: printed.truncated, setup: true })
    })
    .await
}
