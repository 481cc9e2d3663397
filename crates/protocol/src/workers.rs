//! Workers: who takes tasks, how many there are, what they cost, and what was decided about them.

use domain::{
    AssignStrategy, ProjectId, RunnerId, SessionId, TaskId, TaskStatus, Timestamp, WorkerId, WorkerKind, WorkerStatus,
};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::inputs::inputs;
use crate::views::views;
use crate::{Attempt, Sandbox, Usage, UserRef};

views! {
    /// A slot that takes tasks, one at a time.
    Worker {
        /// The worker's id.
        id: WorkerId,
        /// The project whose tasks it takes.
        project: ProjectId,
        /// Whose it is.
        owner: UserRef,
        /// What people call it.
        name: String,
        /// How it takes part.
        kind: WorkerKind,
        /// The runner that runs its sessions.
        runner: Option<RunnerId>,
        /// The adapter's name.
        agent: String,
        /// The model.
        model: Option<String>,
        /// Who it is in the team.
        role: Option<String>,
        /// What it can do.
        abilities: Vec<String>,
        /// Its place among the worker colours, from 0; the same everywhere.
        colour: u32,
        /// What it is at.
        status: WorkerStatus,
        /// Why.
        reason: Option<String>,
        /// Until when, if it is paused or offline.
        until: Option<Timestamp>,
        /// The task that it has.
        task: Option<TaskId>,
        /// The session that works on it.
        session: Option<SessionId>,
        /// Tasks that wait at it.
        queue: Vec<TaskId>,
        /// Failures since the last success.
        failures: u32,
        /// How many tasks it has done.
        done: u32,
        /// How many it has failed.
        failed: u32,
        /// What it used in all.
        usage: Usage,
        /// What it may cost in all, in millionths of a dollar.
        #[ts(type = "number | null")]
        budget_micros: Option<u64>,
        /// The mean of its context scores, in hundredths.
        context_score: Option<u32>,
        /// When it was last heard from.
        seen_at: Option<Timestamp>,
        /// When it was started.
        created_at: Timestamp,
    }

    /// A worker with what it has done.
    WorkerDetail {
        /// The worker.
        worker: Worker,
        /// What it held, newest first.
        attempts: Vec<WorkerAttempt>,
        /// What was decided about it, newest first.
        log: Vec<WorkEntry>,
    }

    /// One task in a worker's history.
    WorkerAttempt {
        /// The task.
        task: TaskId,
        /// Its title.
        title: String,
        /// The hold on it.
        attempt: Attempt,
    }

    /// Something that was decided about tasks or workers, and why.
    WorkEntry {
        /// Counts up.
        #[ts(type = "number")]
        number: u64,
        /// When.
        at: Timestamp,
        /// The project.
        project: ProjectId,
        /// The worker that it is about.
        worker: Option<WorkerId>,
        /// The task that it is about.
        task: Option<TaskId>,
        /// What: `lease_lost`, `breaker_open`, `breaker_trial`, `scaled_up`, `scaled_down`, `paused`, `resumed`, `budget_spent`, `stuck`, …
        what: String,
        /// Why, in words.
        reason: String,
    }

    /// How a project hands out its tasks.
    WorkSettings {
        /// Who takes which task.
        strategy: AssignStrategy,
        /// How long a lease holds without a sign of life.
        lease_seconds: u32,
        /// How often a worker gives a sign of life.
        heartbeat_seconds: u32,
        /// How many of those may be missed before it is restarted.
        missed: u32,
        /// How long a worker may have one task, with all its tries; 0: as long as it gives signs of life.
        #[serde(default)]
        task_minutes: u32,
        /// How often refused work goes back to the same worker.
        tries_per_worker: u32,
        /// How many workers try before a person is asked.
        workers_per_task: u32,
        /// How many failures in a row take a worker offline.
        breaker_failures: u32,
        /// For how long.
        breaker_seconds: u32,
        /// Never fewer managed workers, while it scales by itself.
        scale_least: u32,
        /// Never more; 0: it does not scale by itself.
        scale_most: u32,
        /// More workers when so many ready tasks wait for each.
        scale_tasks_per_worker: u32,
        /// Fewer when one had nothing to do for so long.
        scale_idle_seconds: u32,
        /// What all its work may cost, in millionths of a dollar.
        #[ts(type = "number | null")]
        budget_micros: Option<u64>,
        /// Whether the project's owner stopped everything here.
        frozen: bool,
        /// Everybody who stopped everything here, by name: its owner, and people with workers in the project.
        #[serde(default)]
        frozen_by: Vec<UserRef>,
    }

    /// How many tasks of a project are at each status.
    TaskCount {
        /// The status.
        status: TaskStatus,
        /// How many.
        count: u32,
    }

    /// What somebody is doing, for agents that ask.
    DoingWhat {
        /// The worker or person.
        who: String,
        /// What.
        what: String,
        /// The files that they mean to change.
        files: Vec<String>,
        /// Since when.
        since: Timestamp,
    }

    /// What was stopped or thawed.
    Frozen {
        /// Whether nothing is handed out now.
        frozen: bool,
        /// How many workers take nothing until it is thawed, or take tasks again.
        workers: u32,
        /// How many sessions were asked to stop.
        sessions: u32,
    }
}

