//! What the store does because of a decision, in the same transaction.

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::Path;
use super::model::{AtDeadline, Expr};

/// An effect of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "effect", rename_all = "snake_case")]
pub enum Effect {
    /// Begin this work; its end comes back as `Ended` with the same path and attempt. The idempotency key is
    /// `EXECUTION/PATH/ATTEMPT`.
    Begin {
        /// The step.
        path: Path,
        /// The attempt.
        attempt: u32,
        /// What to do.
        work: Box<Work>,
        /// What a runner must offer.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        needs: Vec<String>,
        /// Whether a crash in the middle is `Interrupted` instead of a second run.
        #[serde(default)]
        at_most_once: bool,
    },
    /// Stop this work; its end is not awaited.
    Stop {
        /// The step.
        path: Path,
        /// The attempt.
        attempt: u32,
    },
    /// Send `Due` at this time.
    SetTimer {
        /// The step; absent for the execution's own time limit.
        path: Option<Path>,
        /// The attempt.
        attempt: u32,
        /// Which timer.
        timer: TimerKind,
        /// When.
        at: Timestamp,
    },
    /// Forget one timer.
    DropTimer {
        /// The step.
        path: Path,
        /// The attempt.
        attempt: u32,
        /// Which timer.
        timer: TimerKind,
    },
    /// Forget timers.
    DropTimers {
        /// Those of this step; absent: all of the execution.
        path: Option<Path>,
    },
    /// The execution is over: announce it, tell its parent, write its summary.
    Over,
}

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKind {
    /// The time limit of an attempt, or of the execution.
    Timeout,
    /// The next attempt.
    Retry,
    /// The end of a wait.
    Wait,
    /// The deadline of an approval.
    Deadline,
    /// When an attempt is lost whose runner is away.
    Away,
}

/// The workspace of an attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "step", rename_all = "snake_case")]
pub enum Workplace {
    /// The workspace that the steps of the execution share, made by the first of them.
    Shared,
    /// A workspace of its own.
    New,
    /// The workspace of an earlier step.
    Of(Path),
}

/// Work of an attempt, with all templates rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "work", rename_all = "snake_case")]
pub enum Work {
    /// Start an agent.
    Agent {
        /// The agent profile to follow.
        profile: Option<String>,
        /// The agent's name.
        agent: Option<String>,
        /// The model.
        model: Option<String>,
        /// What it is asked to do.
        prompt: Option<String>,
        /// The name of its activity.
        title: Option<String>,
        /// What its work must meet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        accept: Vec<Json>,
        /// The files that it changes.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        files: Vec<String>,
        /// Where.
        place: Workplace,
    },
    /// Run a command.
    Run {
        /// The program and its arguments.
        argv: Vec<String>,
        /// Where.
        place: Workplace,
    },
    /// Add tasks, and wait for all of them.
    Tasks {
        /// The tasks, as `task add` takes them.
        tasks: Vec<Json>,
    },
    /// Wait for an event of the project that matches.
    Event {
        /// What happens.
        kind: String,
        /// The expression that must hold; it reads `event` and the scope. Absent: the first event counts.
        matching: Option<Expr>,
        /// The variables of the expression besides `event`.
        scope: Json,
    },
    /// Ask people.
    Ask {
        /// The question.
        question: String,
        /// Who may answer.
        who: Vec<String>,
        /// How many must approve.
        count: u32,
        /// Whether the person who started the execution may not answer.
        not_starter: bool,
        /// The JSON Schema of an answer's data.
        form: Option<Json>,
        /// What happens at the deadline, and when.
        deadline: Option<(Timestamp, AtDeadline)>,
    },
    /// Tell people.
    Notify {
        /// Where.
        to: String,
        /// What.
        text: String,
    },
    /// Land a branch.
    Merge {
        /// The branch.
        branch: String,
    },
    /// Execute another recipe.
    Call {
        /// Its name.
        recipe: String,
        /// Its inputs.
        inputs: Map<String, Json>,
    },
}
