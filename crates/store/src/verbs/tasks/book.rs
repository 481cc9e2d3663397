//! What a transaction has read and changed of tasks and workers. Many commands share one transaction: rows are read
//! once, changed in memory, and written together.
//!
//! The transaction is the only one that writes, so what it has read stays true until somebody else does; the statement
//! that writes a task checks its fence all the same.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use domain::{ProjectId, TaskId, UserId};
use protocol::{Change, TaskLine, WorkSettings};

use super::row::{self, TaskRow};
use super::window::Window;
use crate::EventBody;
use crate::batch::PendingEvent;
use crate::bulk::{Delete, Part, Update};
use crate::sql::{Value, args};

/// How many tasks one event tells about at most.
const TOLD: usize = 1000;

/// How many tasks are remembered between transactions at most, and how long their texts may be.
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

/// What is ready is in the queue, and nothing else is.
const QUEUED: &str = "INSERT INTO task_queue (project, queue_key, task)";
const UNQUEUED: Delete = Delete { table: "task_queue", keys: &["project", "queue_key", "task"] };
/// What ended already ended as it did.
const ATTEMPTS: Update = Update {
    table: "attempts",
    keys: &["task", "number"],
    columns: &["ended_at", "last_sign_at", "outcome", "reason"],
    only: " AND attempts.outcome = 'open'",
    every: None,
};

/// The end of a hold on a task: when, last sign, how and why.
type AttemptEnd = Vec<Value>;

/// What a transaction has read and changed of tasks and workers.
#[derive(Debug, Default)]
pub(crate) struct Book {
    pub(super) tasks: HashMap<TaskId, TaskRow>,
    pub(super) windows: HashMap<ProjectId, Window>,
    pub(super) dependants: HashMap<TaskId, Vec<TaskId>>,
    pub(super) settings: HashMap<ProjectId, WorkSettings>,
    pub(super) frozen: HashMap<(UserId, ProjectId), bool>,
    /// The files of tasks that are worked on.
    pub(super) running: HashMap<ProjectId, HashMap<TaskId, Vec<String>>>,
    pub(super) gists: HashMap<(ProjectId, i64), Vec<TaskId>>,
    /// Fences as the table has them. Nobody else writes fences or places, so they stay known for the whole transaction:
    /// code that has a copy of a row may put it back after the row itself was forgotten.
    fences: HashMap<TaskId, u64>,
    /// Places in the queue as the table has them.
    places: HashMap<TaskId, i64>,
    fresh: BTreeSet<TaskId>,
    dirty: BTreeSet<TaskId>,
    ends: BTreeMap<(TaskId, u32), AttemptEnd>,
    lines: BTreeMap<ProjectId, BTreeMap<TaskId, Option<TaskLine>>>,
    /// Tasks that were read or changed by this transaction.
    touched: Vec<TaskId>,
    /// How many tasks the commands of this transaction want to take, by project.
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

    /// A task whose row is inserted by this transaction.
    pub(super) fn added(&mut self, task: TaskRow) {
        self.fences.insert(task.id, task.fence);
        self.tell(&task);
        self.track(&task);
        self.fresh.insert(task.id);
        self.touched.push(task.id);
        self.tasks.insert(task.id, task);
    }

    /// A task that changed; `told`: clients hear of it.
    pub(super) fn changed(&mut self, task: TaskRow, told: bool) {
        if told {
            self.tell(&task);
        }
        self.track(&task);
        self.dirty.insert(task.id);
        self.touched.push(task.id);
        self.tasks.insert(task.id, task);
    }

    /// The end of a hold.
    pub(super) fn attempt_ended(&mut self, task: TaskId, number: u32, end: AttemptEnd) {
        self.ends.entry((task, number)).or_insert(end);
    }

    fn tell(&mut self, task: &TaskRow) {
        self.lines.entry(task.project).or_default().insert(task.id, None);
    }

    /// Keeps what is derived from tasks in step.
    fn track(&mut self, task: &TaskRow) {
        if let Some(window) = self.windows.get_mut(&task.project) {
            window.track(task.id, task.place());
        }
        if let Some(running) = self.running.get_mut(&task.project) {
            match task.lease_until.is_some() && !task.files.is_empty() {
                true => running.insert(task.id, task.files.clone()),
                false => running.remove(&task.id),
            };
        }
    }

