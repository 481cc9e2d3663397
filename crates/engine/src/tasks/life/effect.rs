//! Effects of a step, which the store performs in the same transaction and in this order.

use domain::{AttemptOutcome, EscalationKind, SessionId, Timestamp, WorkerId};

use crate::workers::decision::Decision;

use super::Hold;

/// How a hold ended, for its worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// The report was accepted; with the context score, if the worker gave one.
    Accepted(Option<u8>),
    /// The worker failed, was refused for good, or made no progress.
    Failed(String),
    /// The worker was silent, though its runner was not.
    Lost(String),
    /// The runner was silent, or the session is gone: not a failure of the agent.
    Gone(String),
    /// Somebody else ended the hold: stopped, released, taken over, cancelled, asked.
    Released,
}

/// An escalation of a task that no worker could do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// The kind of escalation.
    pub kind: EscalationKind,
    /// Why no worker could do it, as a sentence.
    pub cause: String,
    /// All known reasons, for those who may see the work.
    pub text: String,
    /// The last attempt's worker and session.
    pub hold: Hold,
}

impl Trouble {
    /// What a person is asked.
    pub fn question(&self) -> String {
        format!("{} What should happen?", self.cause)
    }
}

/// An effect of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The worker took the task, and the attempt starts.
    BeginAttempt {
        /// The worker.
        worker: WorkerId,
    },
    /// The current attempt ends, unless it has ended already.
    CloseAttempt {
        /// The outcome.
        outcome: AttemptOutcome,
        /// The reason.
        reason: Option<String>,
        /// The end of a lost worker's lease: its last heartbeat was one lease earlier.
        silent_until: Option<Timestamp>,
    },
    /// The worker no longer has the task.
    FreeWorker {
        /// The worker.
        worker: WorkerId,
        /// How its hold ended.
        ended: Ended,
    },
    /// Pending reports are refused, and their checks stop.
    RefusePending {
        /// The reason.
        reason: String,
    },
    /// The dependants have one open dependency less.
    FreeDependants,
    /// The accepted work lands by itself, if the project says so.
    LandWork,
    /// The dependants that no worker has taken yet wait for the task again.
    HoldDependants,
    /// The dependants become unreachable.
    BlockDependants,
    /// The dependants become reachable again.
    UnblockDependants,
    /// Open questions about the task are settled.
    SettleQuestions {
        /// The reason.
        why: String,
    },
    /// The session must stop.
    StopSession {
        /// The session.
        session: SessionId,
    },
    /// The activity that the task started may have ended.
    LookAtActivity,
    /// The output no longer counts: outputs that conflict with it are compared again.
    DropOutput {
        /// The reason.
        how: &'static str,
    },
    /// A person is asked.
    AskPerson(Trouble),
    /// The decision goes into the work log.
    Log {
        /// The worker in question.
        worker: Option<WorkerId>,
        /// The decision with its reason.
        decision: Decision,
    },
}
