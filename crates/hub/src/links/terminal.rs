//! One watched terminal: one stream from its runner, for all watchers.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use domain::{ProjectId, RunnerId, SessionId, UserId};
use parking_lot::Mutex;
use protocol::link::ToRunner;
use protocol::terminal::TerminalFrame;
use protocol::{Problem, Session};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::link::Link;
use super::ring::{Cursor, Exit, Ring, Screen, Step};
use super::size::{Resize, Sizing, View};

/// Minimum time between two requests for a screen.
const SCREENS: Duration = Duration::from_millis(100);
/// The runner gets a credit after this many bytes.
const CREDIT: u64 = 128 * 1024;

/// A watched terminal.
pub(crate) struct Terminal {
    pub(crate) session: SessionId,
    pub(crate) project: ProjectId,
    pub(crate) owner: UserId,
    pub(crate) runner: RunnerId,
    pub(crate) channel: u32,
    state: Mutex<State>,
}

struct State {
    ring: Ring,
    watchers: HashMap<u64, Watcher>,
    next: u64,
    link: Option<Arc<Link>>,
    began: bool,
    credited: u64,
    /// When a screen was last requested, and whether it is still pending.
    asked: Option<Instant>,
    coming: bool,
    refused: Option<Problem>,
    /// Whether a refusal of the runner is being examined.
    refusing: bool,
    /// The last typist that was sent to the runner.
    driver: Option<UserId>,
    sizing: Sizing,
    /// The size to send when the runner is reachable.
    resize: Option<ToRunner>,
}

/// One who watches.
struct Watcher {
    user: Option<UserId>,
    wake: Arc<Notify>,
}

impl State {
    fn wake(&self) {
        self.watchers.values().for_each(|watcher| watcher.wake.notify_one());
    }
}

impl Terminal {
    pub(super) fn new(session: &Session, channel: u32, from: Option<u64>) -> Self {
        let ring = from.map_or_else(Ring::default, Ring::starting_at);
        let state = State {
            ring,
            watchers: HashMap::new(),
            next: 0,
            link: None,
            began: from.is_some(),
            credited: 0,
            asked: None,
            coming: from.is_none(),
            refused: None,
            refusing: false,
            driver: None,
            sizing: Sizing::default(),
            resize: None,
        };
        Self {
            session: session.id,
            project: session.project,
            owner: session.owner.id,
            runner: session.runner,
            channel,
            state: Mutex::new(state),
        }
    }

    /// The runner is reachable by this link now, or not at all. The stream continues where it stopped.
    pub(super) fn attach(&self, link: Option<Arc<Link>>) {
        self.attach_to(&mut self.state.lock(), link);
    }

    fn attach_to(&self, state: &mut State, link: Option<Arc<Link>>) {
        // Only a new stream starts with a screen; a requested one is lost with the link.
        state.coming = !state.began;
        state.asked = None;
        state.refused = None;
        state.refusing = false;
        state.driver = None;
        if let Some(link) = &link {
            let from = state.began.then(|| state.ring.end());
            link.tell(&ToRunner::Watch { channel: self.channel, session: self.session, from });
            if let Some(resize) = state.resize.take() {
                link.tell(&resize);
            }
        }
        state.link = link;
        state.wake();
    }

    /// Asks the runner again, over the current link.
    pub(super) fn again(&self) {
        let mut state = self.state.lock();
        let link = state.link.clone();
        self.attach_to(&mut state, link);
    }

    pub(super) fn enter(&self, user: Option<UserId>, from: Option<u64>, wake: Arc<Notify>) -> (u64, Cursor) {
        let mut state = self.state.lock();
        let id = state.next;
        state.next += 1;
        wake.notify_one();
        state.watchers.insert(id, Watcher { user, wake });
        (id, state.ring.enter(from))
    }

    /// A watcher leaves; true: it was the last one, and the stream ends.
    pub(super) fn leave(&self, id: u64) -> bool {
        let mut state = self.state.lock();
        state.watchers.remove(&id);
        state.sizing.left(id);
        if !state.watchers.is_empty() {
            return false;
        }
        if let Some(link) = state.link.take() {
            link.tell(&ToRunner::Unwatch { channel: self.channel });
        }
        true
    }

