//! Keeps a session from writing outside its workspace, where that was wanted, and from seeing anything of ours.

use std::path::PathBuf;

use agents::{Adapter, Home, SandboxSpec};
use domain::ProjectId;
use protocol::Sandbox;

use crate::hidden::hidden;
use crate::journal::SessionRow;
use crate::machine::Machine;
use crate::workspaces::Place;

/// The arguments that run `argv` contained; as they are when nobody wants that.
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
    };
    agents::sandbox(adapter, &argv, &machine.person, &spec).map_err(|error| error.to_string())
}

/// The sandbox of a session: the one that it was started in, or is wanted in.
pub(super) fn sandbox_of(row: &SessionRow) -> Option<&Sandbox> {
    row.memory.sandbox.as_ref().or(row.desired.sandbox.as_ref())
}
