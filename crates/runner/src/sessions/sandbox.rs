//! Keeps a session from writing outside its workspace, where that was wanted.

use std::path::{Path, PathBuf};

use agents::{Adapter, Home, SandboxSpec};
use domain::ProjectId;
use protocol::Sandbox;

use crate::floor::Floor;
use crate::workspaces::Place;

/// The arguments that run `argv` contained; as they are when nobody wants that.
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
        // The workspace borrows objects from there.
        readable: vec![data.join("repositories")],
        writable: Vec::new(),
        hidden: vec![data.clone()],
    };
    agents::sandbox(adapter, &argv, &floor.person, &spec).map_err(|error| error.to_string())
}

/// Where contained agents of a project keep their state: they may resume each other's conversations.
pub(super) fn state_dir(data_dir: &Path, project: ProjectId) -> PathBuf {
    data_dir.join("contained").join(project.to_string())
}
