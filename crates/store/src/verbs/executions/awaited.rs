//! Steps that wait for an event.

use domain::{ExecutionId, ProjectId, Seq};
use engine::recipes::{Event, Verdict, Work, eval};
use serde_json::Value as Json;

use super::{advance, rows, work};
use crate::StoreError;
use crate::sql::args;
use crate::tx::Tx;

/// Something happened that steps of the project may wait for. What began to wait after it does not count. Returns how
/// many steps it ended.
pub(crate) async fn event_happened(
    tx: &mut Tx<'_>,
    project: ProjectId,
    kind: &str,
    event: &Json,
    seq: Seq,
) -> Result<u32, StoreError> {
    let sql = "SELECT DISTINCT execution FROM execution_work WHERE project = $1 AND awaits = $2 AND state = 'running' \
               AND awaits_after < $3 ORDER BY execution";
    let found = tx.read().all(sql, args![project.to_string(), kind, seq.0]).await?;
    let mut woke = 0;
    for row in found {
        woke += in_execution(tx, row.parsed("execution")?, kind, event, seq).await?;
    }
    Ok(woke)
}

async fn in_execution(tx: &mut Tx<'_>, id: ExecutionId, kind: &str, event: &Json, seq: Seq) -> Result<u32, StoreError> {
    let Some(mut row) = rows::find(tx.read(), id).await? else { return Ok(0) };
    let mut woke = 0;
    for one in work::awaiting(tx.read(), id, kind, seq).await? {
        if !matches(&one.work, event) {
            continue;
        }
        let verdict = Verdict::Succeeded { output: event.clone() };
        let (path, attempt) = (one.path, one.attempt);
        advance::happen(tx, &mut row, Event::Ended { path: path.clone(), attempt, verdict }, None).await?;
        work::close(tx, &row, &path, attempt, "stopped", None).await?;
        woke += 1;
    }
    if woke > 0 {
        advance::save(tx, &mut row).await?;
    }
    Ok(woke)
}

/// Whether an event is one that the step waits for. An expression that fails counts as no.
fn matches(work: &Work, event: &Json) -> bool {
    let Work::Event { matching, scope, .. } = work else { return false };
    let Some(matching) = matching else { return true };
    let mut scope = scope.clone();
    if let Some(scope) = scope.as_object_mut() {
        scope.insert("event".to_owned(), event.clone());
    }
    eval::condition(matching, &scope).unwrap_or(false)
}
