//! `edit_task`: changes a task that is not over.

use protocol::{Call, Task, TaskEdit};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Spec;
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{criteria, schema, task};

pub(super) static SPEC: Spec = Spec {
    name: "edit_task",
    title: "Edit a task",
    description: "Changes a task that is not over; fields that you leave out stay as they are, lists are replaced. A task \
        that a worker has keeps its dependencies and needs; the worker learns of it at its next turn. Use it to correct \
        tasks that you added, not to change what people asked for. Example: {\"task\": \"CALC-12\", \"priority\": 8, \"deps\": [\"CALC-9\"]}",
    schema: || {
        schema::object(
            &["task"],
            json!({
                "task": schema::text("The task: its name, such as CALC-12, or its id, tsk_…."),
                "description": schema::text("What to do. The first line is the title."),
                "context": schema::text("What the worker should know: decisions, relevant places."),
                "acceptance": criteria::shape(),
                "files": schema::texts("Files that the task changes: paths or patterns."),
                "deps": schema::texts("Tasks that must be done first (CALC-12 or tsk_…)."),
                "priority": schema::number(0, 9, "Higher goes first."),
                "needs": schema::texts("Abilities that the worker must have."),
                "labels": schema::texts("Short names to group and find tasks by, such as \"ui\"."),
            }),
        )
    },
    reads: false,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    task: String,
    description: Option<String>,
    context: Option<String>,
    acceptance: Option<Vec<String>>,
    files: Option<Vec<String>>,
    deps: Option<Vec<String>>,
    priority: Option<u8>,
    needs: Option<Vec<String>>,
    labels: Option<Vec<String>>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let acceptance = given.acceptance.map(|lines| criteria::read("", &lines)).transpose()?;
    let task = task::resolve(desk, Some(&given.task)).await?;
    let Some(task) = task else { return Err(Trouble::new("Name the task in `task`.")) };
    let input = TaskEdit {
        description: given.description,
        context: given.context,
        acceptance,
        files: given.files,
        deps: given.deps,
        priority: given.priority,
        needs: given.needs,
        labels: given.labels,
        expected_edits: None,
    };
    if input == TaskEdit::default() {
        return Err(Trouble::new("Nothing to change: give at least one field besides `task`."));
    }
    let edited: Task = ask(&*desk.verbs, Call::TaskEdit { task, input }).await?;
    Ok(json!({
        "task": edited.id,
        "name": edited.short,
        "status": edited.status,
        "next": "The task is changed. Continue your work.",
    }))
}