    /// Whether a person watches.
    pub(super) fn is_watched_by(&self, user: UserId) -> bool {
        self.state.lock().watchers.values().any(|watcher| watcher.user == Some(user))
    }

    /// Whether the runner is connected.
    pub(crate) fn reachable(&self) -> bool {
        self.state.lock().link.is_some()
    }

    pub(super) fn on_data(&self, offset: u64, bytes: Bytes) {
        let mut state = self.state.lock();
        state.began = true;
        state.ring.data(offset, bytes);
        let end = state.ring.end();
        if end.saturating_sub(state.credited) >= CREDIT
            && let Some(link) = &state.link
        {
            link.tell_frame(&TerminalFrame::Credit { channel: self.channel, offset: end });
            state.credited = end;
        }
        state.wake();
    }

    pub(super) fn on_screen(&self, screen: Screen) {
        let mut state = self.state.lock();
        state.began = true;
        state.coming = false;
        let offset = screen.offset;
        state.sizing.shown((screen.cols, screen.rows));
        state.ring.screen(screen);
        if let Some(link) = &state.link {
            link.tell_frame(&TerminalFrame::Credit { channel: self.channel, offset });
        }
        state.credited = offset;
        state.wake();
    }

    /// The runner refuses to show it; false: an earlier refusal is still being examined.
    pub(super) fn refusing(&self) -> bool {
        !std::mem::replace(&mut self.state.lock().refusing, true)
    }

    /// The runner cannot show it.
    pub(super) fn on_refused(&self, problem: Problem) {
        let mut state = self.state.lock();
        state.refusing = false;
        state.refused = Some(problem);
        state.wake();
    }

    /// Why the runner cannot show it.
    pub(crate) fn refused(&self) -> Option<Problem> {
        self.state.lock().refused.clone()
    }

    pub(super) fn on_exit(&self, exit: Exit) {
        let mut state = self.state.lock();
        state.ring.exit(exit);
        state.wake();
    }

    /// What a watcher gets next; requests a screen if needed, at a limited rate.
    pub(super) fn next(self: &Arc<Self>, cursor: &mut Cursor) -> Step {
        let mut state = self.state.lock();
        let step = state.ring.next(cursor);
        if step != Step::WantScreen {
            return step;
        }
        if !state.coming {
            self.ask_for_screen(&mut state);
        }
        Step::Wait
    }

    fn ask_for_screen(self: &Arc<Self>, state: &mut State) {
        let Some(link) = &state.link else { return };
        let early = state.asked.map_or(Duration::ZERO, |asked| SCREENS.saturating_sub(asked.elapsed()));
        state.coming = true;
        if early.is_zero() {
            link.tell(&ToRunner::Snapshot { channel: self.channel });
            state.asked = Some(Instant::now());
            return;
        }
        let terminal = self.clone();
        tokio::spawn(async move {
            tokio::time::sleep(early).await;
            let mut state = terminal.state.lock();
            state.coming = false;
            state.wake();
        });
    }

    /// Forwards input of the owner, or of the person with this name who has the keyboard; false: it cannot reach the
    /// terminal now.
    pub(crate) fn input(&self, user: UserId, lent_to: Option<&str>, bytes: Vec<u8>) -> bool {
        let mut state = self.state.lock();
        let Some(link) = state.link.clone() else { return false };
        if state.driver.replace(user) != Some(user) {
            link.tell(&ToRunner::Driver { channel: self.channel, user, lent_to: lent_to.map(str::to_owned) });
        }
        link.tell_frame(&TerminalFrame::Input { channel: self.channel, bytes })
    }

    /// A view that may type has a size; the terminal gets it if the view decides.
    pub(super) fn viewed(&self, id: u64, view: View) {
        let mut state = self.state.lock();
        let Some(how) = state.sizing.viewed(id, view) else { return };
        let (cols, rows) = view.size;
        let resize = ToRunner::Resize { channel: self.channel, cols, rows, if_fresh: how == Resize::IfFresh };
        match &state.link {
            // A link that is full ends; the person's next key asks again.
            Some(link) => drop(link.tell(&resize)),
            None => state.resize = Some(resize),
        }
    }
}
