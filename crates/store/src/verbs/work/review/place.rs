//! Where a report is checked: in the workspace of the work, or in one made from the branch that the report names.

use domain::{Action, ProjectId, ReportId, Resource, RunnerId, WorkerId, WorkerKind, WorkspaceId, branch};
use engine::tasks::life::Event;
use protocol::link::StartFrom;
use protocol::{Deliverables, Repository, UserRef};

use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::sessions::spawn::{Start, make_workspace};
use crate::verbs::work::life::step;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::{launch, rows};
use crate::verbs::{projects, runners};
use crate::{Caller, StoreError};

/// A runner and a workspace on it.
pub(super) type Spot = (RunnerId, WorkspaceId);

/// Where a report can be checked.
pub(super) enum Place {
    /// In the workspace of the work.
    There(Spot),
    /// In a new workspace.
    Branch(Branch),
    /// Nowhere until the worker names its branch; the text says what it must do.
    Unsaid(String),
    /// Nowhere; the text says why.
    Nowhere(String),
}

/// A pushed branch, and the runner that can check it.
pub(super) struct Branch {
    name: String,
    repository: Repository,
    worker: WorkerId,
    runner: RunnerId,
    /// The runner's owner, who will own the workspace.
    owner: UserRef,
}

const UNSAID: &str = "the acceptance is checked on a branch, and the report names none: commit the work, push the branch to \
    the project's repository, and name it as `branch` when you report again";

/// Finds where a report can be checked; writes nothing. Refuses an invalid branch name.
pub(super) async fn find(tx: &mut Tx<'_>, row: &TaskRow, made: &Deliverables) -> Result<Place, StoreError> {
    // An earlier worker's workspace says nothing about the work of an external worker.
    if let (Some(_), Some(workspace)) = (row.session(), row.workspace) {
        let sql = "SELECT runner FROM workspaces WHERE id = $1 AND status <> 'cleaned'";
        return Ok(match tx.read().first(sql, vec![text(workspace)]).await? {
            Some(found) => Place::There((found.parsed("runner")?, workspace)),
            None => Place::Nowhere("its workspace was deleted".into()),
        });
    }
    let (Some(name), Some(worker)) = (&made.branch, row.worker()) else {
        return Ok(match has_repository(tx, row.project).await? {
            true => Place::Unsaid(UNSAID.into()),
            false => Place::Nowhere("the project names no repository, and the report no branch".into()),
        });
    };
    branch::check(name).map_err(|error| {
        StoreError::invalid("deliverables", format!("`deliverables.branch` is `{}`: {error}", name.escape_debug()))
    })?;
    on_branch(tx, row, worker, name, &[]).await
}

/// Finds where a report without checkable criteria can be compared with other outputs; writes nothing.
pub(super) async fn to_compare(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    made: &Deliverables,
) -> Result<Option<Place>, StoreError> {
    let usable = made.branch.as_deref().is_none_or(|name| branch::check(name).is_ok());
    if row.session().is_none() && !usable {
        return Ok(None);
    }
    let found = find(tx, row, made).await?;
    if matches!(found, Place::Nowhere(_) | Place::Unsaid(_)) || !has_repository(tx, row.project).await? {
        return Ok(None);
    }
    // A comparison does not reopen an activity that somebody ended.
    let ended = "SELECT 1 FROM activities WHERE id = $1 AND status <> 'active'";
    if let (Place::Branch(_), Some(activity)) = (&found, row.activity)
        && tx.read().first(ended, vec![text(activity)]).await?.is_some()
    {
        return Ok(None);
    }
    Ok(Some(found))
}

/// Whether a project has a repository; without one, outputs cannot conflict.
pub(crate) async fn has_repository(tx: &mut Tx<'_>, project: ProjectId) -> Result<bool, StoreError> {
    if let Some(known) = tx.batch().known.has_repository.get(&project) {
        return Ok(*known);
    }
    let found = projects::find(tx.read(), &Caller::hub("check"), project, Action::See).await?;
    let has = !found.repositories.is_empty();
    tx.batch().known.has_repository.insert(project, has);
    Ok(has)
}

