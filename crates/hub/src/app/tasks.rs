//! Verbs about tasks and escalations.

use std::time::Duration;

use domain::{AnswerAct, ProjectId};
use protocol::link::RunnerAsk;
use protocol::{Answer, Call, Escalation, ProblemKind, Taken, TaskTake};
use store::{
    AddTasks, AnswerEscalation, AskPerson, Caller, CancelTask, HeartbeatTask, ReleaseTask, ReportTask, Reported,
    RetryTask, StoreError, TakeTask, TurnTasks,
};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::criteria;
use crate::AppError;
use crate::hub::Hub;

/// How long one may wait for a task, in seconds.
const WAIT: u32 = 60;

/// The verbs that look.
pub(super) async fn read(hub: &Hub, caller: &Caller, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    Ok(match call {
        Call::TaskExport { filter } => Answer::Tasks(store.whole_tasks(caller, &filter).await?),
        Call::TaskList { filter } => Answer::TaskLines(store.tasks(caller, &filter).await?),
        Call::TaskShow { task } => Answer::TaskDetail(store.task_detail(caller, task).await?),
        Call::EscalationList { filter } => Answer::Escalations(store.escalations(caller, filter).await?),
        Call::EscalationShow { escalation } => Answer::Escalation(store.escalation(caller, escalation).await?),
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not look at tasks", other.verb()))),
    })
}

/// The verbs that change something. Taking a task over starts a worker: it is with the workers.
pub(super) async fn write(hub: &Hub, caller: &Caller, key: Option<String>, call: Call) -> Result<Answer, AppError> {
    let store = &hub.store;
    macro_rules! commit {
        ($command:expr) => {
            store.write(caller, key, $command).await?.value
        };
    }
    Ok(match call {
        Call::TaskAdd { project, input } => {
            let input = criteria::usable(input).await?;
            Answer::AddedTasks(commit!(AddTasks { project, input }))
        }
        Call::TaskCancel { task, input } => Answer::Task(commit!(CancelTask { task, input })),
        Call::TaskRetry { task, input } => Answer::Task(commit!(RetryTask { task, input })),
        Call::TaskTake { project, input } => Answer::Taken(take(hub, caller, key, project, input).await?),
        Call::TaskHeartbeat { task, input } => Answer::Lease(commit!(HeartbeatTask { task, input })),
        Call::TaskReport { task, input } => match commit!(ReportTask { task, input }) {
            Reported::Taken(report) => Answer::Report(report),
            // It is kept and shown; its worker must hear that it has to stop.
            Reported::Late { why, .. } => {
                return Err(AppError::new(ProblemKind::Conflict, format!("{why}; the report is kept as late")));
            }
        },
        Call::TaskTurn { project, input } => Answer::Turned(commit!(TurnTasks { project, input })),
        Call::TaskRelease { task, input } => Answer::Task(commit!(ReleaseTask { task, input })),
        Call::TaskAsk { task, input } => Answer::Escalation(commit!(AskPerson { task, input })),
        Call::EscalationAnswer { escalation, input } => {
            let answered = commit!(AnswerEscalation { escalation, input });
            tell(hub, &answered).await;
            Answer::Escalation(answered)
        }
        other => return Err(AppError::Internal(anyhow::anyhow!("{} does not change tasks", other.verb()))),
    })
}

/// Takes a task, or waits until one is ready: tries again after each commit that makes one ready, and together with
/// those that add some, so that one commit does for both.
async fn take(
    hub: &Hub,
    caller: &Caller,
    key: Option<String>,
    project: ProjectId,
    input: TaskTake,
) -> Result<Taken, AppError> {
    let wait = input.wait_seconds.unwrap_or(0);
    if wait > WAIT {
        return Err(StoreError::invalid("wait_seconds", format!("`wait_seconds` is at most {WAIT}, not {wait}")).into());
    }
    let until = Instant::now() + Duration::from_secs(wait.into());
    // How long somebody waits is no part of what they ask for: a retry with the same key may wait longer.
    let input = TaskTake { wait_seconds: None, ..input };
    loop {
        let mut ready = hub.live.ready();
        let command = TakeTask { project, input: input.clone() };
        let taken = hub.store.write(caller, key.clone(), command).await?.value;
        if taken.taken.is_some() || Instant::now() >= until {
            return Ok(taken);
        }
        let mut coming = hub.store.coming();
        loop {
            tokio::select! {
                () = hub.stopping.cancelled() => return Ok(taken),
                () = tokio::time::sleep_until(until) => return Ok(taken),
                said = ready.recv() => match said {
                    Ok(other) if other != project => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => break,
                    Err(RecvError::Closed) => return Ok(taken),
                },
                said = coming.recv() => match said {
                    Ok(one) if one == project => break,
                    // What was not heard of here is heard of when it is ready.
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(taken),
                },
            }
        }
    }
}

/// Says the answer to the session that asked, if it is still there; it is in the task's context anyway.
async fn tell(hub: &Hub, answered: &Escalation) {
    let (Some(session), Some(text), Some(AnswerAct::Tell)) = (answered.session, &answered.answer, answered.act) else {
        return;
    };
    let Ok(found) = hub.store.session(&Caller::hub("hub"), session, domain::Action::Drive).await else { return };
    if found.state.ended() {
        return;
    }
    let text = format!("Answer to your question \"{}\": {text}", answered.question);
    if let Err(error) = hub.links.ask(found.runner, RunnerAsk::Send { session, text, submit: true }).await {
        tracing::info!(%session, %error, "the answer could not be said to the session that asked");
    }
}
