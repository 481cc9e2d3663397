//! Workspaces, as far as the hub knows them.

use domain::limits::MAX_LISTED;
use domain::text::plain;
use domain::{Action, ProjectFacts, ProjectId, Resource, WorkspaceId, WorkspaceStatus};
use protocol::{Change, CheckedOut, ExecutionFilter, GitStats, Repository, Workspace};

use super::{projects, users};
use crate::sql::{Connection, Row, Value, args, text, to_json};
use crate::tx::Tx;
use crate::{Caller, Store, StoreError};

const COLUMNS: &str = "SELECT w.id, w.project, w.activity, w.runner, w.owner, u.name AS owner_name, w.repository, \
    w.branch, w.base, w.path, w.status, w.detail, w.ports, w.stats, w.disk_bytes, w.saved_at, w.created_at, \
    w.updated_at FROM workspaces w JOIN users u ON u.id = w.owner";

/// A JSON column that may be null.
pub(crate) fn json_or_none<T: serde::de::DeserializeOwned>(row: &Row, column: &str) -> Result<Option<T>, StoreError> {
    row.text_or_none(column)?.map(|_| row.json(column)).transpose()
}

/// A number column that may be null and is never negative.
pub(crate) fn size_or_none(row: &Row, column: &str) -> Result<Option<u64>, StoreError> {
    Ok(row.integer_or_none(column)?.map(i64::cast_unsigned))
}

fn workspace(row: &Row) -> Result<Workspace, StoreError> {
    let repository: Option<Repository> = json_or_none(row, "repository")?;
    Ok(Workspace {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        activity: row.parsed("activity")?,
        runner: row.parsed("runner")?,
        owner: users::reference(row, "owner")?,
        branch: repository.is_some().then(|| row.text("branch")).transpose()?,
        repository: repository.map(|repository| repository.location),
        base: row.text_or_none("base")?,
        path: row.text_or_none("path")?,
        status: row.parsed("status")?,
        detail: row.text_or_none("detail")?,
        ports: json_or_none(row, "ports")?,
        stats: json_or_none(row, "stats")?,
        disk_bytes: size_or_none(row, "disk_bytes")?,
        saved_at: row.time_or_none("saved_at")?,
        created_at: row.time("created_at")?,
        updated_at: row.time("updated_at")?,
    })
}

/// The checked-out branch with a safe name, because an agent may have chosen it.
pub(crate) fn readable(checked_out: CheckedOut) -> CheckedOut {
    match checked_out {
        CheckedOut::Branch { name } => CheckedOut::Branch { name: plain(&name.replace(['\n', '`'], " "), 255) },
        CheckedOut::Commit {} => CheckedOut::Commit {},
    }
}

/// The branch of a workspace's work: `own`, unless the runner reports that another branch, or none, is checked out.
pub(crate) fn branch_of(checked_out: Option<CheckedOut>, own: Option<String>) -> Option<String> {
    match checked_out.map(readable) {
        Some(CheckedOut::Branch { name }) => Some(name),
        Some(CheckedOut::Commit {}) => None,
        None => own,
    }
}

/// The branch of a workspace's work, as far as the hub knows; `None` without a repository.
pub(crate) async fn branch_in(c: &mut Connection<'_>, id: WorkspaceId) -> Result<Option<String>, StoreError> {
    let Some(found) = get(c, id).await? else { return Ok(None) };
    Ok(branch_of(found.stats.and_then(|stats| stats.checked_out), found.branch))
}

/// A workspace, without an access check.
pub(crate) async fn get(c: &mut Connection<'_>, id: WorkspaceId) -> Result<Option<Workspace>, StoreError> {
    c.first(&format!("{COLUMNS} WHERE w.id = $1"), vec![text(id)]).await?.as_ref().map(workspace).transpose()
}

