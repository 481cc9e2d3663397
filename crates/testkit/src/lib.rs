//! Real databases, hubs and processes for tests. A development dependency only; knows no assertion of any one crate.

mod postgres;
mod wait;

pub use postgres::{Database, Fsync, Postgres};
pub use wait::wait_until;
