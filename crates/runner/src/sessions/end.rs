//! The end of a session: saves its work, reports its numbers, and then, in one transaction, that it has exited.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::SessionId;
use protocol::Usage;
use protocol::link::FactBody;
use terminal::{Exit, HostLink};

use super::Supervisor;
use super::held_up::HeldUp;
use super::launch::SESSION;
use super::said::{printed, said};
use super::state;
use crate::journal::{Change, Memory, SessionRow, Step};
use crate::machine::Machine;
use crate::recordings;
use crate::workspaces::Workspaces;

/// How long saving may delay a stop.
const SAVING: Duration = Duration::from_secs(20);

/// How long an agent without a host may take to exit.
const LEFT: Duration = Duration::from_secs(2);

const OVERDUE: &str =
    "stopped by its host: its runner had not renewed the lease of its task, and another worker may have the task";

const NOTHING_USED: Usage = Usage { input_tokens: 0, cached_tokens: 0, output_tokens: 0, cost_micros: None };

/// How a session came to its end.
#[derive(Debug)]
pub(super) enum Ending {
    /// Its process ended.
    Exited(Exit),
    /// Its host disappeared without a trace.
    Lost,
    /// It was never started.
    Never(String),
    /// It was stopped because the hub did not answer for too long, for this reason; with its exit, if it had started.
    CutOff(Option<Exit>, String),
}

impl Ending {
    /// The exit that a host reported or stored.
    pub(super) fn of(dir: &Path, offset: u64, code: Option<i32>, signal: Option<i32>) -> Self {
        let written = Exit::read(dir).ok().flatten();
        let told = || Exit { code, signal, offset, at: crate::clock::now().to_string(), overdue: false, limit: None };
        Self::Exited(written.unwrap_or_else(told))
    }
}

/// Ends a session: nothing is reported of it after this.
pub(super) async fn end(supervisor: &Supervisor, row: &mut SessionRow, ending: Ending) {
    let Supervisor { machine, workspaces, .. } = supervisor;
    let session = row.session;
    let dir = machine.folders.session(session);
    let mut facts = Vec::new();
    let ending = match ending {
        Ending::Exited(exit) if exit.overdue => Ending::CutOff(Some(exit), OVERDUE.to_owned()),
        ending => ending,
    };
    let state = match ending {
        Ending::Never(why) => {
            tracing::warn!(%session, why, "the session did not start");
            state::exited(Some(why), None, None)
        }
        Ending::Exited(exit) => {
            save(workspaces, row, false).await;
            facts.extend(recorded(session, dir, exit.offset, false).await);
            facts.extend(printed(machine, row).await);
            facts.extend(said(machine, workspaces, row).await);
            if exit.code.is_some_and(|code| code != 0) {
                facts.extend(held_up_at_the_end(machine, row).await);
            }
            let detail = exit.limit.or_else(|| row.memory.held_up.clone());
            let mut state = state::exited(detail, exit.code, exit.signal);
            state.since = exit.at.parse().unwrap_or(state.since);
            state
        }
        Ending::CutOff(None, why) => state::lost(&why),
        Ending::CutOff(Some(exit), why) => {
            save(workspaces, row, false).await;
            facts.extend(recorded(session, dir, exit.offset, false).await);
            facts.extend(printed(machine, row).await);
            facts.extend(said(machine, workspaces, row).await);
            state::lost(&why)
        }
        Ending::Lost => {
            let variable = format!("{SESSION}={session}");
            if let Err(error) = HostLink::end_left(&dir, &variable, LEFT).await {
                tracing::warn!(%session, %error, "could not kill the processes that its host left behind");
            }
            save(workspaces, row, false).await;
            facts.extend(recorded(session, dir, 0, false).await);
            facts.extend(printed(machine, row).await);
            facts.extend(said(machine, workspaces, row).await);
            state::lost("its host disappeared: the machine was restarted, or somebody killed it")
        }
    };
    row.memory.state = Some(state.clone());
    row.step = Step::Ended;
    facts.push(FactBody::SessionState { session, state });
    let changes = [Change::Step(session, Step::Ended), Change::Memory(session, Box::new(row.memory.clone()))];
    failpoint::pass("runner.ended");
    supervisor.journal.write(&changes, &facts).await;
    failpoint::pass("runner.end_written");
    supervisor.index.ended(session);
    let (workspaces, workspace) = (workspaces.clone(), row.desired.workspace.workspace);
    supervisor.background.spawn(async move {
        workspaces.measure(workspace).await;
    });
}

/// Why an agent failed before it worked, if its terminal says so.
async fn held_up_at_the_end(machine: &Machine, row: &mut SessionRow) -> Option<FactBody> {
    row.desired.task.as_ref()?;
    let adapter = machine.adapters.get(&row.desired.agent)?;
    let (dir, copy, mut memory) = (machine.folders.session(row.session), row.clone(), row.memory.clone());
    let look = move || {
        let found = HeldUp { row: &copy, adapter: Some(&adapter) }.at_the_end(&mut memory, &dir);
        (found, memory)
    };
    let (found, memory) = tokio::task::spawn_blocking(look).await.ok()?;
    row.memory = memory;
    found
}

/// Saves uncommitted work, before or after a stop.
pub(super) async fn save(workspaces: &Workspaces, row: &SessionRow, soon: bool) {
    let workspace = row.desired.workspace.workspace;
    let patience = if soon { SAVING / 4 } else { SAVING };
    match tokio::time::timeout(patience, workspaces.save(workspace)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%workspace, %error, "could not save the workspace now"),
        Err(_) => tracing::warn!(%workspace, "saving the workspace takes long; it continues in the background"),
    }
}

/// A session's usage and conversation, for the hub.
pub(super) fn used(session: SessionId, memory: &Memory) -> FactBody {
    FactBody::SessionUsage {
        session,
        usage: memory.usage.clone().unwrap_or(NOTHING_USED),
        model: memory.model.clone(),
        conversation: memory.conversation.clone(),
    }
}

/// A recording's data for the hub; of a growing one, only cheap data.
pub(super) async fn recorded(session: SessionId, dir: PathBuf, offset: u64, grows: bool) -> Option<FactBody> {
    let measure = move || if grows { recordings::glance(&dir) } else { recordings::size(&dir) };
    let size = tokio::task::spawn_blocking(measure).await.ok()?;
    Some(FactBody::Recorded {
        session,
        output_bytes: offset.max(size.output_bytes),
        disk_bytes: size.disk_bytes,
        duration_ms: size.duration_ms,
    })
}
