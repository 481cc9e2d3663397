//! Workers: who takes tasks, what becomes of them, and what is decided about them.

#![allow(dead_code, reason = "the queue calls these; both are being built")]

pub(crate) mod freeze;
pub(crate) mod holds;
pub(crate) mod log;
pub(crate) mod rows;
pub(crate) mod settings;
pub(crate) mod stop;

pub use freeze::{FreezeFloor, ThawFloor};
pub use settings::ConfigureWork;
