//! Changing a task, and reopening it.

use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::Criterion;
use crate::shapes::inputs;

inputs! {
    /// Changes to a task; absent fields stay unchanged.
    TaskEdit {
        /// What to do; the first line is its title.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// What its worker should know.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context: Option<String>,
        /// The acceptance criteria; not while a report is checked against them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        acceptance: Option<Vec<Criterion>>,
        /// The files that it changes: paths or patterns.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        files: Option<Vec<String>>,
        /// Tasks that must be done first: ids, or short names such as `CALC-12`; not while a worker has the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deps: Option<Vec<String>>,
        /// From 0 to 9, higher goes first.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<u8>,
        /// Abilities that its worker must have; not while a worker has the task.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        needs: Option<Vec<String>>,
        /// Short names to group and find tasks by.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        labels: Option<Vec<String>>,
        /// Refuse with `conflict` unless the task was edited this many times.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expected_edits: Option<u32>,
    }

    /// What is still missing in a done task.
    TaskReopen {
        /// What to do now; it becomes part of the task's context.
        text: String,
    }
}
