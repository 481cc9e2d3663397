//! Stopping workers and their sessions; what they had goes back at once.

use domain::SessionId;

use super::rows::Slot;
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::StoreError;

/// Asks a session to stop, its work saved; nothing if it is over or was asked already.
pub(crate) async fn session(tx: &mut Tx<'_>, session: SessionId, force: bool) -> Result<(), StoreError> {
    sessions::ask_to_stop(tx, session, force).await
}

/// Lets a worker's task go, and asks its session to stop.
pub(crate) async fn release(tx: &mut Tx<'_>, slot: &Slot, _reason: &str, force: bool) -> Result<(), StoreError> {
    if let Some(id) = slot.view.session {
        session(tx, id, force).await?;
    }
    Ok(())
}
