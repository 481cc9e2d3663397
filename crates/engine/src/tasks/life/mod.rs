//! The life of a task, as a pure state machine: `step(task, event)` returns the next state and the effects that the
//! store performs in the same transaction.
//!
//! ```text
//! Blocked ⇄ Ready → Assigned → Running → Reported → Validating → Done
//!             ↑        └──────────┴─────────┴───────────┘
//!             │                   ├──→ Ready (released, lost, another worker)
//!             ├── Escalated ←─────┴──→ Escalated (a person decides: Done, Ready, Failed, Cancelled)
//!             └── Done (reopened)
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
pub use state::{Hold, Life, State, why};
pub use step::{Refused, Rules, Step, ended_as, step};

/// The number of consecutive lost workers that escalates a task: the task itself may kill them.
pub const LOST_IN_A_ROW: u32 = 5;
