//! The sandbox of a workspace: once a session with a sandbox has worked there, later sessions get one, too.

use domain::{SessionId, WorkspaceId};
use protocol::Sandbox;
use protocol::link::StartFrom;

use super::{announce, get};
use crate::StoreError;
use crate::sql::{Connection, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::workspaces::json_or_none;

/// The intersection of all sandboxes that sessions had in a workspace, or in the source of its work; `None` if there
/// was none.
pub(crate) async fn sandbox_of(c: &mut Connection<'_>, workspace: WorkspaceId) -> Result<Option<Sandbox>, StoreError> {
    let sql = "SELECT DISTINCT w.start_from, s.sandbox FROM workspaces w LEFT JOIN sessions s \
               ON s.workspace = w.id AND s.sandbox IS NOT NULL WHERE w.id = $1";
    let mut all: Vec<Sandbox> = Vec::new();
    for row in c.all(sql, vec![text(workspace)]).await? {
        all.extend(json_or_none::<Sandbox>(&row, "sandbox")?);
        if let Some(StartFrom::Bundle { contained, .. }) = json_or_none(&row, "start_from")? {
            all.extend(contained);
        }
    }
    Ok(all.into_iter().reduce(|one, other| one.and(&other)))
}

/// Refuses a sandbox next to a live session without one: that session could run what the sandboxed one writes.
pub(crate) async fn refuse_beside_uncontained(
    c: &mut Connection<'_>,
    workspace: WorkspaceId,
) -> Result<(), StoreError> {
    let sql = "SELECT title FROM sessions WHERE workspace = $1 AND sandbox IS NULL AND ended_at IS NULL LIMIT 1";
    let Some(live) = c.first(sql, vec![text(workspace)]).await? else { return Ok(()) };
    Err(StoreError::Conflict(format!(
        "`{}` works in that workspace without a sandbox and could run what a sandboxed session writes there: stop it \
         first, or spawn into a workspace of its own",
        live.text("title")?
    )))
}

/// Puts the sessions that wait in a workspace into the sandbox of its work; a session with its own sandbox gets the
/// intersection.
pub(crate) async fn contain_waiting(
    tx: &mut Tx<'_>,
    workspace: WorkspaceId,
    sandbox: &Sandbox,
) -> Result<(), StoreError> {
    let sql = "SELECT id, sandbox FROM sessions WHERE workspace = $1 AND ended_at IS NULL";
    for row in tx.read().all(sql, vec![text(workspace)]).await? {
        let id: SessionId = row.parsed("id")?;
        let own: Option<Sandbox> = json_or_none(&row, "sandbox")?;
        let both = Sandbox::both(own.as_ref(), Some(sandbox));
        if both == own {
            continue;
        }
        let sql = "UPDATE sessions SET sandbox = $1 WHERE id = $2";
        tx.run(sql, args![both.as_ref().map(to_json), id.to_string()]).await?;
        if let Some((after, _)) = get(tx.read(), id).await? {
            announce(tx, after);
        }
    }
    Ok(())
}
