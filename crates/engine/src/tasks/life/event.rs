//! Events in the life of a task.

use domain::{AttemptOutcome, SessionId, Timestamp, WorkerId};

/// Why a hold ends: a text for everybody who sees the project, and details for those who may see the work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Why {
    /// The text for everybody.
    pub open: Option<String>,
    /// The text for those who may see the work, if it differs.
    pub whole: Option<String>,
}

impl Why {
    /// The same text for all.
    pub fn open(reason: Option<String>) -> Self {
        Self { open: reason, whole: None }
    }

    /// A text that reveals nothing about the machine or the work, and a detail for those who may see them.
    pub fn with_detail(open: impl Into<String>, detail: Option<String>) -> Self {
        let open = open.into();
        Self { whole: detail.map(|detail| format!("{open}\n{detail}")), open: Some(open) }
    }

    /// The full text.
    pub fn whole(&self) -> Option<&str> {
        self.whole.as_deref().or(self.open.as_deref())
    }
}

/// How a worker loses its hold without a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// The worker gave the task back, or was stopped.
    Released,
    /// A person continues the task elsewhere.
    TakenOver,
    /// The worker cannot do the task, or its agent failed.
    Failed,
    /// The worker was silent, though its runner was not.
    Lost,
    /// The runner was silent.
    RunnerGone,
    /// The session is gone, which the hub noticed at once.
    SessionGone,
}

impl Leaving {
    /// The outcome of the attempt.
    pub fn outcome(self) -> AttemptOutcome {
        match self {
            Self::Released => AttemptOutcome::Released,
            Self::TakenOver => AttemptOutcome::TakenOver,
            Self::Failed => AttemptOutcome::Failed,
            Self::Lost | Self::RunnerGone | Self::SessionGone => AttemptOutcome::Lost,
        }
    }
}

/// An event in the life of a task. The store compares fences before it sends a worker's event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A worker takes the task.
    Take {
        /// The worker.
        worker: WorkerId,
        /// When its lease ends.
        until: Timestamp,
    },
    /// A session works on the task.
    WorkIn {
        /// The session.
        session: SessionId,
    },
    /// The worker's first heartbeat.
    Start,
    /// A heartbeat.
    Renew {
        /// The end of the lease, which never moves backwards.
        until: Timestamp,
        /// The worker's progress, if given.
        progress: Option<String>,
    },
    /// The worker, or the check of its work, waits for an approval.
    Wait {
        /// Who must allow what; absent if the wait is over.
        why: Option<String>,
    },
    /// The worker hands in work that must be checked or judged.
    Report,
    /// A runner checks the report.
    BeginCheck,
    /// Another runner must check the report.
    MoveCheck,
    /// The report meets everything else: the merge queue decides.
    AwaitMerge {
        /// What the task waits for, for people.
        why: String,
    },
    /// The work is accepted.
    Accept {
        /// The context score, if the worker gave one.
        score: Option<u8>,
        /// The author of the work, in case nobody holds the task.
        by: Option<WorkerId>,
    },
    /// The report is refused.
    Refuse {
        /// The reason.
        why: Why,
        /// Why another attempt of the same worker is useless, if it is.
        stuck: Option<String>,
        /// Whether the worker waits for the verdict.
        still_there: bool,
        /// The end of the lease for another attempt.
        until: Timestamp,
    },
    /// The worker loses its hold.
    LetGo {
        /// The way.
        how: Leaving,
        /// The reason.
        why: Why,
        /// The number of consecutive lost attempts just before this one.
        lost_before: u32,
    },
    /// A person must decide before a worker continues.
    Escalate {
        /// The question.
        question: String,
        /// Whether a report waits for the answer, so that its attempt stays open.
        verdict_open: bool,
    },
    /// A worker asks a person, and continues meanwhile.
    Ask,
    /// An escalated report is judged without an answer.
    JudgeOn {
        /// The author of the work.
        worker: WorkerId,
        /// The session of the work.
        session: Option<SessionId>,
    },
    /// The task returns to the queue and forgets earlier failures.
    Retry {
        /// Who retried it, and why.
        reason: Option<String>,
        /// Why the task's open dependencies cannot be met, if so.
        unreachable: Option<String>,
    },
    /// A done task returns to the queue because a person wants more.
    Reopen {
        /// Who reopened it, and the words.
        reason: String,
        /// The number of open dependencies, which may have been reopened, too.
        waits_for: u32,
        /// Why they cannot be met, if so.
        unreachable: Option<String>,
    },
    /// The task fails for good.
    Fail {
        /// The reason.
        reason: Option<String>,
    },
    /// The task is cancelled.
    Cancel {
        /// The reason.
        reason: Option<String>,
    },
    /// A dependency is done.
    DependencyDone,
    /// A dependency was reopened.
    DependencyReopened,
    /// A person gave the task other dependencies.
    Rewire {
        /// How many of them are open.
        waits_for: u32,
        /// Why they cannot be met, if so.
        unreachable: Option<String>,
    },
    /// The dependencies became reachable or unreachable.
    DependenciesChange {
        /// Why they are unreachable.
        unreachable: Option<String>,
    },
    /// The dispatcher left the task in the queue.
    Pass {
        /// Why no worker takes the task, unless all are merely busy.
        unassigned: Option<String>,
    },
}
