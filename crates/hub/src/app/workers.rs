//! Verbs about workers and how work is handed out.

use domain::RunnerId;
use protocol::{Answer, Call};
use store::{
    Caller, ConfigureWork, FreezeFloor, RemoveWorker, RestartWorker, StartWorkers, StopAllWorkers, StopWorker,
    TakeOver, ThawFloor, UpdateWorker,
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
        Call::TaskTakeOver { task, input } => {
            caller.person()?;
            let connected = connected(hub, caller).await?;
            Answer::Task(commit!(TakeOver { task, input, connected }))
        }
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not change workers", other.verb()))),
    })
}

/// The runners that are there.
async fn connected(hub: &Hub, caller: &Caller) -> Result<Vec<RunnerId>, AppError> {
    let runners = hub.store.runners(caller).await?.into_iter().filter(|runner| hub.live.is_there(runner));
    Ok(runners.map(|runner| runner.id).collect())
}
