//! How verbs reach tasks and settings: through the transaction's book.
//!
//! Rows come as copies; code that changes one puts it back. Changes are written when the transaction ends, or before a
//! query that could see them.

use std::collections::HashMap;

use domain::{ProjectId, TaskId};
use protocol::WorkSettings;

use super::row::{self, TaskRow};
use super::window::Window;
use crate::StoreError;
use crate::sql::{Row, Value, args, text};
use crate::tx::Tx;
use crate::verbs::work::workers::leases::HELD;
use crate::verbs::work::workers::settings;

/// The maximum number of ids in one query.
const IDS: usize = 128;

/// Inserts dependencies.
pub(crate) const EDGES: &str = "INSERT INTO task_deps (task, dep)";

/// Also reads whether a task has dependants: most have none, which saves a query later.
const DEPENDED: &str = "SELECT CAST(CASE WHEN EXISTS (SELECT 1 FROM task_deps d WHERE d.dep = t.id) THEN 1 ELSE 0 END \
                        AS BIGINT) AS depended,";

/// The minimum number of tasks read from the queue at once.
const CHUNK: usize = 128;

/// Tasks searched for one that fits; up to [`FAR`] if none of the first does.
pub(crate) const AHEAD: usize = 64;
pub(crate) const FAR: usize = 2048;

