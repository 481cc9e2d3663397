//! What must survive a crash: the folder's identity, and the task that was being taken.

use domain::ProjectId;
use serde::{Deserialize, Serialize};

use super::door::Found;
use super::tree::{Tree, fresh};
use crate::Failure;

/// The content of `.shopfloor/state.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    /// Makes this folder's idempotency keys unique.
    pub(super) id: String,
    /// The project that the folder belongs to.
    pub(super) project: ProjectId,
    /// Counts requests.
    pub(super) asked: u64,
    /// A take in progress: its worker and key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) taking: Option<Taking>,
}

/// A take in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Taking {
    pub(super) worker: String,
    pub(super) key: String,
}

impl State {
    /// Reads the state, or creates it.
    pub(super) fn open(tree: &Tree, project: ProjectId) -> Result<Self, Failure> {
        let path = tree.own("state.json");
        let bytes = match tree.read(&path) {
            Found::File(bytes, _) => bytes,
            Found::Odd(why) => return Err(Failure::other(format!("{}: {why}", path.display()))),
            Found::Nothing => {
                let state = Self { id: fresh(), project, asked: 0, taking: None };
                state.save(tree)?;
                return Ok(state);
            }
        };
        let state: Self = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::other(format!("{} cannot be read: {error}", path.display()))
                .advise("restore it, or use another --dir")
        })?;
        if state.project != project {
            return Err(Failure::usage(format!("{} belongs to project {}", tree.shown(), state.project))
                .advise("use another --dir for another project"));
        }
        Ok(state)
    }

    pub(super) fn save(&self, tree: &Tree) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(self).unwrap_or_default();
        tree.write(&tree.own("state.json"), &text)
    }

    /// A fresh idempotency key.
    pub(super) fn next_key(&mut self) -> String {
        self.asked += 1;
        format!("files-{}-{}", self.id, self.asked)
    }
}
