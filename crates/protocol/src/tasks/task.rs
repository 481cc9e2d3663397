//! A task: in one line, whole, and with everything that happened to it.

use domain::{
    ActivityId, AttemptOutcome, AuthorKind, ProjectId, RunnerId, SessionId, TaskId, TaskStatus, Timestamp, WorkerId,
    WorkspaceId,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::inputs;
use crate::shapes::views;
use crate::{Criterion, Escalation, Report, Sandbox, Usage, UserRef};

/// Who added what an earlier release tells.
fn person() -> AuthorKind {
    AuthorKind::User
}

views! {
    /// A worker's hold on a task, until it is renewed or ends.
    Lease {
        /// Who holds it.
        worker: WorkerId,
        /// Higher with every hold; every write under it names it.
        #[ts(type = "number")]
        fence: u64,
        /// When it ends unless it is renewed.
        expires_at: Timestamp,
        /// How often the task was edited: if the number has grown, read the task again.
        edits: u32,
    }

    /// A task in one line, as boards and lists show it.
    TaskLine {
        /// The task's id.
        id: TaskId,
        /// Its short name, such as `CALC-12`: the project's key and a number.
        short: String,
        /// The project that it is in.
        project: ProjectId,
        /// Its activity, once it has one.
        activity: Option<ActivityId>,
        /// The first line of its description.
        title: String,
        /// Its status.
        status: TaskStatus,
        /// The reason: which dependency blocks it, why it has no worker, what failed.
        reason: Option<String>,
        /// From 0 to 9; higher goes first.
        priority: u8,
        /// Short names to group and find tasks by.
        #[serde(default)]
        labels: Vec<String>,
        /// Abilities that its worker must have.
        #[serde(default)]
        needs: Vec<String>,
        /// How many workers have had it.
        attempt: u32,
        /// Its current worker.
        assigned_to: Option<WorkerId>,
        /// The session that works on it now.
        session: Option<SessionId>,
        /// Its worker's last reported progress.
        progress: Option<String>,
        /// What it depends on.
        deps: Vec<TaskId>,
        /// How many of those are not done.
        waits_for: u32,
        /// When it was added.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// A unit of work that can be handed out.
    Task {
        /// The task's id.
        id: TaskId,
        /// Its short name, such as `CALC-12`: the project's key and a number.
        short: String,
        /// The project that it is in.
        project: ProjectId,
        /// Its activity, once it has one.
        activity: Option<ActivityId>,
        /// What to do; the first line is its title.
        description: String,
        /// What its worker should know, answers of people included.
        context: String,
        /// The acceptance criteria.
        acceptance: Vec<Criterion>,
        /// The files that it changes.
        files: Vec<String>,
        /// Tasks that must be done first.
        deps: Vec<TaskId>,
        /// From 0 to 9; higher goes first.
        priority: u8,
        /// Abilities that its worker must have.
        needs: Vec<String>,
        /// Short names to group and find tasks by.
        #[serde(default)]
        labels: Vec<String>,
        /// Its status.
        status: TaskStatus,
        /// The reason: which dependency blocks it, why it has no worker, what failed.
        reason: Option<String>,
        /// How many workers have had it.
        attempt: u32,
        /// Who holds it now, and until when.
        lease: Option<Lease>,
        /// Its current worker.
        assigned_to: Option<WorkerId>,
        /// The session that works on it now.
        session: Option<SessionId>,
        /// Its worker's last reported progress.
        progress: Option<String>,
        /// How often it was edited.
        edits: u32,
        /// Who wrote it: who added it, or who else changed its text last.
        created_by: UserRef,
        /// Whether the person or an agent of theirs wrote it.
        #[serde(default = "person")]
        author_kind: AuthorKind,
        /// The session whose agent added it; absent when the person did, or when the receiver may not see sessions.
        author_session: Option<SessionId>,
        /// When it was added.
        created_at: Timestamp,
        /// When it last changed.
        updated_at: Timestamp,
    }

    /// One worker's hold on a task, from taking it to letting go.
    Attempt {
        /// Counts from 1 for each task.
        number: u32,
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// The worker.
        worker: WorkerId,
        /// Its name then.
        worker_name: String,
        /// The agent and model.
        agent: String,
        /// The sessions that worked on it, first to last.
        sessions: Vec<SessionId>,
        /// Where they worked.
        workspace: Option<WorkspaceId>,
        /// The branch that they left.
        branch: Option<String>,
        /// When it was taken.
        started_at: Timestamp,
        /// When it ended.
        ended_at: Option<Timestamp>,
        /// How it ended.
        outcome: AttemptOutcome,
        /// The reason.
        reason: Option<String>,
        /// What it used.
        usage: Usage,
    }

    /// A task with everything that happened to it.
    TaskDetail {
        /// The task.
        task: Task,
        /// What it depends on, in one line each.
        deps: Vec<TaskLine>,
        /// What depends on it.
        dependants: Vec<TaskLine>,
        /// Its attempts, first to last.
        attempts: Vec<Attempt>,
        /// Its reports, first to last.
        reports: Vec<Report>,
        /// Its escalations, first to last.
        escalations: Vec<Escalation>,
    }
}

inputs! {
    /// Why a task is cancelled or retried.
    TaskReason {
        /// The text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    }

    /// A person takes a task over.
    TaskTakeOver {
        /// The runner that continues it; default: one of the caller's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runner: Option<RunnerId>,
        /// The agent; default: the same as before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The model; default: the profile's, or the same as before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// The agent profile that its worker follows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
        /// The program and its arguments, for the agent `command`: what somebody else chose runs only when it is said here.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        argv: Vec<String>,
        /// Keeps its sessions from writing outside their workspaces; default: the sandbox of the worker before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
        /// The goal of its session, beside the task; default: to continue where the earlier session stopped.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        goal: Option<String>,
    }
}

/// Which tasks to list.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct TaskFilter {
    /// Only those of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
    /// Only with this status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<TaskStatus>,
    /// Only those of this activity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activity: Option<ActivityId>,
    /// Only those that this worker has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// Only those with this label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Only the one with this short name, such as `CALC-12`, in any case; several if projects have the same key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short: Option<String>,
    /// Only those that come after this one, in the order of their ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<TaskId>,
    /// Maximum number, at most 1,000; default: 200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}
