//! What wakes whoever hands out tasks: committed changes after which somebody may take one.

use std::collections::HashSet;

use domain::{ProjectId, TaskStatus, WorkerKind};
use parking_lot::Mutex;
use protocol::Change;
use tokio::sync::Notify;

/// Where something may be handed out since anybody looked.
#[derive(Default)]
pub(crate) struct Work {
    waiting: Mutex<Waiting>,
    wake: Notify,
}

/// Where something may be handed out.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// In these projects.
    pub(crate) projects: HashSet<ProjectId>,
    /// In any project: a runner came, or has room again.
    pub(crate) anywhere: bool,
    /// Projects that have managed workers, as they were heard of.
    pub(crate) managed: HashSet<ProjectId>,
}

impl Work {
    /// Takes in a committed change.
    pub(super) fn hear(&self, change: &Change) {
        let mut waiting = self.waiting.lock();
        match change {
            Change::Tasks { tasks } => {
                let ready = tasks.iter().filter(|task| task.status == TaskStatus::Ready);
                let before = waiting.projects.len();
                waiting.projects.extend(ready.map(|task| task.project));
                if waiting.projects.len() == before {
                    return;
                }
            }
            Change::Worker { worker } if worker.kind == WorkerKind::Managed => {
                waiting.managed.insert(worker.project);
                waiting.projects.insert(worker.project);
            }
            Change::WorkSettings { project, .. } => drop(waiting.projects.insert(*project)),
            Change::Session { session } if session.state.ended() => waiting.anywhere = true,
            Change::Runner { .. } => waiting.anywhere = true,
            _ => return,
        }
        drop(waiting);
        self.wake.notify_one();
    }

    /// Says that something may be handed out in a project.
    pub(crate) fn again(&self, project: ProjectId) {
        self.waiting.lock().projects.insert(project);
    }

    /// Where something may be handed out since the last call.
    pub(crate) fn take(&self) -> Waiting {
        std::mem::take(&mut *self.waiting.lock())
    }

    /// Waits until something may be handed out.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}
