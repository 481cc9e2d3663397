//! Taking a task: the next fitting one in the queue, under a lease.

use domain::{Action, Actor, ProjectId, SessionId, TaskId, TaskStatus, UserId, WorkerKind, WorkerStatus, WorkspaceId};
use engine::tasks::files::lists_overlap;
use engine::tasks::life::{Leaving, Why};
use protocol::{Lease, Taken, TakenTask, TaskTake, UserRef, Verb, verbs};
use sha2::{Digest, Sha256};

use super::before::{self, Ground};
use super::reach::{AHEAD, FAR};
use super::row::TaskRow;
use super::{brief, check, handover};
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::sight::seen;
use crate::verbs::work::life;
use crate::verbs::work::workers::able::{LATELY, Money};
use crate::verbs::work::workers::settings::lease_end;
use crate::verbs::work::workers::{freeze, rows};
use crate::verbs::workspaces;
use crate::verbs::{overlaps, reviews};
use crate::{Caller, Command, StoreError, Who};

impl Command for verbs::TaskTake {
    type Output = Taken;
    const VERB: &'static str = verbs::TaskTake::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Taken, StoreError> {
        take(tx, self.project, &self.input).await
    }

    /// A worker that got no task retries with the same key.
    fn is_final(output: &Taken) -> bool {
        output.taken.is_some()
    }

    fn foresee(&self, caller: &Caller, wanted: &mut super::Wanted) {
        foresee(caller, self.project, &self.input, wanted);
    }
}

/// Adds the rows that a take will read.
pub(super) fn foresee(caller: &Caller, project: ProjectId, input: &TaskTake, wanted: &mut super::Wanted) {
    wanted.takes.push(project);
    if let (Ok((owner, _)), Some(name)) = (caller.author(), &input.worker) {
        wanted.workers.entry((project, owner.id)).or_default().push(name.clone());
    }
}

/// The name of a worker that gave none.
pub(super) fn caller_name(tx: &Tx<'_>) -> Result<String, StoreError> {
    match &tx.caller.who {
        Who::Actor { actor: Actor::Agent { session, .. }, .. } => Ok(agent_name(*session)),
        _ => Ok(tx.caller.person()?.name),
    }
}

/// The name of the worker of a session's agent: stable, and without the session's id, which everybody who sees the
/// project could read.
fn agent_name(session: SessionId) -> String {
    format!("agent-{}", &hex::encode(Sha256::digest(session.to_string()))[..8])
}

pub(super) fn nothing(why: impl Into<String>) -> Taken {
    Taken { taken: None, why_not: Some(why.into()) }
}

pub(super) async fn take(tx: &mut Tx<'_>, project: ProjectId, input: &TaskTake) -> Result<Taken, StoreError> {
    let caller = tx.caller;
    tx.check(project, Action::Write, "project").await?;
    let (owner, _) = caller.author()?;
    let name = match &input.worker {
        // A session's agent is always the worker of its session; it cannot act as another worker of its user.
        Some(name) if caller.session().is_none() => name.clone(),
        _ => caller_name(tx)?,
    };
    let name = check::worker(&name, &input.abilities)?;
    if let Some(wanted) = input.task {
        let found = tx.task(wanted).await?.filter(|task| task.project == project);
        found.ok_or(StoreError::NotFound("task"))?;
    }
    let session = caller.session();
    if let Some(session) = session
        && let Some(again) = of_session(tx, session, input.task).await?
    {
        return Ok(again);
    }
    as_worker(tx, project, &owner, &name, input, session).await
}

/// The task of an agent's session; asking again returns the same task.
async fn of_session(tx: &mut Tx<'_>, session: SessionId, wanted: Option<TaskId>) -> Result<Option<Taken>, StoreError> {
    let sql = "SELECT id FROM tasks WHERE session = $1 AND lease_until IS NOT NULL";
    let Some(row) = tx.read().first(sql, vec![text(session)]).await? else { return Ok(None) };
    let task = tx.known_task(row.parsed("id")?).await?;
    if let Some(other) = wanted.filter(|wanted| *wanted != task.id) {
        let why = format!("this session works on {}: report or release it before taking {other}", task.named());
        return Ok(Some(nothing(why)));
    }
    life::start(tx, task.id, task.fence).await?;
    taken(tx, task.id).await.map(Some)
}

