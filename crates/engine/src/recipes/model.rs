//! A recipe as the machine reads it: a tree of steps, checked when it was saved.
//!
//! The crate `recipes` makes it from YAML, TOML or JSON. Stored as JSON beside the text: a field that is added needs a
//! default, so that stored recipes stay readable.

use std::collections::BTreeMap;

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

/// A time span in milliseconds.
pub type Millis = u64;

/// An expression, as text: `inputs.issue > 3`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Expr(pub String);

/// A text with expressions in it: `Fix issue {{ inputs.issue }}`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(pub String);

/// A plan: what an execution of it does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recipe {
    /// Its name, unique in its project: `fix-issue`.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// What an execution is started with, in the order of the text.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// What an execution leaves, by name.
    #[serde(default)]
    pub outputs: BTreeMap<String, Expr>,
    /// When an execution that still runs has failed.
    #[serde(default)]
    pub timeout: Option<Millis>,
    /// How long the runner of an attempt may be away before the attempt is lost; absent:
    /// [`RUNNER_AWAY`](super::limits::RUNNER_AWAY).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_after: Option<Millis>,
    /// Its steps, one after the other.
    pub steps: Vec<Step>,
}

/// An input of a recipe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(default)]
    pub description: String,
    /// Its JSON Schema.
    pub schema: Json,
    /// Its value where none is given; absent: it must be given.
    #[serde(default)]
    pub default: Option<Json>,
}

/// A unit of a recipe: what it does, and the envelope that all kinds share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Its name, unique in the recipe.
    pub id: String,
    /// Whether it runs at all; absent: it does.
    #[serde(default)]
    pub when: Option<Expr>,
    /// When an attempt that still runs has failed.
    #[serde(default)]
    pub timeout: Option<Millis>,
    /// What happens when an attempt has failed.
    #[serde(default)]
    pub retry: Retry,
    /// Whether the recipe goes on when the step has failed.
    #[serde(default)]
    pub continue_on_error: bool,
    /// The JSON Schema that its output must meet.
    #[serde(default)]
    pub output: Option<Json>,
    /// What a runner must offer to do it.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What a crash in the middle of an attempt means.
    #[serde(default)]
    pub idempotency: Idempotency,
    /// What it does.
    pub action: Action,
}

/// What a crash in the middle of an attempt means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Idempotency {
    /// The attempt may run again: what it does carries the same key.
    #[default]
    AtLeastOnce,
    /// The step is shown as interrupted, and a person decides.
    AtMostOnce,
}

/// What happens when an attempt has failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Retry {
    /// How many attempts there are in all.
    pub attempts: u32,
    /// How the wait between two attempts grows.
    pub backoff: Backoff,
    /// The first wait.
    pub first: Millis,
    /// The longest wait.
    pub max: Millis,
    /// The share of the wait that a seeded number varies, in per cent.
    pub jitter: u32,
    /// The kinds of errors that are retried; empty: all but a rejection and an expression, which fails again.
    pub on: Vec<super::ErrorKind>,
}

impl Default for Retry {
    fn default() -> Self {
        Self { attempts: 1, backoff: Backoff::Exponential, first: 1_000, max: 300_000, jitter: 10, on: Vec::new() }
    }
}

/// How the wait between two attempts grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backoff {
    /// It stays the same.
    Fixed,
    /// It grows by the first wait each time.
    Linear,
    /// It doubles each time.
    Exponential,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// An agent works in a session.
    Agent(Agent),
    /// Tasks for the queue; done when all are.
    Task {
        /// A list of tasks, each as `task add` takes them, with templates in its texts.
        tasks: Vec<Json>,
    },
    /// A command on a runner, never through a shell.
    Run(Run),
    /// Waits for a time or an event.
    Wait(Wait),
    /// Asks people.
    Approve(Approve),
    /// The first case whose condition holds.
    Branch {
        /// The cases, in order.
        cases: Vec<Case>,
    },
    /// Several lists of steps at once.
    Parallel {
        /// The lists.
        branches: Vec<Branch>,
        /// How many of them must succeed.
        join: Join,
    },
    /// A list of steps for each item of a list.
    ForEach(ForEach),
    /// Tells people.
    Notify {
        /// Where it is said.
        to: Template,
        /// What is said.
        text: Template,
    },
    /// Brings a branch onto the target branch, through the merge queue.
    Merge {
        /// The branch: `{{ steps.fix.output.branch }}`.
        branch: Template,
    },
    /// Another recipe, whose outputs are the output.
    Call {
        /// Its name.
        recipe: String,
        /// Its inputs.
        inputs: BTreeMap<String, Value>,
    },
    /// Ends the execution here.
    End {
        /// Whether it has succeeded.
        success: bool,
        /// Why.
        reason: Option<Template>,
    },
}

