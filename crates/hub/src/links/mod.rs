//! Links: runners' sockets, and the terminals that they carry.
//!
//! A runner has one link at a time; a newer one replaces an older one, which may be half open. A watched terminal is
//! one stream from its runner, however many people watch; without watchers there is no stream.

mod facts;
mod link;
mod minting;
mod news;
mod pace;
mod ring;
mod screens;
mod size;
pub(crate) mod socket;
mod terminal;
mod trouble;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use domain::{JournalId, RunnerId, SessionId, UserId};
use parking_lot::Mutex;
use protocol::link::{RunnerAnswer, RunnerAsk};
use protocol::{ProblemKind, Session};
use store::{LastHeard, Say};
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::AppError;
use link::Link;
pub(crate) use ring::{Cursor, Step};
pub(crate) use size::View;
pub(crate) use terminal::Terminal;

/// How long a closing link may take.
const GOING: Duration = Duration::from_secs(2);

/// Every runner connected to this hub, and every watched terminal.
#[derive(Default)]
pub(crate) struct Links {
    links: Mutex<HashMap<RunnerId, Arc<Link>>>,
    /// When disconnected runners were last heard.
    gone: Mutex<HashMap<RunnerId, Instant>>,
    terminals: Mutex<Terminals>,
    screens: screens::Screens,
    channels: AtomicU32,
}

#[derive(Default)]
struct Terminals {
    by_session: HashMap<SessionId, Arc<Terminal>>,
    by_channel: HashMap<u32, Arc<Terminal>>,
}

impl Terminals {
    fn of(&self, runner: RunnerId) -> impl Iterator<Item = &Arc<Terminal>> {
        self.by_session.values().filter(move |terminal| terminal.runner == runner)
    }
}

impl Links {
    /// Sends a request to a runner and waits for the answer.
    pub(crate) async fn ask(&self, runner: RunnerId, ask: RunnerAsk) -> Result<RunnerAnswer, AppError> {
        self.reach(runner)?.ask(ask).await
    }

    /// The same for a request that takes its time.
    pub(crate) async fn ask_for(
        &self,
        runner: RunnerId,
        ask: RunnerAsk,
        patience: Duration,
    ) -> Result<RunnerAnswer, AppError> {
        self.reach(runner)?.ask_for(ask, patience).await
    }

    /// Sends messages to live sessions, each at most once: a session that misses one learns it with its next start.
    pub(crate) fn say(self: &Arc<Self>, messages: Vec<Say>) {
        for Say { runner, session, text } in messages {
            let links = self.clone();
            tokio::spawn(async move {
                if let Err(error) = links.ask(runner, RunnerAsk::Send { session, text, submit: true }).await {
                    tracing::debug!(%error, %session, "could not send a session the refusal of its report");
                }
            });
        }
    }

