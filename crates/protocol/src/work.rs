//! How a project hands out its tasks, what was decided, and how the work goes.

use domain::{AssignStrategy, ProjectId, TaskId, TaskStatus, Timestamp, WorkDecision, WorkerId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::UserRef;
use crate::shapes::{inputs, queries, views};

/// What this subject adds to the protocol: see `verbs.rs`.
macro_rules! work {
    ([$then:ident $($rest:tt)*] $($before:tt)*) => { $then! { [$($rest)*] $($before)* work {
        changes {
            /// Something was decided about tasks or workers.
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
            /// What was decided about tasks and workers, newest first.
            WorkLog "work.log" GET "/api/projects/{project}/work-log"
                { path project: ProjectId, query page: WorkLogPage } -> 200 Vec<WorkEntry>, See;
            /// How a project hands out its tasks.
            WorkSettings "work.settings" GET "/api/projects/{project}/work"
                { path project: ProjectId } -> 200 crate::WorkSettings, See;
            /// Changes how a project hands out its tasks.
            WorkConfigure "work.configure" PATCH "/api/projects/{project}/work"
                { path project: ProjectId, body input: crate::WorkConfigure } -> 200 crate::WorkSettings, Owner;
            /// How the work in a project goes.
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
        /// Only those with a lower number; the newest when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[ts(as = "Option<f64>")]
        before: Option<u64>,
        /// How many at most, up to 500; 100 when absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
    }
}

views! {
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
        /// What was decided.
        what: WorkDecision,
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
