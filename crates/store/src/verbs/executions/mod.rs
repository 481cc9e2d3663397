//! Executions: the engine decides, this stores what happened and what is to be done.
//!
//! One transaction stores the event, the next state and the effects. Work that needs a runner, a task, another execution
//! or the merge queue is a row of `execution_work`, which [`TendExecution`] begins and whose end it finds; so a hub may
//! stop at any instant, and any hub continues.

mod advance;
mod awaited;
mod begin;
mod budget;
mod bundles;
mod compact;
mod lineage;
mod over;
mod people;
mod perform;
mod place;
mod presence;
mod printed;
mod reads;
mod rows;
mod says;
mod spawn;
mod start;
mod summary;
mod tend;
mod view;
mod waits;
mod work;

pub use bundles::{KeepLaneWork, LaneWork, MAX_KEPT_BUNDLE};
pub use presence::AtWork;
pub use tend::{DueExecutions, TendExecution};

pub(crate) use awaited::event_happened;
pub(crate) use begin::is_refusal;
pub(crate) use budget::used;
pub(crate) use compact::compact;
pub(crate) use people::cancel;
pub(crate) use presence::ended_late;
pub(crate) use printed::printed;
pub(crate) use start::{Beginning, start};
pub(crate) use view::current;
pub(crate) use work::said;
