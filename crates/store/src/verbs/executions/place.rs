//! The person that an execution runs for, and its activity.

use domain::{ActivityStatus, ExecutionStatus};
use protocol::Activity;

use super::rows::ExecutionRow;
use crate::tx::Tx;
use crate::verbs::activities::{self, Begun};
use crate::{Caller, StoreError};

/// The person that an execution runs for, as the caller of what it does.
pub(super) fn person(row: &ExecutionRow) -> Caller {
    Caller::user(row.owner.id, false, &row.owner.name, format!("execution of `{}`", row.name))
}

/// The author of the recipe, as the caller of what people and runners judge by its author.
pub(super) fn author(row: &ExecutionRow) -> Caller {
    let by = &row.author;
    let caller = Caller::user(by.user.id, false, &by.user.name, format!("recipe `{}`", row.name));
    caller.with_agent(by.by_agent || by.agent.is_some())
}

/// The activity of an execution; begun with its first session.
pub(super) async fn activity(tx: &mut Tx<'_>, row: &mut ExecutionRow) -> Result<Activity, StoreError> {
    let hub = Caller::hub(format!("execution of `{}`", row.name));
    if let Some(id) = row.activity {
        let found = activities::find(tx.read(), &hub, id, domain::Action::Write).await?;
        if found.status == ActivityStatus::Active {
            return Ok(found);
        }
        let why = "its execution continues";
        return activities::turn(&mut tx.acting(&hub), id, ActivityStatus::Active, why).await;
    }
    let about = row.machine.recipe.description.trim();
    let content = match about.is_empty() {
        true => format!("Recipe {}", row.name),
        false => format!("Recipe {}: {about}", row.name),
    };
    let begun = Begun {
        project: row.project,
        owner: row.owner.clone(),
        by: row.author.clone(),
        status: ActivityStatus::Active,
        content: content.chars().take(10_000).collect(),
        links: Vec::new(),
    };
    let made = activities::begin(&mut tx.acting(&hub), begun);
    row.activity = Some(made.id);
    Ok(made)
}

/// Ends the activity of an execution that is over.
pub(super) async fn end_activity(tx: &mut Tx<'_>, row: &ExecutionRow) -> Result<(), StoreError> {
    let Some(id) = row.activity else { return Ok(()) };
    let (status, why) = match super::advance::status(&row.machine) {
        ExecutionStatus::Completed => (ActivityStatus::Completed, "its execution is completed"),
        ExecutionStatus::Cancelled => (ActivityStatus::Abandoned, "its execution was cancelled"),
        _ => (ActivityStatus::Blocked, "its execution failed"),
    };
    let hub = Caller::hub(format!("execution of `{}`", row.name));
    activities::turn(&mut tx.acting(&hub), id, status, why).await.map(|_| ())
}
