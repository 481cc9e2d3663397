//! Events that schedules and steps wait for: read from the event log, each once, whatever the number of hubs.

mod gather;
mod happened;
mod pushes;

pub use gather::TakeEvents;
pub use pushes::{ForgetTips, SeeTips, Watched};
