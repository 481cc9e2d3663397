//! Merge queues: the engine decides, this stores what happened and what runners shall do.

mod advance;
mod desired;
mod facts;
mod forecast;
mod gate;
mod load;
mod named;
mod perform;
mod place;
mod queue;
mod rows;
mod settings;
mod tend;
mod view;

pub(crate) use desired::{desired, waits_for_approval};
pub(crate) use facts::{began, landed, tested};
pub(crate) use queue::{New, enter, may_add, not_idle, target_of, withdraw_candidate};
pub use tend::TendMerges;

/// Maximum number of branches in one queue.
pub(crate) const MAX_WAITING: u32 = 500;
