//! The head of a project's queue, as far as a transaction has read it.

use std::collections::BTreeMap;

use domain::TaskId;

/// The first tasks of a project's queue, in order.
#[derive(Debug, Default)]
pub(crate) struct Window {
    ready: BTreeMap<(i64, TaskId), ()>,
    keys: BTreeMap<TaskId, i64>,
    /// The end of the known part; `None` if the whole queue was read.
    up_to: Option<(i64, TaskId)>,
}

impl Window {
    /// The end of the known part, if the queue may continue.
    pub(super) fn end(&self) -> Option<(i64, TaskId)> {
        self.up_to
    }

    /// Appends the next tasks, in order; `whole` if the queue ends with them.
    pub(super) fn extend(&mut self, tasks: Vec<(i64, TaskId)>, whole: bool) {
        self.up_to = if whole { None } else { tasks.last().copied().or(self.up_to) };
        self.keys.extend(tasks.iter().map(|(key, task)| (*task, *key)));
        self.ready.extend(tasks.into_iter().map(|place| (place, ())));
    }

    /// Updates a task's position; `None` removes it.
    pub(super) fn track(&mut self, task: TaskId, place: Option<i64>) {
        if let Some(old) = self.keys.remove(&task) {
            self.ready.remove(&(old, task));
        }
        if let Some(key) = place.filter(|key| self.up_to.is_none_or(|end| (*key, task) <= end)) {
            self.ready.insert((key, task), ());
            self.keys.insert(task, key);
        }
    }

    /// The tasks, in order.
    pub(super) fn tasks(&self) -> impl Iterator<Item = TaskId> {
        self.ready.keys().map(|(_, task)| *task)
    }

    /// The number of tasks.
    pub(super) fn len(&self) -> usize {
        self.ready.len()
    }

    /// Whether the queue may continue after the window.
    pub(super) fn is_partial(&self) -> bool {
        self.up_to.is_some()
    }
}
