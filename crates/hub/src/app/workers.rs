//! Verbs about workers and how work is handed out.

use base64::Engine as _;
use domain::{RunnerId, TaskId};
use protocol::link::{Bundle, RunnerAnswer, RunnerAsk};
use protocol::{Answer, Call, ProblemKind, TaskTakeOver};
use store::{
    Caller, ConfigureWork, FreezeFloor, RemoveWorker, RestartWorker, StartWorkers, StopAllWorkers, StopWorker,
    TakeOver, ThawFloor, UpdateWorker, WorkPlace,
};

use crate::AppError;
use crate::hub::Hub;

/// The verbs that look.
pub(super) async fn read(hub: &Hub, caller: &Caller, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    Ok(match call {
        Call::WorkerList { filter } => Answer::Workers(store.workers(caller, filter).await?),
        Call::WorkerShow { worker } => Answer::WorkerDetail(store.worker(caller, worker).await?),
        Call::WorkLog { project, page } => Answer::WorkLog(store.work_log(caller, project, page).await?),
        Call::WorkSettings { project } => Answer::WorkSettings(store.work_settings(caller, project).await?),
        Call::WorkMetrics { project, page } => Answer::Metrics(store.metrics(caller, project, page).await?),
        Call::WorkDoing { project } => Answer::Doing(store.doing(caller, project).await?),
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not look at workers", other.verb()))),
    })
}

/// The verbs that change something.
pub(super) async fn write(hub: &Hub, caller: &Caller, key: Option<String>, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    macro_rules! commit {
        ($command:expr) => {
            store.write(caller, key, $command).await?.value
        };
    }
    Ok(match call {
        Call::WorkerStart { project, input } => {
            caller.person()?;
            let connected = connected(hub, caller).await?;
            Answer::Workers(commit!(StartWorkers { project, input, connected }))
        }
        Call::WorkerUpdate { worker, input } => Answer::Worker(commit!(UpdateWorker { worker, input })),
        Call::WorkerStop { worker, input } => Answer::Worker(commit!(StopWorker { worker, input })),
        Call::WorkerRestart { worker } => Answer::Worker(commit!(RestartWorker { worker })),
        Call::WorkerRemove { worker } => {
            commit!(RemoveWorker { worker });
            Answer::Done
        }
        Call::WorkerStopAll { project, input } => Answer::Workers(commit!(StopAllWorkers { project, input })),
        Call::WorkConfigure { project, input } => Answer::WorkSettings(commit!(ConfigureWork { project, input })),
        Call::FloorFreeze { input } => Answer::Frozen(commit!(FreezeFloor { input })),
        Call::FloorThaw { input } => Answer::Frozen(commit!(ThawFloor { input })),
        Call::TaskTakeOver { task, input } => take_over(hub, caller, key, task, input).await?,
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not change workers", other.verb()))),
    })
}

/// The runners that are there.
async fn connected(hub: &Hub, caller: &Caller) -> Result<Vec<RunnerId>, AppError> {
    let runners = hub.store.runners(caller).await?.into_iter().filter(|runner| hub.live.is_there(runner));
    Ok(runners.map(|runner| runner.id).collect())
}

/// Takes a task over. Work that is on another runner is brought along first, while whoever has it still goes on; if that
/// cannot be, the task starts afresh and its hand-over says so.
async fn take_over(
    hub: &Hub,
    caller: &Caller,
    key: Option<String>,
    task: TaskId,
    input: TaskTakeOver,
) -> Result<Answer, AppError> {
    caller.person()?;
    let there = connected(hub, caller).await?;
    let plan = hub.store.plan_take_over(caller, task, input.clone(), there).await?;
    let (mut bundle, mut note) = (None, plan.stays.clone());
    if let Some(place) = &plan.bring {
        match bring(hub, place, plan.runner).await {
            Ok(brought) => bundle = Some(brought.bundle),
            Err(error) => {
                tracing::warn!(%error, %task, "work could not be brought to another runner");
                note = Some("the work could not be brought along, and starts afresh".to_owned());
            }
        }
    }
    let command = TakeOver { task, input, bundle, note, runner: plan.runner, agent: plan.agent };
    Ok(Answer::Task(hub.store.write(caller, key, command).await?.value))
}

/// Brings a workspace's work from its runner to another one, part by part.
async fn bring(hub: &Hub, place: &WorkPlace, to: RunnerId) -> Result<Bundle, AppError> {
    let RunnerAnswer::Bundle(bundle) =
        hub.links.ask(place.runner, RunnerAsk::Bundle { workspace: place.workspace }).await?
    else {
        return Err(unexpected());
    };
    let mut offset = 0;
    loop {
        let ask = RunnerAsk::BundlePart { bundle: bundle.bundle.clone(), offset };
        let RunnerAnswer::BundlePart(part) = hub.links.ask(place.runner, ask).await? else { return Err(unexpected()) };
        let length = base64::engine::general_purpose::STANDARD.decode(&part.data).map_err(|_| unexpected())?.len();
        if part.next != offset + length as u64 || part.next > bundle.bytes || (length == 0 && part.next < bundle.bytes)
        {
            return Err(unexpected());
        }
        let (name, bytes) = (bundle.bundle.clone(), bundle.bytes);
        hub.links.ask(to, RunnerAsk::BundleTake { bundle: name, bytes, offset, data: part.data }).await?;
        offset = part.next;
        if offset >= bundle.bytes {
            return Ok(bundle);
        }
    }
}

fn unexpected() -> AppError {
    AppError::new(ProblemKind::Unavailable, "a runner answered something else than it was asked: update it")
}
