//! `ask` and `escalate`: ask a person, and keep or release the task.

use std::time::Duration;

use domain::TaskId;
use protocol::{Call, Escalation, TaskAsk};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Spec, beat};
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::{schema, task};

const LOOKS: Duration = Duration::from_secs(2);

pub(super) static ASK: Spec = Spec {
    name: "ask",
    title: "Ask a person",
    description: "Asks a person about the task you hold. You keep the task: continue with work that does not depend on the \
        answer; heartbeat tells you when there is one. Use it for what only a person can know, not for what you can \
        find out. Example: {\"question\": \"Should errors be logged or returned?\", \"options\": [\"log\", \"return\"], \
        \"context\": \"src/api.rs does both.\"}",
    schema: || {
        schema::object(
            &["question"],
            json!({
                "question": schema::text("The question, so that a person can answer without reading your work."),
                "options": schema::texts("Answers to choose from, if there are a few; the person can also write their own."),
                "context": schema::text("Context that the person needs to decide."),
                "wait_seconds": schema::number(0, 55, "How long to wait for the answer; default 0."),
                "task": schema::task(),
                "fence": schema::fence(),
            }),
        )
    },
    reads: false,
};

pub(super) static ESCALATE: Spec = Spec {
    name: "escalate",
    title: "Give a task up to a person",
    description: "Hands the task you hold over to a person because it cannot continue without a decision. You release it and do \
        not work on it any more. Use ask instead if you can continue meanwhile, and report with `failed` if it simply \
        cannot be done. Example: {\"question\": \"The two specs contradict each other: which one holds?\", \"options\": \
        [\"the 2024 one\", \"the 2025 one\"], \"context\": \"Page 3 against page 9.\"}",
    schema: || {
        schema::object(
            &["question"],
            json!({
                "question": schema::text("What the person must decide."),
                "options": schema::texts("Answers to choose from, if there are a few."),
                "context": schema::text("What you tried, and context that the person needs to decide."),
                "task": schema::task(),
                "fence": schema::fence(),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    question: String,
    #[serde(default)]
    options: Vec<String>,
    #[serde(default)]
    context: String,
    wait_seconds: Option<u64>,
    task: Option<String>,
    fence: Option<u64>,
}

pub(super) async fn ask(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let until = Instant::now() + Duration::from_secs(given.wait_seconds.unwrap_or(0).min(55));
    let (task, mut shown) = send(desk, given, false).await?;
    desk.with(task, |held| held.asked.push(shown.id));
    loop {
        if let Some(answer) = beat::spoken(&shown) {
            desk.with(task, |held| held.asked.retain(|one| *one != shown.id));
            return Ok(json!({ "escalation": shown.id, "answer": answer, "next": "Continue with the answer." }));
        }
        if Instant::now() + LOOKS >= until {
            return Ok(json!({
                "escalation": shown.id,
                "next": "The question is sent. You still hold the task: continue with work that does not depend on the answer; \
                         heartbeat returns the answer.",
            }));
        }
        tokio::time::sleep(LOOKS).await;
        shown = crate::verbs::ask(&*desk.verbs, Call::EscalationShow { escalation: shown.id }).await?;
    }
}

pub(super) async fn escalate(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let (task, shown) = send(desk, given, true).await?;
    desk.forget(task);
    Ok(json!({
        "escalation": shown.id,
        "next": "A person decides; you no longer hold the task. Call take_task for another one.",
    }))
}

async fn send(desk: &Desk, given: Arguments, give_up: bool) -> Result<(TaskId, Escalation), Trouble> {
    let task = task::resolve(desk, given.task.as_deref()).await?;
    let hold = desk.hold(task, given.fence).await?;
    let Arguments { question, options, context, .. } = given;
    let input = TaskAsk { fence: hold.fence, question, options, context, give_up };
    let asked: Result<Escalation, _> = crate::verbs::ask(&*desk.verbs, Call::TaskAsk { task: hold.task, input }).await;
    let shown = asked.map_err(|problem| beat::lost(desk, hold, problem.into()))?;
    Ok((hold.task, shown))
}
