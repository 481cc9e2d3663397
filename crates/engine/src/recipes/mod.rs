//! Recipes: plans as data, and the life of an execution of one as a pure machine.
//!
//! A recipe is a tree of steps ([`model`]). An [`Execution`] is one run of a recipe; a step of it is found by its
//! [`Path`]. `step(execution, event)` returns the next state and the effects that the store performs in the same
//! transaction. The same events give the same decisions, always: no clock, no randomness, no I/O.

mod answer;
mod away;
mod begin;
mod blocks;
mod change;
mod effect;
mod ended;
pub mod eval;
mod event;
mod inputs;
pub mod limits;
mod lists;
mod lookup;
mod machine;
pub mod model;
mod operate;
mod owner;
mod path;
mod reopen;
mod retry;
pub mod schema;
mod scope;
mod snapshot;
mod span;
mod state;
mod step;
#[cfg(test)]
mod tests;
mod tree;
mod work;

pub use change::rewind;
pub use effect::{Effect, TimerKind, Work, Workplace};
pub use event::{Answer, Event, Operation, Verdict};
pub use inputs::complete;
pub use owner::{Owner, owners, stuck};
pub use path::{Lane, Path, PathError};
pub use snapshot::{Snapshot, differences, replay};
pub use span::span;
pub use state::{Away, Error, ErrorKind, Execution, Status, StepRun, StepState};
pub use step::{Refused, Step, changes, is_settled, step};
pub use tree::fault;

/// A text cut after this many letters.
fn short(text: &str, letters: usize) -> String {
    match text.char_indices().nth(letters) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
