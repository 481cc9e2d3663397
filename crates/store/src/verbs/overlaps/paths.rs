//! The paths that are being changed, for the assignment of tasks and the order of merge queues.

use std::collections::HashMap;

use domain::ProjectId;
use domain::text::title;
use protocol::link::WorkFacts;

use crate::StoreError;
use crate::sql::{Connection, Row, args, text};

/// Maximum number of works that are read.
const READ: u32 = 200;

/// Work that is being done now.
pub(crate) struct Changing {
    /// The name of its activity.
    pub(crate) name: String,
    /// The files that it changes.
    pub(crate) paths: Vec<String>,
}

/// The work in a project's workspaces that have a live session.
pub(crate) async fn changing(c: &mut Connection<'_>, project: ProjectId) -> Result<Vec<Changing>, StoreError> {
    let sql = "SELECT a.content, f.work FROM workspace_work f JOIN workspaces w ON w.id = f.workspace \
               JOIN activities a ON a.id = w.activity WHERE f.project = $1 AND EXISTS (SELECT 1 FROM sessions s \
               WHERE s.workspace = f.workspace AND s.ended_at IS NULL AND s.stop IS NULL) \
               ORDER BY f.updated_at DESC, f.workspace LIMIT $2";
    let rows = c.all(sql, args![project.to_string(), READ]).await?;
    let read = |row: &Row| Ok(Changing { name: title(&row.text("content")?), paths: paths(row)? });
    rows.iter().map(read).filter(|found| !matches!(found, Ok(Changing { paths, .. }) if paths.is_empty())).collect()
}

/// The files that the workspaces of a project change, by branch, for the branches in its merge queues whose files are not
/// known from a test.
pub(crate) async fn of_branches(
    c: &mut Connection<'_>,
    project: ProjectId,
) -> Result<HashMap<String, Vec<String>>, StoreError> {
    let sql = "SELECT w.branch, f.work FROM workspace_work f JOIN workspaces w ON w.id = f.workspace \
               WHERE f.project = $1 AND EXISTS (SELECT 1 FROM merge_candidates m WHERE m.project = f.project \
               AND m.branch = w.branch AND m.ended_at IS NULL AND m.paths = '[]')";
    let rows = c.all(sql, vec![text(project)]).await?;
    rows.iter().map(|row| Ok((row.text("branch")?, paths(row)?))).collect()
}

/// The paths in a work's own description, old and new.
pub(super) fn paths(row: &Row) -> Result<Vec<String>, StoreError> {
    let described: Vec<WorkFacts> = row.json("work")?;
    let own = described.into_iter().next().map(|work| work.files).unwrap_or_default();
    Ok(own.into_iter().flat_map(|file| [Some(file.path), file.from]).flatten().collect())
}
