//! Terminals as a kind of live channel: a watcher's position in a session's stream, and the input of those who may type.

use std::sync::Arc;
use std::time::Duration;

use domain::{Action, Actor, RunnerId, SessionId, UserId};
use protocol::terminal::{self, TerminalFrame};
use protocol::{FromHub, Problem, ProblemKind};
use store::{Caller, LeaveKeyboard};
use tokio::sync::Notify;

use super::channels::Channel;
use crate::AppError;
use crate::hub::Hub;
use crate::links::{Step, View, Watch};

/// How long a holder of the keyboard may be away from the terminal before it is the owner's again.
const AWAY: Duration = Duration::from_secs(3);
/// The same after the runner returned, for clients that are reconnecting.
const RETURNING: Duration = Duration::from_secs(10);

/// A terminal that a client watches on one of its channels.
pub(crate) struct WatchedTerminal {
    hub: Arc<Hub>,
    channel: u32,
    watch: Watch,
    /// The client, with the person's name.
    actor: Actor,
    name: String,
    /// Whether its runner was reachable, and whether the client may type, as last reported to the client.
    told: Option<(bool, bool)>,
}

/// Watches a session's terminal from an offset on, or from a screen.
pub(crate) async fn watch(
    hub: Arc<Hub>,
    caller: &Caller,
    (channel, session, from): (u32, SessionId, Option<u64>),
    wake: Arc<Notify>,
) -> Result<WatchedTerminal, Problem> {
    let found = hub.store.session(caller, session, Action::SeeExecution).await;
    let found = found.map_err(|error| AppError::from(error).into_problem())?;
    let actor = caller.actor().copied().ok_or_else(|| Problem::new(ProblemKind::NotFound, "session not found"))?;
    let name = caller.person().map(|person| person.name).unwrap_or_default();
    let watch = hub.links.watch(&found, user_of(&actor), from, wake);
    Ok(WatchedTerminal { hub, channel, watch, actor, name, told: None })
}

/// Takes the keyboards of a runner's sessions from holders who do not come back with the runner.
pub(crate) fn runner_is_back(hub: &Arc<Hub>, runner: RunnerId) {
    for (session, holder) in hub.live.lent_on(runner) {
        leave_after(hub.clone(), RETURNING, session, holder);
    }
}

/// Takes the keyboard from its holder unless they watch the terminal after this time.
fn leave_after(hub: Arc<Hub>, patience: Duration, session: SessionId, holder: UserId) {
    tokio::spawn(async move {
        tokio::select! {
            () = hub.stopping.cancelled() => return,
            () = tokio::time::sleep(patience) => {}
        }
        if hub.live.holder(session) != Some(holder) || hub.links.is_watched_by(session, holder) {
            return;
        }
        let caller = Caller::hub("the holder left");
        if let Err(error) = hub.store.write(&caller, None, LeaveKeyboard { session, holder }).await {
            tracing::warn!(%error, %session, "could not return a session's keyboard to its owner");
        }
    });
}

fn user_of(actor: &Actor) -> Option<UserId> {
    match actor {
        Actor::User { id, .. } => Some(*id),
        _ => None,
    }
}

impl WatchedTerminal {
    /// Asked for each frame of the client: the owner may take the keyboard back at any time.
    fn may_type(&self) -> bool {
        let terminal = &self.watch.terminal;
        self.hub.live.may_type(&self.actor, terminal.project, terminal.owner, terminal.session)
    }
}

impl Drop for WatchedTerminal {
    fn drop(&mut self) {
        let session = self.watch.terminal.session;
        if let Some(user) = user_of(&self.actor).filter(|user| self.hub.live.holder(session) == Some(*user)) {
            leave_after(self.hub.clone(), AWAY, session, user);
        }
    }
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
        let (reachable, may_type) = (self.watch.terminal.reachable(), self.may_type());
        if self.told.replace((reachable, may_type)) == Some((reachable, may_type)) {
            return None;
        }
        let (channel, session) = (self.channel, self.watch.terminal.session);
        Some(FromHub::Watching { channel, session, may_type, reachable })
    }

    fn next(&mut self) -> Option<Vec<u8>> {
        frame(self.channel, self.watch.next())
    }

    fn credit(&mut self, offset: u64) {
        self.watch.cursor.credit(offset);
    }

    fn input(&self, user: UserId, bytes: Vec<u8>) {
        if self.may_type() {
            let lent_to = (user != self.watch.terminal.owner).then_some(self.name.as_str());
            self.watch.terminal.input(user, lent_to, bytes);
        }
    }

    /// Resizes the terminal to the view that types; ignores views that may not type.
    fn resize(&self, size: (u16, u16), take: bool) {
        if (2..=500).contains(&size.0) && (2..=300).contains(&size.1) && self.may_type() {
            let owners = user_of(&self.actor) == Some(self.watch.terminal.owner);
            self.watch.viewed(View { size, take, owners });
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
