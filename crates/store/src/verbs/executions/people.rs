//! What people do to executions. Each is an event with its actor and reason.

use domain::{Action, ExecutionId};
use engine::recipes::{Answer, Event, Operation, Path, Work};
use protocol::{Execution, Verb, verbs};
use serde_json::{Map, Value as Json};

use super::rows::{self, ExecutionRow};
use super::start::{self, Beginning};
use super::{advance, view, work};
use crate::tx::{AuditScope, Tx};
use crate::verbs::{projects, recipes};
use crate::{Caller, Command, StoreError};

/// The longest reason.
const REASON: usize = 2000;

/// An execution, if the caller may decide about it.
async fn found(tx: &mut Tx<'_>, id: ExecutionId) -> Result<ExecutionRow, StoreError> {
    let caller = tx.caller;
    let row = rows::find(tx.read(), id).await?.ok_or(StoreError::NotFound("execution"))?;
    projects::check(tx.read(), caller, row.project, Action::Decide, "execution").await?;
    caller.person()?;
    Ok(row)
}

fn path(text: &str) -> Result<Path, StoreError> {
    text.parse().map_err(|error: engine::recipes::PathError| StoreError::invalid("path", error.to_string()))
}

fn checked(reason: &str) -> Result<String, StoreError> {
    match reason.chars().count() {
        long if long > REASON => {
            Err(StoreError::invalid("reason", format!("a reason has at most {REASON} characters")))
        }
        _ => Ok(reason.trim().to_owned()),
    }
}

/// Stores an operation and its consequences.
async fn operate(
    tx: &mut Tx<'_>,
    verb: &'static str,
    id: ExecutionId,
    what: &str,
    operation: Operation,
    reason: &str,
) -> Result<Execution, StoreError> {
    let row = found(tx, id).await?;
    operate_on(tx, verb, row, what, operation, reason).await
}

async fn operate_on(
    tx: &mut Tx<'_>,
    verb: &'static str,
    mut row: ExecutionRow,
    what: &str,
    operation: Operation,
    reason: &str,
) -> Result<Execution, StoreError> {
    let reason = checked(reason)?;
    let by = tx.caller.person()?.id;
    let detail = match reason.as_str() {
        "" => format!("{what} of `{}`", row.name),
        why => format!("{what} of `{}`: {why}", row.name),
    };
    let before = row.events;
    advance::happen(tx, &mut row, Event::Operated { operation, reason }, Some(by)).await?;
    // What arrives twice changes nothing.
    if row.events > before {
        advance::save(tx, &mut row).await?;
    }
    tx.audit(verb, row.id, AuditScope::Project(row.project), detail);
    let facts = projects::facts_of(tx.read(), row.project).await?;
    Ok(view::seen(tx.caller, facts.as_ref(), &row))
}

/// Cancels an execution because of another one.
pub(crate) async fn cancel(tx: &mut Tx<'_>, id: ExecutionId, reason: &str) -> Result<(), StoreError> {
    let Some(mut row) = rows::find(tx.read(), id).await? else { return Ok(()) };
    if row.ended_at.is_some() {
        return Ok(());
    }
    let event = Event::Operated { operation: Operation::Cancel, reason: reason.to_owned() };
    advance::happen(tx, &mut row, event, None).await?;
    advance::save(tx, &mut row).await
}

macro_rules! operations {
    ($($verb:ident, $what:literal, |$input:ident| $operation:expr;)*) => {$(
        impl Command for verbs::$verb {
            type Output = Execution;
            const VERB: &'static str = verbs::$verb::SPEC.name;

            async fn run(&self, tx: &mut Tx<'_>) -> Result<Execution, StoreError> {
                let $input = &self.input;
                let operation = $operation;
                operate(tx, Self::VERB, self.execution, $what, operation, &$input.reason).await
            }
        }
    )*};
}

operations! {
    ExecutionPause, "paused the execution", |input| Operation::Pause { now: input.now };
    ExecutionResume, "resumed the execution", |_input| Operation::Resume;
    ExecutionCancel, "cancelled the execution", |_input| Operation::Cancel;
    ExecutionRetry, "retried a step of the execution", |input| Operation::Retry { path: path(&input.path)? };
    ExecutionSkip, "skipped a step of the execution", |input| Operation::Skip {
        path: path(&input.path)?,
        output: input.output.clone().unwrap_or(Json::Null),
    };
    ExecutionCorrect, "corrected an output of the execution", |input| Operation::Correct {
        path: path(&input.path)?,
        output: input.output.clone().unwrap_or(Json::Null),
    };
}

