//! Deleting the histories of executions that ended long ago.

use crate::StoreError;
use crate::sql::args;
use crate::tx::Tx;

/// How long a history is kept after the end of its execution, in milliseconds: 90 days.
const KEPT: i64 = 90 * 24 * 3_600_000;
/// The most executions in one transaction; the rest follows the next time.
const AT_ONCE: u32 = 200;

/// Deletes the oldest histories: the execution, its steps and their attempts stay. The history of an execution that one
/// in progress has called, or was called or rewound by, stays, too.
pub(crate) async fn compact(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let old = tx.now.plus_millis(-KEPT);
    let sql = format!(
        "SELECT e.id FROM executions e WHERE e.ended_at IS NOT NULL AND e.compacted = 0 AND e.ended_at < $1 AND NOT EXISTS \
         (SELECT 1 FROM executions l WHERE l.parent = e.id AND l.ended_at IS NULL) AND NOT EXISTS (SELECT 1 FROM \
         executions l WHERE l.id = e.parent AND l.ended_at IS NULL) ORDER BY e.ended_at LIMIT {AT_ONCE}"
    );
    for row in tx.read().all(&sql, args![old]).await? {
        let id = row.text("id")?;
        tx.run("DELETE FROM execution_events WHERE execution = $1", args![&id]).await?;
        tx.run("UPDATE executions SET compacted = 1 WHERE id = $1", args![&id]).await?;
    }
    Ok(())
}
