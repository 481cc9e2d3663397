//! Verbs about tasks and escalations.

use std::time::Duration;

use domain::{AnswerAct, SessionId};
use protocol::link::RunnerAsk;
use protocol::{Escalation, Plan, PlanError, ProblemKind, Taken, Task, TaskEdit, TaskTake, verbs};
use store::{Caller, Placed, Reported, StoreError};
use tokio::sync::broadcast::error::RecvError;
use tokio::time::Instant;

use super::{Asked, criteria, handle, stored};
use crate::AppError;
use crate::hub::Hub;

/// Maximum wait for a task, in seconds.
const WAIT: u32 = 60;
/// Maximum size of a plan, in bytes.
const LONGEST_PLAN: usize = 256 * 1024;
/// How many errors of a plan to return.
const SHOWN: usize = 50;

stored! { TaskCancel TaskRetry TaskReopen TaskHeartbeat TaskTurn TaskRelease TaskAsk }

handle! {
    TaskList(verb, asked) { Ok(asked.hub.store.tasks(asked.caller, &verb.filter).await?) }

    TaskExport(verb, asked) { Ok(asked.hub.store.whole_tasks(asked.caller, &verb.filter).await?) }

    TaskShow(verb, asked) { Ok(asked.hub.store.task_detail(asked.caller, verb.task).await?) }

    TaskAdd(verb, asked) {
        let input = criteria::usable(verb.input).await?;
        asked.commit(verbs::TaskAdd { project: verb.project, input }).await
    }

    TaskEdit(verb, asked) {
        let hub = asked.hub;
        let verbs::TaskEdit { task, input } = verb;
        let input = criteria::usable_edit(input).await?;
        let edited = asked.commit(verbs::TaskEdit { task, input: input.clone() }).await?;
        tell_edit(hub, &edited, &input).await;
        Ok(edited)
    }

    TaskCheck(verb, asked) {
        asked.hub.store.may_add_tasks(asked.caller, verb.project).await?;
        check(verb.input.text).await
    }

    TaskTake(verb, asked) { take(asked, verb).await }

    TaskReport(verb, asked) {
        match asked.commit(verb).await? {
            Reported::Taken(report) => Ok(report),
            // The report is stored and shown; its worker must learn that it has to stop.
            Reported::Late { why, .. } => {
                Err(AppError::new(ProblemKind::Conflict, format!("{why}; the report is kept as late")))
            }
        }
    }

    TaskTakeOver(verb, asked) {
        asked.caller.person()?;
        let connected = asked.connected().await?;
        asked.commit(Placed { verb, connected }).await
    }

    EscalationList(verb, asked) { Ok(asked.hub.store.escalations(asked.caller, verb.filter).await?) }

    EscalationShow(verb, asked) { Ok(asked.hub.store.escalation(asked.caller, verb.escalation).await?) }

    EscalationAnswer(verb, asked) {
        let hub = asked.hub;
        let answered = asked.commit(verb).await?;
        tell(hub, &answered).await;
        Ok(answered)
    }
}

/// Parses a plan, outside of transactions and in turn with others: large plans take time.
async fn check(text: String) -> Result<Plan, AppError> {
    if text.len() > LONGEST_PLAN {
        let message = format!("`text` has {} bytes; the limit is {LONGEST_PLAN}: split the plan", text.len());
        return Err(StoreError::invalid("text", message).into());
    }
    let read = criteria::in_turn("text", move || plan::read(text.as_bytes(), "", None)).await?;
    let busy = || AppError::new(ProblemKind::Unavailable, "too many plans are being read: try again in a few seconds");
    let read = read.ok_or_else(busy)?;
    let number = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
    let error = |fault: plan::Fault| PlanError { line: fault.line.map(number), path: fault.path, reason: fault.reason };
    let errors = read.faults.into_iter().take(SHOWN).map(error).collect();
    Ok(Plan { tasks: read.tasks, ticked: number(read.ticked), errors })
}

/// Takes a task, or waits until one is ready: retries after each commit that makes a task ready, and joins transactions
/// that add tasks, so that one commit suffices.
async fn take(asked: Asked<'_>, verbs::TaskTake { project, input }: verbs::TaskTake) -> Result<Taken, AppError> {
    let Asked { hub, caller, key, .. } = asked;
    let wait = input.wait_seconds.unwrap_or(0);
    if wait > WAIT {
        return Err(StoreError::invalid("wait_seconds", format!("`wait_seconds` is at most {WAIT}, not {wait}")).into());
    }
    let until = Instant::now() + Duration::from_secs(wait.into());
    // The waiting time is not part of the request: a retry with the same key may wait longer.
    let input = TaskTake { wait_seconds: None, ..input };
    loop {
        let mut ready = hub.live.ready();
        let command = verbs::TaskTake { project, input: input.clone() };
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
                    // A task that another hub added is noticed when it becomes ready.
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return Ok(taken),
                },
            }
        }
    }
}

/// Sends an edit to the session that works on the task, for its next turn; the next session's brief has it anyway.
async fn tell_edit(hub: &Hub, task: &Task, input: &TaskEdit) {
    let text = plan::say_edit(input);
    if let (Some(session), false) = (task.session, text.is_empty()) {
        send(hub, session, format!("Task {} was changed. It applies from now on.\n\n{text}", task.short)).await;
    }
}

/// Sends the answer to the session that asked, if it still runs; the task's context has it anyway.
async fn tell(hub: &Hub, answered: &Escalation) {
    let (Some(session), Some(text), Some(AnswerAct::Tell)) = (answered.session, &answered.answer, answered.act) else {
        return;
    };
    send(hub, session, format!("Answer to your question \"{}\": {text}", answered.question)).await;
}

/// Types a text into a session that still runs.
async fn send(hub: &Hub, session: SessionId, text: String) {
    let Ok(found) = hub.store.session(&Caller::hub("hub"), session, domain::Action::Drive).await else { return };
    if found.state.ended() {
        return;
    }
    if let Err(error) = hub.links.ask(found.runner, RunnerAsk::Send { session, text, submit: true }).await {
        tracing::info!(%session, %error, "could not send a text to the session");
    }
}
