//! Renews a lease in the background, because models forget to.

use std::sync::Arc;
use std::time::Duration;

use domain::TaskId;
use parking_lot::Mutex;
use protocol::{Call, Lease, ProblemKind, TaskDetail, TaskHeartbeat};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::desk::held_under;
use crate::verbs::{Verbs, ask};

/// When the caller last called.
#[derive(Debug)]
pub(crate) struct Pulse {
    last: Mutex<Instant>,
    /// How long a caller may be silent; `None`: as long as it is connected.
    grace: Option<Duration>,
}

impl Pulse {
    pub(crate) fn new(grace: Option<Duration>) -> Self {
        Self { last: Mutex::new(Instant::now()), grace }
    }

    pub(crate) fn beat(&self) {
        *self.last.lock() = Instant::now();
    }

    pub(crate) fn silent_for(&self) -> Duration {
        self.last.lock().elapsed()
    }

    fn is_alive(&self) -> bool {
        self.grace.is_none_or(|grace| self.silent_for() < grace)
    }
}

/// Renews a lease until it is dropped, the lease is lost, or the caller was silent for too long.
#[derive(Debug)]
pub(crate) struct Keeper(JoinHandle<()>);

impl Keeper {
    pub(crate) fn start(verbs: Arc<dyn Verbs>, pulse: Arc<Pulse>, task: TaskId, fence: u64, every: Duration) -> Self {
        Self(tokio::spawn(async move {
            loop {
                tokio::time::sleep(every).await;
                if !pulse.is_alive() || !renew(&*verbs, task, fence).await {
                    return;
                }
            }
        }))
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Renews once; false if the lease is lost for good.
async fn renew(verbs: &dyn Verbs, task: TaskId, fence: u64) -> bool {
    let input = TaskHeartbeat { fence, progress: None };
    let Err(problem) = ask::<Lease>(verbs, Call::TaskHeartbeat { task, input }).await else { return true };
    match problem.kind {
        // While a report is checked nothing can be renewed, but the lease returns if the report is refused.
        ProblemKind::Conflict => match ask::<TaskDetail>(verbs, Call::TaskShow { task }).await {
            Ok(detail) => held_under(&detail, fence),
            Err(problem) => passes(problem.kind),
        },
        kind => passes(kind),
    }
}

fn passes(kind: ProblemKind) -> bool {
    matches!(
        kind,
        ProblemKind::Unavailable
            | ProblemKind::RateLimited
            | ProblemKind::Storage
            | ProblemKind::Internal
            // An agent's expired token is about to be renewed.
            | ProblemKind::Unauthenticated
    )
}
