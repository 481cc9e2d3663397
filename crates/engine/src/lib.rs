//! Decisions from facts: what is ready, who takes it, when to stop. Pure: no clock, no I/O, no database.
//!
//! Callers bring the facts and the time, commit what was decided in one transaction, and act afterwards. Each subject has
//! its folder.

pub mod metrics;
pub mod tasks;
pub mod workers;
