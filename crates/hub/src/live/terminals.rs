//! Terminals as a kind of live channel: a watcher's position in a session's stream, and its owner's input.

use std::sync::Arc;

use domain::{Action, Actor, SessionId, UserId};
use protocol::terminal::{self, TerminalFrame};
use protocol::{FromHub, Problem, ProblemKind};
use store::Caller;
use tokio::sync::Notify;

use super::channels::Channel;
use crate::AppError;
use crate::hub::Hub;
use crate::links::{Step, Watch};

/// A terminal that a client watches on one of its channels.
pub(crate) struct WatchedTerminal {
    channel: u32,
    watch: Watch,
    may_type: bool,
    /// Whether its runner was reachable, as last reported to the client.
    told: Option<bool>,
}

/// Watches a session's terminal from an offset on, or from a screen.
pub(crate) async fn watch(
    hub: &Hub,
    caller: &Caller,
    (channel, session, from): (u32, SessionId, Option<u64>),
    wake: Arc<Notify>,
) -> Result<WatchedTerminal, Problem> {
    let found = hub.store.session(caller, session, Action::SeeExecution).await;
    let found = found.map_err(|error| AppError::from(error).into_problem())?;
    let may_type = matches!(caller.actor(), Some(Actor::User { id, .. }) if *id == found.owner.id);
    Ok(WatchedTerminal { channel, watch: hub.links.watch(&found, from, wake), may_type, told: None })
}

impl Channel for WatchedTerminal {
    fn refused(&self, hub: &Hub, actor: &Actor) -> Option<Problem> {
        let terminal = &self.watch.terminal;
        if !hub.live.looks(actor, terminal.project, terminal.owner) {
            return Some(Problem::new(ProblemKind::NotFound, "session not found"));
        }
        terminal.refused()
    }

    fn news(&mut self) -> Option<FromHub> {
        let reachable = self.watch.terminal.reachable();
        if self.told.replace(reachable) == Some(reachable) {
            return None;
        }
        let (channel, session, may_type) = (self.channel, self.watch.terminal.session, self.may_type);
        Some(FromHub::Watching { channel, session, may_type, reachable })
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        frame(self.channel, self.watch.next())
    }

    fn credit(&mut self, offset: u64) {
        self.watch.cursor.credit(offset);
    }

    fn input(&self, user: UserId, bytes: Vec<u8>) {
        if self.may_type {
            self.watch.terminal.input(user, bytes);
        }
    }

    /// Resizes the terminal to its owner's view; ignores other people's views.
    fn resize(&self, cols: u16, rows: u16) {
        if self.may_type && (2..=500).contains(&cols) && (2..=300).contains(&rows) {
            self.watch.terminal.resize(cols, rows);
        }
    }
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