/// A workspace, if the caller may do this to it.
pub(crate) async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: WorkspaceId,
    action: Action,
) -> Result<Workspace, StoreError> {
    let found = get(c, id).await?.ok_or(StoreError::NotFound("workspace"))?;
    let facts = projects::facts_of(c, found.project).await?.ok_or(StoreError::NotFound("workspace"))?;
    caller.may(action, Resource::Execution { project: &facts, owner: found.owner.id }, "workspace")?;
    Ok(found)
}

/// Workspaces, with or without deleted ones, oldest first. The caller must check access.
pub(crate) async fn of(c: &mut Connection<'_>, filter: ExecutionFilter) -> Result<Vec<Workspace>, StoreError> {
    let (mut sql, values) = narrowed(COLUMNS, "w", filter);
    let mut newest = " ORDER BY w.created_at DESC, w.id DESC".to_owned();
    if filter.ended.unwrap_or(false) {
        newest.push_str(&format!(" LIMIT {MAX_LISTED}"));
    } else {
        sql.push_str(" AND w.status <> 'cleaned'");
    }
    c.all(&format!("{sql}{newest}"), values).await?.iter().rev().map(workspace).collect()
}

/// A query for a project and an activity, ready for further conditions.
pub(crate) fn narrowed(columns: &str, table: &str, filter: ExecutionFilter) -> (String, Vec<Value>) {
    let mut sql = format!("{columns} WHERE 1 = 1");
    let mut values = Vec::new();
    if let Some(project) = filter.project {
        values.push(text(project));
        sql.push_str(&format!(" AND {table}.project = ${}", values.len()));
    }
    if let Some(activity) = filter.activity {
        values.push(text(activity));
        sql.push_str(&format!(" AND {table}.activity = ${}", values.len()));
    }
    (sql, values)
}

/// Whether the caller may see an execution: the project is visible, and the execution is the caller's or shared.
pub(crate) fn sees(caller: &Caller, facts: Option<&ProjectFacts>, owner: domain::UserId) -> bool {
    facts.is_some_and(|facts| {
        caller.may(Action::See, Resource::Project(facts), "project").is_ok()
            && caller.may(Action::SeeExecution, Resource::Execution { project: facts, owner }, "session").is_ok()
    })
}

/// Adds a workspace's row and announces it to those who may see it.
pub(crate) async fn add(
    tx: &mut Tx<'_>,
    made: &Workspace,
    repository: Option<&Repository>,
    branch: &str,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO workspaces (id, project, activity, runner, owner, repository, branch, base, status, \
               created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)";
    let values = args![
        made.id.to_string(),
        made.project.to_string(),
        made.activity.to_string(),
        made.runner.to_string(),
        made.owner.id.to_string(),
        repository.map(to_json),
        branch,
        made.base.clone(),
        made.status.word(),
        tx.now,
    ];
    tx.run(sql, values).await?;
    announce(tx, made.clone());
    Ok(())
}

/// A workspace whose folder was deleted: nothing that was counted there is left.
pub(crate) fn cleaned(before: Workspace) -> Workspace {
    Workspace { status: WorkspaceStatus::Cleaned, stats: None, disk_bytes: Some(0), ..before }
}

/// Stores what a runner reported about a workspace, and announces it to those who may see it.
pub(crate) async fn update(tx: &mut Tx<'_>, after: Workspace) -> Result<(), StoreError> {
    let sql = "UPDATE workspaces SET base = $1, path = $2, status = $3, detail = $4, ports = $5, stats = $6, \
               disk_bytes = $7, saved_at = $8, updated_at = $9 WHERE id = $10";
    let values = args![
        after.base.clone(),
        after.path.clone(),
        after.status.word(),
        after.detail.clone(),
        after.ports.as_ref().map(to_json),
        after.stats.as_ref().map(to_json),
        after.disk_bytes.map(u64::cast_signed),
        after.saved_at,
        tx.now,
        after.id.to_string(),
    ];
    tx.run(sql, values).await?;
    announce(tx, Workspace { updated_at: tx.now, ..after });
    Ok(())
}

