//! The shared state of a runner.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use domain::{ProjectId, SessionId};
use tokio::sync::{Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::Options;
use crate::adapters::Known;
use crate::approvals::Approvals;
use crate::bundles::Bundles;
use crate::checks::Checks;
use crate::journal::Journal;
use crate::lease::Pulse;
use crate::link::Line;
use crate::sessions::Sessions;
use crate::terminals::Terminals;
use crate::tokens::Tokens;
use crate::workspaces::Workspaces;

/// The shared state of a runner.
#[derive(Debug)]
pub(crate) struct Floor {
    pub(crate) options: Arc<Options>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) adapters: Known,
    /// The environment of the person who started the runner; agents get the allowed part of it.
    pub(crate) person: BTreeMap<String, String>,
    pub(crate) workspaces: Workspaces,
    pub(crate) sessions: Sessions,
    pub(crate) terminals: Terminals,
    pub(crate) tokens: Tokens,
    pub(crate) checks: Checks,
    pub(crate) bundles: Bundles,
    /// The hub's approvals.
    pub(crate) approvals: Approvals,
    /// The heartbeat interval, and the hub's last answer.
    pub(crate) pulse: Pulse,
    /// How many requests are answered at once.
    pub(crate) asks: Semaphore,
    /// How many days to keep recordings of each project, once the hub has said so.
    pub(crate) retention: watch::Sender<BTreeMap<ProjectId, u32>>,
    /// The connection to the hub, if there is one.
    pub(crate) line: watch::Sender<Option<Line>>,
    /// Ends with the runner; sessions continue without it.
    pub(crate) stop: CancellationToken,
    pub(crate) tasks: TaskTracker,
}

impl Floor {
    /// The folder of a session.
    pub(crate) fn session_dir(&self, session: SessionId) -> PathBuf {
        self.options.data_dir.join("sessions").join(session.to_string())
    }

    /// A repository's location on this machine: `~` is the home of the user who runs the runner.
    pub(crate) fn location(&self, location: &str) -> String {
        match (location.strip_prefix("~/"), self.person.get("HOME")) {
            (Some(below), Some(home)) => format!("{}/{below}", home.trim_end_matches('/')),
            _ => location.to_owned(),
        }
    }

    /// Runs a task until it is done or the runner stops.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = task => {}
                () = stop.cancelled() => {}
            }
        });
    }
}
