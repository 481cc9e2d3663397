//! Numbers over time, from what was recorded.

pub mod series;
pub mod spans;
