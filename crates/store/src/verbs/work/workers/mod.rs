//! Workers: who takes tasks, what becomes of them, and what is decided about them.

pub(crate) mod able;
pub(crate) mod activity;
mod book;
mod dispatch;
mod doing;
pub(crate) mod facts;
pub(crate) mod freeze;
pub(crate) mod holds;
mod how;
pub(crate) mod launch;
pub(crate) mod leases;
pub(crate) mod list;
pub(crate) mod log;
mod metrics;
mod moving;
pub(crate) mod outage;
pub(crate) mod rows;
pub(crate) mod settings;
mod start;
pub(crate) mod stop;
mod takeover;
mod tend;
pub(crate) mod told;

pub(crate) use book::WorkerBook;
pub use dispatch::{Dispatch, Dispatched};
pub use leases::{GraceLeases, LastHeard, RenewLeases};
pub use list::WorkDue;
pub use moving::{EndMove, HurryMove, Moving};
pub use start::MAX_WORKERS;

use domain::{RunnerId, SessionId};
use serde::{Deserialize, Serialize};

/// Something to be told to a live session once, after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// The session's runner.
    pub runner: RunnerId,
    /// Which session.
    pub session: SessionId,
    /// What.
    pub text: String,
}
