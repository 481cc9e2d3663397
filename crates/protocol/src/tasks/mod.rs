//! Tasks, their acceptance, reports and escalations.

mod adding;
mod criteria;
mod escalation;
mod holding;
mod report;
mod task;
mod turn;

pub use adding::*;
pub use criteria::*;
pub use escalation::*;
pub use holding::*;
pub use report::*;
pub use task::*;
pub use turn::*;
