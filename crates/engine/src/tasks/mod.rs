//! Tasks: their state machine, and the decisions around it.

pub mod criteria;
pub mod edit;
pub mod files;
pub mod graph;
pub mod life;
pub mod order;
pub mod progress;
pub mod retry;
pub mod similar;
pub mod tally;
pub mod verdict;