impl Tx<'_> {
    /// Tasks by their ids, in that order; those that do not exist are left out.
    pub(crate) async fn tasks(&mut self, ids: &[TaskId]) -> Result<Vec<TaskRow>, StoreError> {
        let missing = self.book().unknown(ids.iter().copied());
        for some in missing.chunks(IDS) {
            let (places, values) = list(some);
            let rows = self.stored().all(&format!("{} WHERE t.id IN ({places})", row::COLUMNS), values).await?;
            for row in &rows {
                let task = TaskRow::read(row)?;
                self.book().seen(task);
            }
        }
        Ok(ids.iter().filter_map(|id| self.book().tasks.get(id).cloned()).collect())
    }

    /// A task, if it exists.
    pub(crate) async fn task(&mut self, id: TaskId) -> Result<Option<TaskRow>, StoreError> {
        if let Some(known) = self.book().tasks.get(&id) {
            return Ok(Some(known.clone()));
        }
        Ok(self.tasks(&[id]).await?.pop())
    }

    /// A task that must exist.
    pub(crate) async fn known_task(&mut self, id: TaskId) -> Result<TaskRow, StoreError> {
        self.task(id).await?.ok_or(StoreError::NotFound("task"))
    }

    /// Writes a changed task and announces it.
    pub(crate) fn put_task(&mut self, mut task: TaskRow) {
        task.updated_at = self.now;
        self.change().changed(task, true);
    }

    /// Writes a changed task; announces it if clients show a difference to what it was.
    pub(crate) fn put_task_if_shown(&mut self, task: TaskRow) {
        let quiet = self.book().tasks.get(&task.id).is_some_and(|before| before.shows_like(&task));
        match quiet {
            true => self.change().changed(task, false),
            false => self.put_task(task),
        }
    }

    /// Adds a task and announces it.
    pub(crate) fn add_task(&mut self, task: TaskRow) {
        self.change().added(task);
    }

    /// The work settings of a project.
    pub(crate) async fn work_settings(&mut self, project: ProjectId) -> Result<WorkSettings, StoreError> {
        if let Some(known) = self.book().settings.get(&project) {
            return Ok(known.clone());
        }
        let found = settings::of(self.read(), project).await?;
        self.book().settings.insert(project, found.clone());
        Ok(found)
    }

    /// The direct dependants of a task.
    pub(crate) async fn dependants(&mut self, task: TaskId) -> Result<Vec<TaskRow>, StoreError> {
        self.know_dependants(&[task]).await?;
        let ids = self.book().dependants.get(&task).cloned().unwrap_or_default();
        self.tasks(&ids).await
    }

    /// Reads the direct dependants of these tasks in one query.
    pub(crate) async fn know_dependants(&mut self, tasks: &[TaskId]) -> Result<(), StoreError> {
        let missing: Vec<TaskId> =
            tasks.iter().filter(|task| !self.book().dependants.contains_key(task)).copied().collect();
        for some in missing.chunks(IDS) {
            let (places, values) = list(some);
            let sql = format!("SELECT dep, task FROM task_deps WHERE dep IN ({places})");
            let rows = self.stored().all(&sql, values).await?;
            for task in some {
                self.book().dependants.insert(*task, Vec::new());
            }
            for row in &rows {
                let (dep, task) = (row.parsed("dep")?, row.parsed("task")?);
                self.book().dependants.entry(dep).or_default().push(task);
            }
        }
        Ok(())
    }

    /// The first `count` tasks of a project's queue, in order.
    pub(crate) async fn ready_ids(&mut self, project: ProjectId, count: usize) -> Result<Vec<TaskId>, StoreError> {
        // Reads again if this transaction has taken all tasks that were read.
        let enough = |window: &Window| window.len() >= count || !window.is_partial();
        while !self.book().windows.get(&project).is_some_and(enough) {
            self.look_ahead(project, count).await?;
        }
        Ok(self.book().windows.get(&project).into_iter().flat_map(Window::tasks).take(count).collect())
    }

    /// The first tasks of a project's queue, in order.
    pub(crate) async fn ready(&mut self, project: ProjectId, count: usize) -> Result<Vec<TaskRow>, StoreError> {
        let ids = self.ready_ids(project, count).await?;
        self.tasks(&ids).await
    }

    /// Reads more of a project's queue: from its head, or from where the known part ends.
    async fn look_ahead(&mut self, project: ProjectId, count: usize) -> Result<(), StoreError> {
        let book = self.book();
        let end = book.windows.get(&project).and_then(Window::end);
        // The tasks that the group's commands will take, and some to choose from. The table still lists tasks as ready
        // that this transaction has taken.
        let least = book.wanted.get(&project).copied().unwrap_or(0) + count + book.unwritten(project).count();
        let wanted = CHUNK.max(least);
        let (sql, values) = queue(project, end, wanted);
        let rows = self.stored().all(&sql, values).await?;
        let unwritten_edges = self.batch().is_waiting(EDGES);
        let book = self.book();
        let mut places = Vec::with_capacity(rows.len());
        for row in &rows {
            let task = TaskRow::read(row)?;
            places.extend(task.place().map(|place| (place, task.id)));
            if !row.flag("depended")? && !unwritten_edges {
                book.dependants.entry(task.id).or_default();
            }
            book.seen(task);
        }
        let unwritten: Vec<TaskId> = book.unwritten(project).collect();
        let window = book.windows.entry(project).or_default();
        window.extend(places, rows.len() < wanted);
        for id in unwritten {
            window.track(id, book.tasks.get(&id).and_then(TaskRow::place));
        }
        Ok(())
    }

    /// The files of a project's held tasks.
    pub(crate) async fn running_files(&mut self, project: ProjectId) -> Result<Vec<Vec<String>>, StoreError> {
        if !self.book().running.contains_key(&project) {
            let sql = format!("SELECT t.id, t.files {HELD} WHERE w.project = $1 AND t.files <> '[]'");
            let rows = self.stored().all(&sql, vec![text(project)]).await?;
            let read = |row: &Row| Ok::<_, StoreError>((row.parsed("id")?, row.json("files")?));
            let mut running: HashMap<TaskId, Vec<String>> = rows.iter().map(read).collect::<Result<_, _>>()?;
            let book = self.book();
            for task in book.tasks.values().filter(|task| task.project == project) {
                match task.is_worked_on() && !task.files.is_empty() {
                    true => running.insert(task.id, task.files.clone()),
                    false => running.remove(&task.id),
                };
            }
            book.running.insert(project, running);
        }
        Ok(self.book().running[&project].values().cloned().collect())
    }
}

/// The query for `wanted` tasks of a project's queue, from its head or after a place in it.
fn queue(project: ProjectId, after: Option<(i64, TaskId)>, wanted: usize) -> (String, Vec<Value>) {
    let mut values = args![project.to_string(), wanted as u64];
    let after = match after {
        Some((key, task)) => {
            values.extend(args![key, task.to_string()]);
            " AND (q.queue_key, q.task) > ($3, $4)"
        }
        None => "",
    };
    let sql = format!(
        "{} JOIN task_queue q ON q.task = t.id WHERE q.project = $1 AND t.status = 'ready'{after} \
         ORDER BY q.queue_key, q.task LIMIT $2",
        row::COLUMNS.replacen("SELECT", DEPENDED, 1)
    );
    (sql, values)
}

/// Places for ids in a statement. Powers of two keep the number of prepared statements small.
pub(crate) fn list<T: std::fmt::Display>(ids: &[T]) -> (String, Vec<Value>) {
    let size = ids.len().next_power_of_two();
    let values = (0..size).map(|at| text(&ids[at.min(ids.len() - 1)])).collect();
    let places: Vec<String> = (1..=size).map(|at| format!("${at}")).collect();
    (places.join(", "), values)
}
