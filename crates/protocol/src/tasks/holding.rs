//! A worker's hold on a task: taking it, signs of life, giving it back.

use domain::{AttemptOutcome, SessionId, TaskId, WorkspaceId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::inputs;
use crate::shapes::views;
use crate::{Lease, Report, Task};

views! {
    /// What an earlier worker left.
    Handover {
        /// The earlier worker.
        worker_name: String,
        /// How its hold ended.
        outcome: AttemptOutcome,
        /// The reason.
        reason: Option<String>,
        /// Where it worked.
        workspace: Option<WorkspaceId>,
        /// The branch that it left.
        branch: Option<String>,
        /// Its last session, whose recording shows what it did.
        session: Option<SessionId>,
        /// Its last report.
        report: Option<Report>,
    }

    /// A taken task.
    TakenTask {
        /// The task.
        task: Task,
        /// The hold on it; name its fence with everything that is written.
        lease: Lease,
        /// How often to renew the lease, in seconds.
        heartbeat_seconds: u32,
        /// What an earlier worker left.
        handover: Option<Handover>,
        /// Why the last report was refused, if the task came back.
        refused: Option<String>,
        /// The brief for the agent.
        brief: String,
    }

    /// The result of taking a task.
    Taken {
        /// The task, if one was ready.
        taken: Option<TakenTask>,
        /// Why there was none.
        why_not: Option<String>,
    }
}

inputs! {
    /// Who takes a task, and which.
    TaskTake {
        /// Only this task; default: the next one in the queue.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// The worker's name; the same name in the same project is the same worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<String>,
        /// What the worker can do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        abilities: Vec<String>,
        /// How long to wait for a task, up to 60 seconds; default: not at all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        wait_seconds: Option<u32>,
    }

    /// A worker's heartbeat.
    TaskHeartbeat {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// How far it is, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        progress: Option<String>,
    }

    /// A worker returns a task.
    TaskRelease {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// The reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }
}