/// A value that is computed: every text in it is a template, and a text that is one expression alone keeps its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Value(pub Json);

/// An agent step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Agent {
    /// The project's agent profile that it follows.
    pub profile: Option<Template>,
    /// The agent's name, such as `codex`; absent: the profile's.
    pub agent: Option<Template>,
    /// The model; absent: the profile's, then the agent's own.
    pub model: Option<Template>,
    /// What it is asked to do.
    pub prompt: Option<Template>,
    /// The name of its activity; absent: the first line of the prompt.
    pub title: Option<Template>,
    /// What its work must meet: acceptance criteria as objects, with templates in their texts.
    pub accept: Vec<Value>,
    /// The files that it changes: paths or patterns.
    pub files: Vec<Template>,
    /// Where it works.
    pub workspace: Place,
}

/// A command step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Run {
    /// The program and its arguments; each template stays one argument.
    pub argv: Vec<Template>,
    /// The list of the program and its arguments, as an expression, where `argv` is empty.
    pub argv_of: Option<Expr>,
    /// Where it works.
    pub workspace: Place,
}

/// Where a step works.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "step", rename_all = "snake_case")]
pub enum Place {
    /// In the workspace that the steps of the execution share, made by the first of them.
    #[default]
    Shared,
    /// In a workspace of its own.
    New,
    /// In the workspace of an earlier step.
    Of(String),
}

/// A wait; exactly one of `span`, `until` and `event` is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Wait {
    /// A span: `90s`, `2h`.
    pub span: Option<Template>,
    /// A time: `2026-12-24T18:00:00Z`.
    pub until: Option<Template>,
    /// An event of the project.
    pub event: Option<Awaited>,
}

/// An event that is waited for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Awaited {
    /// What happens: `task_done`, `push`, `webhook`, …
    pub kind: String,
    /// Which of them counts, as an expression over `event`; absent: the first.
    #[serde(default)]
    pub matching: Option<Expr>,
}

/// A question to people.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Approve {
    /// The question.
    pub question: Template,
    /// Names of those who may answer; empty: everybody who may write in the project.
    #[serde(default)]
    pub who: Vec<Template>,
    /// How many must approve.
    pub count: u32,
    /// Whether the person who started the execution may not answer.
    #[serde(default)]
    pub not_starter: bool,
    /// The JSON Schema of an answer's data.
    #[serde(default)]
    pub form: Option<Json>,
    /// How long people have.
    #[serde(default)]
    pub deadline: Option<Millis>,
    /// What happens at the deadline.
    #[serde(default)]
    pub then: AtDeadline,
}

/// What happens to an open question at its deadline.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtDeadline {
    /// The step has failed.
    #[default]
    Fail,
    /// It counts as approved.
    Approve,
    /// It counts as rejected.
    Reject,
}

/// A case of a branch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its condition; absent: always.
    #[serde(default)]
    pub when: Option<Expr>,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// A list of a parallel block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Branch {
    /// Its name, unique in the block.
    pub name: String,
    /// Its steps.
    pub steps: Vec<Step>,
}

/// How many lanes of a block must succeed. When enough have, the others are stopped.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Join {
    /// All of them.
    #[default]
    All,
    /// The first.
    Any,
    /// At least this many.
    AtLeast(u32),
}

/// A block that runs its steps for each item.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ForEach {
    /// The list.
    pub items: Expr,
    /// The variable that holds the item; `item` if absent in the text.
    pub name: String,
    /// The key of an item, as an expression over it, stable when the list changes; absent: its position.
    #[serde(default)]
    pub key: Option<Expr>,
    /// How many items at once; absent: 4.
    #[serde(default)]
    pub max_parallel: Option<u32>,
    /// The steps.
    pub steps: Vec<Step>,
}

/// What is known of an execution besides its inputs, for expressions: `execution.id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// Its id.
    pub id: String,
    /// The name of its project.
    pub project: String,
    /// The name of the person that it runs for.
    pub person: String,
    /// When it was started.
    pub started_at: Timestamp,
    /// What started it, if an event did: its payload.
    #[serde(default)]
    pub trigger: Option<Json>,
}
