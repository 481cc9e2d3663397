//! The rows of executions.

use std::sync::Arc;

use domain::{ActivityId, ExecutionId, ExecutionStatus, ProjectId, RecipeId, ScheduleId, Timestamp, WorkspaceId};
use engine::recipes::{Execution as Machine, Snapshot};
use protocol::{UserRef, WrittenBy};

use crate::StoreError;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::approvals::written_by;
use crate::verbs::users;
use crate::verbs::work::tasks::row::id_or_none;

/// An execution.
#[derive(Debug, Clone)]
pub(super) struct ExecutionRow {
    pub(super) id: ExecutionId,
    pub(super) project: ProjectId,
    pub(super) recipe: RecipeId,
    pub(super) name: String,
    /// The version that it follows, and the one that it began with.
    pub(super) number: u32,
    pub(super) first_number: u32,
    pub(super) version: String,
    /// Who wrote that version: runners ask before they run another person's commands.
    pub(super) author: WrittenBy,
    pub(super) status: ExecutionStatus,
    pub(super) reason: Option<String>,
    pub(super) machine: Machine,
    pub(super) current: Vec<String>,
    pub(super) needs_person: bool,
    pub(super) steps_over: u32,
    pub(super) revision: u32,
    pub(super) events: u32,
    pub(super) activity: Option<ActivityId>,
    pub(super) workspace: Option<WorkspaceId>,
    pub(super) owner: UserRef,
    pub(super) schedule: Option<ScheduleId>,
    pub(super) parent: Option<ExecutionId>,
    pub(super) cost_micros: Option<u64>,
    pub(super) created_at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
}

pub(super) const COLUMNS: &str = "SELECT e.id, e.project, e.recipe, r.name, e.number, e.first_number, v.version, v.model, \
    v.author, va.name AS author_name, v.author_session, v.by_agent AS author_agent, e.status, e.reason, e.state, \
    e.current_steps, e.needs_person, e.steps_over, e.revision, e.events, e.activity, e.workspace, e.owner, \
    u.name AS owner_name, e.schedule, e.parent, e.cost_micros, e.created_at, e.ended_at FROM executions e \
    JOIN recipes r ON r.id = e.recipe JOIN recipe_versions v ON v.recipe = e.recipe AND v.number = e.number \
    JOIN users u ON u.id = e.owner JOIN users va ON va.id = v.author";

pub(super) fn read(row: &Row) -> Result<ExecutionRow, StoreError> {
    let snapshot: Snapshot = row.json("state")?;
    let author = written_by(row, "author", "author_session")?;
    Ok(ExecutionRow {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        recipe: row.parsed("recipe")?,
        name: row.text("name")?,
        number: row.count("number")?,
        first_number: row.count("first_number")?,
        version: row.text("version")?,
        author: author.ok_or_else(|| StoreError::Corrupt("a recipe has no author".into()))?,
        status: row.parsed("status")?,
        reason: row.text_or_none("reason")?,
        machine: snapshot.into_execution(Arc::new(row.json("model")?)),
        current: row.json("current_steps")?,
        needs_person: row.flag("needs_person")?,
        steps_over: row.count("steps_over")?,
        revision: row.count("revision")?,
        events: row.count("events")?,
        activity: id_or_none(row, "activity")?,
        workspace: id_or_none(row, "workspace")?,
        owner: users::reference(row, "owner")?,
        schedule: id_or_none(row, "schedule")?,
        parent: id_or_none(row, "parent")?,
        cost_micros: row.integer_or_none("cost_micros")?.map(i64::cast_unsigned),
        created_at: row.time("created_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

/// An execution, without an access check.
pub(super) async fn find(c: &mut Connection<'_>, id: ExecutionId) -> Result<Option<ExecutionRow>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE e.id = $1"), vec![text(id)]).await?.as_ref().map(read).transpose()
}

/// Adds an execution. `called_by`: the step and attempt of its parent that waits for it.
pub(super) async fn insert(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    called_by: Option<(&str, u32)>,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO executions (id, project, recipe, number, first_number, status, state, current_steps, \
               needs_person, steps_over, revision, events, owner, schedule, parent, parent_path, parent_attempt, \
               created_at, updated_at, first_inputs) VALUES ($1, $2, $3, $4, $5, $6, $7, '[]', 0, 0, 0, 0, $8, $9, \
               $10, $11, $12, $13, $13, $14)";
    let values = args![
        row.id.to_string(),
        row.project.to_string(),
        row.recipe.to_string(),
        row.number,
        row.first_number,
        row.status.word(),
        to_json(&Snapshot::from(&row.machine)),
        row.owner.id.to_string(),
        row.schedule.map(|id| id.to_string()),
        row.parent.map(|id| id.to_string()),
        called_by.map(|(path, _)| path.to_owned()),
        called_by.map(|(_, attempt)| i64::from(attempt)),
        row.created_at,
        to_json(&row.machine.inputs),
    ];
    tx.run(sql, values).await.map(|_| ())
}

/// Stores an execution after a step.
pub(super) async fn save(tx: &mut Tx<'_>, row: &ExecutionRow) -> Result<(), StoreError> {
    let sql = "UPDATE executions SET number = $1, status = $2, reason = $3, state = $4, current_steps = $5, \
               needs_person = $6, steps_over = $7, revision = $8, events = $9, activity = $10, workspace = $11, \
               cost_micros = $12, updated_at = $13, ended_at = $14 WHERE id = $15";
    let values = args![
        row.number,
        row.status.word(),
        row.reason.clone(),
        to_json(&Snapshot::from(&row.machine)),
        to_json(&row.current),
        row.needs_person,
        row.steps_over,
        row.revision,
        row.events,
        row.activity.map(|id| id.to_string()),
        row.workspace.map(|id| id.to_string()),
        row.cost_micros.map(u64::cast_signed),
        tx.now,
        row.ended_at,
        row.id.to_string(),
    ];
    tx.run(sql, values).await.map(|_| ())
}
