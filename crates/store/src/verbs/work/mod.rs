//! Work: tasks, who works on them, and what becomes of what they hand in.
//!
//! `engine::tasks::life` decides what becomes of a task; [`life`] is the only code that changes a task's state, by its
//! steps. `tasks` has the queue and its verbs, `review` what is handed in and asked, `workers` who works.

pub(crate) mod life;
pub(crate) mod review;
pub(crate) mod tasks;
pub(crate) mod workers;

pub use review::{GiveUpChecks, ShowEvidence, SweptCheck, Unseen};
pub use tasks::{ExpireLeases, Reported, Wanted};
pub use workers::{
    Dispatch, Dispatched, EndMove, GraceLeases, HurryMove, LastHeard, MAX_WORKERS, Moving, RenewLeases, Say, WorkDue,
};
