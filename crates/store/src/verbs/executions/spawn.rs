//! The sessions of agent and run steps.

use domain::placement::{Needs, place};
use domain::text::title;
use domain::{Action, RunnerId, SessionMode, WorkspaceId};
use engine::recipes::Workplace;
use protocol::{Project, Session, Workspace};

use super::place::{activity, person};
use super::rows::ExecutionRow;
use super::work::{self, WorkRow};
use crate::StoreError;
use crate::sql::{args, to_json};
use crate::tx::Tx;
use crate::verbs::approvals::others_in_sandbox;
use crate::verbs::recipes::followed;
use crate::verbs::sessions::spawn::{self, Plan, Start, candidates, make_workspace};
use crate::verbs::work::workers::launch::mode;
use crate::verbs::{projects, workspaces};

/// What a session of a step runs.
pub(super) struct Program {
    pub(super) profile: Option<String>,
    pub(super) agent: String,
    pub(super) model: Option<String>,
    pub(super) title: String,
    pub(super) prompt: String,
    pub(super) argv: Vec<String>,
    pub(super) place: Workplace,
}

/// A session that was started, or why it has to wait.
pub(super) enum Spawned {
    /// With what the session may cost.
    Started(Box<Session>, Box<Workspace>, Option<u64>),
    Waits(String),
}

/// Starts the session of a step on a runner of the execution's person. Refuses before it writes.
pub(super) async fn spawn(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    work: &WorkRow,
    mut program: Program,
    connected: &[RunnerId],
) -> Result<Spawned, StoreError> {
    let caller = person(row);
    let project = projects::find(tx.read(), &caller, row.project, Action::Write).await?;
    let mut labels = work.needs.clone();
    let (mut sandbox, mut budget, mut asks) = (None, None, false);
    if let Some(name) = program.profile.take() {
        let found = followed(tx.read(), row.project, &name).await?;
        // An agent that the step names wins over the profile's.
        if program.agent.is_empty() {
            program.agent = found.agent;
        }
        program.model = program.model.or(found.model);
        if !found.prompt.trim().is_empty() {
            program.prompt = format!("{}\n\n{}", found.prompt.trim(), program.prompt);
        }
        labels.extend(found.labels);
        (sandbox, budget, asks) = (found.sandbox, found.budget_micros, found.asks);
    }
    let there = workspace(tx, row, &program.place).await?;
    let candidates = candidates(tx, row.owner.id, connected).await?;
    let wanted = there.as_ref().map(|there| there.runner);
    let needs = Needs { runner: wanted, agent: &program.agent, labels: &labels };
    let runner = match place(needs, &candidates) {
        Ok(runner) => runner,
        Err(why) if wanted.is_some() => {
            let why = format!("{why}; the work of the steps before it is in its workspace there");
            return Ok(Spawned::Waits(why));
        }
        Err(why) => return Ok(Spawned::Waits(why)),
    };
    let contained = others_in_sandbox(tx, runner, row.project, Some(&row.author)).await?;
    // No refusals below this line.
    let activity = activity(tx, row).await?;
    let there = match there {
        Some(there) => there,
        None => {
            let made = fresh(tx, row, &project, &activity, runner, work.path.step()).await?;
            if program.place == Workplace::Shared {
                row.workspace = Some(made.id);
            }
            made
        }
    };
    let plan = Plan {
        mode: match program.agent.as_str() {
            "command" => SessionMode::Headless,
            agent => mode(tx, runner, agent).await?,
        },
        agent: program.agent,
        model: program.model,
        title: title(&program.title),
        prompt: program.prompt,
        argv: program.argv,
        sandbox: protocol::Sandbox::both(sandbox.as_ref(), contained.as_ref()),
        asked_by: Some(row.author.clone()),
        asked_for: None,
        record_input: false,
        cols: 120,
        rows: 32,
        conversation: None,
        resumes: None,
        task: None,
        worker: None,
    };
    let step = protocol::link::DesiredStep { execution: row.id, path: work.path.to_string(), attempt: work.attempt };
    let made = spawn::add(&mut tx.acting(&caller), plan, &activity, &there).await?;
    let sql = "UPDATE sessions SET step = $1, asks = $2 WHERE id = $3";
    tx.run(sql, args![to_json(&step), asks, made.id.to_string()]).await?;
    Ok(Spawned::Started(Box::new(made), Box::new(there), budget))
}

/// The workspace that a step continues in; `None` if it gets a new one.
async fn workspace(tx: &mut Tx<'_>, row: &ExecutionRow, place: &Workplace) -> Result<Option<Workspace>, StoreError> {
    let id: Option<WorkspaceId> = match place {
        Workplace::New => None,
        Workplace::Shared => row.workspace,
        Workplace::Of(step) => {
            let found = work::last_place(tx.read(), row.id, step).await?;
            let missing = || StoreError::Conflict(format!("step `{step}` left no workspace to work in"));
            Some(found.ok_or_else(missing)?)
        }
    };
    let Some(id) = id else { return Ok(None) };
    let found = workspaces::get(tx.read(), id).await?.ok_or(StoreError::NotFound("workspace"))?;
    workspaces::usable(&found)?;
    Ok(Some(found))
}

async fn fresh(
    tx: &mut Tx<'_>,
    row: &ExecutionRow,
    project: &Project,
    activity: &protocol::Activity,
    runner: RunnerId,
    step: &str,
) -> Result<Workspace, StoreError> {
    let start = Start { after: Some(format!("{} {step}", row.name)), ..Start::default() };
    make_workspace(tx, activity, &row.owner, runner, project.repositories.first().cloned(), start).await
}
