//! Puts a session into its sandbox, if it has one.

use std::path::{Path, PathBuf};

use agents::{Adapter, Home, SandboxSpec};
use domain::ProjectId;
use protocol::Sandbox;

use crate::floor::Floor;
use crate::hidden::hidden;
use crate::journal::SessionRow;
use crate::workspaces::Place;

/// The arguments that run `argv` in the sandbox; unchanged without one.
pub(crate) fn contain(
    floor: &Floor,
    adapter: &Adapter,
    (project, wanted): (ProjectId, Option<&Sandbox>),
    place: &Place,
    files: Vec<PathBuf>,
    argv: Vec<String>,
) -> Result<Vec<String>, String> {
    let Some(wanted) = wanted else { return Ok(argv) };
    let data = &floor.options.data_dir;
    let spec = SandboxSpec {
        workspace: place.path.clone(),
        state_dir: state_dir(data, project),
        exe: floor.options.exe.clone(),
        home: if wanted.home { Home::ReadOnly } else { Home::Hidden },
        network: wanted.network,
        files,
        readable: place.borrows.iter().cloned().collect(),
        writable: Vec::new(),
        hidden: hidden(&floor.options, &floor.person),
    };
    agents::sandbox(adapter, &argv, &floor.person, &spec).map_err(|error| error.to_string())
}

/// A session's sandbox: the one that it was started in, or is wanted in.
pub(super) fn sandbox_of(row: &SessionRow) -> Option<&Sandbox> {
    row.memory.sandbox.as_ref().or(row.desired.sandbox.as_ref())
}

/// Where sandboxed agents of a project keep their state, so that they can resume each other's conversations.
pub(super) fn state_dir(data_dir: &Path, project: ProjectId) -> PathBuf {
    data_dir.join("contained").join(project.to_string())
}
