//! A model of the tasks of one world, compared with every answer of the store.

use std::collections::HashMap;

use domain::{TaskId, Timestamp};

/// The expected state of one task.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) deps: Vec<TaskId>,
    /// The current lease: its worker and its expiry; `None` while no worker holds the task.
    pub(super) hold: Option<(String, Timestamp)>,
    pub(super) fence: u64,
    pub(super) accepted: u32,
    pub(super) escalated: bool,
}

/// All tasks of a world.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) tasks: HashMap<TaskId, Known>,
}

impl Model {
    /// A task was handed out.
    pub(super) fn handed_out(&mut self, seed: u64, task: TaskId, fence: u64, worker: &str, until: Timestamp) {
        for dep in &self.tasks[&task].deps {
            assert_eq!(self.tasks[dep].accepted, 1, "seed {seed}: {task} was handed out before {dep} was done");
        }
        let known = self.tasks.get_mut(&task).unwrap();
        // A held task is handed out again only to the same worker, under a new fence.
        let free = known.hold.as_ref().is_none_or(|(holder, _)| holder == worker);
        assert!(free, "seed {seed}: {task} has two leases: {known:?} and {worker}");
        assert!(known.accepted == 0 && !known.escalated, "seed {seed}: {task} was handed out again: {known:?}");
        assert_eq!(fence, known.fence + 1, "seed {seed}: fences of {task} go up by one");
        known.fence = fence;
        known.hold = Some((worker.to_owned(), until));
    }

    /// Whether a worker with this fence may write.
    pub(super) fn holds(&self, task: TaskId, fence: u64) -> bool {
        let known = &self.tasks[&task];
        known.hold.is_some() && known.fence == fence
    }

    /// A heartbeat was accepted.
    pub(super) fn renewed(&mut self, task: TaskId, until: Timestamp) {
        let hold = self.tasks.get_mut(&task).unwrap().hold.as_mut().unwrap();
        hold.1 = until;
    }

    /// A lease ended without an accepted report.
    pub(super) fn let_go(&mut self, task: TaskId) {
        self.tasks.get_mut(&task).unwrap().hold = None;
    }

    /// A report was accepted.
    pub(super) fn accepted(&mut self, seed: u64, task: TaskId) {
        let known = self.tasks.get_mut(&task).unwrap();
        known.accepted += 1;
        known.hold = None;
        assert_eq!(known.accepted, 1, "seed {seed}: {task} was accepted twice");
    }

    /// A lease expired.
    pub(super) fn lost(&mut self, seed: u64, task: TaskId, now: Timestamp) {
        let hold = self.tasks.get_mut(&task).unwrap().hold.take();
        let (worker, until) = hold.unwrap_or_else(|| panic!("seed {seed}: {task} was lost by nobody"));
        assert!(until <= now, "seed {seed}: {worker} lost {task} at {now}, before {until}");
    }

    /// Whether all tasks have ended.
    pub(super) fn is_over(&self) -> bool {
        self.tasks.values().all(|known| known.accepted == 1)
    }
}