async fn as_worker(
    tx: &mut Tx<'_>,
    project: ProjectId,
    owner: &UserRef,
    name: &str,
    input: &TaskTake,
    session: Option<SessionId>,
) -> Result<Taken, StoreError> {
    let worker = rows::external(tx, project, owner, name, &input.abilities).await?;
    if let Some(why) = pauses(tx, &worker, project).await? {
        return Ok(nothing(why));
    }
    let settings = tx.work_settings(project).await?;
    let limited = worker.budget_micros.is_some() || settings.budget_micros.is_some();
    if limited
        && worker.task.is_none()
        && let Some(why) = Money::read(tx, project).await?.refuses(&worker, &settings)
    {
        return Ok(nothing(format!("worker `{name}` takes nothing: {why}")));
    }
    // The worker asks again: its old hold ends, and it may continue under a new fence.
    let mut first = input.task;
    if let Some(before) = worker.task
        && let Some(task) = tx.task(before).await?
        && task.worker() == Some(worker.id)
        && task.is_worked_on()
    {
        let reason = format!("`{name}` asked for a task again");
        life::let_go(tx, before, Leaving::Released, Why::open(Some(reason))).await?;
        first = first.or(Some(before));
    }
    let chosen = match first {
        Some(task) => certain(tx, task, &worker).await?,
        None => next(tx, project, &worker).await?,
    };
    let task = match chosen {
        Ok(task) => task,
        Err(why) => return Ok(nothing(why)),
    };
    let settings = tx.work_settings(project).await?;
    let until = lease_end(&settings, tx.now, Some(tx.now));
    let fence = life::take(tx, task, worker.id, until).await?;
    if let Some(session) = session {
        works_in_session(tx, task, fence, session).await?;
    }
    taken(tx, task).await
}

/// Records the session of the agent that took a task.
async fn works_in_session(tx: &mut Tx<'_>, task: TaskId, fence: u64, session: SessionId) -> Result<(), StoreError> {
    let sql = "SELECT workspace FROM sessions WHERE id = $1";
    let Some(row) = tx.read().first(sql, vec![text(session)]).await? else { return Ok(()) };
    let workspace: WorkspaceId = row.parsed("workspace")?;
    let branch = workspaces::branch_in(tx.read(), workspace).await?;
    life::work_in(tx, task, fence, session, workspace, branch).await
}

/// Why a worker may take no task at all now.
async fn pauses(tx: &mut Tx<'_>, worker: &rows::WorkerRow, project: ProjectId) -> Result<Option<String>, StoreError> {
    let because = worker.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let until = worker.until.map(|until| format!(" until {until}")).unwrap_or_default();
    let status = match worker.status {
        WorkerStatus::Idle | WorkerStatus::Working | WorkerStatus::Lost => None,
        WorkerStatus::Offline | WorkerStatus::Paused if worker.until.is_some_and(|until| until <= tx.now) => None,
        status => Some(format!("worker `{}` is {status}{until}{because}", worker.name)),
    };
    if status.is_some() {
        return Ok(status);
    }
    let frozen = match tx.work_settings(project).await?.frozen {
        true => true,
        false => is_frozen(tx, worker.owner.id, project).await?,
    };
    Ok(frozen.then(|| "everything is stopped here: nothing is handed out until it is thawed".to_owned()))
}

/// Whether a worker's owner has frozen it; read once per transaction.
async fn is_frozen(tx: &mut Tx<'_>, owner: UserId, project: ProjectId) -> Result<bool, StoreError> {
    if let Some(known) = tx.book().frozen.get(&(owner, project)) {
        return Ok(*known);
    }
    let frozen = freeze::frozen(tx.read(), owner, project).await?;
    tx.book().frozen.insert((owner, project), frozen);
    Ok(frozen)
}

/// A given task, or why it cannot be taken.
async fn certain(
    tx: &mut Tx<'_>,
    task: TaskId,
    worker: &rows::WorkerRow,
) -> Result<Result<TaskId, String>, StoreError> {
    let row = tx.known_task(task).await?;
    let because = row.why().map(|reason| format!(": {reason}")).unwrap_or_default();
    if row.status() != TaskStatus::Ready {
        return Ok(Err(format!("{} is {}{because}", row.named(), row.status())));
    }
    let lacks = row.lacks(&worker.abilities);
    if !lacks.is_empty() {
        return Ok(Err(format!("{} needs {}, which `{}` lacks", row.named(), lacks.join(", "), worker.name)));
    }
    Ok(Ok(task))
}

/// The next fitting task in the queue, or why none fits. Searches a limited part of the queue.
async fn next(
    tx: &mut Tx<'_>,
    project: ProjectId,
    worker: &rows::WorkerRow,
) -> Result<Result<TaskId, String>, StoreError> {
    // Usually one of the first fits.
    if let Some(task) = look(tx, project, worker, 8).await?.fits {
        return Ok(Ok(task));
    }
    let mut seen = look(tx, project, worker, AHEAD).await?;
    if seen.fits.or(seen.clashes).is_none() && seen.count == AHEAD {
        // Tasks that this worker cannot do must not block later ones.
        seen = look(tx, project, worker, FAR).await?;
    }
    if let Some(task) = seen.fits.or(seen.clashes) {
        return Ok(Ok(task));
    }
    if let Some(task) = seen.refused {
        return Ok(match others(tx, worker, task).await? {
            true => Err(format!("`{}` failed at the ready tasks: other workers go first", worker.name)),
            false => Ok(task),
        });
    }
    Ok(Err(match seen.count {
        0 => "no task is ready in this project".to_owned(),
        1 => format!("the ready task needs abilities that `{}` lacks: {}", worker.name, seen.lacking.join(", ")),
        count => {
            format!("all {count} ready tasks need abilities that `{}` lacks: {}", worker.name, seen.lacking.join(", "))
        }
    }))
}

