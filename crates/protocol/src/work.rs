//! How a project hands out its tasks, what was decided, and how the work goes.

use domain::{AssignStrategy, ProjectId, TaskId, TaskStatus, Timestamp, WorkDecision, WorkerId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// This subject's part of the protocol: see `verbs/mod.rs`.
macro_rules! work {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* work {
        changes {
            /// A decision was made about tasks or workers.
            WorkEntry { entry: WorkEntry },
            /// How a project hands out its tasks has changed.
            WorkSettings { project: ProjectId, settings: crate::WorkSettings },
        }
        answers {
            WorkLog(Vec<WorkEntry>),
            WorkSettings(crate::WorkSettings),
            Metrics(Metrics),
            Doing(Vec<DoingWhat>),
            Frozen(Frozen),
        }
        verbs {
            /// Decisions about tasks and workers, newest first.
            WorkLog "work.log" GET "/api/projects/{project}/work-log"
                { path project: ProjectId, query page: WorkLogPage } -> 200 Vec<WorkEntry>, See;
            /// How a project hands out its tasks.
            WorkSettings "work.settings" GET "/api/projects/{project}/work"
                { path project: ProjectId } -> 200 crate::WorkSettings, See;
            /// Changes how a project hands out its tasks.
            WorkConfigure "work.configure" PATCH "/api/projects/{project}/work"
                { path project: ProjectId, body input: crate::WorkConfigure } -> 200 crate::WorkSettings, Owner;
            /// A project's metrics.
            WorkMetrics "work.metrics" GET "/api/projects/{project}/metrics"
                { path project: ProjectId, query page: MetricsPage } -> 200 Metrics, See;
            /// Who is doing what in a project.
            WorkDoing "work.doing" GET "/api/projects/{project}/doing"
                { path project: ProjectId } -> 200 Vec<DoingWhat>, See;
            /// Stops everything of the caller's, and hands out nothing until it is thawed.
            FloorFreeze "floor.freeze" POST "/api/freeze" { body input: Freeze } -> 200 Frozen, Person;
            /// Hands out tasks again.
            FloorThaw "floor.thaw" POST "/api/thaw" { body input: Freeze } -> 200 Frozen, Person;
        }
    } } };
}

pub(crate) use work;

inputs! {
    /// Changes to how a project hands out its tasks; absent fields stay unchanged.
    WorkConfigure {
        /// Which worker gets which task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strategy: Option<AssignStrategy>,
        /// How long a lease lasts without a heartbeat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_seconds: Option<u32>,
        /// How often a worker sends a heartbeat.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        heartbeat_seconds: Option<u32>,
        /// How many of those may be missed before it is restarted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        missed: Option<u32>,
        /// How long a worker may have one task, including retries; 0: no limit while it sends heartbeats.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task_minutes: Option<u32>,
        /// How often refused work returns to the same worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tries_per_worker: Option<u32>,
        /// How many workers try before a person is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workers_per_task: Option<u32>,
        /// How many consecutive failures take a worker offline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        breaker_failures: Option<u32>,
        /// How long it stays offline.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        breaker_seconds: Option<u32>,
        /// Minimum number of managed workers with auto-scaling.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_least: Option<u32>,
        /// Maximum number of workers; 0: no auto-scaling.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_most: Option<u32>,
        /// Auto-scaling starts workers above this many ready tasks per worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_tasks_per_worker: Option<u32>,
        /// Auto-scaling stops a worker after this idle time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scale_idle_seconds: Option<u32>,
        /// Budget of all its work, in millionths of a dollar; 0: no limit.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        budget_micros: Option<u64>,
    }

    /// What to stop, or to thaw.
    Freeze {
        /// Only in this project; default: everything of the caller's.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        project: Option<ProjectId>,
    }
}

queries! {
    /// Which decisions to list.
    #[derive(Copy)]
    WorkLogPage {
        /// Only those about this worker.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        worker: Option<WorkerId>,
        /// Only those about this task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        task: Option<TaskId>,
        /// Only those with a lower number; default: the newest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        before: Option<u64>,
        /// Maximum number, at most 500; default: 100.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
    /// A decision about tasks or workers, with its reason.
    WorkEntry {
        /// Counts up.
        #[ts(type = "number")]
        number: u64,
        /// The time.
        at: Timestamp,
        /// The project.
        project: ProjectId,
        /// The worker that it is about.
        worker: Option<WorkerId>,
        /// The task that it is about.
        task: Option<TaskId>,
        /// What was decided.
        what: WorkDecision,
        /// Why, in words.
        reason: String,
    }

    /// How a project hands out its tasks.
    WorkSettings {
        /// Which worker gets which task.
        strategy: AssignStrategy,
        /// How long a lease lasts without a heartbeat.
        lease_seconds: u32,
        /// How often a worker sends a heartbeat.
        heartbeat_seconds: u32,
        /// How many of those may be missed before it is restarted.
        missed: u32,
        /// How long a worker may have one task, including retries; 0: no limit while it sends heartbeats.
        #[serde(default)]
        task_minutes: u32,
        /// How often refused work returns to the same worker.
        tries_per_worker: u32,
        /// How many workers try before a person is asked.
        workers_per_task: u32,
        /// How many consecutive failures take a worker offline.
        breaker_failures: u32,
        /// How long it stays offline.
        breaker_seconds: u32,
        /// Minimum number of managed workers with auto-scaling.
        scale_least: u32,
        /// Maximum number of workers; 0: no auto-scaling.
        scale_most: u32,
        /// Auto-scaling starts workers above this many ready tasks per worker.
        scale_tasks_per_worker: u32,
        /// Auto-scaling stops a worker after this idle time.
        scale_idle_seconds: u32,
        /// Budget of all its work, in millionths of a dollar.
        #[ts(type = "number | null")]
        budget_micros: Option<u64>,
        /// Whether the project's owner stopped everything here.
        frozen: bool,
        /// Everybody who stopped everything here, by name: its owner, and people with workers in the project.
        #[serde(default)]
        frozen_by: Vec<UserRef>,
    }

    /// How many tasks of a project have each status.
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
        /// The content.
        what: String,
        /// The files that they change.
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
