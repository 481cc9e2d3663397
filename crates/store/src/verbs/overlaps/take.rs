//! Stores what a runner says about the work in a workspace.

use std::collections::BTreeSet;

use domain::{ProjectId, RunnerId};
use protocol::Workspace;
use protocol::link::{MAX_FORKS, ProjectForks, WorkFacts};

use super::{compare, declared, work};
use crate::StoreError;
use crate::bulk::{Delete, Part};
use crate::sql::{Connection, args, text, to_json};
use crate::tx::Tx;

/// Stores a description of the work in a workspace, and compares it with the others of its project. A description that
/// is not well-formed is ignored: the runner would send it again for ever.
pub(crate) async fn take(tx: &mut Tx<'_>, workspace: &Workspace, described: &[WorkFacts]) -> Result<(), StoreError> {
    if let Some(fault) = work::fault(described) {
        tracing::warn!(workspace = %workspace.id, runner = %workspace.runner, fault, "ignored a description of work");
        return Ok(());
    }
    let Some(fork) = described.first().map(|work| work.against.clone()) else { return Ok(()) };
    let (id, project) = (workspace.id.to_string(), workspace.project);
    let known = tx.read().first("SELECT work FROM workspace_work WHERE workspace = $1", args![&id]).await?;
    let new = to_json(&described);
    if known.map(|row| row.text("work")).transpose()?.as_deref() == Some(new.as_str()) {
        return Ok(());
    }
    let before = forks_in(tx.read(), project).await?;
    let sql = "INSERT INTO workspace_work (workspace, project, fork, work, updated_at) VALUES ($1, $2, $3, $4, $5) \
               ON CONFLICT (workspace) DO UPDATE SET fork = excluded.fork, work = excluded.work, \
               updated_at = excluded.updated_at";
    tx.run(sql, args![&id, project.to_string(), fork, new, tx.now]).await?;
    rename(tx, workspace, &work::names(described)).await?;
    compare::again(tx, workspace.id).await?;
    declared::again_of(tx, workspace.id).await?;
    let after = forks_in(tx.read(), project).await?;
    if after.len() > 1 && after != before {
        for runner in runners(tx.read(), project).await? {
            tx.desire(runner).await?;
        }
    }
    Ok(())
}

/// Replaces the names that a work touches, and writes only those that changed.
async fn rename(tx: &mut Tx<'_>, workspace: &Workspace, names: &BTreeSet<String>) -> Result<(), StoreError> {
    let rows = tx.read().all("SELECT name FROM work_names WHERE workspace = $1", vec![text(workspace.id)]).await?;
    let known: BTreeSet<String> = rows.iter().map(|row| row.text("name")).collect::<Result<_, _>>()?;
    let (id, project) = (workspace.id.to_string(), workspace.project.to_string());
    let gone = known.difference(names).map(|name| args![&id, name]).collect();
    let new = names.difference(&known).map(|name| args![&id, &project, name]).collect();
    let delete = Delete { table: "work_names", keys: &["workspace", "name"] };
    tx.read().write(vec![Part::delete(delete, gone)]).await?;
    tx.read().write(vec![Part::insert_new("INSERT INTO work_names (workspace, project, name)", new)]).await
}

/// The commits where the branches of a project's live workspaces left their base, the most common ones first.
async fn forks_in(c: &mut Connection<'_>, project: ProjectId) -> Result<BTreeSet<String>, StoreError> {
    let sql = "SELECT f.fork FROM workspace_work f JOIN workspaces w ON w.id = f.workspace \
               WHERE f.project = $1 AND w.status <> 'cleaned' GROUP BY f.fork ORDER BY COUNT(*) DESC, f.fork LIMIT $2";
    let rows = c.all(sql, args![project.to_string(), MAX_FORKS as u64]).await?;
    rows.iter().map(|row| row.text("fork")).collect()
}

/// Maximum number of reports whose base is named.
const REPORTS: u32 = 200;

/// The commits that the work of a report is described against: where other branches and other reports' work left the
/// base, the most common ones first.
pub(crate) async fn of_reports(c: &mut Connection<'_>, project: ProjectId) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT named.fork FROM (SELECT f.fork, f.updated_at AS at FROM workspace_work f \
               JOIN workspaces w ON w.id = f.workspace WHERE f.project = $1 AND w.status <> 'cleaned' UNION ALL \
               SELECT n.base AS fork, n.at FROM (SELECT r.base, r.at FROM reports r WHERE r.project = $1 AND \
               r.changes IS NOT NULL AND r.base IS NOT NULL AND r.verdict IN ('accepted', 'pending') AND NOT EXISTS \
               (SELECT 1 FROM landings l WHERE l.report = r.id AND l.state = 'landed') \
               ORDER BY r.at DESC LIMIT $2) n) named \
               GROUP BY named.fork ORDER BY COUNT(*) DESC, MAX(named.at) DESC, named.fork LIMIT $3";
    let rows = c.all(sql, args![project.to_string(), REPORTS, MAX_FORKS as u64]).await?;
    rows.iter().map(|row| row.text("fork")).collect()
}

/// The runners that have live workspaces of a project.
async fn runners(c: &mut Connection<'_>, project: ProjectId) -> Result<Vec<RunnerId>, StoreError> {
    let sql = "SELECT DISTINCT w.runner FROM workspaces w JOIN runners r ON r.id = w.runner \
               WHERE w.project = $1 AND w.status = 'ready' ORDER BY w.runner";
    let rows = c.all(sql, vec![text(project)]).await?;
    rows.iter().map(|row| row.parsed("runner")).collect()
}

/// The commits that a runner describes work against: for each project where branches left their base at several.
pub(crate) async fn forks(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<ProjectForks>, StoreError> {
    let sql = "SELECT DISTINCT project FROM workspaces WHERE runner = $1 AND status = 'ready' ORDER BY project";
    let mut all = Vec::new();
    for row in c.all(sql, vec![text(runner)]).await? {
        let project = row.parsed("project")?;
        let forks = forks_in(c, project).await?;
        if forks.len() > 1 {
            all.push(ProjectForks { project, forks: forks.into_iter().collect() });
        }
    }
    Ok(all)
}
