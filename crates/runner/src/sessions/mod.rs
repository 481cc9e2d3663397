//! The sessions of this runner: one actor for each that has not exited.

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
pub(crate) use launch::autonomy;
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

/// An order to a session.
#[derive(Debug)]
pub(crate) enum Order {
    /// Stop.
    Stop { force: bool },
    /// Stop within this time: the hub does not answer.
    CutOff { why: String, within: Duration },
    /// Type this as one paste, and submit it or not.
    Say { text: String, submit: bool, done: oneshot::Sender<Result<(), String>> },
    /// A commit was made in its workspace.
    Committed(String),
    /// Whether to keep its recording.
    Keep,
}

/// A session's stage, for showing its terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// There is no terminal yet.
    Preparing,
    /// Its host answers.
    Running,
    /// Only its files remain.
    Over,
}

/// The sessions that have not exited.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    active: Mutex<HashMap<SessionId, Handle>>,
    /// Notified when a session begins.
    begun: watch::Sender<()>,
}

#[derive(Debug)]
struct Handle {
    orders: mpsc::UnboundedSender<Order>,
    /// Whether it was ordered to stop, and by force.
    stopping: Option<bool>,
    stage: watch::Receiver<Stage>,
    workspace: domain::WorkspaceId,
    /// Its task's lease.
    lease: Option<Duration>,
    /// Since when its host does not answer, or its agent is stopped.
    silent: Option<Instant>,
}

/// A session's task lease.
pub(crate) fn lease_of(desired: &DesiredSession) -> Option<Duration> {
    let seconds = desired.task.as_ref()?.lease_seconds?;
    Some(Duration::from_secs(seconds.into()))
}

impl Sessions {
    /// Adds a session; returns its orders and where to publish its stage. `None` if it was known already.
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

    /// Removes an exited session.
    fn leave(&self, session: SessionId) {
        self.active.lock().remove(&session);
    }

    /// Orders a session to stop; ignored if it has exited.
    pub(crate) fn stop(&self, session: SessionId, force: bool) {
        if let Some(handle) = self.active.lock().get_mut(&session) {
            handle.stopping = Some(force || handle.stopping.unwrap_or(false));
            let _ = handle.orders.send(Order::Stop { force });
        }
    }

    /// Orders a session to stop because the hub does not answer; ignored if it is already stopping.
    pub(crate) fn cut_off(&self, session: SessionId, why: String, within: Duration) {
        if let Some(handle) = self.active.lock().get_mut(&session).filter(|handle| handle.stopping.is_none()) {
            handle.stopping = Some(false);
            let _ = handle.orders.send(Order::CutOff { why, within });
        }
    }

    /// Sets the lease of a session's task.
    pub(crate) fn lease(&self, session: SessionId, lease: Option<Duration>) {
        if let Some(handle) = self.active.lock().get_mut(&session)
            && std::mem::replace(&mut handle.lease, lease) != lease
        {
            self.begun.send_replace(());
        }
    }

    /// The sessions with leases that were not ordered to stop.
    pub(crate) fn leases(&self) -> Vec<(SessionId, Duration)> {
        let active = self.active.lock();
        let held = active.iter().filter(|(_, handle)| handle.stopping.is_none());
        held.filter_map(|(session, handle)| Some((*session, handle.lease?))).collect()
    }

    /// Whether a session runs without a lease.
    pub(crate) fn is_free(&self, session: SessionId) -> bool {
        let active = self.active.lock();
        active.get(&session).is_some_and(|handle| handle.stopping.is_none() && handle.lease.is_none())
    }

    /// Notified when a session begins, or gets another lease.
    pub(crate) fn begun(&self) -> watch::Receiver<()> {
        self.begun.subscribe()
    }

    /// Since when a session's host does not answer; `None`: it does.
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

    /// Whether a session was ordered to stop, and by force.
    pub(crate) fn stopping(&self, session: SessionId) -> Option<bool> {
        self.active.lock().get(&session)?.stopping
    }

    /// Sends an order to a session; whether it exists.
    pub(crate) fn order(&self, session: SessionId, order: Order) -> bool {
        self.active.lock().get(&session).is_some_and(|handle| handle.orders.send(order).is_ok())
    }

    /// A session's stage; `None` if it has exited or is unknown.
    pub(crate) fn stage(&self, session: SessionId) -> Option<watch::Receiver<Stage>> {
        self.active.lock().get(&session).map(|handle| handle.stage.clone())
    }

    /// The same for a session that the runner may not know yet: the request to show it can overtake the wish to run it.
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

    /// Every session that has not exited.
    pub(crate) fn all(&self) -> Vec<SessionId> {
        self.active.lock().keys().copied().collect()
    }

    /// The sessions that work in a workspace.
    pub(crate) fn in_workspace(&self, workspace: domain::WorkspaceId) -> Vec<SessionId> {
        let active = self.active.lock();
        active.iter().filter(|(_, handle)| handle.workspace == workspace).map(|(session, _)| *session).collect()
    }
}
