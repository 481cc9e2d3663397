//! Changing a task: its texts, its place in the queue, and what it waits for.

use std::collections::{HashMap, HashSet};

use domain::text::title;
use domain::{Action, Short, TaskId, TaskStatus};
use engine::tasks::edit::{self, Parts};
use engine::tasks::graph;
use engine::tasks::life::Event;
use protocol::{Criterion, CriterionResult, Task, TaskAdd, TaskEdit, Verb, verbs};

use super::add::requires_merge;
use super::reach::EDGES;
use super::row::TaskRow;
use super::{check, shorts, similar};
use crate::sql::{args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::merge;
use crate::verbs::sight::seen;
use crate::verbs::work::life;
use crate::verbs::work::life::unreachable;
use crate::{Command, StoreError};

/// The maximum number of tasks that are searched for a cycle.
const SEARCHED: usize = 20_000;

impl Command for verbs::TaskEdit {
    type Output = Task;
    const VERB: &'static str = verbs::TaskEdit::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Task, StoreError> {
        let before = tx.known_task(self.task).await?;
        let facts = tx.check(before.project, Action::Write, "task").await?;
        let author = tx.caller.writer()?;
        if let Some(expected) = self.input.expected_edits.filter(|expected| *expected != before.edits) {
            let (named, edits) = (before.named(), before.edits);
            let why = format!("{named} was edited meanwhile ({edits} times, not {expected}): read it again");
            return Err(StoreError::Conflict(why));
        }
        check::edit(&self.input)?;
        let deps = match &self.input.deps {
            Some(deps) => known(tx, &before, deps).await?,
            None => before.deps.clone(),
        };
        let mut after = edited(&before, &self.input, deps);
        let changes = differences(&before, &after);
        if changes.is_empty() {
            return seen(tx, &before).await;
        }
        let parts = Parts {
            acceptance: before.acceptance != after.acceptance,
            deps: before.deps != after.deps,
            needs: before.needs != after.needs,
        };
        let judged = before.awaits_verdict() && has_pending_report(tx, &before).await?;
        edit::check(before.status(), judged, parts)
            .map_err(|refused| StoreError::Conflict(format!("{} cannot be edited: {refused}", before.named())))?;
        if parts.deps {
            refuse_cycle(tx, &after).await?;
        }
        if requires_merge(&after.acceptance) && !requires_merge(&before.acceptance) {
            merge::may_add(tx, before.project, facts.owner).await?;
        }
        // No refusals below this line.
        let worded = before.description != after.description || before.context != after.context;
        if (worded || parts.acceptance || before.files != after.files) && author.user.id != before.created_by.id {
            // The editor answers for the whole text; text that an agent helped to write stays an agent's.
            after.author_session = author.agent;
            after.by_agent = author.by_agent || before.by_agent;
            after.created_by = author.user;
        } else if author.by_agent {
            (after.author_session, after.by_agent) = (author.agent, true);
        }
        after.edits += 1;
        write(tx, &before, &after).await?;
        if parts.acceptance {
            forget_results(tx, &before, &after.acceptance).await?;
        }
        let row = tx.known_task(self.task).await?;
        let row = match parts.deps {
            true => rewire(tx, row).await?,
            false => row,
        };
        tx.put_task(row.clone());
        let detail = format!("edited `{}`: {}", row.title, changes.join(", "));
        tx.audit(Self::VERB, self.task, AuditScope::Project(row.project), detail);
        seen(tx, &row).await
    }
}

/// The task with the changes.
fn edited(before: &TaskRow, input: &TaskEdit, deps: Vec<TaskId>) -> TaskRow {
    let mut after = before.clone();
    if let Some(description) = &input.description {
        (after.title, after.description) = (title(description), description.clone());
    }
    after.context = input.context.clone().unwrap_or(after.context);
    after.acceptance = input.acceptance.clone().unwrap_or(after.acceptance);
    after.files = input.files.clone().unwrap_or(after.files);
    after.needs = input.needs.clone().unwrap_or(after.needs);
    after.labels = input.labels.clone().unwrap_or(after.labels);
    after.priority = input.priority.unwrap_or(after.priority);
    after.deps = deps;
    after
}

/// The changes in words, for the audit trail.
fn differences(before: &TaskRow, after: &TaskRow) -> Vec<String> {
    let mut changes = Vec::new();
    let mut texts = |name: &str, differs: bool| {
        if differs {
            changes.push(name.to_owned());
        }
    };
    texts("description", before.description != after.description);
    texts("context", before.context != after.context);
    texts("acceptance", before.acceptance != after.acceptance);
    texts("files", before.files != after.files);
    texts("dependencies", before.deps != after.deps);
    texts("needs", before.needs != after.needs);
    texts("labels", before.labels != after.labels);
    if before.priority != after.priority {
        changes.push(format!("priority {} → {}", before.priority, after.priority));
    }
    changes
}

