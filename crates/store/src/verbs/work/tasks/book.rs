//! Tasks that a transaction has read and changed. Many commands share one transaction: each row is read once, changed
//! in memory, and written with the others.
//!
//! No other transaction writes meanwhile, so rows stay true until the commit; the statement that writes a task still
//! checks its fence.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::{ProjectId, TaskId, UserId};
use protocol::{Change, TaskLine, WorkSettings};

use super::row::{self, TaskRow};
use super::window::Window;
use crate::EventBody;
use crate::batch::PendingEvent;
use crate::bulk::{Delete, Part, Update};
use crate::search::{Entry, Pending};
use crate::sql::{Value, args};

/// The maximum number of tasks in one event.
const TOLD: usize = 1000;

/// The maximum number of tasks remembered between transactions, and the maximum length of their texts.
const REMEMBERED: usize = 4096;
const LONG: usize = 16 * 1024;

/// A task's row is written only as it was read: by its fence.
const TASKS: Update = Update {
    table: "tasks",
    keys: &["id", "fence"],
    columns: row::CHANGING,
    only: "",
    every: Some("a task changed meanwhile: try again"),
};

/// The queue has the ready tasks, and no others.
const QUEUED: &str = "INSERT INTO task_queue (project, queue_key, task)";
const UNQUEUED: Delete = Delete { table: "task_queue", keys: &["project", "queue_key", "task"] };

/// An attempt that has ended stays as it is.
const ATTEMPTS: Update = Update {
    table: "attempts",
    keys: &["task", "number"],
    columns: &["ended_at", "last_sign_at", "outcome", "reason"],
    only: " AND attempts.outcome = 'open'",
    every: None,
};

/// The end of an attempt: time, last sign of life, outcome and reason.
type AttemptEnd = Vec<Value>;

/// The tasks that a transaction has read and changed.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(super) tasks: HashMap<TaskId, TaskRow>,
    pub(super) windows: HashMap<ProjectId, Window>,
    pub(super) dependants: HashMap<TaskId, Vec<TaskId>>,
    pub(super) settings: HashMap<ProjectId, WorkSettings>,
    pub(super) frozen: HashMap<(UserId, ProjectId), bool>,
    /// The files of held tasks.
    pub(super) running: HashMap<ProjectId, HashMap<TaskId, Vec<String>>>,
    pub(super) gists: HashMap<(ProjectId, i64), Vec<TaskId>>,
    /// Fences as the table has them. No other code writes fences or places, so they stay valid for the transaction:
    /// code that has a copy of a row may put it back after the row itself was forgotten.
    fences: HashMap<TaskId, u64>,
    /// Places in the queue as the table has them.
    places: HashMap<TaskId, i64>,
    fresh: BTreeSet<TaskId>,
    dirty: BTreeSet<TaskId>,
    ends: BTreeMap<(TaskId, u32), AttemptEnd>,
    lines: BTreeMap<ProjectId, BTreeMap<TaskId, Option<TaskLine>>>,
    /// Tasks that this transaction has read or changed.
    touched: Vec<TaskId>,
    /// How many tasks the commands of this transaction will take, by project.
    pub(super) wanted: HashMap<ProjectId, usize>,
}

impl Book {
    /// A task that was read.
    pub(super) fn seen(&mut self, task: TaskRow) {
        if let std::collections::hash_map::Entry::Vacant(place) = self.tasks.entry(task.id) {
            self.fences.insert(task.id, task.fence);
            match task.place() {
                Some(key) => self.places.insert(task.id, key),
                None => self.places.remove(&task.id),
            };
            self.touched.push(task.id);
            place.insert(task);
        }
    }

    /// A task that this transaction inserts.
    pub(super) fn added(&mut self, task: TaskRow) {
        self.fences.insert(task.id, task.fence);
        self.tell(&task);
        self.track(&task);
        self.fresh.insert(task.id);
        self.touched.push(task.id);
        self.tasks.insert(task.id, task);
    }

