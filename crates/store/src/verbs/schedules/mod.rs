//! Schedules: the engine decides about ticks, this stores them and starts executions.

mod convert;
mod facts;
mod people;
mod rows;
mod tend;
mod ticks;
mod view;

pub use tend::{DueSchedules, TendSchedule};

pub(crate) use tend::{event_happened, execution_over};
pub(crate) use view::all;