/// The tasks that these texts name, each once; they must be in the project.
async fn known(tx: &mut Tx<'_>, task: &TaskRow, deps: &[String]) -> Result<Vec<TaskId>, StoreError> {
    let shorts = shorts::named(tx, task.project, deps.iter()).await?;
    let mut ids: Vec<TaskId> = Vec::with_capacity(deps.len());
    for (at, dep) in deps.iter().enumerate() {
        let id = shorts.get(dep.as_str()).copied().or_else(|| dep.parse().ok());
        let found = match id {
            Some(id) => tx.task(id).await?.filter(|found| found.project == task.project),
            None => None,
        };
        let shown: String = dep.chars().take(80).collect();
        let missing = || StoreError::invalid("deps", format!("`deps[{at}]`: there is no task {shown} in this project"));
        let id = found.ok_or_else(missing)?.id;
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// Refuses dependencies that lead back to the task, and names the cycle.
async fn refuse_cycle(tx: &mut Tx<'_>, task: &TaskRow) -> Result<(), StoreError> {
    let mut edges: HashMap<TaskId, (Short, Vec<TaskId>)> = HashMap::new();
    edges.insert(task.id, (task.short.clone(), task.deps.clone()));
    let mut level: Vec<TaskId> = task.deps.clone();
    while !level.is_empty() && edges.len() < SEARCHED {
        level.retain(|id| !edges.contains_key(id));
        let rows = tx.tasks(&level).await?;
        level = rows.iter().flat_map(|row| row.deps.iter().copied()).collect::<HashSet<_>>().into_iter().collect();
        edges.extend(rows.into_iter().map(|row| (row.id, (row.short, row.deps))));
    }
    let named: Vec<(&Short, Vec<&Short>)> = edges
        .values()
        .map(|(short, deps)| (short, deps.iter().filter_map(|dep| Some(&edges.get(dep)?.0)).collect()))
        .collect();
    graph::sort(&named).map(drop).map_err(|cycle| StoreError::invalid("deps", cycle.to_string()))
}

async fn has_pending_report(tx: &mut Tx<'_>, task: &TaskRow) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM reports WHERE task = $1 AND verdict = 'pending' LIMIT 1";
    Ok(tx.read().first(sql, vec![text(task.id)]).await?.is_some())
}

/// Writes the columns that only an edit changes, the place in the queue, the edges and the hashes.
async fn write(tx: &mut Tx<'_>, before: &TaskRow, after: &TaskRow) -> Result<(), StoreError> {
    let id = after.id.to_string();
    let sql = "UPDATE tasks SET title = $1, description = $2, context = $3, acceptance = $4, files = $5, needs = $6, \
               labels = $7, deps = $8, priority = $9, edits = $10, created_by = $11, author_session = $12, by_agent = $13 \
               WHERE id = $14";
    let values = args![
        &after.title,
        &after.description,
        &after.context,
        to_json(&after.acceptance),
        to_json(&after.files),
        to_json(&after.needs),
        to_json(&after.labels),
        to_json(&after.deps),
        u32::from(after.priority),
        after.edits,
        after.created_by.id.to_string(),
        after.author_session.map(|session| session.to_string()),
        after.by_agent,
        &id,
    ];
    tx.run(sql, values).await?;
    if let (Some(old), Some(new)) = (before.place(), after.place())
        && old != new
    {
        let sql = "UPDATE task_queue SET queue_key = $1 WHERE project = $2 AND queue_key = $3 AND task = $4";
        tx.run(sql, args![new, after.project.to_string(), old, &id]).await?;
    }
    for gone in before.deps.iter().filter(|dep| !after.deps.contains(dep)) {
        tx.run("DELETE FROM task_deps WHERE dep = $1 AND task = $2", args![gone.to_string(), &id]).await?;
    }
    for new in after.deps.iter().filter(|dep| !before.deps.contains(dep)) {
        tx.run(&format!("{EDGES} VALUES ($1, $2)"), args![&id, new.to_string()]).await?;
    }
    similar::replace(tx, before, after).await
}

/// Drops the results of changed criteria from earlier reports: results name criteria by their places.
async fn forget_results(tx: &mut Tx<'_>, before: &TaskRow, after: &[Criterion]) -> Result<(), StoreError> {
    let rows = tx.read().all("SELECT id, results FROM reports WHERE task = $1", vec![text(before.id)]).await?;
    let same = |result: &CriterionResult| {
        usize::try_from(result.criterion).is_ok_and(|at| before.acceptance.get(at) == after.get(at))
    };
    for row in rows {
        let results: Vec<CriterionResult> = row.json("results")?;
        let kept: Vec<&CriterionResult> = results.iter().filter(|result| same(result)).collect();
        if kept.len() < results.len() {
            let sql = "UPDATE reports SET results = $1 WHERE id = $2";
            tx.run(sql, args![to_json(&kept), row.text("id")?]).await?;
        }
    }
    Ok(())
}

/// Counts the open dependencies again: the task becomes ready or blocked.
async fn rewire(tx: &mut Tx<'_>, row: TaskRow) -> Result<TaskRow, StoreError> {
    let (waits_for, unreachable) = open_deps(tx, &row).await?;
    life::step(tx, row, Event::Rewire { waits_for, unreachable }).await
}

/// The number of open dependencies, and why they cannot be met, if so.
pub(super) async fn open_deps(tx: &mut Tx<'_>, row: &TaskRow) -> Result<(u32, Option<String>), StoreError> {
    let deps = tx.tasks(&row.deps).await?;
    let open = deps.iter().filter(|dep| dep.status() != TaskStatus::Done).count();
    let unreachable = match open {
        0 => None,
        _ => unreachable(tx, &row.deps).await?,
    };
    Ok((u32::try_from(open).unwrap_or(u32::MAX), unreachable))
}

/// The edited fields as a task to add, for the checks that both share.
pub(super) fn as_added(input: &TaskEdit) -> TaskAdd {
    TaskAdd {
        id: None,
        description: input.description.clone().unwrap_or_else(|| "-".to_owned()),
        context: input.context.clone().unwrap_or_default(),
        acceptance: input.acceptance.clone().unwrap_or_default(),
        files: input.files.clone().unwrap_or_default(),
        deps: input.deps.clone().unwrap_or_default(),
        priority: input.priority,
        needs: input.needs.clone().unwrap_or_default(),
        labels: input.labels.clone().unwrap_or_default(),
        activity: None,
    }
}
