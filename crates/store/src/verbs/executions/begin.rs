//! Beginning the work of attempts. What cannot begin fails the attempt; what can begin later waits, with the reason.

use domain::{RunnerId, TaskId};
use engine::recipes::{ErrorKind, Verdict, Work, Workplace};
use protocol::{Land, TaskAdd, TaskTakeOver, TasksAdd, verbs};
use serde_json::Value as Json;

use super::lineage::lineage;
use super::place::{author, person};
use super::rows::ExecutionRow;
use super::spawn::{Program, Spawned, spawn};
use super::start::{self, Beginning};
use super::work::{self, Begun, WorkRow};
use crate::command::Command;
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::recipes;
use crate::verbs::work::workers::{self, freeze};
use crate::{Caller, Placed, StoreError};

/// What became of the attempt to begin work.
pub(super) enum Began {
    /// It runs.
    Runs,
    /// It waits for something; whether the reason is news.
    Waits(bool),
    /// It is over already.
    Over(Verdict),
}

/// Whether an error is a refusal, which another try would repeat.
pub(crate) fn is_refusal(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::NotFound(_)
            | StoreError::Forbidden(_)
            | StoreError::Conflict(_)
            | StoreError::Invalid { .. }
            | StoreError::Taken { .. }
            | StoreError::Spent(..)
    )
}

/// Begins the work of an attempt.
pub(super) async fn begin(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
    connected: &[RunnerId],
) -> Result<Began, StoreError> {
    if freeze::frozen(tx.read(), row.owner.id, row.project).await? {
        return Ok(Began::Waits(work::waits(tx, row, work, freeze::REASON).await?));
    }
    let begun = match attempt(tx, row, work, connected).await {
        Ok(Ok(begun)) => begun,
        Ok(Err(why)) => return Ok(Began::Waits(work::waits(tx, row, work, &why).await?)),
        Err(error) if is_refusal(&error) => {
            let message = error.to_string();
            return Ok(Began::Over(Verdict::Failed { kind: ErrorKind::Refused, message }));
        }
        Err(error) => return Err(error),
    };
    work::began(tx, row, work, begun).await?;
    failpoint::pass("work.begun");
    Ok(Began::Runs)
}

/// Begins the work; says why it has to wait, or refuses before anything is written.
async fn attempt(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
    connected: &[RunnerId],
) -> Result<Result<Begun, String>, StoreError> {
    match work.work.clone() {
        Work::Agent { profile, agent, model, prompt, title, accept, files, place } => {
            let prompt = prompt.unwrap_or_default();
            if !accept.is_empty() || (profile.is_none() && agent.is_none()) {
                // Work with criteria, or for any worker, is a task of the queue.
                let before = accepted_before(tx, row, &place).await?;
                let task = agent_task(row, work, title, &prompt, (accept, files, before));
                return given_to(tx, row, task, (profile, agent, model), connected).await;
            }
            let title = title.unwrap_or_else(|| heading(&prompt, work));
            let agent = agent.unwrap_or_default();
            session(tx, row, work, Program { profile, agent, model, title, prompt, argv: Vec::new(), place }, connected)
                .await
        }
        Work::Run { argv, place } => {
            let program = Program {
                profile: None,
                agent: "command".to_owned(),
                model: None,
                title: argv.join(" "),
                prompt: String::new(),
                argv,
                place,
            };
            session(tx, row, work, program, connected).await
        }
        Work::Tasks { tasks: wanted } => tasks(tx, row, wanted).await.map(Ok),
        Work::Call { recipe, inputs } => {
            let found = recipes::named(tx.read(), row.project, &recipe).await?;
            let message = || StoreError::Conflict(format!("there is no recipe `{recipe}` in this project"));
            let beginning = Beginning {
                recipe: found.ok_or_else(message)?,
                version: None,
                inputs,
                owner: row.owner.clone(),
                schedule: None,
                parent: Some((row.id, work.path.to_string(), work.attempt)),
                trigger: None,
                reuse: None,
            };
            let called = start::start(tx, beginning).await?;
            Ok(Ok(Begun { called: Some(called.id), ..Begun::default() }))
        }
        Work::Merge { branch } => land(tx, row, &branch).await.map(Ok),
        Work::Event { .. } | Work::Ask { .. } | Work::Notify { .. } => Ok(Ok(Begun::default())),
    }
}

/// The first line of a prompt, or the step's name.
fn heading(prompt: &str, work: &WorkRow) -> String {
    prompt.lines().map(str::trim).find(|line| !line.is_empty()).map_or_else(|| work.path.to_string(), str::to_owned)
}

async fn session(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
    program: Program,
    connected: &[RunnerId],
) -> Result<Result<Begun, String>, StoreError> {
    Ok(match spawn(tx, row, work, program, connected).await? {
        Spawned::Waits(why) => Err(why),
        Spawned::Started(session, workspace, budget) => Ok(Begun {
            session: Some(session.id),
            budget,
            workspace: Some(workspace.id),
            branch: workspace.branch,
            ..Begun::default()
        }),
    })
}

/// The task of an agent step.
fn agent_task(
    row: &ExecutionRow,
    work: &WorkRow,
    title: Option<String>,
    prompt: &str,
    (accept, files, deps): (Vec<Json>, Vec<String>, Vec<TaskId>),
) -> Json {
    let title: String = title.unwrap_or_else(|| heading(prompt, work)).chars().take(180).collect();
    serde_json::json!({
        "description": format!("{title}\n\n{prompt}"),
        "deps": deps,
        "context": format!("Step `{}` of the recipe `{}`.", work.path, row.name),
        "acceptance": accept,
        "files": files,
        "needs": work.needs,
    })
}

