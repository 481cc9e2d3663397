//! Workers: assignment of tasks, and when a worker must pause, stop or be replaced.

pub mod assign;
pub mod breaker;
pub mod budget;
pub mod decision;
pub mod liveness;
pub mod outage;
pub mod scale;
