//! Puts a session into its sandbox, if it has one.

use std::path::PathBuf;

use agents::{Adapter, Home, SandboxSpec};
use domain::ProjectId;
use protocol::Sandbox;

use crate::hidden::hidden;
use crate::journal::SessionRow;
use crate::machine::Machine;
use crate::workspaces::Place;

/// The arguments that run `argv` in the sandbox; unchanged without one.
pub(crate) fn contain(
    machine: &Machine,
    adapter: &Adapter,
    (project, wanted): (ProjectId, Option<&Sandbox>),
    place: &Place,
    files: Vec<PathBuf>,
    argv: Vec<String>,
) -> Result<Vec<String>, String> {
    let Some(wanted) = wanted else { return Ok(argv) };
    let spec = SandboxSpec {
        workspace: place.path.clone(),
        state_dir: machine.folders.contained(project),
        exe: machine.options.exe.clone(),
        home: if wanted.home { Home::ReadOnly } else { Home::Hidden },
        network: wanted.network,
        files,
        readable: place.borrows.iter().cloned().collect(),
        writable: Vec::new(),
        hidden: hidden(&machine.options, &machine.person),
        frozen: false,
        shares_state: false,
    };
    agents::sandbox(adapter, &argv, &machine.person, &spec).map_err(|error| error.to_string())
}

/// A session's sandbox: the one that it was started in, or is wanted in.
pub(super) fn sandbox_of(row: &SessionRow) -> Option<&Sandbox> {
    row.memory.sandbox.as_ref().or(row.desired.sandbox.as_ref())
}
