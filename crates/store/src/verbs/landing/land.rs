//! Asking for a landing: by a person, by the project's settings, or for a dependant that works elsewhere.

use domain::{
    Action, LandMode, LandingId, LandingState, ProjectId, ReportId, TaskId, TaskStatus, WorkspaceId, may_land,
};
use protocol::{Land, Landing, UserRef, Verb, Workspace, verbs};

use super::{announce, landing, settings};
use crate::sql::{args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::work::review::place::has_repository;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::work::workers::builds_on::{self, Built};
use crate::verbs::{activities, merge, workspaces};
use crate::{Command, StoreError};

/// The maximum number of landings that one request asks for.
pub const MAX_LANDINGS: usize = 200;

/// How work lands.
#[derive(Debug, Clone)]
struct How {
    target: Option<String>,
    push_only: bool,
    pull_request: bool,
    asked_by: Option<UserRef>,
}

/// Work to land.
struct Work {
    task: Option<TaskRow>,
    kept: Option<Built>,
    place: Workspace,
    branch: String,
    title: String,
}

impl Command for verbs::LandingLand {
    type Output = Vec<Landing>;
    const VERB: &'static str = verbs::LandingLand::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Landing>, StoreError> {
        let facts = tx.check(self.project, Action::Decide, "project").await?;
        let me = tx.caller.person()?;
        let wanted = match wanted(tx, self.project, &self.input).await {
            // What does not exist looks the same as what belongs to others.
            Err(StoreError::NotFound(_)) if me.id != facts.owner => return Err(NOT_YOURS),
            wanted => wanted?,
        };
        if wanted.iter().any(|work| !may_land(&facts, me.id, work.place.owner.id)) {
            return Err(NOT_YOURS);
        }
        let settings = settings::of(tx.read(), self.project).await?;
        let push_only = self.input.push_only || self.input.pull_request;
        if !push_only {
            merge::may_add(tx, self.project, facts.owner).await?;
        }
        let pull_request = self.input.pull_request;
        let how = How { target: settings.target, push_only, pull_request, asked_by: Some(me) };
        let mut landings = Vec::new();
        for work in wanted {
            let made = begin(tx, self.project, work, &how).await?;
            let what = if push_only { "publish" } else { "land" };
            tx.audit(
                Self::VERB,
                made.id,
                AuditScope::Project(self.project),
                format!("asked to {what} `{}`", made.title),
            );
            landings.push(made);
        }
        Ok(landings)
    }
}

const NOT_YOURS: StoreError = StoreError::Forbidden("only the owner of the work or of the project may land it");

/// The work that a request names; refuses what cannot land, and writes nothing.
async fn wanted(tx: &mut Tx<'_>, project: ProjectId, input: &Land) -> Result<Vec<Work>, StoreError> {
    let mut wanted = Vec::new();
    for task in &input.tasks {
        let row = tx.task(*task).await?.filter(|row| row.project == project).ok_or(StoreError::NotFound("task"))?;
        wanted.push(of_task(tx, row).await?);
    }
    for id in &input.workspaces {
        wanted.push(of_workspace(tx, project, *id).await?);
    }
    if let Some(activity) = input.activity {
        let caller = tx.caller;
        let found = activities::find(tx.read(), caller, activity, Action::See).await?;
        if found.project != project {
            return Err(StoreError::NotFound("activity"));
        }
        let sql = "SELECT id FROM tasks WHERE activity = $1 AND status = 'done' ORDER BY id";
        let tasks: Vec<TaskId> = tx
            .read()
            .all(sql, vec![text(activity)])
            .await?
            .iter()
            .map(|row| row.parsed("id"))
            .collect::<Result<_, _>>()?;
        for task in &tasks {
            let row = tx.known_task(*task).await?;
            // A task that changed no code does not keep the others from landing.
            if builds_on::of_task(tx, row.id).await?.is_some() {
                wanted.push(of_task(tx, row).await?);
            }
        }
        if tasks.is_empty() {
            let sql = "SELECT id FROM workspaces WHERE activity = $1 AND status = 'ready' AND repository IS NOT NULL \
                       AND checks IS NULL ORDER BY id";
            for row in tx.read().all(sql, vec![text(activity)]).await? {
                wanted.push(of_workspace(tx, project, row.parsed("id")?).await?);
            }
        }
    }
    match wanted.len() {
        0 => Err(StoreError::invalid("tasks", "name done tasks, an activity with finished work, or workspaces")),
        1..=MAX_LANDINGS => Ok(wanted),
        _ => Err(StoreError::invalid("tasks", format!("at most {MAX_LANDINGS} at once"))),
    }
}

