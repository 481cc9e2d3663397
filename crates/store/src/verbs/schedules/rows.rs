//! The rows of schedules.

use domain::{Overlap, ProjectId, RecipeId, ScheduleId, Seq, Timestamp};
use protocol::{CatchUp, Trigger, UserRef};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::StoreError;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::users;

/// How a schedule works.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Settings {
    pub(super) trigger: Trigger,
    pub(super) overlap: Overlap,
    pub(super) queue_max: u32,
    pub(super) catch_up: CatchUp,
    pub(super) catch_up_seconds: u32,
    pub(super) jitter_seconds: u32,
    pub(super) from: Option<Timestamp>,
    pub(super) until: Option<Timestamp>,
    pub(super) pause_after_failures: Option<u32>,
}

/// A schedule.
#[derive(Debug, Clone)]
pub(super) struct ScheduleRow {
    pub(super) id: ScheduleId,
    pub(super) project: ProjectId,
    pub(super) name: String,
    pub(super) recipe: RecipeId,
    pub(super) recipe_name: String,
    pub(super) settings: Settings,
    pub(super) inputs: Map<String, Json>,
    pub(super) owner: UserRef,
    pub(super) paused: bool,
    pub(super) note: Option<String>,
    pub(super) failures: u32,
    pub(super) decided_to: Timestamp,
    pub(super) due_at: Option<Timestamp>,
    pub(super) created_at: Timestamp,
}

const COLUMNS: &str = "SELECT s.id, s.project, s.name, s.recipe, r.name AS recipe_name, s.settings, s.inputs, s.owner, \
    u.name AS owner_name, s.paused, s.note, s.failures, s.decided_to, s.due_at, s.created_at FROM schedules s \
    JOIN recipes r ON r.id = s.recipe JOIN users u ON u.id = s.owner";

fn read(row: &Row) -> Result<ScheduleRow, StoreError> {
    Ok(ScheduleRow {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        name: row.text("name")?,
        recipe: row.parsed("recipe")?,
        recipe_name: row.text("recipe_name")?,
        settings: row.json("settings")?,
        inputs: row.json("inputs")?,
        owner: users::reference(row, "owner")?,
        paused: row.flag("paused")?,
        note: row.text_or_none("note")?,
        failures: row.count("failures")?,
        decided_to: row.time("decided_to")?,
        due_at: row.time_or_none("due_at")?,
        created_at: row.time("created_at")?,
    })
}

/// A schedule, without an access check.
pub(super) async fn find(c: &mut Connection<'_>, id: ScheduleId) -> Result<Option<ScheduleRow>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE s.id = $1"), vec![text(id)]).await?.as_ref().map(read).transpose()
}

/// The schedules of a project, or of all, by name.
pub(super) async fn of(c: &mut Connection<'_>, only: Option<ProjectId>) -> Result<Vec<ScheduleRow>, StoreError> {
    let filter = if only.is_some() { "WHERE s.project = $1" } else { "" };
    let sql = format!("{COLUMNS} {filter} ORDER BY s.project, s.name");
    c.all(&sql, only.map(text).into_iter().collect()).await?.iter().map(read).collect()
}

/// The schedules of a project that have waited for an event of this kind since before a position, by name.
pub(super) async fn on_event(
    c: &mut Connection<'_>,
    project: ProjectId,
    event: &str,
    seq: Seq,
) -> Result<Vec<ScheduleRow>, StoreError> {
    let sql = format!("{COLUMNS} WHERE s.project = $1 AND s.awaits = $2 AND s.awaits_after < $3 ORDER BY s.name");
    c.all(&sql, args![project.to_string(), event, seq.0]).await?.iter().map(read).collect()
}

/// Adds a schedule.
pub(super) async fn insert(tx: &mut Tx<'_>, row: &ScheduleRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO schedules (id, project, name, recipe, settings, inputs, owner, paused, failures, decided_to, \
               due_at, created_at, awaits, awaits_after) VALUES ($1, $2, $3, $4, $5, $6, $7, 0, 0, $8, $9, $10, $11, \
               $12)";
    let (awaits, after) = match &row.settings.trigger {
        Trigger::Event { event, .. } => (Some(event.clone()), Some(tx.position()?.0.cast_signed())),
        _ => (None, None),
    };
    let values = args![
        row.id.to_string(),
        row.project.to_string(),
        &row.name,
        row.recipe.to_string(),
        to_json(&row.settings),
        to_json(&row.inputs),
        row.owner.id.to_string(),
        row.decided_to,
        row.due_at,
        row.created_at,
        awaits,
        after,
    ];
    tx.run(sql, values).await.map(|_| ())
}

/// Stores what changes in a schedule.
pub(super) async fn save(tx: &mut Tx<'_>, row: &ScheduleRow) -> Result<(), StoreError> {
    let sql = "UPDATE schedules SET paused = $1, note = $2, decided_to = $3, due_at = $4 WHERE id = $5";
    let values = args![row.paused, row.note.clone(), row.decided_to, row.due_at, row.id.to_string()];
    tx.run(sql, values).await.map(|_| ())
}

/// Counts failed executions in a row. Apart from [`save`]: an execution that a decision starts may end at once.
pub(super) async fn failed(tx: &mut Tx<'_>, row: &mut ScheduleRow, failures: u32) -> Result<(), StoreError> {
    row.failures = failures;
    let sql = "UPDATE schedules SET failures = $1 WHERE id = $2";
    tx.run(sql, args![failures, row.id.to_string()]).await.map(|_| ())
}
