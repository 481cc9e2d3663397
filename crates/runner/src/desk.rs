//! Receives the hub's frames and dispatches them, without blocking.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use domain::UserId;
use protocol::link::{RunnerTrouble, SilentSession, ToRunner};
use protocol::terminal::TerminalFrame;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::asks::Asks;
use crate::background::Background;
use crate::desired::{Reconciler, Wanted};
use crate::journal::{Journal, Trouble};
use crate::lease::Pulse;
use crate::link::{Ear, Link};
use crate::recordings::Recordings;
use crate::sessions::Sessions;
use crate::terminals::Terminals;
use crate::tokens::Tokens;

/// Dispatches the hub's frames.
#[derive(Debug)]
pub(crate) struct Desk {
    hearers: Hearers,
    /// Only the newest counts.
    wanted: watch::Sender<Option<Arc<Wanted>>>,
    stored: watch::Sender<u64>,
}

/// The parts of the runner that receive the hub's frames.
#[derive(Debug)]
pub(crate) struct Hearers {
    /// The connection to the hub, while there is one.
    pub(crate) link: watch::Sender<Option<Link>>,
    pub(crate) journal: Arc<Journal>,
    pub(crate) pulse: Arc<Pulse>,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) terminals: Terminals,
    pub(crate) tokens: Arc<Tokens>,
    pub(crate) recordings: Arc<Recordings>,
    pub(crate) asks: Arc<Asks>,
}

impl Desk {
    /// Opens a desk and starts its background tasks, which do the slow work.
    pub(crate) fn open(hearers: Hearers, reconciler: Reconciler, background: &Background) -> Self {
        let desk = Self { hearers, wanted: watch::Sender::new(None), stored: watch::Sender::new(0) };
        background.spawn(follow_wishes(reconciler, desk.wanted.subscribe()));
        background.spawn(forget_stored(desk.hearers.journal.clone(), desk.stored.subscribe()));
        desk
    }
}

impl Ear for Desk {
    fn connected(&self, link: &Link, owner: UserId) {
        self.hearers.terminals.belong_to(owner);
        self.hearers.link.send_replace(Some(link.clone()));
    }

    fn disconnected(&self) {
        self.hearers.link.send_replace(None);
        // Without a connection, the runner does not learn which recordings people mark to keep: let none expire.
        self.hearers.recordings.retain(BTreeMap::new());
        self.hearers.terminals.clear();
    }

    fn frame(&self, link: &Link, frame: ToRunner) {
        let hearers = &self.hearers;
        match frame {
            ToRunner::Welcome { .. } => {}
            ToRunner::Desired {
                generation,
                sessions,
                keep,
                checks,
                heartbeat_seconds,
                retention,
                answers,
                merges,
                forks,
            } => {
                hearers.pulse.beat(heartbeat_seconds.map(|seconds| Duration::from_secs(seconds.max(1).into())));
                let wanted = Wanted { generation, sessions, keep, checks, merges, retention, answers, forks };
                self.wanted.send_replace(Some(Arc::new(wanted)));
            }
            ToRunner::Ack { number } => {
                self.stored.send_replace(number);
            }
            ToRunner::Ask { id, ask } => hearers.asks.answer(link, id, ask),
            ToRunner::Watch { channel, session, from } => hearers.terminals.watch(link, channel, session, from),
            ToRunner::Unwatch { channel } => hearers.terminals.unwatch(channel),
            ToRunner::Driver { channel, user, lent_to } => hearers.terminals.driver(channel, user, lent_to),
            ToRunner::Snapshot { channel } => hearers.terminals.snapshot(link, channel),
            ToRunner::Resize { channel, cols, rows, if_fresh } => {
                hearers.terminals.resize(channel, (cols, rows), if_fresh);
            }
            ToRunner::Token { session, secret, lives_seconds } => {
                let lives = lives_seconds.map(|seconds| Duration::from_secs(seconds.into()));
                hearers.tokens.answer(session, secret, lives);
            }
        }
    }

    fn answered(&self, sent: Instant) {
        // The hub renews leases only while the runner can record facts, so count no answers after that.
        let trouble = self.hearers.journal.trouble();
        self.hearers.pulse.answered(trouble.map_or(sent, |trouble| sent.min(trouble.since)));
    }

    fn every(&self) -> watch::Receiver<Option<Duration>> {
        self.hearers.pulse.every()
    }

    fn silent(&self) -> Vec<SilentSession> {
        self.hearers.sessions.silent()
    }

    fn trouble(&self) -> Option<RunnerTrouble> {
        let trouble = self.hearers.journal.trouble()?;
        let lasts_ms = u64::try_from(trouble.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        Some(RunnerTrouble { why: trouble.why, lasts_ms })
    }

    fn troubles(&self) -> watch::Receiver<Option<Trouble>> {
        self.hearers.journal.troubles()
    }

    fn terminal(&self, frame: TerminalFrame) {
        match frame {
            TerminalFrame::Input { channel, bytes } => self.hearers.terminals.input(channel, bytes),
            TerminalFrame::Credit { channel, offset } => self.hearers.terminals.credit(channel, offset),
            TerminalFrame::Snapshot { .. } | TerminalFrame::Data { .. } | TerminalFrame::Exit { .. } => {
                tracing::debug!("ignored a terminal's output from the hub");
            }
        }
    }
}

async fn follow_wishes(reconciler: Reconciler, mut wanted: watch::Receiver<Option<Arc<Wanted>>>) {
    while wanted.changed().await.is_ok() {
        let newest = wanted.borrow_and_update().clone();
        if let Some(newest) = newest
            && let Err(error) = reconciler.take_in(&newest).await
        {
            tracing::error!(%error, "could not apply the desired state; the hub will repeat it");
        }
    }
}

async fn forget_stored(journal: Arc<Journal>, mut stored: watch::Receiver<u64>) {
    while stored.changed().await.is_ok() {
        let number = *stored.borrow_and_update();
        if let Err(error) = journal.acknowledge(number).await {
            tracing::warn!(%error, "could not delete acknowledged facts; they stay for now");
        }
    }
}
