//! What the store does after a step, in the same transaction and in this order.

use domain::{AttemptOutcome, EscalationKind, SessionId, Timestamp, WorkerId};

use crate::workers::decision::Decision;

use super::Hold;

/// How a hold ended, as far as the worker is concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ended {
    /// Its report was accepted; with the context score, if it gave one.
    Accepted(Option<u8>),
    /// It failed, its reports were refused for good, or it made no progress.
    Failed(String),
    /// It was not heard from, though its runner was.
    Lost(String),
    /// Its runner was not heard from, or its session is gone: not a failure of its agent.
    Gone(String),
    /// Somebody else decided: stopped, released, taken over, cancelled, asked.
    Released,
}

/// What a person is asked when no worker gets a task done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind of trouble.
    pub kind: EscalationKind,
    /// The question, with the reason.
    pub question: String,
    /// All that is known of the reason, for those who may see the work.
    pub text: String,
    /// Whose attempt it was, and in which session.
    pub hold: Hold,
}

/// What follows from a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// The worker has the task, and the attempt begins.
    BeginAttempt {
        /// The worker.
        worker: WorkerId,
    },
    /// The current attempt ends; one that has ended stays as it is.
    CloseAttempt {
        /// How.
        outcome: AttemptOutcome,
        /// Why.
        reason: Option<String>,
        /// When the lease of a worker that was lost ended: it was last heard from a lease before.
        silent_until: Option<Timestamp>,
    },
    /// The worker does not have the task any more.
    FreeWorker {
        /// The worker.
        worker: WorkerId,
        /// How its hold ended.
        ended: Ended,
    },
    /// Reports that wait for a verdict are refused, and their checks stop.
    RefusePending {
        /// Why.
        reason: String,
    },
    /// Tasks that wait for this one wait for one less.
    FreeDependants,
    /// Tasks that wait for this one say that it ended.
    BlockDependants,
    /// Tasks that wait for this one may be done after all.
    UnblockDependants,
    /// Open questions about the task need no answer any more.
    SettleQuestions {
        /// Why.
        why: &'static str,
    },
    /// The session must stop.
    StopSession {
        /// The session.
        session: SessionId,
    },
    /// The activity that the task began may be over.
    LookAtActivity,
    /// Its output counts no more: outputs that conflict with it are compared again.
    DropOutput {
        /// What became of it.
        how: &'static str,
    },
    /// A person is asked.
    AskPerson(Trouble),
    /// The decision goes into the work log.
    Log {
        /// The worker that it is about.
        worker: Option<WorkerId>,
        /// What was decided, and why.
        decision: Decision,
    },
}
