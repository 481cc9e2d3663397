//! Adding tasks: all of them or none.

use std::collections::{HashMap, HashSet};
use std::fmt;

use domain::{Action, ActivityId, ProjectId, Short, TaskId, TaskStatus};
use engine::tasks::graph;
use engine::tasks::life::Life;
use protocol::{AddedTasks, Criterion, NamedTask, Verb, verbs};

use super::check::{self, MAX_TASKS, wrong};
use super::reach::EDGES;
use super::row::TaskRow;
use super::{Wanted, shorts, similar};
use crate::sql::{args, text};
use crate::tx::{AuditScope, Tx};
use crate::verbs::merge;
use crate::verbs::work::life::unreachable;
use crate::{Caller, Command, StoreError};

/// A task of the list, as error messages name it.
#[derive(Clone, Copy)]
struct Place<'a> {
    at: usize,
    name: &'a str,
}

impl PartialEq for Place<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.at == other.at
    }
}

impl Eq for Place<'_> {}

impl std::hash::Hash for Place<'_> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.at.hash(state);
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            "" => write!(f, "tasks[{}]", self.at),
            name => f.write_str(name),
        }
    }
}

/// Dependencies of a task: other tasks of the list, and existing ones.
#[derive(Default)]
struct Deps {
    new: Vec<usize>,
    old: Vec<TaskId>,
}

/// Positions of the named tasks, by name.
fn names(verb: &verbs::TaskAdd) -> Result<HashMap<&str, usize>, StoreError> {
    let mut names = HashMap::new();
    for (at, task) in verb.input.tasks.iter().enumerate() {
        let Some(name) = task.id.as_deref() else { continue };
        if let Some(first) = names.insert(name, at) {
            return Err(wrong(format!("tasks[{at}].id"), format!("`{name}` is the name of tasks[{first}], too")));
        }
    }
    Ok(names)
}

/// Dependencies of each task, by name, short name or id; refuses a cycle and names it.
fn deps(verb: &verbs::TaskAdd, shorts: &HashMap<&str, TaskId>) -> Result<Vec<Deps>, StoreError> {
    let names = names(verb)?;
    let mut all = Vec::with_capacity(verb.input.tasks.len());
    for (at, task) in verb.input.tasks.iter().enumerate() {
        let mut deps = Deps::default();
        for (index, dep) in task.deps.iter().enumerate() {
            let id = shorts.get(dep.as_str()).copied().map_or_else(|| dep.parse(), Ok);
            match (names.get(dep.as_str()), id) {
                (Some(place), _) if !deps.new.contains(place) => deps.new.push(*place),
                (Some(_), _) => {}
                (None, Ok(id)) if !deps.old.contains(&id) => deps.old.push(id),
                (None, Ok(_)) => {}
                (None, Err(_)) => {
                    let shown: String = dep.chars().take(80).collect();
                    let what = match dep.parse::<Short>() {
                        Ok(short) if short.to_string() == *dep => format!("there is no task {dep} in this project"),
                        _ => format!("`{shown}` is neither the name of a task that is added with it nor an id"),
                    };
                    return Err(wrong(format!("tasks[{at}].deps[{index}]"), what));
                }
            }
        }
        all.push(deps);
    }
    let place = |at: usize| Place { at, name: verb.input.tasks[at].id.as_deref().unwrap_or_default() };
    let edges: Vec<(Place<'_>, Vec<Place<'_>>)> =
        all.iter().enumerate().map(|(at, deps)| (place(at), deps.new.iter().map(|on| place(*on)).collect())).collect();
    graph::sort(&edges).map_err(|cycle| StoreError::invalid("tasks", cycle.to_string()))?;
    Ok(all)
}

/// The existing tasks that the list depends on; they must be in the project.
async fn known(verb: &verbs::TaskAdd, tx: &mut Tx<'_>, deps: &[Deps]) -> Result<HashMap<TaskId, TaskRow>, StoreError> {
    let ids: Vec<TaskId> =
        deps.iter().flat_map(|deps| &deps.old).copied().collect::<HashSet<_>>().into_iter().collect();
    let found = tx.tasks(&ids).await?.into_iter();
    let found: HashMap<TaskId, TaskRow> =
        found.filter(|task| task.project == verb.project).map(|task| (task.id, task)).collect();
    for (at, task) in verb.input.tasks.iter().enumerate() {
        let missing = |dep: &&String| dep.parse().is_ok_and(|id: TaskId| ids.contains(&id) && !found.contains_key(&id));
        if let Some(index) = task.deps.iter().position(|dep| missing(&dep)) {
            let what = format!("there is no task {} in this project", task.deps[index]);
            return Err(wrong(format!("tasks[{at}].deps[{index}]"), what));
        }
    }
    Ok(found)
}

