//! The mover: brings a task's work to the runner that continues it.
//!
//! First the old session must have stopped, so that it writes nothing more; then the work is packed and transferred,
//! and the waiting session starts. Transfers are stored in the database and continue after a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use domain::{RunnerId, WorkspaceId};
use protocol::ProblemKind;
use protocol::link::{RunnerAnswer, RunnerAsk};
use store::{Awaiting, Caller, EndMove, EndWait, HurryMove, PublishWorkFor, StoreError, WorkArrived};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep};

use crate::AppError;
use crate::hub::Hub;

/// Polling interval during a transfer.
const LOOK: Duration = Duration::from_millis(200);
/// A runner stops its agents, waits ten seconds, and kills them: after this time, a session is stopped by force.
const HURRY: Duration = Duration::from_secs(30);
/// A session that runs after this time will not stop.
const PATIENCE: Duration = Duration::from_secs(90);
/// A runner that is not back by then counts as away; it may just have lost its connection.
const AWAY: Duration = Duration::from_secs(30);
/// How often to try.
const TRIES: u32 = 3;

const IS_AWAY: &str = "the runner with the earlier work went away, so the task starts over";
const IS_ELSEWHERE: &str = "the runner with the earlier work is connected to another hub, so the task starts over";
const NOT_BROUGHT: &str = "the earlier work could not be transferred, so the task starts over";
const NO_WORKS: &str = "the accepted work that it builds on could not be brought from another runner";
const WRITES_ON: &str = "its session did not exit in time: later changes were left behind";

/// Works until the hub stops.
pub(super) async fn run(hub: Arc<Hub>) {
    let mut carried: HashMap<WorkspaceId, JoinHandle<()>> = HashMap::new();
    loop {
        carried.retain(|_, carrying| !carrying.is_finished());
        match hub.store.awaiting().await {
            Ok(awaiting) => {
                for one in awaiting {
                    let (shared, workspace) = (hub.clone(), one.workspace);
                    carried.entry(workspace).or_insert_with(|| tokio::spawn(gather(shared, workspace)));
                }
            }
            Err(error) => tracing::warn!(%error, "could not read which works are missing"),
        }
        match hub.store.moving().await {
            Ok(moving) => {
                for one in moving {
                    let (shared, workspace) = (hub.clone(), one.workspace);
                    carried.entry(workspace).or_insert_with(|| tokio::spawn(carry(shared, workspace)));
                }
            }
            Err(error) => tracing::warn!(%error, "could not read pending transfers"),
        }
        tokio::select! {
            () = hub.live.work.moves() => {}
            () = sleep(LOOK * 5), if !carried.is_empty() => {}
        }
    }
}

async fn carry(hub: Arc<Hub>, workspace: WorkspaceId) {
    let stopping = hub.stopping.clone();
    let mut carrier = Carrier { hub, caller: Caller::hub("mover"), begun: Instant::now(), away: None, tries: 0 };
    loop {
        tokio::select! {
            () = stopping.cancelled() => return,
            done = carrier.step(workspace) => match done {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, %workspace, "could not continue a transfer"),
            },
        }
        sleep(LOOK).await;
    }
}

/// One transfer.
struct Carrier {
    hub: Arc<Hub>,
    caller: Caller,
    begun: Instant,
    /// Since when the old runner is away.
    away: Option<Instant>,
    tries: u32,
}

impl Carrier {
    /// Does what is possible now; whether the transfer is finished.
    async fn step(&mut self, workspace: WorkspaceId) -> Result<bool, StoreError> {
        let Some(moving) = self.hub.store.moving_to(workspace).await? else { return Ok(true) };
        if !moving.wanted {
            return self.end(workspace, None, None).await;
        }
        // The new runner's hub does the transfer; while it has none, the lease bounds the wait.
        if self.hub.links.reachable(moving.to).is_err() {
            return Ok(false);
        }
        if self.hub.links.reachable(moving.at).is_err() {
            let since = *self.away.get_or_insert_with(Instant::now);
            if since.elapsed() < AWAY {
                return Ok(false);
            }
            let why = if is_there(&self.hub, moving.at).await? { IS_ELSEWHERE } else { IS_AWAY };
            return self.end(workspace, None, Some(why.to_owned())).await;
        }
        self.away = None;
        let late = self.begun.elapsed() >= PATIENCE;
        if !moving.live.is_empty() && !late {
            if self.begun.elapsed() >= HURRY {
                self.hub.store.write(&self.caller, None, HurryMove { workspace }).await?;
            }
            return Ok(false);
        }
        match bring(&self.hub, moving.at, moving.to, RunnerAsk::Bundle { workspace: moving.from }).await {
            Ok(bundle) => {
                let note = (!moving.live.is_empty()).then(|| WRITES_ON.to_owned());
                self.end(workspace, Some(bundle), note).await
            }
            Err(error) => self.failed(workspace, error).await,
        }
    }

