//! Receives the hub's frames and dispatches them, without blocking.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::UserId;
use protocol::link::{RunnerTrouble, SilentSession, ToRunner};
use protocol::terminal::TerminalFrame;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::desired::{Wanted, take_in};
use crate::floor::Floor;
use crate::journal::Trouble;
use crate::link::{Ear, Line};

/// Hears the hub.
#[derive(Debug)]
pub(crate) struct Desk {
    floor: Arc<Floor>,
    /// Only the newest counts.
    wanted: watch::Sender<Option<Arc<Wanted>>>,
    stored: watch::Sender<u64>,
}

impl Desk {
    /// A desk, with the tasks that do what may take time.
    pub(crate) fn open(floor: &Arc<Floor>) -> Self {
        let desk = Self { floor: floor.clone(), wanted: watch::Sender::new(None), stored: watch::Sender::new(0) };
        floor.spawn(follow_wishes(floor.clone(), desk.wanted.subscribe()));
        floor.spawn(forget_stored(floor.clone(), desk.stored.subscribe()));
        desk
    }
}

impl Ear for Desk {
    fn connected(&self, line: &Line, owner: UserId) {
        self.floor.terminals.belong_to(owner);
        self.floor.line.send_replace(Some(line.clone()));
    }

    fn disconnected(&self) {
        self.floor.line.send_replace(None);
        // What is marked to be kept from now on is not heard of.
        self.floor.retention.send_replace(BTreeMap::new());
        self.floor.terminals.clear();
    }

    fn frame(&self, line: &Line, frame: ToRunner) {
        let floor = &self.floor;
        match frame {
            ToRunner::Welcome { .. } => {}
            ToRunner::Desired { generation, sessions, keep, checks, heartbeat_seconds, retention, answers } => {
                floor.pulse.beat(heartbeat_seconds.map(|seconds| Duration::from_secs(seconds.max(1).into())));
                let wanted = Wanted { generation, sessions, keep, checks, retention, answers };
                self.wanted.send_replace(Some(Arc::new(wanted)));
            }
            ToRunner::Ack { number } => {
                self.stored.send_replace(number);
            }
            ToRunner::Ask { id, ask } => crate::asks::answer(floor, line, id, ask),
            ToRunner::Watch { channel, session, from } => crate::terminals::watch(floor, line, channel, session, from),
            ToRunner::Unwatch { channel } => floor.terminals.unwatch(channel),
            ToRunner::Driver { channel, user } => floor.terminals.driver(channel, user),
            ToRunner::Snapshot { channel } => crate::terminals::snapshot(floor, line, channel),
            ToRunner::Resize { channel, cols, rows } => floor.terminals.resize(channel, cols, rows),
            ToRunner::Token { session, secret, lives_seconds } => {
                let lives = lives_seconds.map(|seconds| Duration::from_secs(seconds.into()));
                floor.tokens.answer(session, secret, lives);
            }
        }
    }

    fn answered(&self, sent: Instant) {
        // The hub counts leases only up to when the runner could still write down what happens, and so does the runner.
        let trouble = self.floor.journal.trouble();
        self.floor.pulse.answered(trouble.map_or(sent, |trouble| sent.min(trouble.since)));
    }

    fn every(&self) -> watch::Receiver<Option<Duration>> {
        self.floor.pulse.every()
    }

    fn silent(&self) -> Vec<SilentSession> {
        self.floor.sessions.silent()
    }

    fn trouble(&self) -> Option<RunnerTrouble> {
        let trouble = self.floor.journal.trouble()?;
        let lasts_ms = u64::try_from(trouble.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(RunnerTrouble { why: trouble.why, lasts_ms })
    }

    fn troubles(&self) -> watch::Receiver<Option<Trouble>> {
        self.floor.journal.troubles()
    }

    fn terminal(&self, frame: TerminalFrame) {
        match frame {
            TerminalFrame::Input { channel, bytes } => self.floor.terminals.input(channel, bytes),
            TerminalFrame::Credit { channel, offset } => self.floor.terminals.credit(channel, offset),
            TerminalFrame::Snapshot { .. } | TerminalFrame::Data { .. } | TerminalFrame::Exit { .. } => {
                tracing::debug!("ignored a terminal's output from the hub");
            }
        }
    }
}

async fn follow_wishes(floor: Arc<Floor>, mut wanted: watch::Receiver<Option<Arc<Wanted>>>) {
    while wanted.changed().await.is_ok() {
        let newest = wanted.borrow_and_update().clone();
        if let Some(newest) = newest
            && let Err(error) = take_in(&floor, &newest).await
        {
            tracing::error!(%error, "could not apply the desired state; the hub will repeat it");
        }
    }
}

async fn forget_stored(floor: Arc<Floor>, mut stored: watch::Receiver<u64>) {
    while stored.changed().await.is_ok() {
        let number = *stored.borrow_and_update();
        if let Err(error) = floor.journal.acknowledge(number).await {
            tracing::warn!(%error, "could not delete acknowledged facts; they stay for now");
        }
    }
}
