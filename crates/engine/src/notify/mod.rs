//! Notifications away from the page: who gets one, when it is sent, and when a failed delivery is retried.

mod concern;
mod decide;
mod quiet;
mod retry;
#[cfg(test)]
mod tests;

pub use concern::{Involved, concerned};
pub use decide::{Decision, Facts, Pending, Prefs, counts, decide};
pub use quiet::{Quiet, QuietError};
pub use retry::{Next, Outcome, SCHEDULE, next};
