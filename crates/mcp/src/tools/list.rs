//! `list_tasks`: lists tasks.

use domain::{ActivityId, TaskId, TaskStatus};
use protocol::{Call, TaskFilter, TaskLine};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{project, schema};

const USUAL: u32 = 50;

pub(super) static SPEC: Spec = Spec {
    name: "list_tasks",
    title: "List tasks",
    description: "Lists the tasks of a project, oldest first, one line each. Changes nothing. Use it to see what is \
        there; to get work, call take_task instead. Examples: {} for everything, {\"status\": \"ready\"} for what \
        no worker has yet, {\"status\": \"failed\"} for failed ones (`reason` says why).",
    schema: || {
        schema::object(
            &[],
            json!({
                "project": schema::project(),
                "status": schema::choice(
                    TaskStatus::ALL.iter().map(|status| status.word()),
                    "Only tasks with this status. Leave it out for all.",
                ),
                "activity": schema::text("Only tasks of this activity (act_…)."),
                "label": schema::text("Only tasks with this label."),
                "limit": schema::number(1, 1000, "How many tasks; default 50."),
                "after": schema::text("Only tasks after this one (tsk_…), for the next page."),
            }),
        )
    },
    reads: true,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    project: Option<String>,
    status: Option<TaskStatus>,
    activity: Option<ActivityId>,
    label: Option<String>,
    limit: Option<u32>,
    after: Option<TaskId>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let project = project::resolve(desk, given.project.as_deref()).await?;
    let limit = given.limit.unwrap_or(USUAL).clamp(1, 1000);
    let filter = TaskFilter {
        project: Some(project),
        status: given.status,
        activity: given.activity,
        worker: None,
        label: given.label,
        short: None,
        after: given.after,
        limit: Some(limit),
    };
    let lines: Vec<TaskLine> = ask(&*desk.verbs, Call::TaskList { filter }).await?;
    let next = match lines.last() {
        Some(last) if lines.len() as u32 >= limit => {
            format!("There may be more: call list_tasks again with after: \"{}\".", last.id)
        }
        Some(_) => "Call take_task to take the next ready task.".to_owned(),
        None => "There are no tasks. Call add_tasks to add some.".to_owned(),
    };
    Ok(json!({ "tasks": lines.iter().map(line).collect::<Vec<_>>(), "next": next }))
}

/// A task in one line, without empty fields.
pub(super) fn line(line: &TaskLine) -> Value {
    let mut value = json!({ "id": line.id, "name": line.short, "title": line.title, "status": line.status, "priority": line.priority });
    let more = [
        ("reason", line.reason.as_ref().map(|text| json!(text))),
        ("progress", line.progress.as_ref().map(|text| json!(text))),
        ("assigned_to", line.assigned_to.map(|worker| json!(worker))),
        ("labels", (!line.labels.is_empty()).then(|| json!(line.labels))),
        ("deps", (!line.deps.is_empty()).then(|| json!(line.deps))),
    ];
    for (name, one) in more {
        if let Some(one) = one {
            value[name] = one;
        }
    }
    value
}
