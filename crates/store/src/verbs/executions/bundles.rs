//! The work of lanes as bytes: a git bundle for each workspace that an agent of a lane worked in, whichever of them lands.

use domain::{ArtifactKind, ExecutionId, RunnerId, WorkspaceId};
use engine::recipes::Path;
use serde::Serialize;

use super::rows;
use super::summary;
use super::work;
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::artifacts;
use crate::{Command, Store, StoreError};

/// The media type of a git bundle.
const BUNDLE: &str = "application/x-git-bundle";
/// The largest bundle that is kept: it is written in one transaction.
pub const MAX_KEPT_BUNDLE: u64 = 16 * 1024 * 1024;
/// Executions that ended earlier are not looked at: their workspaces may have changed since.
const LATELY: i64 = 24 * 3_600_000;
/// The most works that one look names.
const LOOK: u32 = 100;

/// Work of a lane that is not kept yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneWork {
    /// The execution, which is over.
    pub execution: ExecutionId,
    /// The path of the step.
    pub path: String,
    /// The attempt.
    pub attempt: u32,
    /// Where it worked.
    pub workspace: WorkspaceId,
    /// The runner of the workspace.
    pub runner: RunnerId,
}

impl Store {
    /// The work of lanes whose bytes are not kept yet.
    pub async fn lane_works(&self) -> Result<Vec<LaneWork>, StoreError> {
        let sql = format!(
            "SELECT w.execution, w.path, w.attempt, w.workspace, k.runner FROM executions e JOIN execution_work w \
             ON w.execution = e.id JOIN workspaces k ON k.id = w.workspace WHERE e.ended_at IS NOT NULL AND \
             e.compacted = 0 AND e.ended_at > $1 AND w.kind = 'agent' AND w.branch IS NOT NULL AND w.path LIKE '%]/%' AND \
             k.status = 'ready' AND (e.workspace IS NULL OR e.workspace <> w.workspace) AND NOT EXISTS (SELECT 1 FROM \
             artifacts a WHERE a.execution = w.execution AND a.path = w.path AND a.attempt = w.attempt AND \
             a.media_type = $2) ORDER BY e.ended_at, w.path, w.attempt LIMIT {LOOK}"
        );
        let lately = self.now().plus_millis(-LATELY);
        let rows = self.readers.get().await?.borrow().all(&sql, args![lately, BUNDLE]).await?;
        let one = |row: &crate::sql::Row| {
            Ok(LaneWork {
                execution: row.parsed("execution")?,
                path: row.text("path")?,
                attempt: row.count("attempt")?,
                workspace: row.parsed("workspace")?,
                runner: row.parsed("runner")?,
            })
        };
        rows.iter().map(one).collect()
    }
}

/// Keeps the work of a lane as a git bundle.
#[derive(Debug, Clone, Serialize)]
pub struct KeepLaneWork {
    /// The execution.
    pub execution: ExecutionId,
    /// The path of the step.
    pub path: String,
    /// The attempt.
    pub attempt: u32,
    /// The bundle.
    #[serde(skip)]
    pub bytes: Vec<u8>,
}

impl Command for KeepLaneWork {
    /// Whether it is kept; the project may have no room for it.
    type Output = bool;
    const VERB: &'static str = "execution.keep_work";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<bool, StoreError> {
        let path: Path = self.path.parse().map_err(|_| StoreError::NotFound("step"))?;
        let Some(row) = rows::find(tx.read(), self.execution).await? else { return Ok(false) };
        let Some(work) = work::find(tx.read(), self.execution, &path, self.attempt).await? else { return Ok(false) };
        let size = self.bytes.len() as u64;
        if size > MAX_KEPT_BUNDLE || !artifacts::has_room(tx.read(), row.project, size).await? {
            return Ok(false);
        }
        let name = format!("{}.bundle", summary::work_stem(&path));
        let mut new = summary::new(&row, name, ArtifactKind::Work, Some(&work));
        new.media_type = BUNDLE.to_owned();
        artifacts::add(tx, new, &self.bytes).await?;
        Ok(true)
    }
}
