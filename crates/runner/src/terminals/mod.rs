//! Watched terminals: a channel of the link for each.

mod show;

use std::collections::HashMap;
use std::sync::Arc;

use domain::{SessionId, UserId};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::floor::Floor;
use crate::link::Line;

/// A watcher's request.
#[derive(Debug)]
enum Wish {
    Input(Vec<u8>),
    Credit(u64),
    Snapshot,
    Resize(u16, u16),
}

/// The terminals shown on the current connection.
#[derive(Debug, Default)]
pub(crate) struct Terminals(Mutex<Shown>);

#[derive(Debug, Default)]
struct Shown {
    /// The runner's owner: nobody else may type.
    owner: Option<UserId>,
    channels: HashMap<u32, Channel>,
}

#[derive(Debug)]
struct Channel {
    session: SessionId,
    /// Who types, if known.
    driver: Option<UserId>,
    wishes: mpsc::UnboundedSender<Wish>,
    /// Ends the showing with the entry.
    _shown: DropGuard,
}

/// Shows a session's terminal on a channel. Repeating it changes nothing; another channel replaces the first.
pub(crate) fn watch(floor: &Arc<Floor>, line: &Line, channel: u32, session: SessionId, from: Option<u64>) {
    let shown = CancellationToken::new();
    let (wishes, inbox) = mpsc::unbounded_channel();
    {
        let channels = &mut floor.terminals.0.lock().channels;
        if channels.get(&channel).is_some_and(|there| there.session == session && !there.wishes.is_closed()) {
            return;
        }
        channels.retain(|_, there| there.session != session);
        channels.insert(channel, Channel { session, driver: None, wishes, _shown: shown.clone().drop_guard() });
    }
    let (floor_of, line) = (floor.clone(), line.clone());
    floor.spawn(async move {
        let showing = show::show(&floor_of, &line, channel, session, from, inbox);
        tokio::select! {
            () = showing => {}
            () = shown.cancelled() => {}
            () = line.ended() => {}
        }
    });
}

/// Shows the screen of a channel again, even if all of it was shown.
pub(crate) fn snapshot(floor: &Arc<Floor>, line: &Line, channel: u32) {
    if let Some(session) = floor.terminals.over(channel) {
        return watch(floor, line, channel, session, None);
    }
    floor.terminals.wish(channel, Wish::Snapshot);
}

impl Terminals {
    /// The session of a channel that was shown to its end.
    fn over(&self, channel: u32) -> Option<SessionId> {
        let shown = self.0.lock();
        shown.channels.get(&channel).filter(|there| there.wishes.is_closed()).map(|there| there.session)
    }

    /// Ends a channel.
    pub(crate) fn clear(&self) {
        self.0.lock().channels.clear();
    }

    pub(crate) fn unwatch(&self, channel: u32) {
        self.0.lock().channels.remove(&channel);
    }

    pub(crate) fn resize(&self, channel: u32, cols: u16, rows: u16) {
        self.wish(channel, Wish::Resize(cols, rows));
    }

    /// Types, if the runner's owner does.
    pub(crate) fn input(&self, channel: u32, bytes: Vec<u8>) {
        let owners = {
            let shown = self.0.lock();
            let driver = shown.channels.get(&channel).and_then(|channel| channel.driver);
            driver.is_some() && driver == shown.owner
        };
        if owners {
            self.wish(channel, Wish::Input(bytes));
        } else {
            tracing::warn!(channel, "dropped input of somebody who is not the owner");
        }
    }

    /// Sets who types on the channel.
    pub(crate) fn driver(&self, channel: u32, user: UserId) {
        if let Some(channel) = self.0.lock().channels.get_mut(&channel) {
            channel.driver = Some(user);
        }
    }

    /// Sets the runner's owner.
    pub(crate) fn belong_to(&self, owner: UserId) {
        self.0.lock().owner = Some(owner);
    }

    pub(crate) fn credit(&self, channel: u32, offset: u64) {
        self.wish(channel, Wish::Credit(offset));
    }

    /// Forwards a request; one for a terminal that is not shown is too late.
    fn wish(&self, channel: u32, wish: Wish) {
        if let Some(channel) = self.0.lock().channels.get(&channel) {
            let _ = channel.wishes.send(wish);
        }
    }
}