    /// A changed task; `told` if clients must see the change.
    pub(super) fn changed(&mut self, task: TaskRow, told: bool) {
        let announced = self.lines.get(&task.project).is_some_and(|lines| lines.contains_key(&task.id));
        if told || announced {
            self.tell(&task);
        }
        self.track(&task);
        self.dirty.insert(task.id);
        self.touched.push(task.id);
        self.tasks.insert(task.id, task);
    }

    /// The end of an attempt.
    pub(crate) fn attempt_ended(&mut self, task: TaskId, number: u32, end: AttemptEnd) {
        self.ends.entry((task, number)).or_insert(end);
    }

    fn tell(&mut self, task: &TaskRow) {
        self.lines.entry(task.project).or_default().insert(task.id, None);
    }

    /// Updates the maps that are derived from tasks.
    fn track(&mut self, task: &TaskRow) {
        if let Some(window) = self.windows.get_mut(&task.project) {
            window.track(task.id, task.place());
        }
        if let Some(running) = self.running.get_mut(&task.project) {
            match task.is_worked_on() && !task.files.is_empty() {
                true => running.insert(task.id, task.files.clone()),
                false => running.remove(&task.id),
            };
        }
    }

    /// Adds the changed rows to the inserts and updates.
    pub(crate) fn write(&mut self, inserts: &mut Vec<Part>, updates: &mut Vec<Part>) {
        self.remember();
        let fresh = std::mem::take(&mut self.fresh);
        self.write_places(&fresh, inserts, updates);
        let new: Vec<&TaskRow> = fresh.iter().filter_map(|id| self.tasks.get(id)).collect();
        self.fences.extend(new.iter().map(|task| (task.id, task.fence)));
        inserts.push(Part::insert(row::INSERT, new.into_iter().map(TaskRow::inserted).collect()));
        // Rows of ended tasks have many equal columns, and so have the others: an equal column is sent once.
        let mut rows = [Vec::new(), Vec::new()];
        for id in std::mem::take(&mut self.dirty).difference(&fresh) {
            let Some(task) = self.tasks.get(id) else { continue };
            let fence = self.fences.insert(*id, task.fence).unwrap_or(task.fence);
            let mut values = args![id.to_string(), fence];
            values.extend(task.changing());
            rows[usize::from(task.status().is_over())].push(values);
        }
        updates.extend(rows.map(|rows| Part::update(TASKS, rows)));
        let ends = std::mem::take(&mut self.ends).into_iter();
        let ends = ends.map(|((task, number), end)| [args![task.to_string(), number], end].concat());
        updates.push(Part::update(ATTEMPTS, ends.collect()));
    }

    /// Adds the changed tasks to the search index.
    pub(crate) fn index(&self, index: &mut Pending) {
        let changed = self.dirty.union(&self.fresh).filter_map(|id| self.tasks.get(id));
        changed.for_each(|task| index.put(Entry::task(task)));
    }

    /// Adds the tasks that entered or left the queue.
    fn write_places(&mut self, fresh: &BTreeSet<TaskId>, inserts: &mut Vec<Part>, updates: &mut Vec<Part>) {
        let (mut queued, mut unqueued) = (Vec::new(), Vec::new());
        for task in self.dirty.union(fresh).filter_map(|id| self.tasks.get(id)) {
            let (before, now) = (self.places.remove(&task.id), task.place());
            self.places.extend(now.map(|place| (task.id, place)));
            if before != now {
                let row = |place: i64| args![task.project.to_string(), place, task.id.to_string()];
                unqueued.extend(before.map(row));
                queued.extend(now.map(row));
            }
        }
        inserts.push(Part::insert_new(QUEUED, queued));
        updates.push(Part::delete(UNQUEUED, unqueued));
    }

