//! What can happen to a task.

use domain::{AttemptOutcome, SessionId, Timestamp, WorkerId};

/// Why a hold ends: in words for everybody who sees the project, and with details for those who may see the work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Why {
    /// For everybody.
    pub open: Option<String>,
    /// For those who may see the work; the same when absent.
    pub whole: Option<String>,
}

impl Why {
    /// The same words for all.
    pub fn open(reason: Option<String>) -> Self {
        Self { open: reason, whole: None }
    }

    /// Words that reveal nothing of the machine or the work, and a detail for those who may see it.
    pub fn with_detail(open: impl Into<String>, detail: Option<String>) -> Self {
        let open = open.into();
        Self { whole: detail.map(|detail| format!("{open}\n{detail}")), open: Some(open) }
    }

    /// All that is known.
    pub fn whole(&self) -> Option<&str> {
        self.whole.as_deref().or(self.open.as_deref())
    }
}

/// How a worker loses its hold other than by a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leaving {
    /// It gave the task back, or was stopped.
    Released,
    /// A person continues it elsewhere.
    TakenOver,
    /// It cannot do it, or its agent failed.
    Failed,
    /// It was not heard from, though its runner was.
    Lost,
    /// Its runner was not heard from.
    RunnerGone,
    /// Its session is gone, which was noticed at once.
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

/// What happens to a task. Fences are for the store to compare before it sends a worker's event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A worker takes it.
    Take {
        /// The worker.
        worker: WorkerId,
        /// When its lease ends.
        until: Timestamp,
    },
    /// A session works on it.
    WorkIn {
        /// The session.
        session: SessionId,
    },
    /// The worker works: its first sign of life.
    Start,
    /// A sign of life.
    Renew {
        /// When the lease ends; it never gets shorter.
        until: Timestamp,
        /// How far the worker is, if it said so.
        progress: Option<String>,
    },
    /// Somebody must allow something before the worker, or the check of its work, can continue.
    Wait {
        /// Who must allow what; absent: nothing any more.
        why: Option<String>,
    },
    /// The worker hands in work that must be checked or judged.
    Report,
    /// A runner checks the report.
    BeginCheck,
    /// Another runner is to check the report.
    MoveCheck,
    /// The work is accepted.
    Accept {
        /// How well the task could be understood, if the worker said so.
        score: Option<u8>,
        /// Who did the work, should nobody hold it any more.
        by: Option<WorkerId>,
    },
    /// The report is refused.
    Refuse {
        /// Why.
        why: Why,
        /// Why another try of the same worker is useless, if it is.
        stuck: Option<String>,
        /// Whether the worker still waits for the verdict.
        still_there: bool,
        /// When its lease ends, should it try again.
        until: Timestamp,
    },
    /// The worker loses its hold.
    LetGo {
        /// How.
        how: Leaving,
        /// Why.
        why: Why,
        /// How many attempts before this one were lost, one after the other.
        lost_before: u32,
    },
    /// A person must decide before anybody works on it.
    Escalate {
        /// What the person is asked.
        question: String,
        /// Whether a report waits for the answer: its attempt stays open.
        verdict_open: bool,
    },
    /// A person is asked something while its worker goes on.
    Ask,
    /// What a person was asked about is judged without an answer.
    JudgeOn {
        /// Whose work it is.
        worker: WorkerId,
        /// In which session it was done.
        session: Option<SessionId>,
    },
    /// Back into the queue, as if nobody had tried.
    Retry {
        /// Who retried it, and why.
        reason: Option<String>,
        /// Why its dependencies cannot be met, should it wait for some.
        unreachable: Option<String>,
    },
    /// It fails for good.
    Fail {
        /// Why.
        reason: Option<String>,
    },
    /// Nobody wants it any more.
    Cancel {
        /// Why.
        reason: Option<String>,
    },
    /// One of its dependencies is done.
    DependencyDone,
    /// Its dependencies can, or cannot, be met.
    DependenciesChange {
        /// Why they cannot.
        unreachable: Option<String>,
    },
    /// The dispatcher left it in the queue.
    Pass {
        /// Why no worker takes it, if that is not just because all are busy.
        unassigned: Option<String>,
    },
}