/// The accepted task whose work an agent step with criteria continues: the newest of the steps that share a workspace, or
/// of the step that it names.
async fn accepted_before(tx: &mut Tx<'_>, row: &ExecutionRow, place: &Workplace) -> Result<Vec<TaskId>, StoreError> {
    let (filter, path) = match place {
        Workplace::New => return Ok(Vec::new()),
        Workplace::Shared => ("w.kind = $2", "agent".to_owned()),
        Workplace::Of(step) => ("w.path = $2", step.to_string()),
    };
    let sql = format!(
        "SELECT x.task FROM execution_tasks x JOIN tasks t ON t.id = x.task JOIN execution_work w \
         ON w.execution = x.execution AND w.path = x.path AND w.attempt = x.attempt \
         WHERE x.execution = $1 AND {filter} AND t.status = 'done' ORDER BY t.id DESC LIMIT 1"
    );
    for id in lineage(tx.read(), row.id).await? {
        if let Some(found) = tx.read().first(&sql, args![id.to_string(), &path]).await? {
            return Ok(vec![found.parsed("task")?]);
        }
    }
    Ok(Vec::new())
}

/// Adds the task of an agent step. If the step names its agent, one of the person's workers takes it at once; a worker
/// that is started for it leaves when the task is over.
async fn given_to(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    task: Json,
    (profile, agent, model): (Option<String>, Option<String>, Option<String>),
    connected: &[RunnerId],
) -> Result<Result<Begun, String>, StoreError> {
    let (mut agent, mut labels) = (agent, Vec::new());
    if let Some(name) = &profile {
        let found = recipes::followed(tx.read(), row.project, name).await?;
        agent = agent.or(Some(found.agent));
        labels = found.labels;
    }
    let Some(agent) = agent else { return tasks(tx, row, vec![task]).await.map(Ok) };
    if let Err(error) = workers::start::choose(tx, row.owner.id, (&agent, &labels), None, connected).await {
        return if is_refusal(&error) { Ok(Err(error.to_string())) } else { Err(error) };
    }
    let there: Vec<_> = workers::rows::of(tx, Some(row.project)).await?.into_iter().map(|slot| slot.id).collect();
    let mut begun = tasks(tx, row, vec![task]).await?;
    let Some(task) = begun.tasks.first().copied() else { return Ok(Ok(begun)) };
    let input = TaskTakeOver { agent: Some(agent), model, profile, ..Default::default() };
    let verb = verbs::TaskTakeOver { task, input };
    let caller = person(row);
    let taken = Placed { verb, connected: connected.to_vec() }.run(&mut tx.acting(&caller)).await;
    // Refused: it waits in the queue for a worker, and says so.
    if work::refused_is_fine(taken)?.is_some() {
        let worker = tx.known_task(task).await?.worker();
        begun.worker = worker.filter(|worker| !there.contains(worker));
    }
    Ok(Ok(begun))
}

/// Adds tasks for the queue, in the name of the recipe's author.
async fn tasks(tx: &mut Tx<'_>, row: &ExecutionRow, wanted: Vec<Json>) -> Result<Begun, StoreError> {
    let read = |(at, task): (usize, Json)| {
        serde_json::from_value::<TaskAdd>(task)
            .map_err(|error| StoreError::invalid("tasks", format!("tasks[{at}]: {error}")))
    };
    let tasks = wanted.into_iter().enumerate().map(read).collect::<Result<Vec<_>, _>>()?;
    let caller = author(row);
    let add = verbs::TaskAdd { project: row.project, input: TasksAdd { tasks } };
    let added = add.run(&mut tx.acting(&caller)).await?;
    Ok(Begun { tasks: added.tasks.iter().map(|task| task.id).collect(), ..Begun::default() })
}

/// Lands a branch that a step of this execution left.
async fn land(tx: &mut Tx<'_>, row: &ExecutionRow, branch: &str) -> Result<Begun, StoreError> {
    let input = match task_of(tx, row, branch).await? {
        Some(task) => Land { tasks: vec![task], ..Land::default() },
        None => {
            let sql = "SELECT id FROM workspaces WHERE project = $1 AND branch = $2 AND status = 'ready' \
                       ORDER BY created_at DESC LIMIT 1";
            let found = tx.read().first(sql, args![row.project.to_string(), branch]).await?;
            let missing = || {
                let shown: String = branch.chars().take(200).collect();
                StoreError::Conflict(format!("no workspace of this project has the branch `{shown}`"))
            };
            Land { workspaces: vec![found.ok_or_else(missing)?.parsed("id")?], ..Land::default() }
        }
    };
    let caller: Caller = person(row);
    let landings = verbs::LandingLand { project: row.project, input }.run(&mut tx.acting(&caller)).await?;
    Ok(Begun { landing: landings.first().map(|landing| landing.id), ..Begun::default() })
}

/// The done task of this execution, or of one that it rewinds, whose accepted work has this branch.
async fn task_of(tx: &mut Tx<'_>, row: &ExecutionRow, branch: &str) -> Result<Option<TaskId>, StoreError> {
    let sql = "SELECT t.id FROM execution_tasks x JOIN tasks t ON t.id = x.task JOIN attempts a ON a.task = t.id \
               AND a.number = t.attempt WHERE x.execution = $1 AND t.status = 'done' AND a.branch = $2 LIMIT 1";
    for id in lineage(tx.read(), row.id).await? {
        if let Some(found) = tx.read().first(sql, args![id.to_string(), branch]).await? {
            return found.parsed("id").map(Some);
        }
    }
    Ok(None)
}
