//! The merge queue: which stacks of branches to test at once, what lands, who is ejected, when the queue freezes.
//!
//! [`decide()`] reads the whole queue as facts and returns what to do now. The store performs the effects and calls it
//! again after every event, so nothing depends on how the queue came to be in its state.
//!
//! Branches are merged in [`order()`]; a test of a *prefix* of that order lands it (green) or shows that it holds a
//! failure (red). [`Search`] chooses the prefixes that are expected to empty the queue soonest. Blame needs proof: a red
//! run counts against its last branch only if the commit below that branch is known to be green.

mod chain;
mod decide;
mod effect;
mod evidence;
mod facts;
mod known;
mod order;
mod rates;
mod search;
#[cfg(test)]
mod tests;

pub use decide::decide;
pub use effect::{Effect, Ejected};
pub use facts::{Entry, Gate, Held, Landing, Level, Member, Purpose, Queue, Run, Tested, Verdict};
pub use known::Known;
pub use order::order;
pub use rates::Rates;
pub use search::{Search, WINDOW};
