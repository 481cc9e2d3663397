//! Metrics over time, from recorded data.

pub mod series;
pub mod spans;
