//! The stored form of an execution, and its history decided again.

use std::collections::BTreeMap;
use std::sync::Arc;

use domain::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::model::{Context, Recipe};
use super::step::{Refused, step};
use super::{Event, Execution, Path, Status, StepRun};

/// An execution without its recipe, which is stored once for all by its content hash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The content hash of the recipe.
    pub version: String,
    /// What expressions know of it.
    pub context: Context,
    /// Its inputs.
    pub inputs: Map<String, Json>,
    /// How far it is.
    pub status: Status,
    /// How often a person revived it.
    #[serde(default)]
    pub round: u32,
    /// Its steps.
    #[serde(default)]
    pub steps: BTreeMap<Path, StepRun>,
    /// Outputs that it takes over.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub reused: BTreeMap<Path, Json>,
}

impl From<&Execution> for Snapshot {
    fn from(execution: &Execution) -> Self {
        let Execution { recipe: _, version, context, inputs, status, round, steps, reused } = execution.clone();
        Self { version, context, inputs, status, round, steps, reused }
    }
}

impl Snapshot {
    /// The execution, with the recipe of its version.
    pub fn into_execution(self, recipe: Arc<Recipe>) -> Execution {
        let Self { version, context, inputs, status, round, steps, reused } = self;
        Execution { recipe, version, context, inputs, status, round, steps, reused }
    }
}

/// Decides a history again, from the execution before its first event.
pub fn replay(new: Execution, history: &[(Timestamp, Event)]) -> Result<Execution, (usize, Refused)> {
    let mut execution = new;
    for (at, (now, event)) in history.iter().enumerate() {
        execution = step(&execution, event, *now).map_err(|refused| (at, refused))?.execution;
    }
    Ok(execution)
}

/// How two states of an execution differ, for people; empty if they do not.
pub fn differences(stored: &Execution, decided: &Execution) -> Vec<String> {
    let mut found = Vec::new();
    let mut compare = |what: &str, same: bool| {
        if !same {
            found.push(format!("{what} differ"));
        }
    };
    compare("the versions of the recipe", stored.version == decided.version);
    compare("the inputs", stored.inputs == decided.inputs);
    compare("the reused outputs", stored.reused == decided.reused);
    compare("the rounds", stored.round == decided.round);
    if stored.status != decided.status {
        found.push(format!("the status is {:?}, and was decided again as {:?}", stored.status, decided.status));
    }
    for path in stored.steps.keys().chain(decided.steps.keys().filter(|path| !stored.steps.contains_key(*path))) {
        let (ours, theirs) = (stored.steps.get(path), decided.steps.get(path));
        if ours != theirs {
            let word = |run: Option<&StepRun>| run.map_or("absent", |run| run.state.word());
            found.push(format!("`{path}` is {}, and was decided again as {}", word(ours), word(theirs)));
        }
    }
    found
}
