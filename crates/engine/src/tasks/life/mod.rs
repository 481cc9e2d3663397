//! The life of a task, as one pure machine: `step(task, event)` answers with the task after the event and with the effects
//! that the store performs in the same transaction.
//!
//! ```text
//! Blocked ⇄ Ready → Assigned → Running → Reported → Validating → Done
//!             ↑        └──────────┴─────────┴───────────┘
//!             │                   ├──→ Ready (released, lost, another worker)
//!             └── Escalated ←─────┴──→ Escalated (a person decides: Done, Ready, Failed, Cancelled)
//! ```

mod effect;
mod event;
mod hold;
mod state;
mod step;
#[cfg(test)]
mod tests;

pub use effect::{Effect, Ended, Trouble};
pub use event::{Event, Leaving, Why};
pub use state::{Hold, Life, State};
pub use step::{Refused, Rules, Step, step};

/// How many lost workers in a row make a person's turn: something about the task kills them.
pub const LOST_IN_A_ROW: u32 = 5;

/// Ends the question about a task that no worker gets done, after the reason.
pub const WHAT_NOW: &str = " What should happen?";
