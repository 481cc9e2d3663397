//! Workers: their rows, their sessions, dispatch and decisions.

pub(crate) mod able;
pub(crate) mod activity;
mod book;
pub(crate) mod builds_on;
mod dispatch;
mod doing;
pub(crate) mod facts;
pub(crate) mod freeze;
pub(crate) mod handed;
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
pub(crate) mod start;
pub(crate) mod stop;
mod takeover;
mod tend;
pub(crate) mod told;
pub(crate) mod waited;

pub(crate) use book::WorkerBook;
pub use builds_on::{Awaiting, EndWait, PublishWorkFor, WorkArrived};
pub use dispatch::{Dispatch, Dispatched};
pub use leases::{GraceLeases, LastHeard, RenewLeases};
pub use list::WorkDue;
pub use moving::{EndMove, HurryMove, Moving};
pub use start::MAX_WORKERS;

use domain::{RunnerId, SessionId};
use serde::{Deserialize, Serialize};

/// A message for a live session, sent once after the commit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Say {
    /// The session's runner.
    pub runner: RunnerId,
    /// The session.
    pub session: SessionId,
    /// The message.
    pub text: String,
}
