//! Workers: who takes tasks, what becomes of them, and what is decided about them.

#![allow(dead_code, reason = "the queue calls these; both are being built")]

mod crew;
pub(crate) mod freeze;
pub(crate) mod holds;
pub(crate) mod log;
mod metrics;
pub(crate) mod rows;
pub(crate) mod settings;
mod start;
pub(crate) mod stop;

pub(crate) use crew::Crew;
pub use freeze::{FreezeFloor, ThawFloor};
pub use settings::ConfigureWork;
pub use start::{RemoveWorker, RestartWorker, StartWorkers, UpdateWorker};
pub use stop::{StopAllWorkers, StopWorker};
