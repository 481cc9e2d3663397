//! Watched terminals: a channel of the link for each.

mod show;

use std::collections::HashMap;
use std::sync::Arc;

use domain::{SessionId, UserId};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::background::Background;
use crate::folders::Folders;
use crate::link::Link;
use crate::sessions::Sessions;

/// A watcher's request.
#[derive(Debug)]
enum Wish {
    Input(Vec<u8>),
    Credit(u64),
    Snapshot,
    Resize {
        size: (u16, u16),
        if_fresh: bool,
    },
    /// Put a marker into the recording.
    Mark(String),
}

/// The terminals shown on the current connection.
#[derive(Debug)]
pub(crate) struct Terminals {
    sources: Sources,
    background: Background,
    shown: Mutex<Shown>,
}

/// Where to find terminals: the running sessions, and the folders of all sessions.
#[derive(Debug, Clone)]
struct Sources {
    sessions: Arc<Sessions>,
    folders: Folders,
}

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
    driver: Option<Driver>,
    wishes: mpsc::UnboundedSender<Wish>,
    /// Ends the showing with the entry.
    _shown: DropGuard,
}

/// Who types on a channel.
#[derive(Debug)]
struct Driver {
    user: UserId,
    /// Whether the owner handed the keyboard to them.
    lent: bool,
}

impl Terminals {
    /// Shows no terminal yet.
    pub(crate) fn new(sessions: Arc<Sessions>, folders: Folders, background: Background) -> Self {
        Self { sources: Sources { sessions, folders }, background, shown: Mutex::default() }
    }

    /// Shows a session's terminal on a channel. Repeating it changes nothing; another channel replaces the first.
    pub(crate) fn watch(&self, link: &Link, channel: u32, session: SessionId, from: Option<u64>) {
        let shown = CancellationToken::new();
        let (wishes, inbox) = mpsc::unbounded_channel();
        {
            let channels = &mut self.shown.lock().channels;
            if channels.get(&channel).is_some_and(|there| there.session == session && !there.wishes.is_closed()) {
                return;
            }
            channels.retain(|_, there| there.session != session);
            channels.insert(channel, Channel { session, driver: None, wishes, _shown: shown.clone().drop_guard() });
        }
        let (sources, link) = (self.sources.clone(), link.clone());
        self.background.spawn(async move {
            let showing = show::show(&sources, &link, channel, session, from, inbox);
            tokio::select! {
                () = showing => {}
                () = shown.cancelled() => {}
                () = link.ended() => {}
            }
        });
    }

    /// Shows the screen of a channel again, even if all of it was shown.
    pub(crate) fn snapshot(&self, link: &Link, channel: u32) {
        if let Some(session) = self.over(channel) {
            return self.watch(link, channel, session, None);
        }
        self.wish(channel, Wish::Snapshot);
    }

    /// The session of a channel that was shown to its end.
    fn over(&self, channel: u32) -> Option<SessionId> {
        let shown = self.shown.lock();
        shown.channels.get(&channel).filter(|there| there.wishes.is_closed()).map(|there| there.session)
    }

    /// Ends a channel.
    pub(crate) fn clear(&self) {
        self.shown.lock().channels.clear();
    }

    pub(crate) fn unwatch(&self, channel: u32) {
        self.shown.lock().channels.remove(&channel);
    }

    pub(crate) fn resize(&self, channel: u32, size: (u16, u16), if_fresh: bool) {
        self.wish(channel, Wish::Resize { size, if_fresh });
    }

    /// Types, if the runner's owner does, or the person to whom they handed the keyboard.
    pub(crate) fn input(&self, channel: u32, bytes: Vec<u8>) {
        let owners = {
            let shown = self.shown.lock();
            let driver = shown.channels.get(&channel).and_then(|channel| channel.driver.as_ref());
            driver.is_some_and(|driver| driver.lent || Some(driver.user) == shown.owner)
        };
        if owners {
            self.wish(channel, Wish::Input(bytes));
        } else {
            tracing::warn!(channel, "dropped input of somebody who is not the owner");
        }
    }

    /// Sets who types on the channel. The recording says when that is not the owner.
    pub(crate) fn driver(&self, channel: u32, user: UserId, lent_to: Option<String>) {
        let mut shown = self.shown.lock();
        let Some(channel) = shown.channels.get_mut(&channel) else { return };
        let before = channel.driver.replace(Driver { user, lent: lent_to.is_some() });
        let mark = match lent_to {
            Some(name) => Some(format!("{name} types")),
            None => before.filter(|driver| driver.lent).map(|_| "the owner types again".to_owned()),
        };
        if let Some(mark) = mark {
            // Nobody receives it once the terminal has ended.
            let _ = channel.wishes.send(Wish::Mark(mark));
        }
    }

    /// Sets the runner's owner.
    pub(crate) fn belong_to(&self, owner: UserId) {
        self.shown.lock().owner = Some(owner);
    }

    pub(crate) fn credit(&self, channel: u32, offset: u64) {
        self.wish(channel, Wish::Credit(offset));
    }

    /// Forwards a request; one for a terminal that is not shown is too late.
    fn wish(&self, channel: u32, wish: Wish) {
        if let Some(channel) = self.shown.lock().channels.get(&channel) {
            let _ = channel.wishes.send(wish);
        }
    }
}
