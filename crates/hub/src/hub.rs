//! The shared state of a running hub.

use std::collections::HashMap;
use std::sync::Arc;

use domain::Timestamp;
use parking_lot::Mutex;
use protocol::{Me, ProblemKind};
use store::{Caller, Credential, Store};
use tokio_util::sync::CancellationToken;

use crate::AppError;
use crate::background::Untidy;
use crate::http::doors::Doors;
use crate::http::github::Github;
use crate::limits::Meters;
use crate::links::Links;
use crate::live::Live;
use crate::notify::Notify;
use crate::options::Limits;
use crate::well::Well;

/// The shared state of a running hub.
pub(crate) struct Hub {
    pub(crate) store: Store,
    pub(crate) live: Arc<Live>,
    pub(crate) links: Arc<Links>,
    pub(crate) doors: Doors,
    pub(crate) meters: Meters,
    pub(crate) limits: Limits,
    pub(crate) github: Option<Github>,
    /// Sends notifications.
    pub(crate) notify: Notify,
    /// Cancelled when the hub stops.
    pub(crate) stopping: CancellationToken,
    /// Runners that may have unneeded workspaces of checks.
    pub(crate) untidy: Untidy,
    /// Whether the database answers.
    pub(crate) well: Well,
    seen: Mutex<HashMap<String, Timestamp>>,
}

impl Hub {
    pub(crate) fn new(
        store: Store,
        live: Arc<Live>,
        doors: Doors,
        limits: Limits,
        github: Option<Github>,
        notify: Notify,
        stopping: CancellationToken,
    ) -> Self {
        let meters = Meters::new(&limits);
        let links = Arc::default();
        let (untidy, well, seen) = Default::default();
        Self { store, live, links, doors, meters, limits, github, notify, stopping, untidy, well, seen }
    }

    /// Remembers that a credential or user was seen now; stored once a minute.
    pub(crate) fn touch(&self, id: impl Into<String>) {
        self.seen.lock().insert(id.into(), self.store.now());
    }

    /// Everything seen since the last call.
    pub(crate) fn take_seen(&self) -> Vec<(String, Timestamp)> {
        self.seen.lock().drain().collect()
    }

    /// The bearer of a credential, as shown to themselves.
    pub(crate) async fn me(&self, credential: &Credential, caller: &Caller) -> Result<Me, AppError> {
        let (user, observes) = match credential.actor {
            domain::Actor::User { id, .. } => {
                let mut user = self.store.user(caller, id).await?;
                user.connected = self.live.presence.is_connected(id);
                (Some(user), None)
            }
            domain::Actor::Observer { project } | domain::Actor::Agent { project, .. } => (None, Some(project)),
            domain::Actor::Runner { .. } => (None, None),
        };
        Ok(self.me_view(user, observes))
    }

    /// Completes a client's view of itself.
    pub(crate) fn me_view(&self, user: Option<protocol::User>, observes: Option<domain::ProjectId>) -> Me {
        Me {
            user,
            observes,
            hub: self.store.hub(),
            github: self.github.is_some(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// Refuses a bearer's request above the rate limit.
    pub(crate) fn meter(&self, credential: &Credential) -> Result<(), AppError> {
        self.meters.request(&credential.id).map_err(too_many)
    }
}

/// The refusal that says how long to wait.
pub(crate) fn too_many(seconds: u32) -> AppError {
    let detail = format!("too many requests: wait {seconds} s");
    let mut problem = protocol::Problem::new(ProblemKind::RateLimited, detail);
    problem.retry_after_seconds = Some(seconds);
    AppError::Problem(problem)
}
