//! Schedules: when they are due, what becomes of each tick, what starts when an execution is over.
//!
//! [`decide()`] and [`execution_over`] read the facts about one schedule and return what to do now. The store performs it
//! in the same transaction, and calls [`decide()`] again at [`Decision::due_at`]. The planned times of a schedule depend
//! on its trigger only: hubs with the same facts decide the same.

mod calendar;
mod cron;
mod decide;
mod facts;
mod jitter;
mod over;
mod overlap;
#[cfg(test)]
mod tests;
mod times;
mod trigger;
mod words;
mod zone;

pub use decide::{Decision, decide, decide_event};
pub use facts::{CatchUp, Facts, MAX_CAUGHT_UP, MAX_ROWS, ON_TIME_MILLIS, Outcome, Tick};
pub use jitter::due_at;
pub use over::{Ended, Over, backfill, execution_over};
pub use times::{Times, between, next_after, next_times};
pub use trigger::{EVENTS, MIN_SECONDS, Trigger, TriggerError};
pub use words::in_words;
