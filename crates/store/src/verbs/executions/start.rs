//! Starting an execution.

use std::collections::BTreeMap;

use domain::{ExecutionId, ExecutionStatus, RecipeId, ScheduleId};
use engine::recipes::model::Context;
use engine::recipes::{Event, Execution as Machine, Operation, Path};
use protocol::{Execution, Recipe, UserRef, Verb, verbs};
use serde_json::{Map, Value as Json};

use super::rows::{self, ExecutionRow};
use super::{advance, lineage, view};
use crate::sql::text;
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::verbs::recipes::{self, Version};
use crate::{Caller, Command, StoreError};

/// The maximum number of executions of a project that are not over.
const MAX_OPEN: u32 = 20_000;
/// How deep executions may call each other.
const MAX_DEPTH: usize = 8;

/// What an execution begins with.
pub(crate) struct Beginning {
    pub(crate) recipe: Recipe,
    /// The version, by content hash or number; the newest if absent.
    pub(crate) version: Option<String>,
    pub(crate) inputs: Map<String, Json>,
    /// The person that it runs for.
    pub(crate) owner: UserRef,
    pub(crate) schedule: Option<ScheduleId>,
    /// The execution that calls it, with the step and the attempt.
    pub(crate) parent: Option<(ExecutionId, String, u32)>,
    /// What started it, if an event did.
    pub(crate) trigger: Option<Json>,
    /// The outputs that it takes over from the execution that it rewinds.
    pub(crate) reuse: Option<(ExecutionId, BTreeMap<Path, Json>)>,
}

/// Starts an execution, without an access check. Refuses before it writes.
pub(crate) async fn start(tx: &mut Tx<'_>, beginning: Beginning) -> Result<Execution, StoreError> {
    let Beginning { recipe, version, inputs, owner, schedule, parent, trigger, reuse } = beginning;
    if recipe.disabled {
        return Err(StoreError::Conflict(format!("the recipe `{}` is disabled: enable it first", recipe.name)));
    }
    let version = recipes::version(tx.read(), &recipe, version.as_deref()).await?;
    let inputs =
        ::recipes::inputs(&version.model, &inputs).map_err(|wrong| StoreError::invalid("inputs", wrong.join("; ")))?;
    check_room(tx, &recipe).await?;
    if let Some((parent, ..)) = &parent {
        check_depth(tx, *parent).await?;
    }
    let project = projects::find(tx.read(), &Caller::hub("execution"), recipe.project, domain::Action::See).await?;
    // No refusals below this line.
    let id = ExecutionId::generate();
    let context = Context {
        id: id.to_string(),
        project: project.name.clone(),
        person: owner.name.clone(),
        started_at: tx.now,
        trigger,
    };
    let rewinds = reuse.as_ref().map(|(of, _)| *of);
    let mut row = fresh(
        id,
        &recipe,
        &version,
        Machine::new(version.model.clone(), version.about.version.clone(), context, inputs),
        owner,
        tx.now,
    );
    row.schedule = schedule;
    if let Some(of) = rewinds {
        row.workspace = lineage::shared(tx.read(), of).await?;
    }
    row.parent = parent.as_ref().map(|(id, ..)| *id).or(rewinds);
    rows::insert(tx, &row, parent.as_ref().map(|(_, path, attempt)| (path.as_str(), *attempt))).await?;
    failpoint::pass("execution.created");
    if let Some((_, outputs)) = reuse {
        let event = Event::Operated { operation: Operation::Reuse { outputs }, reason: "rewound".to_owned() };
        advance::happen(tx, &mut row, event, None).await?;
    }
    advance::happen(tx, &mut row, Event::Started, None).await?;
    advance::save(tx, &mut row).await?;
    Ok(view::execution(&row))
}

fn fresh(
    id: ExecutionId,
    recipe: &Recipe,
    version: &Version,
    machine: Machine,
    owner: UserRef,
    now: domain::Timestamp,
) -> ExecutionRow {
    ExecutionRow {
        id,
        project: recipe.project,
        recipe: recipe.id,
        name: recipe.name.clone(),
        number: version.about.number,
        first_number: version.about.number,
        version: version.about.version.clone(),
        author: version.about.saved_by.clone(),
        status: ExecutionStatus::Running,
        reason: None,
        machine,
        current: Vec::new(),
        needs_person: false,
        steps_over: 0,
        revision: 0,
        events: 0,
        activity: None,
        workspace: None,
        owner,
        schedule: None,
        parent: None,
        cost_micros: None,
        created_at: now,
        ended_at: None,
    }
}

async fn check_room(tx: &mut Tx<'_>, recipe: &Recipe) -> Result<(), StoreError> {
    let sql = "SELECT COUNT(*) AS open FROM executions WHERE project = $1 AND ended_at IS NULL";
    let open = tx.read().first(sql, vec![text(recipe.project)]).await?;
    match open.map_or(Ok(0), |row| row.count("open"))? {
        open if open >= MAX_OPEN => {
            Err(StoreError::Conflict(format!("a project has at most {MAX_OPEN} open executions: cancel some first")))
        }
        _ => Ok(()),
    }
}

/// Refuses a chain of calls that is too long: recipes that call each other would never end.
async fn check_depth(tx: &mut Tx<'_>, parent: ExecutionId) -> Result<(), StoreError> {
    let mut next = Some(parent);
    for _ in 0..MAX_DEPTH {
        let Some(id) = next else { return Ok(()) };
        let sql = "SELECT parent, parent_path FROM executions WHERE id = $1";
        let row = tx.read().first(sql, vec![text(id)]).await?;
        next = match row {
            Some(row) if row.text_or_none("parent_path")?.is_some() => Some(row.parsed("parent")?),
            _ => None,
        };
    }
    match next {
        Some(_) => Err(StoreError::Conflict(format!("executions call each other at most {MAX_DEPTH} deep"))),
        None => Ok(()),
    }
}

/// A recipe that the caller may start.
async fn startable(tx: &mut Tx<'_>, recipe: RecipeId) -> Result<Recipe, StoreError> {
    let caller = tx.caller;
    recipes::recipe(tx.read(), caller, recipe, domain::Action::Decide).await
}

impl Command for verbs::ExecutionStart {
    type Output = Execution;
    const VERB: &'static str = verbs::ExecutionStart::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Execution, StoreError> {
        let recipe = startable(tx, self.recipe).await?;
        let owner = tx.caller.person()?;
        let (name, project) = (recipe.name.clone(), recipe.project);
        let beginning = Beginning {
            recipe,
            version: self.input.version.clone(),
            inputs: self.input.inputs.clone().into_iter().collect(),
            owner,
            schedule: None,
            parent: None,
            trigger: None,
            reuse: None,
        };
        let started = start(tx, beginning).await?;
        tx.audit(Self::VERB, started.id, AuditScope::Project(project), format!("started the recipe `{name}`"));
        Ok(started)
    }
}
