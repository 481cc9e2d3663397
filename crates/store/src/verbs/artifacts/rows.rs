//! The rows of artifacts, and who sees them.

use domain::{Action, Actor, ArtifactId, ProjectFacts, Resource, UserId};
use protocol::Artifact;

use crate::sql::{Connection, Row, Value, text};
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::sees;
use crate::verbs::{projects, users};
use crate::{Caller, StoreError};

pub(super) const COLUMNS: &str = "SELECT a.id, a.project, a.name, a.kind, a.media_type, a.sha256, a.size, a.execution, \
    a.path, a.attempt, a.session, a.owner, u.name AS owner_name, a.by_agent, a.ran_for, a.created_at \
    FROM artifacts a JOIN users u ON u.id = a.owner";

/// An artifact with the person whose execution it comes from.
pub(super) struct ArtifactRow {
    pub(super) artifact: Artifact,
    pub(super) ran_for: Option<UserId>,
}

pub(super) fn read(row: &Row) -> Result<ArtifactRow, StoreError> {
    let artifact = Artifact {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        name: row.text("name")?,
        kind: row.parsed("kind")?,
        media_type: row.text("media_type")?,
        size: row.integer("size")?.cast_unsigned(),
        sha256: row.text("sha256")?,
        execution: id_or_none(row, "execution")?,
        path: row.text_or_none("path")?,
        attempt: row.integer_or_none("attempt")?.and_then(|attempt| u32::try_from(attempt).ok()),
        session: id_or_none(row, "session")?,
        by: users::reference(row, "owner")?,
        by_agent: row.flag("by_agent")?,
        created_at: row.time("created_at")?,
    };
    Ok(ArtifactRow { artifact, ran_for: id_or_none(row, "ran_for")? })
}

/// An artifact, if the caller may do this in its project and see what it comes from.
pub(super) async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: ArtifactId,
    action: Action,
) -> Result<Artifact, StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE a.id = $1"), vec![text(id)]).await?;
    let row = read(&row.ok_or(StoreError::NotFound("artifact"))?)?;
    let facts = projects::check(c, caller, row.artifact.project, Action::See, "artifact").await?;
    if !may_see(caller, &facts, row.ran_for) {
        return Err(StoreError::NotFound("artifact"));
    }
    caller.may(action, Resource::Project(&facts), "artifact")?;
    Ok(row.artifact)
}

/// Whether the caller, who sees the project, may see an artifact of it.
pub(super) fn may_see(caller: &Caller, facts: &ProjectFacts, ran_for: Option<UserId>) -> bool {
    ran_for.is_none_or(|owner| sees(caller, Some(facts), owner))
}

/// The condition for artifacts that the caller, who sees the project, may see; it matches [`may_see`].
pub(super) fn seen(caller: &Caller, facts: &ProjectFacts, values: &mut Vec<Value>) -> String {
    if caller.may(Action::SeeExecution, Resource::Project(facts), "project").is_ok() {
        return String::new();
    }
    match caller.actor().and_then(Actor::acts_for) {
        Some(me) => {
            values.push(text(me));
            format!(" AND (a.ran_for IS NULL OR a.ran_for = ${})", values.len())
        }
        None => " AND a.ran_for IS NULL".to_owned(),
    }
}
