//! Webhooks of a project: their secrets, which the hub encrypts before they get here, and what they received.

mod people;
mod receive;
mod rows;

pub use people::{AddHook, RotateHook};
pub use receive::{HookSecrets, ReceiveHook, Received};
