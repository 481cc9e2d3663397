//! `heartbeat`: renews the lease, reports progress, and returns people's answers.

use protocol::{Call, Escalation, Lease, TaskDetail, TaskHeartbeat};
use serde::Deserialize;
use serde_json::{Value, json};

use super::overlaps::News;
use super::{Spec, overlaps};
use crate::desk::{Desk, Hold};
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{schema, task};

pub(super) static SPEC: Spec = Spec {
    name: "heartbeat",
    title: "Report progress",
    description: "Renews the lease of the task you hold and shows people your progress. Call it at each step of \
        longer work: {\"progress\": \"3 of 5 files done\"}. The answer has `answers` when a person has answered a \
        question of yours, `conflicts` when your changes begin to conflict with other work, and \
        `declared` when others reserve files that you change or named. If it says that the lease is lost, stop working on that task: another worker has it.",
    schema: || {
        schema::object(
            &[],
            json!({
                "progress": schema::text("Your progress, in a few words."),
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
    progress: Option<String>,
    task: Option<String>,
    fence: Option<u64>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let task = task::resolve(desk, given.task.as_deref()).await?;
    let hold = desk.hold(task, given.fence).await?;
    let input = TaskHeartbeat { fence: hold.fence, progress: given.progress };
    let lease: Result<Lease, _> = ask(&*desk.verbs, Call::TaskHeartbeat { task: hold.task, input }).await;
    let lease = lease.map_err(|problem| lost(desk, hold, problem.into()))?;
    let mut answer = json!({ "task": hold.task, "lease_ends_at": lease.expires_at, "next": "Continue your work." });
    if let Some(changed) = changed(desk, hold, lease.edits).await {
        answer["changed"] = changed;
        answer["next"] = json!("The task was changed: read `changed` and continue with it.");
    }
    let News { conflicts, declared } = match hold.activity {
        Some(activity) => overlaps::news(desk, activity).await,
        None => News { conflicts: vec![], declared: vec![] },
    };
    if !declared.is_empty() {
        answer["declared"] = json!(declared);
        answer["next"] = json!(overlaps::DECLARED);
    }
    if !conflicts.is_empty() {
        answer["conflicts"] = json!(conflicts);
        answer["next"] = json!(
            "Your changes conflict with other work: read `conflicts`. Change other lines if you can, or agree with the \
             other side with chat_send."
        );
    }
    let answers = answers(desk, hold).await;
    if !answers.is_empty() {
        answer["answers"] = json!(answers);
        answer["next"] = json!("A person has answered: continue with the answer.");
    }
    Ok(answer)
}

/// The task as it is now, if it was edited since the last call.
async fn changed(desk: &Desk, hold: Hold, edits: u32) -> Option<Value> {
    if desk.edits.lock().insert(hold.task, edits).unwrap_or(0) == edits {
        return None;
    }
    let task = ask::<TaskDetail>(&*desk.verbs, Call::TaskShow { task: hold.task }).await.ok()?.task;
    Some(json!({
        "description": task.description,
        "context": task.context,
        "acceptance": task.acceptance,
        "files": task.files,
    }))
}

/// What the hub's refusal means for a held task.
pub(super) fn lost(desk: &Desk, hold: Hold, trouble: Trouble) -> Trouble {
    if !trouble.is_conflict() {
        return trouble;
    }
    desk.forget_hold(hold);
    trouble.next("Stop working on this task and change nothing more for it. Call take_task for another one.")
}

/// People's answers since the last call.
async fn answers(desk: &Desk, hold: Hold) -> Vec<Value> {
    let open = desk.with(hold.task, |held| held.asked.clone()).unwrap_or_default();
    let mut found = Vec::new();
    for escalation in open {
        let Ok(shown) = ask::<Escalation>(&*desk.verbs, Call::EscalationShow { escalation }).await else { continue };
        if let Some(answer) = spoken(&shown) {
            desk.with(hold.task, |held| held.asked.retain(|one| *one != escalation));
            found.push(json!({ "question": shown.question, "answer": answer }));
        }
    }
    found
}

/// A person's answer, if there is one.
pub(super) fn spoken(escalation: &Escalation) -> Option<String> {
    escalation.answered_at?;
    let by = escalation.answered_by.as_ref().map_or("a person", |user| user.name.as_str());
    let words = escalation.answer.clone().or_else(|| escalation.act.map(|act| act.word().to_owned()));
    Some(format!("{} (answered by {by})", words.unwrap_or_else(|| "no words".to_owned())))
}
