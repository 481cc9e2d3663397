//! Adding tasks, and what came of it.

use domain::{ActivityId, TaskId};
use serde::{Deserialize, Serialize};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::shapes::inputs;
use crate::shapes::views;
use crate::{Criterion, TaskLine};

views! {
    /// An open task that is similar to a new one.
    SimilarTask {
        /// The new task.
        task: TaskId,
        /// The open one.
        to: TaskId,
        /// Its title.
        title: String,
    }

    /// The name that a task had in what was added, and the id that it got.
    NamedTask {
        /// The name.
        name: String,
        /// The id.
        task: TaskId,
    }

    /// Tasks that were added together.
    #[derive(Default)]
    AddedTasks {
        /// The tasks, in the order they were given.
        tasks: Vec<TaskLine>,
        /// The names that were used for them.
        names: Vec<NamedTask>,
        /// Open tasks that are similar.
        similar: Vec<SimilarTask>,
    }
}

inputs! {
    /// A new task.
    TaskAdd {
        /// A name by which others that are added with it can depend on it; it gets an id of its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
        /// What to do; the first line is its title.
        description: String,
        /// What its worker should know.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        #[ts(as = "Option<String>")]
        context: String,
        /// The acceptance criteria.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<Criterion>>")]
        acceptance: Vec<Criterion>,
        /// The files that it changes: paths or patterns.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        files: Vec<String>,
        /// Tasks that must be done first: names of tasks that are added with it, ids, or short names such as `CALC-12`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        deps: Vec<String>,
        /// From 0 to 9, higher goes first; default: 5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<u8>,
        /// Abilities that its worker must have.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        needs: Vec<String>,
        /// Short names to group and find tasks by, such as `ui`: letters, digits and `-_./`, at most 10 of at most 40 characters.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[ts(as = "Option<Vec<String>>")]
        labels: Vec<String>,
        /// Its activity; default: a new one, when the work starts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        activity: Option<ActivityId>,
    }

    /// Tasks to be added together, or not at all.
    TasksAdd {
        /// The tasks.
        tasks: Vec<TaskAdd>,
    }
}
