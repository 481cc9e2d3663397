//! The state of an execution.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::Path;
use super::model::{Context, Recipe};

/// One run of a recipe.
#[derive(Debug, Clone, PartialEq)]
pub struct Execution {
    /// The plan that it follows, pinned.
    pub recipe: Arc<Recipe>,
    /// The content hash of the recipe.
    pub version: String,
    /// What expressions know of it.
    pub context: Context,
    /// Its inputs, complete and checked.
    pub inputs: Map<String, Json>,
    /// How far it is.
    pub status: Status,
    /// How often a person revived it after a failure: the attempt of its own timers.
    pub round: u32,
    /// Every step that has begun, or was decided otherwise.
    pub steps: BTreeMap<Path, StepRun>,
    /// Outputs of an earlier execution that steps take over instead of running.
    pub reused: BTreeMap<Path, Json>,
}

impl Execution {
    /// An execution that has not started. The inputs are complete and checked, as by [`complete`](super::complete).
    pub fn new(recipe: Arc<Recipe>, version: String, context: Context, inputs: Map<String, Json>) -> Self {
        let (steps, reused) = (BTreeMap::new(), BTreeMap::new());
        Self { recipe, version, context, inputs, status: Status::New, round: 0, steps, reused }
    }
}

/// How far an execution is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum Status {
    /// Created; nothing has begun.
    New,
    /// Steps run, wait, or are about to begin.
    Running,
    /// No step begins until somebody resumes it; results of running ones are kept.
    Paused,
    /// Final: all steps are over.
    Completed {
        /// The recipe's outputs.
        outputs: Map<String, Json>,
    },
    /// A step has failed. Only a person can go on: retry or skip it.
    Failed {
        /// The step and its error.
        error: Error,
    },
    /// Final: somebody cancelled it, or a step ended it.
    Cancelled,
}

impl Status {
    /// Whether nothing happens any more, unless a person retries.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Completed { .. } | Self::Failed { .. } | Self::Cancelled)
    }
}

/// A step of an execution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct StepRun {
    /// The attempt, counted from 1; 0 before the first.
    pub attempt: u32,
    /// Attempts that count against the retry policy: a person's retry starts again.
    pub counted: u32,
    /// How far it is.
    pub state: StepState,
    /// When its first attempt began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub begun_at: Option<Timestamp>,
    /// When it was over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub over_at: Option<Timestamp>,
    /// The inputs and steps that its last attempt has read: `inputs.issue`, `steps.fix`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub used: BTreeSet<String>,
    /// A block's lanes in order, with the item of each; empty otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lanes: Vec<(String, Json)>,
    /// That the runner of the current attempt is away; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub away: Option<Away>,
    /// Approvals of the current attempt; empty otherwise.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<super::Answer>,
}

/// That the runner of an attempt is away.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Away {
    /// The runner's name.
    pub runner: String,
    /// Since when, as far as the hub knows.
    pub since: Timestamp,
    /// When the attempt is lost.
    pub until: Timestamp,
}

/// How far a step is.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum StepState {
    /// An attempt runs: its work is in somebody's hands, or a block's lanes run.
    Running {
        /// Since when.
        since: Timestamp,
    },
    /// Waits for its next attempt.
    Retrying {
        /// When it begins.
        at: Timestamp,
        /// What failed.
        error: Error,
    },
    /// Begins when its turn comes: stopped by a pause, or a person wants it again.
    #[default]
    Held,
    /// A crash caught an effect that must not happen twice; a person decides.
    Interrupted {
        /// What is known.
        why: String,
    },
    /// Final.
    Succeeded {
        /// What it leaves.
        output: Json,
    },
    /// Final, unless a person retries it.
    Failed {
        /// Why.
        error: Error,
    },
    /// Final: its condition does not hold, or a person skipped it.
    Skipped {
        /// What dependants read instead.
        output: Json,
        /// Why.
        why: String,
    },
    /// Final: stopped with its block or execution.
    Cancelled,
}

impl StepState {
    /// Whether nothing happens to the step any more, unless a person intervenes.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Succeeded { .. } | Self::Failed { .. } | Self::Skipped { .. } | Self::Cancelled)
    }

    /// Its name: `running`, `failed`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Running { .. } => "running",
            Self::Retrying { .. } => "retrying",
            Self::Held => "held",
            Self::Interrupted { .. } => "interrupted",
            Self::Succeeded { .. } => "succeeded",
            Self::Failed { .. } => "failed",
            Self::Skipped { .. } => "skipped",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Error {
    /// The step.
    pub path: Path,
    /// Its kind, for retry policies.
    pub kind: ErrorKind,
    /// What happened, for people.
    pub message: String,
}

/// The kinds of errors that a retry policy tells apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorKind {
    /// The work itself failed: a command's exit code, an agent that gave up, a task that failed.
    Failed,
    /// It took too long.
    Timeout,
    /// Its runner or sandbox was lost.
    Lost,
    /// People rejected it.
    Rejected,
    /// Its output does not meet the schema.
    Output,
    /// An expression of it cannot be evaluated.
    Expression,
    /// It could not begin: no runner, no such profile, a permission.
    Refused,
    /// A limit or a budget is reached.
    Limit,
}
