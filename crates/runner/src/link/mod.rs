//! The link to the hub: one outgoing WebSocket, reconnected forever. Knows frames, not their meaning.

mod connection;
mod retry;
mod sending;

use std::sync::Arc;
use std::time::Duration;

use client::ClientError;
use domain::UserId;
use protocol::link::{RunnerTrouble, SilentSession, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{ProblemKind, RunnerAbout};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::Options;
use crate::journal::{Journal, Trouble};

use retry::Retry;
pub(crate) use sending::{Cut, Lane, Link};

/// Receives the hub's frames. Must not block: the next keystroke waits behind it.
pub(crate) trait Ear: Send + Sync + 'static {
    /// A connection begins; the runner belongs to this person.
    fn connected(&self, link: &Link, owner: UserId);
    /// The connection has ended.
    fn disconnected(&self);
    /// The hub sent a frame.
    fn frame(&self, link: &Link, frame: ToRunner);
    /// A watcher typed, or processed output.
    fn terminal(&self, frame: TerminalFrame);
    /// The hub answered a message that was sent then.
    fn answered(&self, sent: Instant);
    /// The heartbeat interval that the hub wants; `None`: the default.
    fn every(&self) -> watch::Receiver<Option<Duration>>;
    /// The sessions of tasks that do not answer the runner.
    fn silent(&self) -> Vec<SilentSession>;
    /// Why the runner cannot record facts, if it cannot.
    fn trouble(&self) -> Option<RunnerTrouble>;
    /// Notified when that changes.
    fn troubles(&self) -> watch::Receiver<Option<Trouble>>;
}

/// Why a connection ended.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LinkError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("the hub said nothing for {0} seconds")]
    Silent(u64),
    #[error("its token ended: {0}")]
    Ended(String),
    #[error("{0}")]
    Taken(String),
    #[error("the hub closed the connection")]
    Closed,
    #[error("the connection broke: {0}")]
    Broken(String),
    #[error("the hub's frame could not be read: {0}")]
    Frame(String),
    #[error("the hub speaks version {0} of the protocol, this runner version {1}: update the older one")]
    Version(u32, u32),
    #[error("this data directory belongs to another hub ({0}): choose another --data-dir for this one")]
    OtherHub(domain::HubId),
    #[error("the hub has other facts than this journal: renumbering them under another journal id")]
    Behind,
    #[error("the journal failed: {0}")]
    Journal(#[from] crate::JournalError),
}

impl LinkError {
    /// Whether somebody must act before a retry can succeed.
    fn needs_somebody(&self) -> bool {
        match self {
            Self::Client(ClientError::Problem(problem)) => matches!(
                problem.kind,
                ProblemKind::Unauthenticated | ProblemKind::Forbidden | ProblemKind::Protocol | ProblemKind::NotFound
            ),
            Self::Client(ClientError::Protocol(_))
            | Self::Ended(_)
            | Self::Taken(_)
            | Self::Version(..)
            | Self::OtherHub(_) => true,
            _ => false,
        }
    }
}

/// Stays connected to the hub, with growing waits between retries.
pub(crate) async fn run(
    options: Arc<Options>,
    journal: Arc<Journal>,
    mut about: watch::Receiver<RunnerAbout>,
    ear: Arc<dyn Ear>,
) {
    let patience = options.patience;
    let mut retry = Retry::new(patience);
    loop {
        let mut welcomed = None;
        let error = match connection::once(&options, &journal, &mut about, &*ear, &mut welcomed).await {
            Ok(never) => match never {},
            Err(error) => error,
        };
        let wait = retry.after(welcomed.map(|at: Instant| at.elapsed()), error.needs_somebody());
        let seconds = wait.as_secs_f32();
        if error.needs_somebody() {
            tracing::error!(
                hub = options.hub,
                "the hub refuses this runner: {}; retrying in {seconds:.0} s",
                told(&error)
            );
        } else {
            tracing::warn!(hub = options.hub, "no connection to the hub: {}; retrying in {seconds:.1} s", told(&error));
        }
        tokio::time::sleep(wait).await;
    }
}

fn told(error: &LinkError) -> String {
    match error {
        LinkError::Client(ClientError::Unreachable { url, source }) => format!("{url}: {source}"),
        LinkError::Client(ClientError::Problem(problem)) if problem.kind == ProblemKind::Unauthenticated => {
            "its token is not valid, or not any more: make one with `shopfloor runner create NAME > FILE`, and start \
             the runner with --token-file FILE"
                .to_owned()
        }
        other => other.to_string(),
    }
}
