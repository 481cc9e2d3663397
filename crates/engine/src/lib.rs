//! Decisions from facts: what is ready, who takes it, when to stop. Pure: no clock, no I/O, no database.
//!
//! Callers bring the facts and the time, commit what was decided in one transaction, and act afterwards.

pub mod assign;
pub mod breaker;
pub mod budget;
pub mod conflict;
pub mod criteria;
pub mod files;
pub mod graph;
pub mod liveness;
pub mod order;
pub mod outage;
pub mod progress;
pub mod retry;
pub mod scale;
pub mod series;
pub mod similar;
pub mod spans;