/// Refuses activities that are not in the project.
async fn check_activities(verb: &verbs::TaskAdd, tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let mut seen: HashSet<ActivityId> = HashSet::new();
    for (at, task) in verb.input.tasks.iter().enumerate() {
        let Some(activity) = task.activity.filter(|activity| seen.insert(*activity)) else { continue };
        let sql = "SELECT id FROM activities WHERE id = $1 AND project = $2";
        if tx.read().first(sql, vec![text(activity), text(verb.project)]).await?.is_none() {
            let place = format!("tasks[{at}].activity");
            return Err(wrong(place, format!("there is no activity {activity} in this project")));
        }
    }
    Ok(())
}

/// Whether a task adds its work to the merge queue by itself.
pub(super) fn requires_merge(acceptance: &[Criterion]) -> bool {
    acceptance.iter().any(|criterion| matches!(criterion, Criterion::Merged {}))
}

impl Command for verbs::TaskAdd {
    type Output = AddedTasks;
    const VERB: &'static str = verbs::TaskAdd::SPEC.name;

    fn fills(&self) -> Option<ProjectId> {
        Some(self.project)
    }

    async fn run(&self, tx: &mut Tx<'_>) -> Result<AddedTasks, StoreError> {
        let caller = tx.caller;
        let facts = tx.check(self.project, Action::Write, "project").await?;
        let author = caller.writer()?;
        let tasks = &self.input.tasks;
        if tasks.is_empty() || tasks.len() > MAX_TASKS {
            let message = format!("`tasks` has 1 to {MAX_TASKS} tasks, not {}", tasks.len());
            return Err(StoreError::invalid("tasks", message));
        }
        tasks.iter().enumerate().try_for_each(|(at, task)| check::task(at, task))?;
        let shorts = shorts::named(tx, self.project, tasks.iter().flat_map(|task| &task.deps)).await?;
        let deps = deps(self, &shorts)?;
        let known = known(self, tx, &deps).await?;
        check_activities(self, tx).await?;
        if tasks.iter().any(|task| requires_merge(&task.acceptance)) {
            merge::may_add(tx, self.project, facts.owner).await?;
        }
        let similar = similar::find(tx, self.project, tasks).await?;
        // No refusals below this line.
        let ids: Vec<TaskId> = tasks.iter().map(|_| TaskId::generate()).collect();
        let mut lines = Vec::with_capacity(tasks.len());
        // A task that depends only on new tasks cannot be unreachable.
        let old = deps.iter().any(|deps| !deps.old.is_empty());
        for (at, task) in tasks.iter().enumerate() {
            let on: Vec<TaskId> = deps[at].new.iter().map(|on| ids[*on]).chain(deps[at].old.iter().copied()).collect();
            let open = |id: &&TaskId| known.get(id).is_none_or(|dep| dep.status() != TaskStatus::Done);
            let waits_for = u32::try_from(on.iter().filter(open).count()).unwrap_or(u32::MAX);
            let unreachable = match old && waits_for > 0 {
                true => unreachable(tx, &on).await?,
                false => None,
            };
            let life = Life::new(waits_for, unreachable, tx.now);
            let short = tx.next_task(self.project).await?;
            let row = TaskRow::new((ids[at], self.project, short), task, author.clone(), on, life, tx.now);
            for dep in &row.deps {
                tx.later(EDGES, args![row.id.to_string(), dep.to_string()]);
                if let Some(waiting) = tx.change().dependants.get_mut(dep) {
                    waiting.push(row.id);
                }
            }
            lines.push(row.line());
            tx.add_task(row);
        }
        let named = tasks.iter().zip(&ids).filter_map(|(task, id)| Some((task.id.clone()?, *id)));
        let names = named.map(|(name, task)| NamedTask { name, task }).collect();
        let similar = similar::keep(tx, self.project, &ids, similar);
        let detail = match &lines[..] {
            [one] => format!("added `{}`", one.title),
            many => format!("added {} tasks", many.len()),
        };
        tx.audit(Self::VERB, ids[0], AuditScope::Project(self.project), detail);
        Ok(AddedTasks { tasks: lines, names, similar })
    }

    fn foresee(&self, _: &Caller, wanted: &mut Wanted) {
        similar::foresee(self.project, &self.input.tasks, wanted);
    }
}
