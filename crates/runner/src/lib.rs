//! The execution plane of one machine: link to the hub, journal, and what makes the desired sessions true.

mod clock;
mod journal;
mod link;
mod options;
mod reconcile;
mod secret;

pub use journal::{JournalError, approve};
pub use options::{Options, Patience};
pub use secret::Secret;
