//! The session of a task: its activity, its workspace, its row, and the next session after a refusal.

use domain::text::plain;
use domain::{Action, ActivityStatus, RunnerId, SessionId, SessionMode, TaskId, WorkspaceStatus};
use engine::tasks::life::{Leaving, Why};
use engine::workers::decision::Decision;
use protocol::{Activity, Project, RunnerAbout, Sandbox, Session, SessionWorker, Workspace};

use super::builds_on::{self, Beginning};
use super::log::decided;
use super::rows::{WorkerRow, get};
use super::{able, activity as activities_of_tasks, moving};
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::activities::Begun;
use crate::verbs::approvals::others_in_sandbox;
use crate::verbs::sessions::spawn::{self, Plan, Start, make_workspace};
use crate::verbs::work::life;
use crate::verbs::work::tasks::brief_of;
use crate::verbs::work::tasks::row::TaskRow;
use crate::verbs::workspaces::{self, json_or_none};
use crate::verbs::{activities, projects, recipes, sessions};
use crate::{Caller, StoreError};

/// Options for a task's session.
#[derive(Debug, Default)]
pub(crate) struct How {
    /// The session whose conversation it resumes.
    pub(crate) resumes: Option<SessionId>,
    /// Whether the task's earlier work is brought from another runner: it contains what the task builds on.
    pub(crate) moves: bool,
}

/// A worker's owner, as the caller for the activity and the session.
pub(crate) fn owner_of(slot: &WorkerRow) -> Caller {
    Caller::user(slot.owner.id, false, &slot.owner.name, format!("worker `{}`", slot.name))
}

/// Starts the session of a task that was just assigned, or returned, to a managed worker.
pub(crate) async fn launch(
    tx: &mut Tx<'_>,
    slot: &WorkerRow,
    task: TaskId,
    fence: u64,
    how: How,
) -> Result<Session, StoreError> {
    let runner = slot.runner.ok_or_else(|| StoreError::Corrupt(format!("{} has no runner", slot.id)))?;
    let row = tx.known_task(task).await?;
    let hub = Caller::hub("worker");
    let project = projects::find(tx.read(), &hub, row.project, Action::Write).await?;
    let activity = activity(tx, slot, &row).await?;
    let place = match usable(tx, slot, &row, runner).await? {
        Some(workspace) => workspace,
        None => fresh(tx, slot, &row, &project, &activity, how.moves).await?,
    };
    let resumes = match how.resumes {
        Some(session) => Some(session),
        None => follows_up(tx, slot, &row, &place).await?,
    };
    let resumed = match resumes {
        Some(id) => sessions::get(tx.read(), id).await?.map(|(_, row)| row.text_or_none("conversation")).transpose()?,
        None => None,
    }
    .flatten();
    let brief = brief_of(tx, task, place.id).await?;
    let (prompt, asks) = recipes::applied(tx.read(), row.project, slot.profile.as_deref(), brief).await?;
    let asked_by = row.writer();
    let contained = others_in_sandbox(tx, runner, row.project, Some(&asked_by)).await?;
    let plan = Plan {
        agent: slot.agent.clone(),
        mode: mode(tx, runner, &slot.agent).await?,
        model: slot.model.clone(),
        title: row.title.clone(),
        prompt,
        argv: slot.argv.clone(),
        sandbox: Sandbox::both(slot.sandbox.as_ref(), contained.as_ref()),
        asked_by: Some(asked_by),
        asked_for: None,
        record_input: false,
        cols: 120,
        rows: 32,
        resumes: resumed.is_some().then_some(resumes).flatten(),
        conversation: resumed,
        task: Some((task, fence)),
        worker: Some(SessionWorker { id: slot.id, name: slot.name.clone(), colour: slot.colour }),
    };
    let caller = owner_of(slot);
    let made = spawn::add(&mut tx.acting(&caller), plan, &activity, &place).await?;
    if asks {
        tx.run("UPDATE sessions SET asks = 1 WHERE id = $1", vec![text(made.id)]).await?;
    }
    let branch = workspaces::branch_in(tx.read(), place.id).await?;
    life::work_in(tx, task, fence, made.id, place.id, branch).await?;
    Ok(made)
}

/// Starts another session of the same worker in the same workspace, with the reasons for the refusal. If the worker may
/// not continue, the task returns to the queue.
pub(crate) async fn again(tx: &mut Tx<'_>, row: &TaskRow, after: SessionId) -> Result<(), StoreError> {
    let Some(slot) = (match row.worker() {
        Some(worker) => get(tx, worker).await?,
        None => None,
    }) else {
        return Ok(());
    };
    if let Some(why) = able::may_not_go_on(tx, &slot).await? {
        life::let_go(tx, row.id, Leaving::Released, Why::open(Some(why.clone()))).await?;
        return decided(tx, slot.project, Some(slot.id), Some(row.id), Decision::LetGo { why }).await;
    }
    let how = How { resumes: Some(after), moves: false };
    launch(tx, &slot, row.id, row.fence, how).await.map(|_| ())
}

