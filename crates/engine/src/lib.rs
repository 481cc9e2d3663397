//! Decisions from facts: which tasks are ready, which worker takes them, what lands, when to stop. Pure: no clock, no
//! I/O, no database.
//!
//! Callers provide the facts and the time, commit the decision in one transaction, and act afterwards. Each subject has
//! its own folder.

pub mod activities;
pub mod handoff;
pub mod landing;
pub mod merge;
pub mod metrics;
pub mod notify;
pub mod overlaps;
pub mod recipes;
pub mod reviews;
pub mod schedules;
pub mod search;
pub mod tasks;
pub mod workers;
