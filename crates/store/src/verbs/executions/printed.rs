//! What the command of a step printed, kept as an artifact.

use domain::{ArtifactId, ArtifactKind, ExecutionId, SessionId};
use engine::recipes::Path;

use super::rows::{self, ExecutionRow};
use super::summary;
use super::work::{self, WorkRow};
use crate::StoreError;
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::artifacts;

/// The most that is kept: what a runner keeps, and the line that says what it cut.
const MOST: usize = 1024 * 1024 + 1024;

/// Keeps all that the command of a step printed, if the project has room for it.
pub(crate) async fn printed(tx: &mut Tx<'_>, session: SessionId, printed: &str) -> Result<(), StoreError> {
    let sql = "SELECT execution, path, attempt FROM execution_work WHERE session = $1";
    let Some(found) = tx.read().first(sql, vec![text(session)]).await? else { return Ok(()) };
    let (execution, path): (ExecutionId, Path) = (found.parsed("execution")?, found.parsed("path")?);
    let attempt = found.count("attempt")?;
    let Some(row) = rows::find(tx.read(), execution).await? else { return Ok(()) };
    let Some(work) = work::find(tx.read(), execution, &path, attempt).await? else { return Ok(()) };
    let kept = &printed[printed.ceil_char_boundary(printed.len().saturating_sub(MOST))..];
    if artifacts::has_room(tx.read(), row.project, kept.len() as u64).await? {
        let new = summary::new(&row, "output.txt".to_owned(), ArtifactKind::Output, Some(&work));
        artifacts::add(tx, new, kept.as_bytes()).await?;
    }
    Ok(())
}

/// The artifact with all that an attempt printed.
pub(super) async fn of(tx: &mut Tx<'_>, row: &ExecutionRow, work: &WorkRow) -> Result<Option<ArtifactId>, StoreError> {
    let sql = "SELECT id FROM artifacts WHERE execution = $1 AND path = $2 AND attempt = $3 AND kind = $4 LIMIT 1";
    let values = args![row.id.to_string(), work.path.to_string(), work.attempt, ArtifactKind::Output.word()];
    tx.read().first(sql, values).await?.map(|row| row.parsed("id")).transpose()
}
