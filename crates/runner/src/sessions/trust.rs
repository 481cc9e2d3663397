//! What a stranger's repository would run on this machine is run only when the runner's owner has allowed it.

use std::sync::Arc;

use crate::floor::Floor;
use crate::journal::SessionRow;
use crate::workspaces::Place;

/// Waits until what the workspace would run is allowed; whether it is trusted.
pub(super) async fn settle(_floor: &Arc<Floor>, row: &mut SessionRow, _place: &Place) -> Result<bool, String> {
    Ok(row.desired.workspace.trusted)
}
