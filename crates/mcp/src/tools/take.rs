//! `take_task`: takes the next task, under a lease that is renewed from then on.

use std::time::Duration;

use domain::TaskId;
use protocol::{Call, Taken, TakenTask, TaskDetail, TaskTake};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::Spec;
use crate::desk::{Desk, held_under};
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{project, schema, task};

/// Maximum wait of one request to the hub: proxies time out later.
const ONE_WAIT: u32 = 20;
const BETWEEN: Duration = Duration::from_secs(1);

pub(super) static SPEC: Spec = Spec {
    name: "take_task",
    title: "Take a task",
    description: "Takes the next ready task for you, under a lease. Usually called with no arguments: {}. The answer \
        has `brief`: everything you need to know, with the acceptance criteria for your work. Do \
        the work, then call report. The lease is renewed while you are connected. Called again before you \
        reported, it answers with the same task. {\"taken\": false} means there is nothing to do now; `why_not` \
        says why.",
    schema: || {
        schema::object(
            &[],
            json!({
                "project": schema::project(),
                "task": schema::text("Only this task (CALC-12 or tsk_…). Leave it out for the next one in the queue."),
                "worker": schema::text("Your name, such as \"codex-1\". Leave it out to get one."),
                "abilities": schema::texts(
                    "Your abilities, for tasks that need them, such as [\"rust\", \"gpu\"]. Usually left out.",
                ),
                "wait_seconds": schema::number(0, 55, "How long to wait for a task if there is none; default 0."),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    project: Option<String>,
    task: Option<String>,
    worker: Option<String>,
    #[serde(default)]
    abilities: Vec<String>,
    wait_seconds: Option<u32>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let worker = given.worker.clone().or_else(|| desk.settings.worker.clone());
    let task = task::resolve(desk, given.task.as_deref()).await?;
    if let Some(answer) = again(desk, task, worker.as_deref()).await {
        return Ok(answer);
    }
    let project = project::resolve(desk, given.project.as_deref()).await?;
    let until = Instant::now() + Duration::from_secs(given.wait_seconds.unwrap_or(0).min(55).into());
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_secs() as u32;
        let input = TaskTake {
            task,
            worker: worker.clone(),
            abilities: given.abilities.clone(),
            wait_seconds: (left > 0).then(|| left.min(ONE_WAIT)),
        };
        let Taken { taken, why_not } = ask(&*desk.verbs, Call::TaskTake { project, input }).await.map_err(advise)?;
        if let Some(taken) = taken {
            let answer = describe(&taken);
            desk.keep(&taken, worker, answer.clone());
            return Ok(answer);
        }
        if Instant::now() + BETWEEN >= until {
            return Ok(json!({
                "taken": false,
                "why_not": why_not.unwrap_or_else(|| "no task is ready".to_owned()),
                "next": "Call take_task with wait_seconds: 50 to wait for one, or stop if your instructions say so.",
            }));
        }
        tokio::time::sleep(BETWEEN).await;
    }
}

/// The task that the worker already holds.
async fn again(desk: &Desk, task: Option<TaskId>, worker: Option<&str>) -> Option<Value> {
    let (hold, mut answer) = desk.in_hand(worker)?;
    if task.is_some_and(|task| task != hold.task) {
        return None;
    }
    let detail: TaskDetail = ask(&*desk.verbs, Call::TaskShow { task: hold.task }).await.ok()?;
    if !held_under(&detail, hold.fence) {
        desk.forget_hold(hold);
        return None;
    }
    // While its report is checked the worker may take another task; if there is none, this one may still return to it.
    detail.task.lease.as_ref()?;
    answer["again"] = json!("You already hold this task. Finish it with report before you take another.");
    if let Some(refused) = detail.reports.last().and_then(|report| report.reason.clone()) {
        answer["refused"] = json!(refused);
    }
    Some(answer)
}

fn advise(problem: protocol::Problem) -> Trouble {
    let trouble = Trouble::from(problem);
    if trouble.is_conflict() {
        trouble.next("Call take_task without `task` for the next one, or list_tasks to see who has what.")
    } else {
        trouble
    }
}

fn describe(taken: &TakenTask) -> Value {
    let task = &taken.task;
    let mut answer = json!({
        "taken": true,
        "task": task.id,
        "name": task.short,
        "fence": taken.lease.fence,
        "lease_ends_at": taken.lease.expires_at,
        "attempt": task.attempt,
        "brief": taken.brief,
        "next": "Do the work. Report your progress with heartbeat {\"progress\": \"…\"} now and then. When it is done, call \
                 report {\"summary\": \"what you did\", \"files\": [\"paths you changed\"]}. Ask a person with ask.",
    });
    if !task.files.is_empty() {
        answer["files"] = json!(task.files);
    }
    if let Some(refused) = &taken.refused {
        answer["refused"] = json!(refused);
    }
    if let Some(handover) = &taken.handover {
        let Value::Object(mut known) = json!(handover) else { return answer };
        known.retain(|_, value| !value.is_null());
        answer["handover"] = Value::Object(known);
    }
    answer
}