    /// When the runners of this hub were last heard, able to work.
    pub(crate) fn last_heard(&self) -> Vec<LastHeard> {
        let ms = |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX);
        let linked = self.links.lock();
        let here = linked.iter().map(|(runner, link)| LastHeard {
            runner: *runner,
            ago_ms: ms(link.worked_at().elapsed()),
            silent: link.silent().into_iter().map(|(session, silence)| (session, ms(silence))).collect(),
        });
        let gone = self.gone.lock();
        let gone = gone.iter().filter(|(runner, _)| !linked.contains_key(runner));
        let gone = gone.map(|(runner, at)| LastHeard { ago_ms: ms(at.elapsed()), ..LastHeard::now(*runner) });
        here.chain(gone).collect()
    }

    /// The runners connected to this hub.
    pub(crate) fn linked(&self) -> Vec<RunnerId> {
        self.links.lock().keys().copied().collect()
    }

    /// The runners connected to this hub that are heard regularly and can work.
    pub(crate) fn heard(&self) -> Vec<RunnerId> {
        self.links.lock().iter().filter(|(_, link)| link.works()).map(|(runner, _)| *runner).collect()
    }

    /// Whether a runner is connected here but silent.
    pub(crate) fn is_silent(&self, runner: RunnerId) -> bool {
        self.links.lock().get(&runner).is_some_and(|link| !link.is_heard())
    }

    /// Refuses if a runner is unreachable.
    pub(crate) fn reachable(&self, runner: RunnerId) -> Result<(), AppError> {
        self.reach(runner).map(|_| ())
    }

    fn reach(&self, runner: RunnerId) -> Result<Arc<Link>, AppError> {
        let away = "its runner is not connected: try again when it is back";
        self.of(runner).ok_or_else(|| AppError::new(ProblemKind::Unavailable, away))
    }

    /// Adds a watcher to a session's terminal, who is woken when there may be something to send.
    pub(crate) fn watch(
        self: &Arc<Self>,
        session: &Session,
        user: Option<UserId>,
        from: Option<u64>,
        wake: Arc<Notify>,
    ) -> Watch {
        let mut terminals = self.terminals.lock();
        let known = terminals.by_session.get(&session.id).cloned();
        let terminal = known.unwrap_or_else(|| {
            let channel = self.channels.fetch_add(1, Ordering::Relaxed);
            let terminal = Arc::new(Terminal::new(session, channel, from));
            terminals.by_session.insert(session.id, terminal.clone());
            terminals.by_channel.insert(channel, terminal.clone());
            terminal.attach(self.of(session.runner));
            terminal
        });
        let (id, cursor) = terminal.enter(user, from, wake);
        Watch { links: self.clone(), terminal, id, cursor }
    }

    /// Whether a person watches a session's terminal.
    pub(crate) fn is_watched_by(&self, session: SessionId, user: UserId) -> bool {
        self.terminals.lock().by_session.get(&session).is_some_and(|terminal| terminal.is_watched_by(user))
    }

    fn of(&self, runner: RunnerId) -> Option<Arc<Link>> {
        self.links.lock().get(&runner).cloned()
    }

    /// The terminal behind a channel of this runner's link.
    fn on_channel(&self, runner: RunnerId, channel: u32) -> Option<Arc<Terminal>> {
        // A runner speaks only for its own sessions, whatever channel it names.
        self.terminals.lock().by_channel.get(&channel).filter(|terminal| terminal.runner == runner).cloned()
    }

    /// Whether another process is connected as the same runner, with another memory; waits for one that is closing.
    async fn is_taken(&self, runner: RunnerId, journal: JournalId) -> bool {
        let Some(other) = self.of(runner).filter(|other| other.journal != journal && other.is_heard()) else {
            return false;
        };
        tokio::time::timeout(GOING, other.over.cancelled()).await.is_err() && other.is_heard()
    }

    /// A runner's link begins; an older one ends.
    fn begin(&self, link: &Arc<Link>) {
        // Under the common lock, so that a beginning link and an ending one do not mix.
        let terminals = self.terminals.lock();
        let older = self.links.lock().insert(link.runner, link.clone());
        if let Some(older) = older {
            older.end();
        }
        terminals.of(link.runner).for_each(|terminal| terminal.attach(Some(link.clone())));
    }

    /// A runner's link ended.
    fn end(&self, link: &Arc<Link>) {
        let terminals = self.terminals.lock();
        let mut links = self.links.lock();
        if links.get(&link.runner).is_some_and(|current| Arc::ptr_eq(current, link)) {
            links.remove(&link.runner);
            self.gone.lock().insert(link.runner, link.worked_at());
            terminals.of(link.runner).for_each(|terminal| terminal.attach(None));
        }
    }
}

/// One watcher of a terminal.
pub(crate) struct Watch {
    links: Arc<Links>,
    /// The terminal.
    pub(crate) terminal: Arc<Terminal>,
    id: u64,
    /// The watcher's position.
    pub(crate) cursor: Cursor,
}

impl Watch {
    /// What to send next; advances the cursor.
    pub(crate) fn next(&mut self) -> Step {
        self.terminal.next(&mut self.cursor)
    }

    /// This watcher's view has a size.
    pub(crate) fn viewed(&self, view: View) {
        self.terminal.viewed(self.id, view);
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // Under the lock of `watch`, so that nobody joins a terminal that is being closed.
        let mut terminals = self.links.terminals.lock();
        if self.terminal.leave(self.id) {
            terminals.by_session.remove(&self.terminal.session);
            terminals.by_channel.remove(&self.terminal.channel);
        }
    }
}
