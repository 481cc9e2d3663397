//! Tasks, workers and reviews.
//!
//! `engine::tasks::life` decides the transitions of a task; only [`life`] writes its state. `tasks` has the queue and
//! its verbs, `review` reports and questions, `workers` the workers.

pub(crate) mod life;
pub(crate) mod review;
pub(crate) mod tasks;
pub(crate) mod workers;

pub use review::{GiveUpChecks, ShowEvidence, SweptCheck, Unseen};
pub use tasks::{ExpireLeases, Reported, Wanted};
pub use workers::{
    Awaiting, Dispatch, Dispatched, EndMove, EndWait, GraceLeases, HurryMove, LastHeard, MAX_WORKERS, Moving,
    PublishWorkFor, RenewLeases, Say, WorkArrived, WorkDue,
};
