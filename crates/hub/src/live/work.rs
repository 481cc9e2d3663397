//! Wakes the foreman: committed changes after which a worker may take a task.

use std::collections::HashSet;

use domain::{ProjectId, TaskStatus, WorkDecision, WorkerKind};
use parking_lot::Mutex;
use protocol::Change;
use tokio::sync::Notify;

/// Where tasks may be assigned since the last call.
#[derive(Default)]
pub(crate) struct Work {
    state: Mutex<State>,
    wake: Notify,
    asked: Notify,
    moves: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Projects that have managed workers.
    managed: HashSet<ProjectId>,
    waiting: Waiting,
    /// Nothing is held: the first hold is news.
    idle: bool,
}

/// Where tasks may be assigned.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    /// In these projects.
    pub(crate) projects: HashSet<ProjectId>,
    /// In any project: a runner connected, or has room again.
    pub(crate) anywhere: bool,
    /// Something is held again.
    pub(crate) held: bool,
}

impl Work {
    /// Handles a committed change. Only managed workers matter: external ones take their tasks themselves.
    pub(super) fn hear(&self, change: &Change) {
        let mut state = self.state.lock();
        if matches!(change, Change::Runner { .. })
            || matches!(change, Change::Escalation { escalation } if escalation.answered_at.is_none())
        {
            self.asked.notify_one();
        }
        let news = match change {
            Change::Tasks { tasks } => {
                let ready = tasks.iter().any(|task| {
                    task.status == TaskStatus::Ready
                        && state.managed.contains(&task.project)
                        && state.waiting.projects.insert(task.project)
                });
                let held = state.idle && tasks.iter().any(|task| task.status.is_held());
                state.waiting.held |= held;
                state.idle &= !held;
                ready || held
            }
            Change::Workers { workers } => {
                // All are of one project.
                let managed = workers.iter().find(|worker| worker.kind == WorkerKind::Managed);
                managed.is_some_and(|worker| {
                    state.managed.insert(worker.project);
                    state.waiting.projects.insert(worker.project)
                })
            }
            Change::WorkSettings { project, .. } => {
                state.managed.contains(project) && state.waiting.projects.insert(*project)
            }
            Change::Session { session } if session.state.ended() => {
                !std::mem::replace(&mut state.waiting.anywhere, true)
            }
            Change::WorkEntry { entry } if entry.what == WorkDecision::WorkMoves => {
                self.moves.notify_one();
                false
            }
            Change::Runner { .. } => !std::mem::replace(&mut state.waiting.anywhere, true),
            _ => false,
        };
        drop(state);
        if news {
            self.wake.notify_one();
        }
    }

    /// These projects have managed workers.
    pub(crate) fn manages(&self, projects: Vec<ProjectId>) {
        let mut state = self.state.lock();
        state.waiting.projects.extend(&projects);
        state.managed.extend(projects);
    }

    /// Marks a project for the next tick.
    pub(crate) fn again(&self, project: ProjectId) {
        self.state.lock().waiting.projects.insert(project);
    }

    /// The same, at once.
    pub(crate) fn now(&self, project: ProjectId) {
        self.again(project);
        self.wake.notify_one();
    }

    /// The same for all projects: a silent runner is heard again.
    pub(crate) fn anywhere(&self) {
        self.state.lock().waiting.anywhere = true;
        self.wake.notify_one();
    }

    /// Whether nothing is held, so that the first hold wakes.
    pub(crate) fn rests(&self, idle: bool) {
        self.state.lock().idle = idle;
    }

    /// Where tasks may be assigned since the last call.
    pub(crate) fn take(&self) -> Waiting {
        std::mem::take(&mut self.state.lock().waiting)
    }

    /// Waits until work moves from one runner to another.
    pub(crate) async fn moves(&self) {
        self.moves.notified().await;
    }

    /// Waits until a person is asked, or a runner connected or disconnected.
    pub(crate) async fn asked(&self) {
        self.asked.notified().await;
    }

    /// Waits until a task may be assigned.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn worker(project: ProjectId, kind: WorkerKind) -> protocol::Worker {
        let usage = json!({ "input_tokens": 0, "cached_tokens": 0, "output_tokens": 0, "cost_micros": null });
        let worker = json!({
            "id": domain::WorkerId::generate(), "project": project,
            "owner": { "id": domain::UserId::generate(), "name": "ann" }, "name": "anvil", "kind": kind,
            "runner": null, "agent": "codex", "model": null, "role": null, "abilities": [], "colour": 0,
            "status": "idle", "reason": null, "until": null, "task": null, "session": null, "queue": [],
            "failures": 0, "done": 0, "failed": 0, "usage": usage, "budget_micros": null, "context_score": null,
            "seen_at": null, "created_at": "2026-11-15T21:25:37.868Z"
        });
        serde_json::from_value(worker).expect("a worker")
    }

    #[test]
    fn a_managed_worker_among_external_ones_wakes_the_foreman() {
        let (work, project) = (Work::default(), ProjectId::generate());
        let own = || worker(project, WorkerKind::External);
        work.hear(&Change::Workers { workers: vec![own(), own()] });
        assert_eq!(work.take(), Waiting::default(), "external workers take their tasks themselves");
        work.hear(&Change::Workers { workers: vec![own(), worker(project, WorkerKind::Managed), own()] });
        assert_eq!(work.take().projects, HashSet::from([project]));
    }
}