/// The runner that can check a branch: one of the worker's owner, else one with workers of this project.
async fn on_branch(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    worker: WorkerId,
    name: &str,
    tried: &[RunnerId],
) -> Result<Place, StoreError> {
    let project = projects::find(tx.read(), &Caller::hub("check"), row.project, Action::See).await?;
    let Some(repository) = project.repositories.first().cloned() else {
        return Ok(Place::Nowhere("the project names no repository".into()));
    };
    let Some(slot) = rows::get(tx, worker).await? else {
        return Ok(Place::Nowhere("the author of the work is unknown".into()));
    };
    let may = launch::owner_of(&slot).may(Action::Write, Resource::Project(&project.facts()), "project");
    if may.is_err() {
        return Ok(Place::Nowhere("the worker's owner may no longer write in this project".into()));
    }
    let workers = rows::of(tx, Some(row.project)).await?;
    let works_here =
        |runner: RunnerId| workers.iter().any(|slot| slot.kind == WorkerKind::Managed && slot.runner == Some(runner));
    let now = tx.now;
    let mut there = runners::all(tx.read(), now).await?;
    there.retain(|runner| runner.connected && !tried.contains(&runner.id));
    let own = there.iter().find(|runner| runner.owner.id == slot.owner.id);
    let Some(runner) = own.or_else(|| there.iter().find(|runner| works_here(runner.id))) else {
        let why = format!("no runner that could look at branch `{name}` is connected");
        return Ok(Place::Nowhere(why));
    };
    let (name, owner, runner) = (name.to_owned(), runner.owner.clone(), runner.id);
    Ok(Place::Branch(Branch { name, repository, worker, runner, owner }))
}

impl Branch {
    /// Makes the workspace for a check; it belongs to the task's activity.
    pub(super) async fn make(self, tx: &mut Tx<'_>, row: &mut TaskRow, report: ReportId) -> Result<Spot, StoreError> {
        let slot = rows::get(tx, self.worker).await?.ok_or(StoreError::NotFound("worker"))?;
        let activity = launch::activity(tx, &slot, row).await?;
        row.activity = Some(activity.id);
        let start = Start { from: Some(StartFrom::Branch { branch: self.name }), ..Default::default() };
        let made = make_workspace(tx, &activity, &self.owner, self.runner, Some(self.repository), start).await?;
        let sql = "UPDATE workspaces SET checks = $1 WHERE id = $2";
        tx.run(sql, args![report.to_string(), made.id.to_string()]).await?;
        Ok((self.runner, made.id))
    }
}

/// Moves a check to another runner, because this one cannot fetch the branch or is `away`; `false` if there is none.
pub(crate) async fn elsewhere(
    tx: &mut Tx<'_>,
    mut row: TaskRow,
    report: ReportId,
    away: Option<RunnerId>,
) -> Result<bool, StoreError> {
    let sql = "SELECT worker, deliverables, collected FROM reports WHERE id = $1";
    let Some(found) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(false) };
    // An agent whose report was collected pushed nothing: its branch exists only in its workspace.
    if found.flag("collected")? {
        return Ok(false);
    }
    let (worker, made): (WorkerId, Deliverables) = (found.parsed("worker")?, found.json("deliverables")?);
    let sql = "SELECT runner FROM workspaces WHERE checks = $1";
    let tried = tx.read().all(sql, vec![text(report)]).await?;
    let mut tried: Vec<RunnerId> = tried.iter().map(|row| row.parsed("runner")).collect::<Result<_, _>>()?;
    tried.extend(away);
    let usable = |name: &String| !tried.is_empty() && branch::check(name).is_ok();
    let Some(name) = made.branch.filter(usable) else { return Ok(false) };
    let Place::Branch(branch) = on_branch(tx, &row, worker, &name, &tried).await? else { return Ok(false) };
    let (runner, workspace) = branch.make(tx, &mut row, report).await?;
    step(tx, row, Event::MoveCheck).await?;
    let sql = "UPDATE reports SET runner = $1, workspace = $2 WHERE id = $3";
    tx.run(sql, args![runner.to_string(), workspace.to_string(), report.to_string()]).await?;
    tx.desire(runner).await?;
    Ok(true)
}
