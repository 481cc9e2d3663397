//! What an execution learns. Stored as its history: an event that was stored once must stay readable for ever.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::model::Recipe;
use super::{ErrorKind, Path, TimerKind};

/// Something happened. Each may arrive twice; a late or repeated one changes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first event of every execution.
    Started,
    /// The work of an attempt has ended.
    Ended {
        /// The step.
        path: Path,
        /// The attempt.
        attempt: u32,
        /// How it ended.
        verdict: Verdict,
    },
    /// A timer is due.
    Due {
        /// The step; absent for the execution's own time limit.
        path: Option<Path>,
        /// The attempt.
        attempt: u32,
        /// Which timer.
        timer: TimerKind,
    },
    /// The runner that works on an attempt is not connected any more.
    RunnerAway {
        /// The step.
        path: Path,
        /// The attempt.
        attempt: u32,
        /// The runner's name.
        runner: String,
    },
    /// The runner that works on an attempt is connected again.
    RunnerBack {
        /// The step.
        path: Path,
        /// The attempt.
        attempt: u32,
    },
    /// A person, who may write in the project, answered the question of an approval.
    Answered {
        /// The step.
        path: Path,
        /// The answer.
        answer: Answer,
    },
    /// A person intervened.
    Operated {
        /// What they want.
        operation: Operation,
        /// Why, in their words.
        reason: String,
    },
}

/// How the work of an attempt ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Verdict {
    /// It succeeded.
    Succeeded {
        /// What it leaves.
        output: Json,
    },
    /// It failed.
    Failed {
        /// The kind of error.
        kind: ErrorKind,
        /// What happened, for people.
        message: String,
    },
    /// A crash caught it, and nobody knows how far it came.
    Interrupted {
        /// What is known.
        why: String,
    },
}

/// A person's answer to an approval.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The person's id.
    pub by: String,
    /// The person's name, which the output shows and the step's list of people names.
    pub name: String,
    /// Whether this person started the execution.
    #[serde(default)]
    pub starter: bool,
    /// Whether they approve.
    pub approve: bool,
    /// Their data, if the step has a form.
    #[serde(default)]
    pub data: Json,
    /// Their words.
    #[serde(default)]
    pub comment: String,
}

/// A person's intervention.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "operation", rename_all = "snake_case")]
pub enum Operation {
    /// No further step begins.
    Pause {
        /// Whether running work is stopped, too; it begins again on resume.
        now: bool,
    },
    /// Goes on.
    Resume,
    /// Ends it.
    Cancel,
    /// Runs a failed, interrupted or waiting step again.
    Retry {
        /// The step.
        path: Path,
    },
    /// Ends a step that is not over with this output.
    Skip {
        /// The step.
        path: Path,
        /// What dependants read.
        output: Json,
    },
    /// Replaces an output that no step has used yet.
    Correct {
        /// The step.
        path: Path,
        /// The new output.
        output: Json,
    },
    /// Changes inputs that no step has used yet.
    ChangeInputs {
        /// The new values; the others stay.
        inputs: Map<String, Json>,
    },
    /// Follows another version of the recipe from here on.
    Swap {
        /// Its content hash.
        version: String,
        /// The recipe.
        recipe: Box<Recipe>,
    },
    /// Takes over outputs of another execution; only the first event of a rewound execution, before `Started`.
    Reuse {
        /// The outputs.
        outputs: BTreeMap<Path, Json>,
    },
}
