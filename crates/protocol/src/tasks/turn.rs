//! A turn: what some workers hand back, and what they take next, in one request.

use domain::TaskId;
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::inputs;
use crate::shapes::views;
use crate::{Report, Taken, TaskReport, TaskTake};

/// How many reports, and how many takes, one turn has at most.
pub const TURN: usize = 512;

views! {
    /// What became of one report of a turn.
    TurnReport {
        /// As it was taken, or kept although it came too late.
        report: Option<Report>,
        /// Why it was not taken, for its worker, which must stop.
        refused: Option<String>,
    }

    /// What came of a turn, in the order in which it was asked.
    Turned {
        /// What became of each report.
        reports: Vec<TurnReport>,
        /// What each of those who asked got.
        taken: Vec<Taken>,
    }
}

/// A report of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnedIn {
    /// About which task.
    pub task: TaskId,
    /// What is handed in.
    pub report: TaskReport,
}

inputs! {
    /// What some workers of the caller's hand back, and who of them takes the next task.
    TaskTurn {
        /// What is handed in, each taken or refused by itself; at most 512.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<TurnedIn>>")]
        reports: Vec<TurnedIn>,
        /// Who takes a task after that, without waiting for one; at most 512.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<TaskTake>>")]
        takes: Vec<TaskTake>,
    }
}
