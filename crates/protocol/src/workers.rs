//! Workers: slots on a runner that take tasks.

use domain::{ProjectId, RunnerId, SessionId, TaskId, Timestamp, WorkerId, WorkerKind, WorkerStatus};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{inputs, queries, views};
use crate::{Attempt, Sandbox, Usage, UserRef, WorkEntry};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! workers {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* workers {
        changes {
            /// Workers of one project appeared or changed.
            Workers { workers: Vec<Worker> },
            /// A worker was removed.
            WorkerGone { worker: WorkerId },
        }
        answers {
            Workers(Vec<Worker>),
            WorkerDetail(WorkerDetail),
            Worker(Worker),
        }
        verbs {
            /// The workers that the caller may see.
            WorkerList "worker.list" GET "/api/workers" { query filter: WorkerFilter } -> 200 Vec<Worker>, Anyone;
            /// One worker with what it has done.
            WorkerShow "worker.show" GET "/api/workers/{worker}" { path worker: WorkerId } -> 200 WorkerDetail, See;
            /// Starts workers on one of the caller's runners.
            WorkerStart "worker.start" POST "/api/projects/{project}/workers"
                { path project: ProjectId, body input: crate::WorkerStart } -> 201 Vec<Worker>, Spawn;
            /// Changes one of the caller's workers.
            WorkerUpdate "worker.update" PATCH "/api/workers/{worker}"
                { path worker: WorkerId, body input: crate::WorkerUpdate } -> 200 Worker, Owner;
            /// Stops one of the caller's workers.
            WorkerStop "worker.stop" POST "/api/workers/{worker}/stop"
                { path worker: WorkerId, body input: crate::WorkerStop } -> 200 Worker, Owner;
            /// Starts one of the caller's workers afresh, with its breaker closed.
            WorkerRestart "worker.restart" POST "/api/workers/{worker}/restart"
                { path worker: WorkerId } -> 200 Worker, Owner;
            /// Removes one of the caller's workers; what it did is kept.
            WorkerRemove "worker.remove" DELETE "/api/workers/{worker}" { path worker: WorkerId } -> 204 (), Owner;
            /// Stops all of the caller's workers in a project.
            WorkerStopAll "worker.stop_all" POST "/api/projects/{project}/workers/stop"
                { path project: ProjectId, body input: crate::WorkerStop } -> 200 Vec<Worker>, PersonSees;
        }
    } } };
}

pub(crate) use workers;

inputs! {
    /// Workers to be started.
    WorkerStart {
        /// The adapter's name; needed without a profile.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        agent: String,
        /// The agent profile that they follow: agent, model, sandbox, labels and budget, unless given here, and its prompt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
        /// How many; default: 1.
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
        /// After what cost each of their sessions hands its task to a fresh one, in millionths of a dollar.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        handoff_after_micros: Option<u64>,
        /// What they can do.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        abilities: Vec<String>,
        /// The runner; default: one of the caller's that has the agent.
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

    /// Changes to a worker; absent fields stay unchanged.
    WorkerUpdate {
        /// What it may cost in all, in millionths of a dollar.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        budget_micros: Option<u64>,
        /// After what cost a session hands its task to a fresh one, in millionths of a dollar; 0: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        handoff_after_micros: Option<u64>,
        /// What people call it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        /// What it can do.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        abilities: Option<Vec<String>>,
    }
}

queries! {
    /// Which workers to list.
    #[derive(Copy)]
    WorkerFilter {
        /// Only those of this project.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
    }
}

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
        /// Its status.
        status: WorkerStatus,
        /// The reason.
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
        /// After what cost a session of it hands its task to a fresh one, in millionths of a dollar.
        #[serde(default)]
        #[ts(type = "number | null")]
        handoff_after_micros: Option<u64>,
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
        /// Decisions about it, newest first.
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
}