fn announce(tx: &mut Tx<'_>, workspace: Workspace) {
    let (project, owner) = (workspace.project, workspace.owner.id);
    tx.announce_execution(project, owner, Change::Workspace { workspace });
}

/// Refuses to delete a project while a workspace has work that exists nowhere else. Workspaces on removed runners do
/// not count.
pub(crate) async fn nothing_unfinished(c: &mut Connection<'_>, project: ProjectId) -> Result<(), StoreError> {
    let sql = "SELECT w.id, w.path, w.stats, r.name AS runner_name FROM workspaces w JOIN runners r ON r.id = w.runner \
               WHERE w.project = $1 AND w.status <> 'cleaned' AND w.stats IS NOT NULL ORDER BY w.created_at, w.id";
    let mut unfinished = Vec::new();
    for row in c.all(sql, vec![text(project)]).await? {
        let Some(stats) = json_or_none::<GitStats>(&row, "stats")? else { continue };
        let commits = (stats.unpushed > 0).then(|| match stats.unpushed {
            1 => "one commit that is not pushed".to_owned(),
            more => format!("{more} commits that are not pushed"),
        });
        let files = stats.uncommitted.then(|| "files that are not committed".to_owned());
        let what: Vec<String> = files.into_iter().chain(commits).collect();
        if !what.is_empty() {
            unfinished.push((row.text("id")?, what.join(" and "), row.text("runner_name")?, row.text_or_none("path")?));
        }
    }
    let Some((id, what, runner, path)) = unfinished.first() else { return Ok(()) };
    let place = path.as_ref().map(|path| format!(", in {path}")).unwrap_or_default();
    let more = match unfinished.len() - 1 {
        0 => String::new(),
        1 => " Another workspace has work, too.".to_owned(),
        more => format!(" {more} other workspaces have work, too."),
    };
    Err(StoreError::Conflict(format!(
        "workspace {id} has {what} (on `{runner}`{place}), which nobody would find after this project is deleted: commit \
         and push it, or throw it away there, then `shopfloor workspace clean {id}` and delete the project again.{more}"
    )))
}

/// Refuses a workspace that no session can be started in.
pub(crate) fn usable(workspace: &Workspace) -> Result<(), StoreError> {
    match workspace.status {
        WorkspaceStatus::Cleaned => Err(StoreError::Conflict("that workspace was deleted: restore it first".into())),
        WorkspaceStatus::Failed => Err(StoreError::Conflict("that workspace could not be made: use another".into())),
        WorkspaceStatus::Preparing | WorkspaceStatus::Ready => Ok(()),
    }
}

impl Store {
    /// The workspaces that the caller may see.
    pub async fn workspaces(&self, caller: &Caller, filter: ExecutionFilter) -> Result<Vec<Workspace>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        check_filter(&mut c, caller, filter).await?;
        let facts = projects::all_facts(&mut c).await?;
        let mut found = of(&mut c, filter).await?;
        found.retain(|workspace| sees(caller, facts.get(&workspace.project), workspace.owner.id));
        Ok(found)
    }

    /// One workspace, if the caller may do this to it.
    pub async fn workspace(&self, caller: &Caller, id: WorkspaceId, action: Action) -> Result<Workspace, StoreError> {
        find(&mut self.readers.snapshot().await?.borrow(), caller, id, action).await
    }
}

/// Refuses a filter that names something the caller may not see.
pub(crate) async fn check_filter(
    c: &mut Connection<'_>,
    caller: &Caller,
    filter: ExecutionFilter,
) -> Result<(), StoreError> {
    if let Some(project) = filter.project {
        projects::check(c, caller, project, Action::See, "project").await?;
    }
    if let Some(activity) = filter.activity {
        super::activities::find(c, caller, activity, Action::See).await?;
    }
    Ok(())
}

/// The filter for the sync of one project.
pub(crate) fn only(project: Option<ProjectId>) -> ExecutionFilter {
    ExecutionFilter { project, ..Default::default() }
}
