//! Workers and how work is handed out.

use store::Placed;

use super::{handle, stored};

stored! {
    WorkerUpdate WorkerStop WorkerRestart WorkerRemove WorkerStopAll WorkConfigure FloorFreeze FloorThaw
}

handle! {
    WorkerList(verb, asked) { Ok(asked.hub.store.workers(asked.caller, verb.filter).await?) }

    WorkerShow(verb, asked) { Ok(asked.hub.store.worker(asked.caller, verb.worker).await?) }

    WorkerStart(verb, asked) {
        asked.caller.person()?;
        let connected = asked.connected().await?;
        asked.commit(Placed { verb, connected }).await
    }

    WorkLog(verb, asked) { Ok(asked.hub.store.work_log(asked.caller, verb.project, verb.page).await?) }

    WorkSettings(verb, asked) { Ok(asked.hub.store.work_settings(asked.caller, verb.project).await?) }

    WorkMetrics(verb, asked) { Ok(asked.hub.store.metrics(asked.caller, verb.project, verb.page).await?) }

    WorkDoing(verb, asked) { Ok(asked.hub.store.doing(asked.caller, verb.project).await?) }
}
