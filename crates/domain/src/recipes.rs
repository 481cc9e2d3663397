//! The words of recipes, executions and schedules.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::values::words;

words! {
    /// The format of a recipe's text.
    RecipeFormat {
        /// YAML.
        Yaml = "yaml",
        /// TOML.
        Toml = "toml",
        /// JSON.
        Json = "json",
    }
}

words! {
    /// How far an execution is.
    ExecutionStatus {
        /// Steps run or are about to begin.
        Running = "running",
        /// Nothing runs: it waits for a time, an event or a person.
        Waiting = "waiting",
        /// No step begins until a person resumes it.
        Paused = "paused",
        /// All steps are over.
        Completed = "completed",
        /// A step has failed; a person can retry or skip it.
        Failed = "failed",
        /// A person cancelled it.
        Cancelled = "cancelled",
    }
}

words! {
    /// What a step of a recipe does.
    StepKind {
        /// An agent works in a session.
        Agent = "agent",
        /// Tasks for the queue.
        Task = "task",
        /// A command on a runner.
        Run = "run",
        /// A wait for a time or an event.
        Wait = "wait",
        /// A question to people.
        Approve = "approve",
        /// The first case whose condition holds.
        Branch = "branch",
        /// Several lists of steps at once.
        Parallel = "parallel",
        /// A list of steps for each item.
        ForEach = "for_each",
        /// A message to people.
        Notify = "notify",
        /// A branch lands through the merge queue.
        Merge = "merge",
        /// Another recipe.
        Call = "call",
        /// The end of the execution.
        End = "end",
    }
}

words! {
    /// How far a step of an execution is.
    StepStatus {
        /// It has not begun.
        Pending = "pending",
        /// It runs, or its lanes run.
        Running = "running",
        /// It waits for a time, an event or a person.
        Waiting = "waiting",
        /// It waits for its next attempt.
        Retrying = "retrying",
        /// A pause stopped it; it begins again on resume.
        Held = "held",
        /// A crash caught it in the middle; a person decides.
        Interrupted = "interrupted",
        /// It succeeded.
        Succeeded = "succeeded",
        /// It failed.
        Failed = "failed",
        /// Its condition does not hold, or a person skipped it.
        Skipped = "skipped",
        /// It was stopped with its block or execution.
        Cancelled = "cancelled",
    }
}

words! {
    /// What happens when a schedule is due while an execution of it is not over.
    Overlap {
        /// The tick is skipped.
        Skip = "skip",
        /// One execution waits for its turn; further ticks are skipped.
        QueueOne = "queue_one",
        /// Every execution waits for its turn, up to a limit.
        QueueAll = "queue_all",
        /// The old execution is cancelled.
        CancelRunning = "cancel_running",
        /// They run at once.
        Allow = "allow",
    }
}

words! {
    /// What happened to a tick of a schedule.
    TickOutcome {
        /// An execution was started.
        Started = "started",
        /// It waits for the execution before it.
        Queued = "queued",
        /// It was skipped, because an execution was not over.
        Skipped = "skipped",
        /// It was missed: no hub ran, and the catch-up rule leaves it out.
        Missed = "missed",
        /// The execution could not be started.
        Failed = "failed",
    }
}

words! {
    /// How a service signs what it sends to a webhook of a project.
    HookKind {
        /// `X-Hub-Signature-256` over the body, as GitHub, Gitea and Forgejo send it.
        Github = "github",
        /// Standard Webhooks: `webhook-signature` over id, time and body.
        Standard = "standard",
    }
}