    /// The tables with pending changes.
    pub(crate) fn changed_tables(&self) -> impl Iterator<Item = &'static str> {
        let tasks = !self.fresh.is_empty() || !self.dirty.is_empty();
        let tables = [("tasks", tasks), ("task_queue", tasks), ("attempts", !self.ends.is_empty())];
        tables.into_iter().filter_map(|(table, changed)| changed.then_some(table))
    }

    /// Forgets all rows: a statement may have changed them.
    pub(crate) fn forget_all(&mut self) {
        self.tasks.clear();
        self.windows.clear();
        self.dependants.clear();
        self.settings.clear();
        self.running.clear();
        self.frozen.clear();
        self.gists.clear();
        self.touched.clear();
    }

    /// Drops tasks that the next transaction does not need: ended ones, and all if they are long or many.
    pub(crate) fn settle_down(&mut self) {
        self.wanted.clear();
        if self.tasks.len() > REMEMBERED || self.dependants.len() > REMEMBERED || self.gists.len() > 2 * REMEMBERED {
            self.places.clear();
            self.fences.clear();
            return self.forget_all();
        }
        for id in std::mem::take(&mut self.touched) {
            let Some(task) = self.tasks.get(&id) else { continue };
            let over = task.status().is_over();
            if over || task.description.len() + task.context.len() > LONG {
                let project = task.project;
                self.tasks.remove(&id);
                self.fences.remove(&id);
                self.dependants.remove(&id);
                if !over {
                    // A window without one of its tasks is useless.
                    self.windows.remove(&project);
                }
            }
        }
        if self.places.len() > self.tasks.len() || self.fences.len() > self.tasks.len() {
            self.places.retain(|id, _| self.tasks.contains_key(id));
            self.fences.retain(|id, _| self.tasks.contains_key(id));
        }
    }

    /// The tasks of a project with pending changes.
    pub(super) fn unwritten(&self, project: ProjectId) -> impl Iterator<Item = TaskId> {
        let of_project = move |id: &&TaskId| self.tasks.get(id).is_some_and(|task| task.project == project);
        self.dirty.union(&self.fresh).filter(of_project).copied()
    }

    /// Completes the announcements with the current state of their tasks.
    fn remember(&mut self) {
        for (id, line) in self.lines.values_mut().flatten().filter(|(_, line)| line.is_none()) {
            if let Some(task) = self.tasks.get(id) {
                *line = Some(task.line());
            }
        }
    }

    /// Drops the announcements of a project.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        self.lines.remove(&project);
    }

    /// The announcements: the last state of each changed task, once.
    pub(crate) fn events(&mut self) -> Vec<PendingEvent> {
        let mut events = Vec::new();
        for (project, lines) in std::mem::take(&mut self.lines) {
            let lines: Vec<TaskLine> = lines.into_values().flatten().collect();
            for tasks in lines.chunks(TOLD) {
                let body = EventBody::Change { change: Change::Tasks { tasks: tasks.to_vec() } };
                let project = Some(project);
                events.push(PendingEvent { project, audience: None, facts_before: None, execution_of: None, body });
            }
        }
        events
    }

    /// The direct dependants of a task, as far as they were read.
    pub(crate) fn dependants_of(&self, task: TaskId) -> &[TaskId] {
        self.dependants.get(&task).map_or(&[], Vec::as_slice)
    }

    /// How long a lease lasts in a project, in milliseconds; 0 before its settings were read.
    pub(crate) fn lease_ms(&self, project: ProjectId) -> i64 {
        self.settings.get(&project).map_or(0, |settings| i64::from(settings.lease_seconds) * 1000)
    }

    /// The tasks that were not read yet, each once.
    pub(super) fn unknown(&self, ids: impl IntoIterator<Item = TaskId>) -> Vec<TaskId> {
        let missing: HashSet<TaskId> = ids.into_iter().filter(|id| !self.tasks.contains_key(id)).collect();
        missing.into_iter().collect()
    }
}
