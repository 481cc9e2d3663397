//! Handoff: one session's work continues in a fresh session, as a pure state machine, and the document between them.

mod agents;
mod brief;
mod document;
mod step;
#[cfg(test)]
mod tests;

pub use agents::{Writer, mute, reads, writes};
pub use brief::{Brief, MAX_QUOTED, brief, request};
pub use document::{Check, Facts, MAX_DIRTY, Prose, from_recording, seal, text};
pub use step::{Effect, Event, Handoff, State, Step, TRIES, effect, holds_back, step, tried};
