//! Reading executions.

use domain::{Action, ExecutionId, ProjectId, Resource};
use engine::recipes::{self, Event, Execution as Machine};
use protocol::{
    Execution, ExecutionDetail, ExecutionEntry, ExecutionLogPage, ExecutionReplay, ExecutionsWanted, UserRef,
};

use super::rows::{self, ExecutionRow};
use super::{says, view, waits, work};
use crate::sql::{Connection, Row, args, text};
use crate::verbs::projects;
use crate::verbs::recipes as saved;
use crate::verbs::work::tasks::row::id_or_none;
use crate::{Caller, Store, StoreError};

/// The default and maximum number of listed executions.
const LISTED: (u32, u32) = (50, 200);
/// The default and maximum number of log entries.
const ENTRIES: (u32, u32) = (200, 1000);

/// An execution, if the caller may see what it runs.
async fn looked_at(c: &mut Connection<'_>, caller: &Caller, id: ExecutionId) -> Result<ExecutionRow, StoreError> {
    let row = rows::find(c, id).await?.ok_or(StoreError::NotFound("execution"))?;
    let facts = projects::check(c, caller, row.project, Action::See, "execution").await?;
    caller.may(Action::SeeExecution, Resource::Execution { project: &facts, owner: row.owner.id }, "execution")?;
    Ok(row)
}

impl Store {
    /// The executions of a project, newest first.
    pub async fn executions(
        &self,
        caller: &Caller,
        project: ProjectId,
        filter: ExecutionsWanted,
    ) -> Result<Vec<Execution>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, project, Action::See, "project").await?;
        let mut values = vec![text(project)];
        let mut sql = format!("{} WHERE e.project = $1", rows::COLUMNS);
        let columns = [("e.recipe =", filter.recipe.map(text)), ("e.id <", filter.before.map(text))];
        for (column, value) in columns {
            if let Some(value) = value {
                values.push(value);
                sql.push_str(&format!(" AND {column} ${}", values.len()));
            }
        }
        if filter.open == Some(true) {
            sql.push_str(" AND e.ended_at IS NULL");
        }
        let limit = filter.limit.unwrap_or(LISTED.0).clamp(1, LISTED.1);
        sql.push_str(&format!(" ORDER BY e.id DESC LIMIT {limit}"));
        let rows = c.all(&sql, values).await?;
        rows.iter().map(|row| rows::read(row).map(|row| view::seen(caller, Some(&facts), &row))).collect()
    }

    /// An execution with its steps.
    pub async fn execution(&self, caller: &Caller, id: ExecutionId) -> Result<ExecutionDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = looked_at(&mut c, caller, id).await?;
        let mut work = work::of(&mut c, id).await?;
        waits::explain(&mut c, &mut work).await?;
        view::detail(&row, work)
    }

    /// What happened in an execution, oldest first.
    pub async fn execution_log(
        &self,
        caller: &Caller,
        id: ExecutionId,
        page: ExecutionLogPage,
    ) -> Result<Vec<ExecutionEntry>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        looked_at(&mut c, caller, id).await?;
        let limit = page.limit.unwrap_or(ENTRIES.0).clamp(1, ENTRIES.1);
        let sql = format!(
            "SELECT e.number, e.at, e.actor, u.name AS actor_name, e.event FROM execution_events e \
             LEFT JOIN users u ON u.id = e.actor WHERE e.execution = $1 AND e.number > $2 ORDER BY e.number LIMIT {limit}"
        );
        c.all(&sql, args![id.to_string(), page.after.unwrap_or(0)]).await?.iter().map(entry).collect()
    }

    /// Decides the stored history of an execution again.
    pub async fn execution_replay(&self, caller: &Caller, id: ExecutionId) -> Result<ExecutionReplay, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let row = looked_at(&mut c, caller, id).await?;
        let sql = "SELECT at, event FROM execution_events WHERE execution = $1 ORDER BY number";
        let mut history = Vec::new();
        for stored in c.all(sql, vec![text(id)]).await? {
            history.push((stored.time("at")?, stored.json::<Event>("event")?));
        }
        if history.len() < row.events as usize {
            let message = "its history was deleted, 90 days after its end: there is nothing to decide again";
            return Err(StoreError::Conflict(message.to_owned()));
        }
        let recipe = saved::recipe(&mut c, &Caller::hub("replay"), row.recipe, Action::See).await?;
        let first = saved::version(&mut c, &recipe, Some(&row.first_number.to_string())).await?;
        let sql = "SELECT first_inputs FROM executions WHERE id = $1";
        let inputs =
            c.first(sql, vec![text(id)]).await?.ok_or(StoreError::NotFound("execution"))?.json("first_inputs")?;
        let new = Machine::new(first.model, first.about.version, row.machine.context.clone(), inputs);
        let differences = match recipes::replay(new, &history) {
            Ok(again) => recipes::differences(&row.machine, &again),
            Err((at, why)) => vec![format!("event {} was refused this time: {why}", at + 1)],
        };
        Ok(ExecutionReplay { events: u32::try_from(history.len()).unwrap_or(u32::MAX), differences })
    }
}

fn entry(row: &Row) -> Result<ExecutionEntry, StoreError> {
    let event: Event = row.json("event")?;
    let by = match id_or_none(row, "actor")? {
        Some(id) => Some(UserRef { id, name: row.text_or_none("actor_name")?.unwrap_or_default() }),
        None => None,
    };
    Ok(ExecutionEntry {
        number: row.count("number")?,
        at: row.time("at")?,
        by,
        what: says::what(&event),
        event: row.json("event")?,
    })
}
