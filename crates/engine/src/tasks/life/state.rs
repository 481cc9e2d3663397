//! The states of a task, each with what exists in it.

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
    /// What the worker, or the check of its work, waits for: somebody must allow something.
    pub waiting: Option<String>,
}

/// Where a task is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It waits for other tasks.
    Blocked,
    /// It is in the queue. Only a worker that takes it moves it on.
    Ready {
        /// Why no worker takes it, if that is not just because all are busy.
        unassigned: Option<String>,
    },
    /// A worker took it and has not been heard from since.
    Assigned {
        /// Whose it is.
        hold: Hold,
        /// When the hold ends by itself.
        lease_until: Timestamp,
    },
    /// Its worker works.
    Running {
        /// Whose it is.
        hold: Hold,
        /// When the hold ends by itself.
        lease_until: Timestamp,
        /// What the worker said last about its progress.
        progress: Option<String>,
    },
    /// A report waits for its check. It is the hub's turn: nothing expires.
    Reported {
        /// Whose work it is.
        hold: Hold,
    },
    /// A runner checks the report.
    Validating {
        /// Whose work it is.
        hold: Hold,
    },
    /// A person must decide. No worker has it.
    Escalated,
    /// Final: its work was accepted.
    Done,
    /// Over until somebody retries it.
    Failed,
    /// Over until somebody retries it.
    Cancelled,
}

/// A task as far as its life is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// Where it is.
    pub state: State,
    /// Why it is there.
    pub reason: Option<String>,
    /// How often a worker took it.
    pub attempt: u32,
    /// Names the current hold: it grows with each one, so that the holder of an old one can be told from the current one.
    pub fence: u64,
    /// How many of its dependencies are not done.
    pub waits_for: u32,
    /// When it first came into the queue since it was added or retried: it keeps its age.
    pub ready_at: Option<Timestamp>,
    /// How often the current worker's work was refused.
    pub refusals: u32,
    /// How many workers gave up or were refused for good.
    pub workers_tried: u32,
    /// Who they are: others go first.
    pub not_by: Vec<WorkerId>,
    /// Whether a person may have been asked something about it that is still open.
    pub asked: bool,
}

impl Life {
    /// A new task with so many open dependencies.
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

    /// The word for where it is.
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

    /// The hold on it, if a worker has it or handed it back for a check.
    pub fn hold(&self) -> Option<&Hold> {
        match &self.state {
            State::Assigned { hold, .. }
            | State::Running { hold, .. }
            | State::Reported { hold }
            | State::Validating { hold } => Some(hold),
            _ => None,
        }
    }

    /// The same, to change it.
    pub(super) fn hold_mut(&mut self) -> Option<&mut Hold> {
        match &mut self.state {
            State::Assigned { hold, .. }
            | State::Running { hold, .. }
            | State::Reported { hold }
            | State::Validating { hold } => Some(hold),
            _ => None,
        }
    }

    /// Who holds it.
    pub fn worker(&self) -> Option<WorkerId> {
        self.hold().map(|hold| hold.worker)
    }

    /// The session that works on it, or whose work is checked.
    pub fn session(&self) -> Option<SessionId> {
        self.hold().and_then(|hold| hold.session)
    }

    /// When the hold ends by itself; absent while it is not the worker's turn.
    pub fn lease_until(&self) -> Option<Timestamp> {
        match self.state {
            State::Assigned { lease_until, .. } | State::Running { lease_until, .. } => Some(lease_until),
            _ => None,
        }
    }

    /// What its worker said last about its progress.
    pub fn progress(&self) -> Option<&str> {
        match &self.state {
            State::Running { progress, .. } => progress.as_deref(),
            _ => None,
        }
    }

    /// Whether its worker works on it: it is not the hub's or a person's turn.
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

    /// Why it is where it is, in words: what became of earlier attempts, and what it waits for now.
    pub fn why(&self) -> Option<String> {
        let unassigned = match (&self.state, self.hold()) {
            (State::Ready { unassigned: Some(why) }, _) => why,
            (_, Some(Hold { waiting: Some(why), .. })) => return Some(why.clone()),
            _ => return self.reason.clone(),
        };
        Some(match &self.reason {
            Some(earlier) => format!("{earlier}; {unassigned}"),
            None => unassigned.clone(),
        })
    }

    /// Whether people see no difference between the two.
    pub fn looks_like(&self, other: &Self) -> bool {
        let shown = |life: &Self| (life.status(), life.attempt, life.worker(), life.session(), life.waits_for);
        shown(self) == shown(other) && self.progress() == other.progress() && self.why() == other.why()
    }
}