inputs! {
    /// Workers to be started.
    WorkerStart {
        /// The adapter's name.
        agent: String,
        /// How many; 1 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u32>,
        /// Who they are in the team.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        role: Option<String>,
        /// The model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        /// What each may cost in all, in millionths of a dollar.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        budget_micros: Option<u64>,
        /// What they can do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        abilities: Vec<String>,
        /// The runner; one of the caller's that has the agent when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        runner: Option<RunnerId>,
        /// The program and its arguments, for the agent `command`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        argv: Vec<String>,
        /// Keeps their sessions from writing outside their workspaces.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sandbox: Option<Sandbox>,
    }

    /// How workers are stopped.
    WorkerStop {
        /// Without letting them finish their task.
        #[serde(default)]
        #[ts(as = "Option<bool>")]
        force: bool,
    }

    /// Changes to a worker; what is absent stays.
    WorkerUpdate {
        /// What it may cost in all, in millionths of a dollar.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        budget_micros: Option<u64>,
        /// What people call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What it can do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        abilities: Option<Vec<String>>,
    }

    /// Changes to how a project hands out its tasks; what is absent stays.
    WorkConfigure {
        /// Who takes which task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strategy: Option<AssignStrategy>,
        /// How long a lease holds without a sign of life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_seconds: Option<u32>,
        /// How often a worker gives a sign of life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heartbeat_seconds: Option<u32>,
        /// How many of those may be missed before it is restarted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missed: Option<u32>,
        /// How long a worker may have one task, with all its tries; 0: as long as it gives signs of life.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_minutes: Option<u32>,
        /// How often refused work goes back to the same worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tries_per_worker: Option<u32>,
        /// How many workers try before a person is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workers_per_task: Option<u32>,
        /// How many failures in a row take a worker offline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        breaker_failures: Option<u32>,
        /// For how long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        breaker_seconds: Option<u32>,
        /// Never fewer managed workers, while it scales by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_least: Option<u32>,
        /// Never more; 0: it does not scale by itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_most: Option<u32>,
        /// More workers when so many ready tasks wait for each.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_tasks_per_worker: Option<u32>,
        /// Fewer when one had nothing to do for so long.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_idle_seconds: Option<u32>,
        /// What all its work may cost, in millionths of a dollar; 0: anything.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        budget_micros: Option<u64>,
    }

    /// What to stop, or to thaw.
    Freeze {
        /// Only in this project; everything of the caller's when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
    }
}

/// Which workers to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct WorkerFilter {
    /// Only those of this project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<ProjectId>,
}

/// Which decisions to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, TS, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct WorkLogPage {
    /// Only those about this worker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<WorkerId>,
    /// Only those about this task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
    /// Only those with a lower number; the newest when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(as = "Option<f64>")]
    pub before: Option<u64>,
    /// How many at most, up to 500; 100 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
}