    async fn failed(&mut self, workspace: WorkspaceId, error: AppError) -> Result<bool, StoreError> {
        let problem = error.into_problem();
        tracing::warn!(%workspace, why = problem.detail, "could not transfer work to another runner");
        self.tries += 1;
        if problem.kind == ProblemKind::Unavailable && self.tries < TRIES {
            return Ok(false);
        }
        // The detail comes from the old runner and may name folders of its machine, but everybody reads the note.
        self.end(workspace, None, Some(NOT_BROUGHT.to_owned())).await
    }

    async fn end(
        &self,
        workspace: WorkspaceId,
        bundle: Option<String>,
        note: Option<String>,
    ) -> Result<bool, StoreError> {
        self.hub.store.write(&self.caller, None, EndMove { workspace, bundle, note }).await?;
        Ok(true)
    }
}

/// Brings the accepted works that a workspace builds on, and lets its session start. If a runner stays away, the task
/// returns to the queue.
async fn gather(hub: Arc<Hub>, workspace: WorkspaceId) {
    let begun = Instant::now();
    let mut tries = 0;
    loop {
        let step = async {
            let Some(awaiting) = hub.store.awaited_by(workspace).await? else { return Ok(true) };
            gather_one(&hub, awaiting, begun, &mut tries).await
        };
        tokio::select! {
            () = hub.stopping.cancelled() => return,
            done = step => match done {
                Ok(true) => return,
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, %workspace, "could not continue to bring works"),
            },
        }
        sleep(LOOK).await;
    }
}

/// Whether a runner is connected to any hub.
async fn is_there(hub: &Hub, runner: RunnerId) -> Result<bool, StoreError> {
    let runners = hub.store.runners(&Caller::hub("mover")).await?;
    Ok(runners.iter().any(|found| found.id == runner && hub.live.is_there(found)))
}

/// Brings the next missing work; whether the wait is over.
async fn gather_one(hub: &Hub, awaiting: Awaiting, begun: Instant, tries: &mut u32) -> Result<bool, StoreError> {
    let Awaiting { workspace, to, location, missing, wanted } = awaiting;
    let caller = Caller::hub("mover");
    let Some((report, at)) = missing.first().copied().filter(|_| wanted) else {
        hub.store.write(&caller, None, EndWait { workspace, failed: None }).await?;
        return Ok(true);
    };
    if hub.links.reachable(to).is_err() {
        return Ok(false);
    }
    let brought = match hub.links.reachable(at) {
        Ok(_) => bring(hub, at, to, RunnerAsk::PackWork { location, report }).await,
        Err(_) if is_there(hub, at).await? => {
            // Its own hub has it published.
            hub.store.write(&caller, None, PublishWorkFor { workspace, report }).await?;
            return Ok(false);
        }
        Err(error) => Err(error),
    };
    let problem = match brought {
        Ok(bundle) => {
            hub.store.write(&caller, None, WorkArrived { workspace, report, bundle }).await?;
            return Ok(false);
        }
        Err(error) => error.into_problem(),
    };
    *tries += u32::from(problem.kind != ProblemKind::Unavailable);
    if *tries < TRIES && begun.elapsed() < AWAY {
        return Ok(false);
    }
    tracing::warn!(%workspace, why = problem.detail, "could not bring accepted work to another runner");
    let failed = Some(NO_WORKS.to_owned());
    hub.store.write(&caller, None, EndWait { workspace, failed }).await?;
    Ok(true)
}

/// Transfers packed work to another runner, part by part; returns its name there.
pub(super) async fn bring(hub: &Hub, at: RunnerId, to: RunnerId, pack: RunnerAsk) -> Result<String, AppError> {
    let RunnerAnswer::Bundle(bundle) = hub.links.ask(at, pack).await? else { return Err(unexpected()) };
    let mut offset = 0;
    loop {
        let ask = RunnerAsk::BundlePart { bundle: bundle.bundle.clone(), offset };
        let RunnerAnswer::BundlePart(part) = hub.links.ask(at, ask).await? else { return Err(unexpected()) };
        let length = base64::engine::general_purpose::STANDARD.decode(&part.data).map_err(|_| unexpected())?.len();
        if part.next != offset + length as u64 || part.next > bundle.bytes || (length == 0 && part.next < bundle.bytes)
        {
            return Err(unexpected());
        }
        let (name, bytes) = (bundle.bundle.clone(), bundle.bytes);
        hub.links.ask(to, RunnerAsk::BundleTake { bundle: name, bytes, offset, data: part.data }).await?;
        offset = part.next;
        if offset >= bundle.bytes {
            return Ok(bundle.bundle);
        }
    }
}

pub(super) fn unexpected() -> AppError {
    AppError::new(ProblemKind::Unavailable, "unexpected answer from a runner: update it")
}
