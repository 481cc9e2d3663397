//! A report.

use domain::{ReportId, ReportVerdict, TaskId, Timestamp, WorkerId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::inputs;
use crate::shapes::views;
use crate::{CriterionResult, Usage};

views! {
    /// A report's deliverables.
    #[derive(Default)]
    Deliverables {
        /// Files that it made or changed.
        #[serde(default)]
        files: Vec<String>,
        /// The branch that they are on.
        #[serde(default)]
        branch: Option<String>,
        /// The commits that they are in, oldest first.
        #[serde(default)]
        commits: Vec<String>,
        /// How many earlier commits are not named.
        #[serde(default)]
        more_commits: u32,
    }

    /// A report.
    Report {
        /// The report's id.
        id: ReportId,
        /// The task.
        task: TaskId,
        /// Which attempt made it.
        attempt: u32,
        /// The worker.
        worker: WorkerId,
        /// When it came.
        at: Timestamp,
        /// What was done, in words.
        summary: String,
        /// Files, branch and commits.
        deliverables: Deliverables,
        /// How well the task could be understood, from 1 to 5.
        context_score: Option<u8>,
        /// What it used.
        usage: Option<Usage>,
        /// Whether it was read out of what the agent said, because it did not report itself.
        collected: bool,
        /// What became of it.
        verdict: ReportVerdict,
        /// The result of each criterion.
        results: Vec<CriterionResult>,
        /// Why it was refused, for its worker.
        reason: Option<String>,
    }
}

inputs! {
    /// A report.
    TaskReport {
        /// The fence of its lease.
        #[ts(type = "number")]
        fence: u64,
        /// What was done, in words.
        summary: String,
        /// Files, branch and commits.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deliverables: Option<Deliverables>,
        /// How well the task could be understood, from 1 to 5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_score: Option<u8>,
        /// What it used.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Set when the task could not be done: why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
    }
}
