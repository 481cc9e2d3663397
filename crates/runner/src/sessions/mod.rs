//! The sessions of this runner: one actor for each that is not over.

mod actor;
mod asked;
mod end;
mod follow;
mod health;
mod held_up;
mod how;
mod launch;
mod limited;
mod lines;
mod progress;
mod said;
mod sandbox;
mod state;
mod stopped;
mod supervisor;
mod task;
mod token;
mod trust;

pub(crate) use actor::left_a_trace;
pub(crate) use sandbox::contain;
pub(crate) use state::lost;
pub(crate) use supervisor::Supervisor;

use std::collections::HashMap;
use std::time::Duration;

use domain::SessionId;
use parking_lot::Mutex;
use protocol::link::{DesiredSession, SilentSession};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::journal::SessionRow;

/// What a session is told.
#[derive(Debug)]
pub(crate) enum Order {
    /// End.
    Stop { force: bool },
    /// End within this time: the hub does not answer.
    CutOff { why: String, within: Duration },
    /// Type this as one paste, and send it off or not.
    Say { text: String, submit: bool, done: oneshot::Sender<Result<(), String>> },
    /// A commit was made in its workspace.
    Committed(String),
    /// Whether its recording is to be kept.
    Keep,
}

/// Where a session is in its life, for who wants to look at its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// There is no terminal yet.
    Preparing,
    /// Its host can be asked.
    Running,
    /// Only its files are left.
    Over,
}

/// The sessions that are not over.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    active: Mutex<HashMap<SessionId, Handle>>,
    /// Rings when a session begins.
    begun: watch::Sender<()>,
}

#[derive(Debug)]
struct Handle {
    orders: mpsc::UnboundedSender<Order>,
    /// Whether it was told to stop, and by force.
    stopping: Option<bool>,
    stage: watch::Receiver<Stage>,
    workspace: domain::WorkspaceId,
    /// How long the lease of its task holds.
    lease: Option<Duration>,
    /// Since when its host does not answer, or its agent is stopped.
    silent: Option<Instant>,
}

/// How long the lease of a session's task holds.
pub(crate) fn lease_of(desired: &DesiredSession) -> Option<Duration> {
    let seconds = desired.task.as_ref()?.lease_seconds?;
    Some(Duration::from_secs(seconds.into()))
}

impl Sessions {
    /// A session is not over from now on; what it is told, and where it says how far it is. Nothing when it was known.
    fn enter(&self, row: &SessionRow) -> Option<(mpsc::UnboundedReceiver<Order>, watch::Sender<Stage>)> {
        let (orders, inbox) = mpsc::unbounded_channel();
        let (stage_of, stage) = watch::channel(Stage::Preparing);
        let session = row.session;
        let workspace = row.desired.workspace.workspace;
        let lease = lease_of(&row.desired);
        {
            let mut active = self.active.lock();
            if active.contains_key(&session) {
                return None;
            }
            let handle = Handle { orders, stopping: None, stage, workspace, lease, silent: None };
            active.insert(session, handle);
        }
        self.begun.send_replace(());
        if !row.desired.run {
            self.stop(session, row.desired.force);
        }
        Some((inbox, stage_of))
    }

    /// A session is over.
    fn leave(&self, session: SessionId) {
        self.active.lock().remove(&session);
    }

    /// Tells a session to end; one that is over already needs not be told.
    pub(crate) fn stop(&self, session: SessionId, force: bool) {
        if let Some(handle) = self.active.lock().get_mut(&session) {
            handle.stopping = Some(force || handle.stopping.unwrap_or(false));
            let _ = handle.orders.send(Order::Stop { force });
        }
    }

    /// Tells a session to end because the hub does not answer; one that is ending already is.
    pub(crate) fn cut_off(&self, session: SessionId, why: String, within: Duration) {
        if let Some(handle) = self.active.lock().get_mut(&session).filter(|handle| handle.stopping.is_none()) {
            handle.stopping = Some(false);
            let _ = handle.orders.send(Order::CutOff { why, within });
        }
    }

    /// How long the lease of a session's task holds from now on.
    pub(crate) fn lease(&self, session: SessionId, lease: Option<Duration>) {
        if let Some(handle) = self.active.lock().get_mut(&session)
            && std::mem::replace(&mut handle.lease, lease) != lease
        {
            self.begun.send_replace(());
        }
    }

    /// The sessions that work under leases and were not told to stop.
    pub(crate) fn leases(&self) -> Vec<(SessionId, Duration)> {
        let active = self.active.lock();
        let held = active.iter().filter(|(_, handle)| handle.stopping.is_none());
        held.filter_map(|(session, handle)| Some((*session, handle.lease?))).collect()
    }

    /// Whether a session works on without a lease.
    pub(crate) fn is_free(&self, session: SessionId) -> bool {
        let active = self.active.lock();
        active.get(&session).is_some_and(|handle| handle.stopping.is_none() && handle.lease.is_none())
    }

    /// Rings when a session begins, or has another lease.
    pub(crate) fn begun(&self) -> watch::Receiver<()> {
        self.begun.subscribe()
    }

    /// Since when a session's host does not answer; nothing: it does.
    fn answers(&self, session: SessionId, silent: Option<Instant>) {
        if let Some(handle) = self.active.lock().get_mut(&session) {
            handle.silent = silent;
        }
    }

    /// The sessions whose hosts do not answer, or whose agents are stopped.
    pub(crate) fn silent(&self) -> Vec<SilentSession> {
        let active = self.active.lock();
        let ms = |since: Instant| u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
        let silent = |(session, handle): (&SessionId, &Handle)| {
            handle.silent.map(|since| SilentSession { session: *session, silent_ms: ms(since) })
        };
        active.iter().filter_map(silent).collect()
    }

    /// Whether a session was told to stop, and by force.
    pub(crate) fn stopping(&self, session: SessionId) -> Option<bool> {
        self.active.lock().get(&session)?.stopping
    }

    /// Gives an order to a session; whether it is there.
    pub(crate) fn order(&self, session: SessionId, order: Order) -> bool {
        self.active.lock().get(&session).is_some_and(|handle| handle.orders.send(order).is_ok())
    }

    /// Where a session is in its life; nothing when it is over or unknown.
    pub(crate) fn stage(&self, session: SessionId) -> Option<watch::Receiver<Stage>> {
        self.active.lock().get(&session).map(|handle| handle.stage.clone())
    }

    /// The same, for a session of which the runner may not have been told yet: that it should be shown can overtake
    /// that it should run.
    pub(crate) async fn stage_soon(&self, session: SessionId, patience: Duration) -> Option<watch::Receiver<Stage>> {
        let mut begun = self.begun.subscribe();
        let looked = tokio::time::timeout(patience, async {
            loop {
                begun.mark_unchanged();
                if let Some(stage) = self.stage(session) {
                    return stage;
                }
                let _ = begun.changed().await;
            }
        });
        looked.await.ok()
    }

    /// The sessions that are at work in a workspace.
    pub(crate) fn in_workspace(&self, workspace: domain::WorkspaceId) -> Vec<SessionId> {
        let active = self.active.lock();
        active.iter().filter(|(_, handle)| handle.workspace == workspace).map(|(session, _)| *session).collect()
    }
}
