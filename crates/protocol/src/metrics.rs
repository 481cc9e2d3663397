//! Metrics: how the work in a project goes.

use domain::{ProjectId, Timestamp, WorkerId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::{IntoParams, ToSchema};

use crate::shapes::{queries, views};
use crate::{TaskCount, Usage};

queries! {
    /// Which period to measure.
    #[derive(Copy)]
    MetricsPage {
        /// How many hours to cover; default: 24.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hours: Option<u32>,
    }
}

views! {
    /// How one worker does.
    WorkerMetrics {
        /// The worker.
        worker: WorkerId,
        /// Its name.
        name: String,
        /// Its place among the worker colours.
        colour: u32,
        /// Tasks that it has done.
        done: u32,
        /// Tasks that it has failed.
        failed: u32,
        /// The mean of its context scores, in hundredths.
        context_score: Option<u32>,
        /// What it used.
        usage: Usage,
        /// How long it has held tasks, in milliseconds.
        #[ts(type = "number")]
        busy_ms: u64,
    }

    /// How long it took until something was noticed, over several times.
    Noticed {
        /// How often there was something to notice.
        times: u32,
        /// Half of the times it took no longer than this, in milliseconds.
        #[ts(type = "number")]
        median_ms: u64,
        /// The longest that it took, in milliseconds.
        #[ts(type = "number")]
        longest_ms: u64,
    }

    /// What happened in a period.
    MetricsPoint {
        /// When it begins.
        at: Timestamp,
        /// Tasks that were done.
        done: u32,
        /// Attempts that failed or were lost.
        failed: u32,
        /// Tasks finished in that time: done or failed.
        over: u32,
        /// Escalations.
        interventions: u32,
        /// Escalations since the first period, per task finished since then, in hundredths;
        /// `null`: no task is finished yet.
        interventions_per_task: Option<u32>,
        /// How many reports gave each context score, from 1 to 5.
        context_scores: Vec<u32>,
        /// The mean of these scores, in hundredths; `null`: there is none.
        context_score: Option<u32>,
        /// The speed-up, in hundredths; `null`: there was no successful work.
        speed_up: Option<u32>,
        /// How many workers worked at once on average, in hundredths.
        busy: u32,
        /// The most workers that worked at once at any moment.
        peak: u32,
        /// Detection time of lost workers; `null`: there were none.
        vanished: Option<Noticed>,
        /// Detection time of failed sessions; `null`: there were none.
        failures: Option<Noticed>,
        /// Tokens, both ways.
        #[ts(type = "number")]
        tokens: u64,
        /// Cost, in millionths of a dollar.
        #[ts(type = "number")]
        cost_micros: u64,
    }

    /// A project's metrics.
    Metrics {
        /// The project.
        project: ProjectId,
        /// How many tasks have each status.
        counts: Vec<TaskCount>,
        /// Escalations.
        interventions: u32,
        /// The same per task finished, in hundredths; 0 as long as none is.
        interventions_per_task: u32,
        /// Tasks finished in that time: done or failed.
        over: u32,
        /// How many reports gave each context score, from 1 to 5.
        context_scores: Vec<u32>,
        /// The mean of all context scores, in hundredths.
        context_score: Option<u32>,
        /// The speed-up, in hundredths: successful worker time divided by wall time with any successful work; never below 100.
        speed_up: Option<u32>,
        /// How many workers worked at once on average, in hundredths: total worker time divided by the measured time.
        busy: u32,
        /// The most workers that worked at once at any moment.
        peak: u32,
        /// How long it takes to notice a worker that vanished, on average, in milliseconds.
        #[ts(type = "number | null")]
        detection_ms: Option<u64>,
        /// Detection time of lost workers, from their last heartbeat; `null`: there were none.
        vanished: Option<Noticed>,
        /// Detection time of failed sessions, from their end by their runners' clocks; `null`: there were none.
        failures: Option<Noticed>,
        /// How long a task waits from ready to taken, on average, in milliseconds.
        #[ts(type = "number | null")]
        waiting_ms: Option<u64>,
        /// What was used.
        usage: Usage,
        /// Each worker.
        workers: Vec<WorkerMetrics>,
        /// Over time, oldest first.
        series: Vec<MetricsPoint>,
    }
}
