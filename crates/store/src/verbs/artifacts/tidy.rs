//! Removing what nobody needs: old artifacts, content without an artifact, uploads that never ended.
//!
//! References are counted by query, in the transaction that removes: there is no counter that could be wrong.

use std::collections::HashMap;

use domain::{ArtifactId, ProjectId, Timestamp};
use protocol::Artifact;
use serde::{Deserialize, Serialize};

use super::{contents, rows, settings};
use crate::sql::args;
use crate::tx::Tx;
use crate::{Command, StoreError};

/// How long content is kept that was sent and is not used, in milliseconds.
const UNUSED: i64 = 3_600_000;
const DAY: i64 = 24 * 3_600_000;
/// The most artifacts and contents that one transaction removes.
const ROUND: u32 = 50;

/// Removes what nobody needs. Running it again removes nothing that the first run kept.
#[derive(Debug, Clone, Default, Serialize)]
pub struct TidyArtifacts {
    /// Only artifacts after this one: those before it were looked at.
    pub after: Option<ArtifactId>,
}

/// What one round removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TidiedArtifacts {
    /// Artifacts whose time was over.
    pub artifacts: u32,
    /// Contents without an artifact.
    pub contents: u32,
    /// Where to go on with old artifacts; absent: all were looked at.
    pub next: Option<ArtifactId>,
    /// Whether more content is to be removed.
    pub more: bool,
}

impl Command for TidyArtifacts {
    type Output = TidiedArtifacts;
    const VERB: &'static str = "artifact.tidy";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<TidiedArtifacts, StoreError> {
        let (artifacts, next) = old(tx, self.after).await?;
        let unused = tx.now.plus_millis(-UNUSED);
        tx.run("DELETE FROM artifact_uploads WHERE at < $1", args![unused]).await?;
        let contents = unreferenced(tx, unused).await?;
        Ok(TidiedArtifacts { artifacts, contents, next, more: contents == ROUND })
    }
}

/// Removes artifacts whose time is over, unless something live refers to them.
async fn old(tx: &mut Tx<'_>, after: Option<ArtifactId>) -> Result<(u32, Option<ArtifactId>), StoreError> {
    let sql = format!("{} WHERE a.created_at < $1 AND a.id > $2 ORDER BY a.id LIMIT {ROUND}", rows::COLUMNS);
    let now = tx.now;
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let found = tx.read().all(&sql, args![now.plus_millis(-DAY), after]).await?;
    let mut kept_days: HashMap<ProjectId, u32> = HashMap::new();
    let mut removed = 0;
    let mut last = None;
    for row in &found {
        let artifact = rows::read(row)?.artifact;
        last = Some(artifact.id);
        let days = match kept_days.get(&artifact.project) {
            Some(days) => *days,
            None => {
                let days = settings::of(tx.read(), artifact.project).await?.days;
                *kept_days.entry(artifact.project).or_insert(days)
            }
        };
        if is_over(&artifact, days, now) && !is_needed(tx, &artifact).await? {
            tx.run("DELETE FROM artifacts WHERE id = $1", args![artifact.id.to_string()]).await?;
            removed += 1;
        }
    }
    Ok((removed, last.filter(|_| found.len() == ROUND as usize)))
}

fn is_over(artifact: &Artifact, days: u32, now: Timestamp) -> bool {
    days > 0 && artifact.created_at.plus_millis(i64::from(days) * DAY) < now
}

/// Whether something live refers to an artifact: its execution or session, or the state of an execution or the text of a
/// task that is not over.
async fn is_needed(tx: &mut Tx<'_>, artifact: &Artifact) -> Result<bool, StoreError> {
    let (project, mention) = (artifact.project.to_string(), format!("%{}%", artifact.id));
    let execution = artifact.execution.map(|id| id.to_string()).unwrap_or_default();
    let session = artifact.session.map(|id| id.to_string()).unwrap_or_default();
    for (sql, values) in [
        ("SELECT id FROM executions WHERE id = $1 AND ended_at IS NULL", args![execution]),
        ("SELECT id FROM sessions WHERE id = $1 AND ended_at IS NULL", args![session]),
        (
            "SELECT id FROM executions WHERE project = $1 AND ended_at IS NULL AND state LIKE $2 LIMIT 1",
            args![&project, &mention],
        ),
        (
            "SELECT id FROM tasks WHERE project = $1 AND status NOT IN ('done', 'failed', 'cancelled') \
             AND (description LIKE $2 OR context LIKE $2) LIMIT 1",
            args![&project, &mention],
        ),
    ] {
        if tx.read().first(sql, values).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes content without an artifact or a recent upload, and uploads that stopped.
async fn unreferenced(tx: &mut Tx<'_>, unused: Timestamp) -> Result<u32, StoreError> {
    let sql = format!(
        "SELECT c.id FROM artifact_contents c WHERE c.touched_at < $1 AND (c.sha256 IS NULL OR \
         (NOT EXISTS (SELECT 1 FROM artifacts a WHERE a.sha256 = c.sha256) \
         AND NOT EXISTS (SELECT 1 FROM artifact_uploads u WHERE u.sha256 = c.sha256))) LIMIT {ROUND}"
    );
    let mut removed = 0;
    for row in tx.read().all(&sql, args![unused]).await? {
        contents::delete(tx, &row.text("id")?).await?;
        removed += 1;
    }
    Ok(removed)
}
