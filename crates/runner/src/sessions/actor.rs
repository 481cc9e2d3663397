//! The life of one session: prepared, started at most once, followed until its end.

use std::path::Path;

use protocol::link::FactBody;
use terminal::{Adopted, Events, Exit, HostLink, LinkError};
use tokio::sync::{mpsc, watch};

use super::launch::{self, Ready};
use super::state::At;
use super::{Order, Stage, Supervisor, end, follow, token};
use crate::journal::{Change, Journal, SessionRow, Step};

/// How a session began.
pub(super) enum Begun {
    /// Its host answers.
    Running(HostLink, Events),
    /// It exited while no runner watched.
    Ended(Exit),
    /// Its host disappeared without a trace.
    Gone,
    /// It was never started, and will not be.
    Never(String),
    /// The hub did not answer for too long before the start.
    CutOff(String),
}

/// Runs a session's life, from wherever an earlier runner left it.
pub(super) async fn live(
    supervisor: &Supervisor,
    mut row: SessionRow,
    mut inbox: mpsc::UnboundedReceiver<Order>,
    stage: watch::Sender<Stage>,
) {
    let session = row.session;
    let dir = supervisor.machine.folders.session(session);
    let begun = match row.step {
        Step::Ended => return,
        // A lost journal must not start anything twice: the host's traces count more.
        Step::Accepted if !left_a_trace(&dir) => begin(supervisor, &mut row, &mut inbox).await,
        Step::Accepted | Step::Starting | Step::Running => take_over(supervisor, &mut row, &mut inbox).await,
    };
    let ending = match begun {
        Begun::Running(host, events) => {
            stage.send_replace(Stage::Running);
            tokio::select! {
                ending = follow::follow(supervisor, &mut row, host, events, &mut inbox) => ending,
                never = token::renew(&supervisor.tokens, session, &dir) => match never {},
            }
        }
        Begun::Ended(exit) => end::Ending::Exited(exit),
        Begun::Gone => end::Ending::Lost,
        Begun::Never(why) => end::Ending::Never(why),
        Begun::CutOff(why) => end::Ending::CutOff(None, why),
    };
    token::forget(&supervisor.tokens, session, &dir);
    end::end(supervisor, &mut row, ending).await;
    stage.send_replace(Stage::Over);
    tracing::info!(%session, "the session has exited");
}

/// Prepares and starts it, unless it is stopped before.
async fn begin(supervisor: &Supervisor, row: &mut SessionRow, inbox: &mut mpsc::UnboundedReceiver<Order>) -> Begun {
    let ready = tokio::select! {
        biased;
        cut_off = stopped(inbox) => return unstarted(cut_off),
        ready = launch::prepare(supervisor, row) => ready,
    };
    match ready {
        Ok(ready) => start(supervisor, row, inbox, ready).await,
        Err(why) => Begun::Never(why),
    }
}

/// The end of a session that was stopped before it started.
fn unstarted(cut_off: Option<String>) -> Begun {
    cut_off.map_or_else(|| Begun::Never("it was stopped before it started".to_owned()), Begun::CutOff)
}

/// Starts the host. Once the journal says so, it is never started again.
async fn start(
    supervisor: &Supervisor,
    row: &mut SessionRow,
    inbox: &mut mpsc::UnboundedReceiver<Order>,
    ready: Ready,
) -> Begun {
    let session = row.session;
    let dir = supervisor.machine.folders.session(session);
    if let Err(error) = ready.spec.write(&dir) {
        return Begun::Never(format!("could not write its files: {error}"));
    }
    row.memory.conversation = row.memory.conversation.take().or(ready.conversation);
    row.step = Step::Starting;
    let changes = [Change::Step(session, Step::Starting), Change::Memory(session, Box::new(row.memory.clone()))];
    // With a full disk this may take so long that the session is no longer wanted.
    tokio::select! {
        biased;
        () = supervisor.journal.write(&changes, &[]) => {}
        cut_off = stopped(inbox) => return unstarted(cut_off),
    }
    failpoint::pass("runner.starting");
    tracing::info!(%session, agent = row.desired.agent, "starting a session");
    match HostLink::start(&dir, &supervisor.machine.options.exe).await {
        Ok((host, events)) => {
            failpoint::pass("runner.started");
            running(&supervisor.journal, row).await;
            failpoint::pass("runner.running");
            Begun::Running(host, events)
        }
        Err(LinkError::Ended(exit)) => Begun::Ended(exit),
        Err(error) => {
            tracing::warn!(%session, %error, "the session's host did not answer");
            look(supervisor, row).await.unwrap_or_else(|| Begun::Never(format!("could not start its host: {error}")))
        }
    }
}

/// Finds a session that an earlier runner had started, or was about to.
async fn take_over(supervisor: &Supervisor, row: &mut SessionRow, inbox: &mut mpsc::UnboundedReceiver<Order>) -> Begun {
    match look(supervisor, row).await {
        Some(begun) => begun,
        // The host locks its folder first: without a trace of it, nothing was started.
        None => begin(supervisor, row, inbox).await,
    }
}

/// What became of a session's host; `None` if there never was one.
async fn look(supervisor: &Supervisor, row: &mut SessionRow) -> Option<Begun> {
    let dir = supervisor.machine.folders.session(row.session);
    match HostLink::adopt(&dir).await {
        Ok(Adopted::Running(host, events)) => {
            tracing::info!(session = %row.session, "adopted a running session");
            running(&supervisor.journal, row).await;
            Some(Begun::Running(host, events))
        }
        Ok(Adopted::Ended(exit)) => Some(Begun::Ended(exit)),
        Ok(Adopted::Gone) if row.step == Step::Starting && !left_a_trace(&dir) => None,
        Ok(Adopted::Gone) => Some(Begun::Gone),
        Err(error) => {
            tracing::warn!(session = %row.session, %error, "could not reach the session's host");
            Some(Begun::Gone)
        }
    }
}

/// Whether a host ever used this folder: it writes its process id before it starts anything.
pub(crate) fn left_a_trace(dir: &Path) -> bool {
    std::fs::metadata(terminal::Files::new(dir).pid()).is_ok_and(|file| file.len() > 0)
}

/// Stores that it runs, and reports it the first time.
async fn running(journal: &Journal, row: &mut SessionRow) {
    let session = row.session;
    if row.step == Step::Running {
        return;
    }
    row.step = Step::Running;
    let state = At::working().since_now();
    row.memory.state = Some(state.clone());
    let changes = [Change::Step(session, Step::Running), Change::Memory(session, Box::new(row.memory.clone()))];
    let mut facts = vec![FactBody::SessionState { session, state }];
    // If the conversation has an id before the start, this is the only time to report it.
    facts.extend(row.memory.conversation.as_ref().map(|_| end::used(session, &row.memory)));
    journal.write(&changes, &facts).await;
}

/// Returns when it is stopped, with the reason if the hub does not answer; refuses other orders before it runs.
async fn stopped(inbox: &mut mpsc::UnboundedReceiver<Order>) -> Option<String> {
    while let Some(order) = inbox.recv().await {
        match order {
            Order::Stop { .. } => return None,
            Order::CutOff { why, .. } => return Some(why),
            Order::Say { done, .. } => {
                let _ = done.send(Err("the session has not started yet".to_owned()));
            }
            Order::Committed(_) | Order::Keep => {}
        }
    }
    std::future::pending().await
}