async fn of_task(tx: &mut Tx<'_>, row: TaskRow) -> Result<Work, StoreError> {
    if row.status() != TaskStatus::Done {
        let message = format!("{} is {}: only accepted work lands", row.named(), row.status());
        return Err(StoreError::Conflict(message));
    }
    let Some(kept) = builds_on::of_task(tx, row.id).await? else {
        let message = format!("{} left no commits: there is nothing to land", row.named());
        return Err(StoreError::Conflict(message));
    };
    work_of(tx, row, kept).await
}

async fn work_of(tx: &mut Tx<'_>, row: TaskRow, kept: Built) -> Result<Work, StoreError> {
    let place = place_of(tx, &kept).await?;
    let branch = branch_of(tx, &kept, &place).await?;
    Ok(Work { title: row.title.clone(), task: Some(row), kept: Some(kept), place, branch })
}

/// The workspace that accepted work comes from.
async fn place_of(tx: &mut Tx<'_>, kept: &Built) -> Result<Workspace, StoreError> {
    let sql = "SELECT workspace FROM reports WHERE id = $1";
    let found = tx.read().first(sql, vec![text(kept.work.report)]).await?.ok_or(StoreError::NotFound("report"))?;
    workspaces::get(tx.read(), found.parsed("workspace")?).await?.ok_or(StoreError::NotFound("workspace"))
}

/// The name of accepted work at the repository: the branch that its worker pushed, else the workspace's own. An agent's
/// choice of a local branch does not count: it could be the name of somebody else's.
async fn branch_of(tx: &mut Tx<'_>, kept: &Built, place: &Workspace) -> Result<String, StoreError> {
    let sql = "SELECT branch, start_from FROM workspaces WHERE id = $1";
    let row = tx.read().first(sql, vec![text(place.id)]).await?.ok_or(StoreError::NotFound("workspace"))?;
    let pushed =
        matches!(workspaces::json_or_none(&row, "start_from")?, Some(protocol::link::StartFrom::Branch { .. }));
    match kept.branch.clone().filter(|name| pushed && domain::branch::check(name).is_ok()) {
        Some(name) => Ok(name),
        None => row.text("branch"),
    }
}

async fn of_workspace(tx: &mut Tx<'_>, project: ProjectId, id: WorkspaceId) -> Result<Work, StoreError> {
    let caller = tx.caller;
    let place = workspaces::find(tx.read(), caller, id, Action::SeeExecution).await?;
    if place.project != project {
        return Err(StoreError::NotFound("workspace"));
    }
    let Some(branch) = place.branch.clone() else {
        return Err(StoreError::Conflict(format!("workspace {id} has no repository to land in")));
    };
    workspaces::usable(&place)?;
    Ok(Work { task: None, kept: None, title: branch.clone(), branch, place })
}

/// The landing of this work that is not over, or a new one.
async fn begin(tx: &mut Tx<'_>, project: ProjectId, work: Work, how: &How) -> Result<Landing, StoreError> {
    if let Some(there) = under_way(tx, &work, how).await? {
        return Ok(there);
    }
    let made = Landing {
        id: LandingId::generate(),
        project,
        task: work.task.as_ref().map(|row| row.id),
        activity: work.task.as_ref().map_or(Some(work.place.activity), |row| row.activity),
        title: work.title,
        branch: work.branch,
        target: how.target.clone(),
        state: LandingState::Publishing,
        detail: None,
        push_only: how.push_only,
        commit: None,
        landed: None,
        candidate: None,
        pull_request: None,
        asked_by: how.asked_by.clone(),
        created_at: tx.now,
        updated_at: tx.now,
    };
    let sql = "INSERT INTO landings (id, project, task, report, activity, workspace, runner, owner, title, location, \
               branch, target, push_only, wants_pull_request, state, kept, asked_by, created_at, updated_at) VALUES \
               ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $18)";
    let runner = work.kept.as_ref().map_or(work.place.runner, |kept| kept.runner);
    let values = args![
        made.id.to_string(),
        made.project.to_string(),
        made.task.map(|id| id.to_string()),
        work.kept.as_ref().map(|kept| kept.work.report.to_string()),
        made.activity.map(|id| id.to_string()),
        work.place.id.to_string(),
        runner.to_string(),
        work.place.owner.id.to_string(),
        &made.title,
        work.place.repository.clone().unwrap_or_default(),
        &made.branch,
        made.target.clone(),
        made.push_only,
        how.pull_request,
        made.state.word(),
        work.kept.as_ref().map(|kept| kept.work.commit.clone()),
        made.asked_by.as_ref().map(|by| by.id.to_string()),
        tx.now,
    ];
    tx.run(sql, values).await?;
    announce(tx, made.clone());
    Ok(made)
}