/// The activity of a task, started with its first session. It belongs to the worker's owner, but its text to the task's
/// author: words of an agent or a colleague are not recorded as the owner's.
pub(crate) async fn activity(tx: &mut Tx<'_>, slot: &WorkerRow, row: &TaskRow) -> Result<Activity, StoreError> {
    let hub = Caller::hub(format!("worker `{}`", slot.name));
    if let Some(id) = row.activity {
        let found = activities::find(tx.read(), &hub, id, Action::Write).await?;
        if found.status == ActivityStatus::Active {
            return Ok(found);
        }
        return activities::turn(&mut tx.acting(&hub), id, ActivityStatus::Active, "a worker continues its task").await;
    }
    let begun = Begun {
        project: row.project,
        owner: slot.owner.clone(),
        by: row.writer(),
        status: ActivityStatus::Active,
        content: plain(&row.description, 60_000),
        links: Vec::new(),
    };
    let made = activities::begin(&mut tx.acting(&hub), begun);
    let mut row = row.clone();
    row.activity = Some(made.id);
    tx.put_task(row);
    activities_of_tasks::began(tx, made.id).await?;
    Ok(made)
}

/// The session whose work was accepted before the task was reopened, or that a person was asked about, if it ended in
/// this workspace with the same agent. After a failure, an agent starts afresh.
async fn follows_up(
    tx: &mut Tx<'_>,
    slot: &WorkerRow,
    row: &TaskRow,
    place: &Workspace,
) -> Result<Option<SessionId>, StoreError> {
    let sql = "SELECT s.id FROM sessions s JOIN attempts a ON a.task = s.task AND a.number = $2 \
               WHERE s.task = $1 AND s.workspace = $3 AND s.agent = $4 AND s.ended_at IS NOT NULL \
               AND s.conversation IS NOT NULL AND a.outcome IN ('accepted', 'escalated') ORDER BY s.created_at DESC, s.id DESC LIMIT 1";
    let values = args![row.id.to_string(), row.attempt.saturating_sub(1), place.id.to_string(), &slot.agent];
    tx.read().first(sql, values).await?.map(|found| found.parsed("id")).transpose()
}

/// The task's previous workspace, if this worker can continue there.
async fn usable(
    tx: &mut Tx<'_>,
    slot: &WorkerRow,
    row: &TaskRow,
    runner: RunnerId,
) -> Result<Option<Workspace>, StoreError> {
    let Some(id) = row.workspace else { return Ok(None) };
    let fits = |found: &Workspace| found.runner == runner && found.owner.id == slot.owner.id;
    let sql = "SELECT 1 FROM sessions WHERE workspace = $1 AND task = $2";
    let ours = tx.read().first(sql, vec![text(id), text(row.id)]).await?.is_some();
    let making = |found: &Workspace| ours && found.status == WorkspaceStatus::Preparing && fits(found);
    match workspaces::get(tx.read(), id).await?.filter(making) {
        Some(making) => Ok(Some(making)),
        None => Ok(moving::last_place(tx, row).await?.filter(fits)),
    }
}

/// A new workspace, which starts from the accepted work of the task's dependencies unless its own work is brought.
async fn fresh(
    tx: &mut Tx<'_>,
    slot: &WorkerRow,
    row: &TaskRow,
    project: &Project,
    activity: &Activity,
    moves: bool,
) -> Result<Workspace, StoreError> {
    let runner = slot.runner.ok_or_else(|| StoreError::Corrupt(format!("{} has no runner", slot.id)))?;
    let repository = project.repositories.first().cloned();
    let begins = match moves || repository.is_none() {
        true => None,
        false => builds_on::beginning(tx, row, runner, slot.owner.id).await?,
    };
    let start = Start { after: Some(format!("{} {}", row.short, row.title)), ..Default::default() };
    let Some(Beginning { from, code_by, waits }) = begins else {
        return make_workspace(tx, activity, &slot.owner, runner, repository, start).await;
    };
    let start = Start { from: Some(from), code_by, ..start };
    let made = make_workspace(tx, activity, &slot.owner, runner, repository, start).await?;
    if waits {
        builds_on::wait(tx, made.id).await?;
        decided(tx, row.project, Some(slot.id), Some(row.id), Decision::WorksBrought).await?;
    }
    Ok(made)
}

/// Headless, unless the agent cannot run headless.
pub(crate) async fn mode(tx: &mut Tx<'_>, runner: RunnerId, agent: &str) -> Result<SessionMode, StoreError> {
    let row = tx.read().first("SELECT about FROM runners WHERE id = $1", vec![text(runner)]).await?;
    let about: Option<RunnerAbout> = row.as_ref().map(|row| json_or_none(row, "about")).transpose()?.flatten();
    let known = about.as_ref().and_then(|about| about.agents.iter().find(|found| found.name == agent));
    Ok(match known {
        Some(found) if !found.headless => SessionMode::Interactive,
        _ => SessionMode::Headless,
    })
}
