//! The states of a task, with their data.

use domain::{SessionId, TaskStatus, Timestamp, WorkerId};

/// A worker's hold on a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// The worker.
    pub worker: WorkerId,
    /// The session that works on the task, once there is one.
    pub session: Option<SessionId>,
    /// When the worker took it.
    pub taken_at: Timestamp,
    /// The approval that the worker, or the check of its work, waits for.
    pub waiting: Option<String>,
}

/// The state of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// The task waits for other tasks.
    Blocked,
    /// The task is in the queue, until a worker takes it.
    Ready {
        /// Why no worker takes the task, unless all are merely busy.
        unassigned: Option<String>,
    },
    /// A worker took the task and has sent no heartbeat yet.
    Assigned {
        /// The hold.
        hold: Hold,
        /// The end of the lease.
        lease_until: Timestamp,
    },
    /// The worker works on the task.
    Running {
        /// The hold.
        hold: Hold,
        /// The end of the lease.
        lease_until: Timestamp,
        /// The worker's last progress note.
        progress: Option<String>,
    },
    /// A report waits for its check. The lease cannot expire.
    Reported {
        /// The hold.
        hold: Hold,
    },
    /// A runner checks the report.
    Validating {
        /// The hold.
        hold: Hold,
    },
    /// A person must decide. No worker has the task.
    Escalated,
    /// The work was accepted. Final, unless a person reopens the task.
    Done,
    /// The task failed. It can be retried.
    Failed,
    /// The task was cancelled. It can be retried.
    Cancelled,
}

/// The part of a task that the state machine decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// The state.
    pub state: State,
    /// The reason for the state.
    pub reason: Option<String>,
    /// The number of attempts.
    pub attempt: u32,
    /// The number of the current hold; it grows with each hold, so that a stale holder is recognized.
    pub fence: u64,
    /// The number of open dependencies.
    pub waits_for: u32,
    /// When the task first entered the queue since it was added or retried; kept, so that the task keeps its age.
    pub ready_at: Option<Timestamp>,
    /// The number of refusals of the current worker's work.
    pub refusals: u32,
    /// The number of workers that failed or were refused for good.
    pub workers_tried: u32,
    /// Those workers; others go first.
    pub not_by: Vec<WorkerId>,
    /// Whether a question about the task may be open.
    pub asked: bool,
}

impl Life {
    /// A new task with `waits_for` open dependencies.
    pub fn new(waits_for: u32, unreachable: Option<String>, now: Timestamp) -> Self {
        let ready = waits_for == 0;
        Self {
            state: if ready { State::Ready { unassigned: None } } else { State::Blocked },
            reason: unreachable.filter(|_| !ready),
            attempt: 0,
            fence: 0,
            waits_for,
            ready_at: ready.then_some(now),
            refusals: 0,
            workers_tried: 0,
            not_by: Vec::new(),
            asked: false,
        }
    }

    /// The status for clients.
    pub fn status(&self) -> TaskStatus {
        match self.state {
            State::Blocked => TaskStatus::Blocked,
            State::Ready { .. } => TaskStatus::Ready,
            State::Assigned { .. } => TaskStatus::Assigned,
            State::Running { .. } => TaskStatus::Running,
            State::Reported { .. } => TaskStatus::Reported,
            State::Validating { .. } => TaskStatus::Validating,
            State::Escalated => TaskStatus::Escalated,
            State::Done => TaskStatus::Done,
            State::Failed => TaskStatus::Failed,
            State::Cancelled => TaskStatus::Cancelled,
        }
    }

    /// The hold, if a worker has the task or its report is being checked.
    pub fn hold(&self) -> Option<&Hold> {
        match &self.state {
            State::Assigned { hold, .. }
            | State::Running { hold, .. }
            | State::Reported { hold }
            | State::Validating { hold } => Some(hold),
            _ => None,
        }
    }

    /// The hold, mutably.
    pub(super) fn hold_mut(&mut self) -> Option<&mut Hold> {
        match &mut self.state {
            State::Assigned { hold, .. }
            | State::Running { hold, .. }
            | State::Reported { hold }
            | State::Validating { hold } => Some(hold),
            _ => None,
        }
    }

    /// The worker that holds the task.
    pub fn worker(&self) -> Option<WorkerId> {
        self.hold().map(|hold| hold.worker)
    }

    /// The session that works on the task, or whose work is checked.
    pub fn session(&self) -> Option<SessionId> {
        self.hold().and_then(|hold| hold.session)
    }

    /// The end of the lease; absent unless the worker works on the task.
    pub fn lease_until(&self) -> Option<Timestamp> {
        match self.state {
            State::Assigned { lease_until, .. } | State::Running { lease_until, .. } => Some(lease_until),
            _ => None,
        }
    }

    /// The worker's last progress note.
    pub fn progress(&self) -> Option<&str> {
        match &self.state {
            State::Running { progress, .. } => progress.as_deref(),
            _ => None,
        }
    }

    /// Whether the worker works on the task, rather than the hub or a person.
    pub fn is_worked_on(&self) -> bool {
        self.lease_until().is_some()
    }

    /// Whether a report may wait for its verdict.
    pub fn awaits_verdict(&self) -> bool {
        matches!(self.state, State::Reported { .. } | State::Validating { .. } | State::Escalated)
    }

    /// Whether a report waits for a check.
    pub fn awaits_check(&self) -> bool {
        matches!(self.state, State::Reported { .. } | State::Validating { .. })
    }

    /// What it waits for, other than a worker's work: why no worker takes it, or who must allow what.
    pub fn waiting(&self) -> Option<&str> {
        match &self.state {
            State::Ready { unassigned } => unassigned.as_deref(),
            _ => self.hold().and_then(|hold| hold.waiting.as_deref()),
        }
    }

    /// The reason for the state as text: the end of earlier attempts, and what the task waits for.
    pub fn why(&self) -> Option<String> {
        why(self.status(), self.reason.as_deref(), self.waiting())
    }
}

/// The reason that people see, made of the end of earlier attempts and what the task waits for.
pub fn why(status: TaskStatus, reason: Option<&str>, waiting: Option<&str>) -> Option<String> {
    match (reason, waiting) {
        (Some(reason), Some(waiting)) if status == TaskStatus::Ready => Some(format!("{reason}; {waiting}")),
        (reason, waiting) => waiting.or(reason).map(str::to_owned),
    }
}
