//! Near-duplicates: open tasks with nearly the same text as new ones.
//!
//! Each text has a few hashes; nearly equal texts probably share one. Only the newest few tasks that share a hash are
//! compared, however many tasks there are.

use std::collections::{HashMap, HashSet};

use domain::text::title;
use domain::{ProjectId, TaskId};
use engine::tasks::similar::Gist;
use protocol::{SimilarTask, TaskAdd};

use super::row::TaskRow;
use super::wanted::Wanted;
use crate::StoreError;
use crate::sql::{Value, args};
use crate::tx::Tx;

/// The maximum number of compared tasks for each hash.
pub(super) const LOOK: usize = 8;

/// The maximum compared length of a text.
const COMPARED: usize = 2000;

/// A near-duplicate of a new task: another of the list, or an existing one.
#[derive(Debug)]
pub(super) enum Like {
    New(usize),
    Old(TaskId, String),
}

/// Hashes and near-duplicates of a list before it is added.
#[derive(Debug)]
pub(super) struct Similar {
    numbers: Vec<[i64; 2]>,
    like: Vec<(usize, Like)>,
}

fn gist(description: &str, files: &[String]) -> Gist {
    Gist::of(&description.chars().take(COMPARED).collect::<String>(), files)
}

/// Adds the hashes of a list to the rows to read.
pub(super) fn foresee(project: ProjectId, tasks: &[TaskAdd], wanted: &mut Wanted) {
    for task in tasks.iter().take(256) {
        wanted.gists.extend(gist(&task.description, &task.files).numbers().map(|number| (project, number)));
    }
}

/// Finds near-duplicates of the tasks of a list.
pub(super) async fn find(tx: &mut Tx<'_>, project: ProjectId, tasks: &[TaskAdd]) -> Result<Similar, StoreError> {
    let gists: Vec<Gist> = tasks.iter().map(|task| gist(&task.description, &task.files)).collect();
    let numbers: Vec<[i64; 2]> = gists.iter().map(Gist::numbers).collect();
    let wanted: Vec<(ProjectId, i64)> = numbers.iter().flatten().map(|number| (project, *number)).collect();
    tx.know_gists(&wanted).await?;
    let mut near: Vec<Vec<TaskId>> = Vec::with_capacity(tasks.len());
    for pair in &numbers {
        let mut ids: Vec<TaskId> = Vec::new();
        for number in pair {
            let found = tx.book().gists.get(&(project, *number)).into_iter().flatten();
            ids.extend(found.rev().take(LOOK).copied().collect::<Vec<_>>());
        }
        ids.sort_unstable();
        ids.dedup();
        near.push(ids);
    }
    let all: Vec<TaskId> = near.iter().flatten().copied().collect();
    tx.tasks(&all).await?;
    let mut like = Vec::new();
    let mut seen: HashMap<i64, Vec<usize>> = HashMap::new();
    for (at, gist) in gists.iter().enumerate() {
        let twins = numbers[at].iter().flat_map(|number| seen.get(number).into_iter().flatten());
        if let Some(twin) = twins.copied().find(|twin| gists[*twin].is_near(gist)) {
            like.push((at, Like::New(twin)));
        }
        for number in numbers[at] {
            let places = seen.entry(number).or_default();
            if places.len() < LOOK {
                places.push(at);
            }
        }
        for id in &near[at] {
            let Some(old) = tx.book().tasks.get(id).filter(|old| !old.status().is_over()) else { continue };
            if self::gist(&old.description, &old.files).is_near(gist) {
                like.push((at, Like::Old(old.id, old.title.clone())));
            }
        }
    }
    Ok(Similar { numbers, like })
}

/// Stores the hashes of added tasks, and returns their near-duplicates.
pub(super) fn keep(tx: &mut Tx<'_>, project: ProjectId, ids: &[TaskId], found: Similar) -> Vec<SimilarTask> {
    for (id, [one, other]) in ids.iter().zip(&found.numbers) {
        let second = (one != other).then_some(other);
        for number in [Some(one), second].into_iter().flatten() {
            let row: Vec<Value> = args![project.to_string(), *number, id.to_string()];
            tx.later("INSERT INTO task_gists (project, gist, task)", row);
            if let Some(known) = tx.change().gists.get_mut(&(project, *number)) {
                known.push(*id);
            }
        }
    }
    let title_of = |tx: &mut Tx<'_>, id: TaskId| {
        tx.book().tasks.get(&id).map_or_else(String::new, |task| title(&task.description))
    };
    let mut similar = Vec::with_capacity(found.like.len());
    for (at, like) in found.like {
        let (to, title) = match like {
            Like::New(twin) => (ids[twin], title_of(tx, ids[twin])),
            Like::Old(id, title) => (id, title),
        };
        similar.push(SimilarTask { task: ids[at], to, title });
    }
    similar
}

/// Replaces the hashes of an edited task.
pub(super) async fn replace(tx: &mut Tx<'_>, before: &TaskRow, after: &TaskRow) -> Result<(), StoreError> {
    let numbers = |row: &TaskRow| HashSet::from(gist(&row.description, &row.files).numbers());
    let (old, new) = (numbers(before), numbers(after));
    let row = |number: &i64| -> Vec<Value> { args![after.project.to_string(), *number, after.id.to_string()] };
    for gone in old.difference(&new) {
        tx.run("DELETE FROM task_gists WHERE project = $1 AND gist = $2 AND task = $3", row(gone)).await?;
    }
    for fresh in new.difference(&old) {
        tx.run("INSERT INTO task_gists (project, gist, task) VALUES ($1, $2, $3)", row(fresh)).await?;
    }
    Ok(())
}

impl Tx<'_> {
    /// Reads the newest tasks with these hashes in one query.
    pub(super) async fn know_gists(&mut self, wanted: &[(ProjectId, i64)]) -> Result<(), StoreError> {
        let mut missing: Vec<(ProjectId, i64)> =
            wanted.iter().filter(|key| !self.book().gists.contains_key(key)).copied().collect();
        missing.sort_unstable();
        missing.dedup();
        for some in missing.chunks(64) {
            let size = some.len().next_power_of_two();
            let one = |at: usize| {
                let (project, gist) = (2 * at + 1, 2 * at + 2);
                format!(
                    "SELECT * FROM (SELECT gist, project, task FROM task_gists WHERE project = ${project} AND gist = ${gist} \
                     ORDER BY task DESC LIMIT {LOOK}) AS g{at}"
                )
            };
            let sql = (0..size).map(one).collect::<Vec<_>>().join(" UNION ");
            let values = (0..size).map(|at| some[at.min(some.len() - 1)]);
            let values = values.flat_map(|(project, gist)| args![project.to_string(), gist]).collect();
            let rows = self.stored().all(&sql, values).await?;
            for key in some {
                self.book().gists.insert(*key, Vec::new());
            }
            for row in &rows {
                let key = (row.parsed("project")?, row.integer("gist")?);
                let task: TaskId = row.parsed("task")?;
                self.book().gists.entry(key).or_default().push(task);
            }
        }
        Ok(())
    }
}