    /// Gives out the changes, to be written.
    pub(crate) fn write(&mut self, inserts: &mut Vec<Part>, updates: &mut Vec<Part>) {
        self.remember();
        let fresh = std::mem::take(&mut self.fresh);
        self.write_places(&fresh, inserts, updates);
        let new: Vec<&TaskRow> = fresh.iter().filter_map(|id| self.tasks.get(id)).collect();
        self.fences.extend(new.iter().map(|task| (task.id, task.fence)));
        inserts.push(Part::insert(row::INSERT, new.into_iter().map(TaskRow::inserted).collect()));
        // What is over has much in common, and so has what is not: that is sent once.
        let mut rows = [Vec::new(), Vec::new()];
        for id in std::mem::take(&mut self.dirty).difference(&fresh) {
            let Some(task) = self.tasks.get(id) else { continue };
            let fence = self.fences.insert(*id, task.fence).unwrap_or(task.fence);
            let mut values = args![id.to_string(), fence];
            values.extend(task.changing());
            rows[usize::from(task.status.is_over())].push(values);
        }
        updates.extend(rows.map(|rows| Part::update(TASKS, rows)));
        let ends = std::mem::take(&mut self.ends).into_iter();
        let ends = ends.map(|((task, number), end)| [args![task.to_string(), number], end].concat());
        updates.push(Part::update(ATTEMPTS, ends.collect()));
    }

    /// Gives out the tasks that entered the queue and those that left it.
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

    /// The tables that have changes which are not written yet.
    pub(crate) fn changed_tables(&self) -> impl Iterator<Item = &'static str> {
        let tasks = !self.fresh.is_empty() || !self.dirty.is_empty();
        let tables = [("tasks", tasks), ("task_queue", tasks), ("attempts", !self.ends.is_empty())];
        tables.into_iter().filter_map(|(table, changed)| changed.then_some(table))
    }

    /// Forgets what was read, when a statement has changed it.
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

    /// Keeps what the next transaction may need: tasks that are not over, unless they are long or many.
    pub(crate) fn settle_down(&mut self) {
        self.wanted.clear();
        if self.tasks.len() > REMEMBERED || self.dependants.len() > REMEMBERED || self.gists.len() > 2 * REMEMBERED {
            self.places.clear();
            self.fences.clear();
            return self.forget_all();
        }
        for id in std::mem::take(&mut self.touched) {
            let Some(task) = self.tasks.get(&id) else { continue };
            let over = task.status.is_over();
            if over || task.description.len() + task.context.len() > LONG {
                let project = task.project;
                self.tasks.remove(&id);
                self.fences.remove(&id);
                self.dependants.remove(&id);
                if !over {
                    // The head of a queue is known only as a whole.
                    self.windows.remove(&project);
                }
            }
        }
        if self.places.len() > self.tasks.len() || self.fences.len() > self.tasks.len() {
            self.places.retain(|id, _| self.tasks.contains_key(id));
            self.fences.retain(|id, _| self.tasks.contains_key(id));
        }
    }

    /// A project's tasks that are not as the table has them.
    pub(super) fn unwritten(&self, project: ProjectId) -> impl Iterator<Item = TaskId> {
        let of_project = move |id: &&TaskId| self.tasks.get(id).is_some_and(|task| task.project == project);
        self.dirty.union(&self.fresh).filter(of_project).copied()
    }

    /// Keeps what clients are to be told as it is now.
    fn remember(&mut self) {
        for (id, line) in self.lines.values_mut().flatten() {
            if let Some(task) = self.tasks.get(id) {
                *line = Some(task.line());
            }
        }
    }

    /// Takes back what is still to be told about a project.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        self.lines.remove(&project);
    }

    /// What clients are told: the last state of everything that changed, once.
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

    /// Tasks that are not known yet, each once.
    pub(super) fn unknown(&self, ids: impl IntoIterator<Item = TaskId>) -> Vec<TaskId> {
        let missing: HashSet<TaskId> = ids.into_iter().filter(|id| !self.tasks.contains_key(id)).collect();
        missing.into_iter().collect()
    }
}
