//! The words of tasks, workers, reports and escalations.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::values::words;

words! {
    /// A task's status.
    TaskStatus {
        /// It waits for its dependencies, or one of them failed; the reason says which. Entered when added, and by the
        /// hub.
        Blocked = "blocked",
        /// All dependencies are done, and no worker has it. Entered by the hub.
        Ready = "ready",
        /// A worker holds its lease and has not started yet. Entered by taking or assigning it.
        Assigned = "assigned",
        /// Its worker works. Entered by the worker's first heartbeat, and when refused work returns to it.
        Running = "running",
        /// It has a report that nobody checks yet. Entered by the worker that holds the lease.
        Reported = "reported",
        /// Its acceptance is being checked. Entered by the runner that starts the check.
        Validating = "validating",
        /// The report was accepted; final. Entered by the hub or a person's answer.
        Done = "done",
        /// It will not be done, and its dependants stay blocked; a person may retry it. Entered by a person's answer.
        Failed = "failed",
        /// A person must decide; nobody works on it. Entered by the hub, and by a worker that gives up.
        Escalated = "escalated",
        /// A person no longer wants it; final unless retried. Entered by a person.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether a worker holds the task.
    pub fn is_held(self) -> bool {
        matches!(self, Self::Assigned | Self::Running | Self::Reported | Self::Validating)
    }

    /// Whether the task does not change by itself any more.
    pub fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

words! {
    /// A worker's kind.
    WorkerKind {
        /// The hub spawns a session for each of its tasks.
        Managed = "managed",
        /// It takes its tasks itself: through MCP, HTTP, a socket or files.
        External = "external",
    }
}

words! {
    /// A worker's status.
    WorkerStatus {
        /// It is ready for a task.
        Idle = "idle",
        /// It has a task.
        Working = "working",
        /// A provider's limit or a question pauses it; it resumes by itself.
        Paused = "paused",
        /// Its breaker is open after consecutive failures; it gets one trial later.
        Offline = "offline",
        /// Its budget is spent; it takes nothing until the budget is raised.
        Spent = "spent",
        /// It takes nothing more and stops after its task.
        Stopping = "stopping",
        /// It takes nothing until it is started again.
        Stopped = "stopped",
        /// It sends no heartbeats.
        Lost = "lost",
    }
}

words! {
    /// How a project assigns its tasks.
    AssignStrategy {
        /// Each free worker in turn.
        RoundRobin = "round_robin",
        /// The free worker that has done least.
        LeastLoaded = "least_loaded",
        /// The free worker whose abilities fit most closely.
        Capability = "capability",
        /// Tasks wait at workers; a worker without tasks takes from the longest queue.
        Stealing = "stealing",
    }
}

words! {
    /// What the work log says was decided about a task or a worker.
    WorkDecision {
        /// A lease ended: the task is free again.
        LeaseLost = "lease_lost",
        /// A session's host or runner lost it.
        SessionLost = "session_lost",
        /// A report was refused: back to the same worker.
        SentBack = "sent_back",
        /// A worker failed or was refused for good: the task goes to another.
        ToAnother = "to_another",
        /// A worker may not continue, or its budget is spent.
        LetGo = "let_go",
        /// A session ended with an open question.
        WaitsForAnswer = "waits_for_answer",
        /// A person is asked.
        Escalated = "escalated",
        /// An agent makes no progress.
        Stuck = "stuck",
        /// A person took a task over.
        TakenOver = "taken_over",
        /// Work moves from one runner to another.
        WorkMoves = "work_moves",
        /// Another runner checks a report.
        CheckMoved = "check_moved",
        /// No runner could compare an output with others.
        NotCompared = "not_compared",
        /// The other output of a conflict is gone.
        ConflictGone = "conflict_gone",
        /// A worker takes tasks again after it was lost, or a person restarted it.
        Restarted = "restarted",
        /// A person stopped a worker.
        Stopped = "stopped",
        /// A worker failed too often and cools down.
        BreakerOpen = "breaker_open",
        /// A worker that cooled down tries one task.
        BreakerTrial = "breaker_trial",
        /// A budget is spent.
        BudgetSpent = "budget_spent",
        /// An agent reports no cost, so no budget stops it.
        BudgetBlind = "budget_blind",
        /// A provider's limit or an outage pauses a worker.
        Paused = "paused",
        /// An agent cannot work on a runner.
        Outage = "outage",
        /// A worker takes tasks again.
        Resumed = "resumed",
        /// The queue is long: there are more workers.
        ScaledUp = "scaled_up",
        /// Workers were idle: there are fewer.
        ScaledDown = "scaled_down",
        /// A person stopped everything of theirs.
        Frozen = "frozen",
        /// A person let their workers continue.
        Thawed = "thawed",
    }
}

words! {
    /// How an attempt ended.
    AttemptOutcome {
        /// It has not ended.
        Open = "open",
        /// Its report was accepted.
        Accepted = "accepted",
        /// Its reports were refused too often.
        Refused = "refused",
        /// The worker reported that it cannot do it, or its process failed.
        Failed = "failed",
        /// The worker was silent until its lease ended.
        Lost = "lost",
        /// The worker was stopped or returned the task.
        Released = "released",
        /// A person took the task over.
        TakenOver = "taken_over",
        /// It escalated the task to a person and released it.
        Escalated = "escalated",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

words! {
    /// A report's verdict.
    ReportVerdict {
        /// It is being checked.
        Pending = "pending",
        /// It meets the acceptance.
        Accepted = "accepted",
        /// It does not; the results say why.
        Refused = "refused",
        /// Its lease was lost: it is kept and shown, and changes nothing.
        Late = "late",
    }
}

words! {
    /// Why a person is asked.
    EscalationKind {
        /// A worker asks and continues with the answer.
        Question = "question",
        /// A worker escalated the task to a person.
        GaveUp = "gave_up",
        /// Work was refused too often.
        Refused = "refused",
        /// Retries do not change the result.
        Stuck = "stuck",
        /// Only a person can judge it.
        Judgement = "judgement",
        /// A person must review the changes.
        Review = "review",
        /// Two outputs change the same lines.
        SameLines = "same_lines",
        /// Two outputs contradict each other.
        Contradiction = "contradiction",
        /// The acceptance cannot be checked anywhere.
        Uncheckable = "uncheckable",
        /// An agent cannot work on a machine, whatever its task.
        Outage = "outage",
    }
}

words! {
    /// What became of a thread of comments on changed lines.
    ThreadStatus {
        /// The agent has not got it yet. Entered by a person's comment, and by an agent's new thread.
        Open = "open",
        /// The agent has got it. Entered when the work is sent back.
        Sent = "sent",
        /// Nothing is left to do. Entered by somebody who may write in the project.
        Resolved = "resolved",
    }
}

words! {
    /// How far work is on its way to the repository.
    LandingState {
        /// A runner makes its branch appear at the repository. Entered when it is asked for.
        Publishing = "publishing",
        /// The branch is at the repository; nothing more was asked for. Entered by the runner's answer.
        Published = "published",
        /// The branch waits in the merge queue. Entered by the hub.
        Queued = "queued",
        /// The work is on the target branch; final. Entered by the merge queue.
        Landed = "landed",
        /// It could not be published or landed; the detail says why. It can be asked for again.
        Refused = "refused",
    }
}

words! {
    /// The side of a diff that a comment is on.
    DiffSide {
        /// The lines before the change.
        Old = "old",
        /// The lines after it.
        New = "new",
    }
}

words! {
    /// What happens to accepted work of a project.
    LandMode {
        /// A person lands it.
        ByHand = "by_hand",
        /// It lands by itself, through the merge queue.
        Automatic = "automatic",
        /// Its branch is published by itself; a person merges it.
        PushOnly = "push_only",
    }
}

words! {
    /// The cause of a hold-up, which is not the task's fault.
    HoldUp {
        /// The provider rejects the agent's login.
        Auth = "auth",
        /// The provider's limit is reached.
        RateLimit = "rate_limit",
        /// The provider answers with errors.
        Overloaded = "overloaded",
        /// The provider does not answer, or disconnects.
        Network = "network",
        /// The agent itself could not start.
        StartUp = "start_up",
    }
}

words! {
    /// What an answer to an escalation does.
    AnswerAct {
        /// Accepts the report as it is.
        Accept = "accept",
        /// Returns the task to the queue, with the answer.
        Retry = "retry",
        /// Answers the worker, which continues.
        Tell = "tell",
        /// Marks the task as failed.
        Fail = "fail",
        /// Cancels the task.
        Cancel = "cancel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_says_how_it_is_entered() {
        for status in TaskStatus::ALL {
            assert!(status.meaning().contains("Entered "), "{status}: {}", status.meaning());
        }
    }
}
