//! Real databases, hubs and processes for tests. A development dependency only; knows no assertion of any one crate.

pub mod disk;
mod hostile;
#[cfg(feature = "hub")]
mod hub;
mod lane;
#[cfg(feature = "model")]
pub mod model;
mod postgres;
mod process;
mod raw;
mod wait;

pub use hostile::Canary;
#[cfg(feature = "hub")]
pub use hub::{TestHub, join};
pub use lane::long_lane;
pub use postgres::{Database, Fsync, Postgres};
pub use process::{HubProcess, RunnerProcess, binary, shopfloor};
pub use raw::Raw;
pub use wait::wait_until;
