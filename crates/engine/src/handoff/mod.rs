//! Handoff: one session's work continues in a fresh session, as a pure state machine, and the document between them.

mod agents;
mod brief;
mod compare;
mod document;
mod due;
mod step;
mod template;
#[cfg(test)]
mod tests;

pub use agents::{Writer, mute, reads, writes};
pub use brief::{Brief, MAX_QUOTED, brief, question, request};
pub use compare::{Changed, changed};
pub use document::{Check, Facts, MAX_DIRTY, Prose, from_recording, note, seal, text};
pub use due::{Cost, Due, Earlier, MOST_BY_ITSELF, due};
pub use step::{Effect, Event, Handoff, State, Step, TRIES, effect, holds_back, step, tried};
pub use template::{STANDARD, Section, Template, TemplateError, body, sections, templates};