impl Command for verbs::ExecutionInputs {
    type Output = Execution;
    const VERB: &'static str = verbs::ExecutionInputs::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Execution, StoreError> {
        let row = found(tx, self.execution).await?;
        let mut all = row.machine.inputs.clone();
        all.extend(self.input.inputs.clone());
        let wrong = |wrong: Vec<String>| StoreError::invalid("inputs", wrong.join("; "));
        let all = ::recipes::inputs(&row.machine.recipe, &all).map_err(wrong)?;
        // With their types, but only those that were given.
        let given = |(name, _): &(String, Json)| self.input.inputs.contains_key(name);
        let inputs: Map<String, Json> = all.into_iter().filter(given).collect();
        let operation = Operation::ChangeInputs { inputs };
        operate_on(tx, Self::VERB, row, "changed inputs of the execution", operation, &self.input.reason).await
    }
}

impl Command for verbs::ExecutionSwap {
    type Output = Execution;
    const VERB: &'static str = verbs::ExecutionSwap::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Execution, StoreError> {
        let mut row = found(tx, self.execution).await?;
        let hub = Caller::hub("execution");
        let recipe = recipes::recipe(tx.read(), &hub, row.recipe, Action::See).await?;
        let version = recipes::version(tx.read(), &recipe, self.input.version.as_deref()).await?;
        let operation =
            Operation::Swap { version: version.about.version.clone(), recipe: Box::new((*version.model).clone()) };
        row.number = version.about.number;
        row.version = version.about.version;
        row.author = version.about.saved_by;
        operate_on(tx, Self::VERB, row, "swapped the recipe of the execution", operation, &self.input.reason).await
    }
}

impl Command for verbs::ExecutionAnswer {
    type Output = Execution;
    const VERB: &'static str = verbs::ExecutionAnswer::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Execution, StoreError> {
        let mut row = found(tx, self.execution).await?;
        let me = tx.caller.person()?;
        let path = path(&self.input.path)?;
        let asks = work::open(tx.read(), row.id).await?;
        let asked = asks.iter().find(|one| one.path == path && matches!(one.work, Work::Ask { .. }));
        if asked.is_none() {
            let message = format!("step `{path}` asks nothing now: it may have been answered meanwhile");
            return Err(StoreError::Conflict(message));
        }
        let answer = Answer {
            by: me.id.to_string(),
            name: me.name.clone(),
            starter: me.id == row.owner.id,
            approve: self.input.approve,
            data: self.input.data.clone().unwrap_or(Json::Null),
            comment: checked(&self.input.comment)?,
        };
        let what = if answer.approve { "approved" } else { "rejected" };
        let event = Event::Answered { path: path.clone(), answer };
        advance::happen(tx, &mut row, event, Some(me.id)).await?;
        advance::save(tx, &mut row).await?;
        let detail = format!("{what} step `{path}` of `{}`", row.name);
        tx.audit(Self::VERB, row.id, AuditScope::Project(row.project), detail);
        let facts = projects::facts_of(tx.read(), row.project).await?;
        Ok(view::seen(tx.caller, facts.as_ref(), &row))
    }
}

impl Command for verbs::ExecutionRewind {
    type Output = Execution;
    const VERB: &'static str = verbs::ExecutionRewind::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Execution, StoreError> {
        let row = found(tx, self.execution).await?;
        let to = path(&self.input.path)?;
        let reason = checked(&self.input.reason)?;
        let outputs =
            engine::recipes::rewind(&row.machine, &to).map_err(|why| StoreError::Conflict(why.to_string()))?;
        let hub = Caller::hub("execution");
        let recipe = recipes::recipe(tx.read(), &hub, row.recipe, Action::See).await?;
        let beginning = Beginning {
            recipe,
            version: Some(row.number.to_string()),
            inputs: row.machine.inputs.clone(),
            owner: tx.caller.person()?,
            schedule: None,
            parent: None,
            trigger: row.machine.context.trigger.clone(),
            reuse: Some((row.id, outputs)),
        };
        let started = start::start(tx, beginning).await?;
        let detail = format!("rewound `{}` to step `{to}`: {reason}", row.name);
        tx.audit(Self::VERB, started.id, AuditScope::Project(row.project), detail);
        Ok(started)
    }
}
