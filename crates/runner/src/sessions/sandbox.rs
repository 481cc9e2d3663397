//! Keeps a session from writing outside its workspace, where that was wanted.

use std::path::Path;

use agents::Adapter;
use protocol::Sandbox;

use crate::floor::Floor;
use crate::workspaces::Place;

/// The arguments that run `argv` contained.
pub(super) fn contain(
    _floor: &Floor,
    _adapter: &Adapter,
    _wanted: &Sandbox,
    _place: &Place,
    _session_dir: &Path,
    _argv: Vec<String>,
) -> Result<Vec<String>, String> {
    Err("this runner cannot contain sessions yet".to_owned())
}