/// Result of a search for a worker's next task.
#[derive(Default)]
struct Seen {
    fits: Option<TaskId>,
    /// The first task whose files are in use; it becomes available later.
    clashes: Option<TaskId>,
    /// The first task that this worker has failed at.
    refused: Option<TaskId>,
    lacking: Vec<String>,
    count: usize,
}

async fn look(tx: &mut Tx<'_>, project: ProjectId, worker: &rows::WorkerRow, ahead: usize) -> Result<Seen, StoreError> {
    let mut seen = Seen::default();
    let (mut reserved, now) = (None, tx.now);
    for id in tx.ready_ids(project, ahead).await? {
        seen.count += 1;
        let Some(task) = tx.book().tasks.get(&id) else { continue };
        let lacks = task.lacks(&worker.abilities);
        if !lacks.is_empty() {
            let new: Vec<String> = lacks.into_iter().map(str::to_owned).collect();
            seen.lacking.extend(new);
            continue;
        }
        if task.not_by.contains(&worker.id) {
            seen.refused = seen.refused.or(Some(id));
            continue;
        }
        let (files, activity) = (task.files.clone(), task.activity);
        if !files.is_empty() {
            let others = match reserved.take() {
                Some(known) => known,
                None => overlaps::reserved(tx.read(), project, now).await?,
            };
            let running = tx.running_files(project).await?.iter().any(|running| lists_overlap(running, &files));
            let clashes = running || others.iter().any(|one| one.meets(activity, &files));
            reserved = Some(others);
            if clashes {
                seen.clashes = seen.clashes.or(Some(id));
                continue;
            }
        }
        seen.fits = Some(id);
        break;
    }
    seen.lacking.sort();
    seen.lacking.dedup();
    Ok(seen)
}

/// Whether another able worker, active or recently heard from, could take a task that this one failed at.
async fn others(tx: &mut Tx<'_>, worker: &rows::WorkerRow, task: TaskId) -> Result<bool, StoreError> {
    let task = tx.known_task(task).await?;
    let lately = tx.now.plus_millis(-LATELY);
    let there = |slot: &rows::WorkerRow| match slot.status {
        WorkerStatus::Idle | WorkerStatus::Working | WorkerStatus::Paused | WorkerStatus::Offline => {
            slot.kind == WorkerKind::Managed || slot.task.is_some() || slot.seen_at.is_some_and(|seen| seen > lately)
        }
        _ => false,
    };
    let could = |slot: &rows::WorkerRow| !task.not_by.contains(&slot.id) && task.lacks(&slot.abilities).is_empty();
    let all = rows::of(tx, Some(worker.project)).await?;
    Ok(all.iter().any(|slot| slot.id != worker.id && there(slot) && could(slot)))
}

/// A taken task with its lease, earlier work and brief.
pub(crate) async fn taken(tx: &mut Tx<'_>, task: TaskId) -> Result<Taken, StoreError> {
    let row = tx.known_task(task).await?;
    let settings = tx.work_settings(row.project).await?;
    let lease = row.lease().ok_or_else(|| StoreError::Corrupt(format!("{task} was taken and has no lease")))?;
    let lease = Lease { ..lease };
    let (handover, refused) = match row.attempt > 1 || row.refusals > 0 {
        true => handover::of(tx, &row).await?,
        false => (None, None),
    };
    let view = seen(tx, &row).await?;
    let mut before = before::of(tx, &row).await?;
    let mut ground = match (row.session(), row.workspace) {
        (Some(_), Some(workspace)) => handover::ground(tx, workspace).await?,
        _ => Ground::Nowhere,
    };
    if ground == Ground::Nowhere {
        ground = before::publish(tx, &mut before).await?;
    }
    let comments = match row.attempt > 1 || row.refusals > 0 {
        true => reviews::comments_for(tx, &row).await?,
        false => String::new(),
    };
    let (before, work) = ((before.as_slice(), ground), brief::Work::Elsewhere);
    let brief = brief::brief(&view, before, handover.as_ref(), work, refused.as_deref(), &comments);
    let heartbeat_seconds = settings.heartbeat_seconds;
    let taken = TakenTask { task: view, lease, heartbeat_seconds, handover, refused, brief };
    Ok(Taken { taken: Some(taken), why_not: None })
}

/// The worker that holds a task, for access checks.
pub(super) async fn holder(tx: &mut Tx<'_>, task: &TaskRow) -> Result<Option<rows::WorkerRow>, StoreError> {
    match task.worker() {
        Some(worker) => rows::get(tx, worker).await,
        None => Ok(None),
    }
}