/// The newest landing of the same accepted work, unless it was refused or more is asked for now.
async fn under_way(tx: &mut Tx<'_>, work: &Work, how: &How) -> Result<Option<Landing>, StoreError> {
    let sql = match &work.kept {
        Some(_) => "l.report = $1",
        None => "l.report IS NULL AND l.state = 'publishing' AND l.workspace = $1",
    };
    let id = work.kept.as_ref().map_or(work.place.id.to_string(), |kept| kept.work.report.to_string());
    let sql = format!("{} WHERE {sql} AND l.state <> 'refused' ORDER BY l.id DESC LIMIT 1", super::COLUMNS);
    let found = tx.read().first(&sql, vec![text(id)]).await?.as_ref().map(landing).transpose()?;
    let enough =
        |there: &Landing| there.push_only == how.push_only && (!how.pull_request || there.pull_request.is_some());
    Ok(found.filter(|there| there.state == LandingState::Landed || enough(there)))
}

/// Lands accepted work by itself, if the project says so or the merge queue had sent it back.
pub(crate) async fn automatically(tx: &mut Tx<'_>, row: &TaskRow) -> Result<(), StoreError> {
    if !has_repository(tx, row.project).await? {
        return Ok(());
    }
    let settings = settings::of(tx.read(), row.project).await?;
    // What the merge queue sent back was asked for already; what a person took out of it was not.
    let sql = format!(
        "{} WHERE l.task = $1 AND l.state = 'refused' AND EXISTS (SELECT 1 FROM merge_candidates c WHERE \
         c.id = l.candidate AND c.state = 'ejected') ORDER BY l.id DESC LIMIT 1",
        super::COLUMNS
    );
    let sent_back = tx.read().first(&sql, vec![text(row.id)]).await?.as_ref().map(landing).transpose()?;
    let nothing = settings.mode == LandMode::ByHand && sent_back.is_none();
    if nothing || builds_on::of_task(tx, row.id).await?.is_none() {
        return Ok(());
    }
    let push_only = settings.mode == LandMode::PushOnly && sent_back.is_none();
    let asked_by = sent_back.and_then(|before| before.asked_by);
    let how = How { target: settings.target, push_only, pull_request: false, asked_by };
    let work = of_task(tx, row.clone()).await?;
    begin(tx, row.project, work, &how).await.map(|_| ())
}

/// Lands the work of a report whose task requires that; `false` if no runner keeps the work.
pub(crate) async fn of_report(tx: &mut Tx<'_>, row: &TaskRow, report: ReportId) -> Result<bool, StoreError> {
    let Some(kept) = builds_on::of_report(tx, report).await? else { return Ok(false) };
    let target = settings::of(tx.read(), row.project).await?.target;
    let how = How { target, push_only: false, pull_request: false, asked_by: None };
    let work = work_of(tx, row.clone(), kept).await?;
    begin(tx, row.project, work, &how).await.map(|_| true)
}

/// Publishes accepted work for a dependant whose worker is not on a runner of the hub; returns the branch. `None` if
/// there is no such work, or if it has landed.
pub(crate) async fn publish_for_others(tx: &mut Tx<'_>, task: TaskId) -> Result<Option<String>, StoreError> {
    let done = tx.task(task).await?.filter(|row| row.status() == TaskStatus::Done);
    let (Some(row), Some(kept)) = (done, builds_on::of_task(tx, task).await?) else { return Ok(None) };
    if kept.work.landed.is_some() {
        return Ok(None);
    }
    let sql = format!("{} WHERE l.report = $1 AND l.state <> 'refused' ORDER BY l.id DESC LIMIT 1", super::COLUMNS);
    if let Some(there) = tx.read().first(&sql, vec![text(kept.work.report)]).await? {
        return landing(&there).map(|there| Some(there.branch));
    }
    let how = How { target: None, push_only: true, pull_request: false, asked_by: None };
    let project = row.project;
    let work = of_task(tx, row).await?;
    begin(tx, project, work, &how).await.map(|made| Some(made.branch))
}
