//! The terminals that one client watches: frames to send, and the owner's input.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::ws::Message;
use domain::{Action, Actor, SessionId};
use protocol::terminal::{self, TerminalFrame};
use protocol::{FromHub, Problem, ProblemKind};
use store::Caller;
use tokio::sync::Notify;

use super::log::encode;
use crate::AppError;
use crate::hub::Hub;
use crate::links::{Step, Watch};

/// How many terminals one client may watch at once.
const MOST: usize = 100;
/// How much to send before the client's other frames get a turn.
const TURN: usize = 64 * 1024;

/// The terminals that one client watches.
#[derive(Default)]
pub(crate) struct Watchers {
    open: BTreeMap<u32, Watched>,
    /// Notified when there may be something to send; a notification without a waiter is kept.
    wake: Arc<Notify>,
    /// The channel that had the last turn.
    last: u32,
}

struct Watched {
    watch: Watch,
    may_type: bool,
    /// What the client last received.
    reachable: bool,
}

impl Watchers {
    /// Opens a channel; the frame says how it went.
    pub(crate) async fn open(
        &mut self,
        hub: &Hub,
        caller: &Caller,
        channel: u32,
        session: SessionId,
        from: Option<u64>,
    ) -> FromHub {
        if self.open.len() >= MOST && !self.open.contains_key(&channel) {
            let detail = format!("you can watch at most {MOST} terminals at once: close some first");
            return FromHub::Unwatched { channel, problem: Problem::new(ProblemKind::Conflict, detail) };
        }
        let found = match hub.store.session(caller, session, Action::SeeExecution).await {
            Ok(found) => found,
            Err(error) => return FromHub::Unwatched { channel, problem: AppError::from(error).into_problem() },
        };
        let may_type = matches!(caller.actor(), Some(Actor::User { id, .. }) if *id == found.owner.id);
        let watch = hub.links.watch(&found, from, self.wake.clone());
        let reachable = watch.terminal.reachable();
        self.open.insert(channel, Watched { watch, may_type, reachable });
        FromHub::Watching { channel, session, may_type, reachable }
    }

    /// Closes a channel.
    pub(crate) fn close(&mut self, channel: u32) {
        self.open.remove(&channel);
    }

    /// Gives a terminal the size of its owner's view; other people's sizes are ignored.
    pub(crate) fn resize(&self, channel: u32, cols: u16, rows: u16) {
        let sane = (2..=500).contains(&cols) && (2..=300).contains(&rows);
        if let Some(watched) = self.open.get(&channel).filter(|watched| watched.may_type && sane) {
            watched.watch.terminal.resize(cols, rows);
        }
    }

    /// Handles a client's binary frame. Input of anybody but the owner ends here.
    pub(crate) fn on_frame(&mut self, actor: &Actor, frame: &[u8]) -> Result<(), Problem> {
        let refuse = |error: terminal::BadTerminalFrame| Problem::new(ProblemKind::Invalid, error.to_string());
        match (TerminalFrame::decode(frame).map_err(refuse)?, actor) {
            (TerminalFrame::Input { channel, bytes }, Actor::User { id, .. }) => {
                if let Some(watched) = self.open.get(&channel).filter(|watched| watched.may_type) {
                    watched.watch.terminal.input(*id, bytes);
                }
                Ok(())
            }
            (TerminalFrame::Input { .. }, _) => Ok(()),
            (TerminalFrame::Credit { channel, offset }, _) => {
                if let Some(watched) = self.open.get_mut(&channel) {
                    watched.watch.cursor.credit(offset);
                    self.wake.notify_one();
                }
                Ok(())
            }
            _ => Err(Problem::new(ProblemKind::Invalid, "a client may send only input and credit")),
        }
    }

    /// Waits until there may be something to send.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }

    /// What to send now, each channel in turn. Rights are checked here, at the moment of sending.
    pub(crate) fn pump(&mut self, hub: &Hub, actor: &Actor) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut ended = Vec::new();
        let mut budget = TURN;
        let channels: Vec<u32> = self
            .open
            .range(self.last.saturating_add(1)..)
            .chain(self.open.range(..=self.last))
            .map(|(id, _)| *id)
            .collect();
        for channel in channels {
            let Some(watched) = self.open.get_mut(&channel) else { continue };
            let terminal = &watched.watch.terminal;
            if let Some(problem) = not_any_more(hub, actor, watched) {
                messages.push(Message::Text(encode(&FromHub::Unwatched { channel, problem })));
                ended.push(channel);
                continue;
            }
            let reachable = terminal.reachable();
            if reachable != watched.reachable {
                let (session, may_type) = (terminal.session, watched.may_type);
                messages.push(Message::Text(encode(&FromHub::Watching { channel, session, may_type, reachable })));
                watched.reachable = reachable;
            }
            while budget > 0
                && let Some(frame) = frame(channel, watched.watch.next())
            {
                budget = budget.saturating_sub(frame.len());
                messages.push(Message::Binary(frame.into()));
                self.last = channel;
            }
            if budget == 0 {
                // There may be more, here or on another channel.
                self.wake.notify_one();
                break;
            }
        }
        ended.iter().for_each(|channel| self.close(*channel));
        messages
    }

    /// Wakes the pump when rights may have changed.
    pub(crate) fn reconsider(&self) {
        if !self.open.is_empty() {
            self.wake.notify_one();
        }
    }
}

fn not_any_more(hub: &Hub, actor: &Actor, watched: &Watched) -> Option<Problem> {
    let terminal = &watched.watch.terminal;
    if !hub.live.looks(actor, terminal.project, terminal.owner) {
        return Some(Problem::new(ProblemKind::NotFound, "session not found"));
    }
    terminal.refused()
}

fn frame(channel: u32, step: Step) -> Option<Vec<u8>> {
    match step {
        Step::Wait | Step::WantScreen => None,
        Step::Screen(screen) => {
            let frame = TerminalFrame::Snapshot {
                channel,
                offset: screen.offset,
                cols: screen.cols,
                rows: screen.rows,
                title: screen.title.clone(),
                bytes: screen.bytes.clone(),
            };
            Some(frame.encode())
        }
        Step::Data(offset, bytes) => Some(terminal::data(channel, offset, &bytes)),
        Step::Exit(exit) => {
            let (offset, code, signal) = (exit.offset, exit.code, exit.signal);
            Some(TerminalFrame::Exit { channel, offset, code, signal }.encode())
        }
    }
}
