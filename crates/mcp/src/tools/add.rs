//! `add_tasks`: adds a coordinator's tasks.

use protocol::{AddedTasks, Call, TaskAdd, TasksAdd};
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Spec, list};
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{criteria, project, schema};

pub(super) static SPEC: Spec = Spec {
    name: "add_tasks",
    title: "Add tasks",
    description: "Adds tasks to the project's queue: all or none. Each should take one worker between minutes and an hour, \
        be understandable without your context, and have `acceptance` that a machine can check. Use `id` as a name within \
        this call and `deps` to say what must be done before. Example: {\"tasks\": [{\"id\": \"parser\", \
        \"description\": \"Write a parser for dates\\nIn src/date.rs, ISO 8601 only.\", \"files\": [\"src/date.rs\"], \
        \"acceptance\": [\"file_exists: src/date.rs\", \"command: cargo test date\"]}, {\"description\": \"Document the date parser\", \"deps\": [\"parser\"]}]}. \
        The answer lists similar open tasks.",
    schema,
    reads: false,
};

fn schema() -> Value {
    let task = json!({
        "type": "object",
        "properties": {
            "id": schema::text("A name for this task within this call, so that others can depend on it."),
            "description": schema::text("What to do. The first line is the title."),
            "context": schema::text("What the worker should know: decisions, relevant places."),
            "acceptance": criteria::shape(),
            "files": schema::texts("Files that the task changes: paths or patterns. Keeps two workers from changing the same file."),
            "deps": schema::texts("Tasks that must be done first: names from this call, or existing tasks (CALC-12 or tsk_…)."),
            "priority": schema::number(0, 9, "Higher goes first; default 5."),
            "needs": schema::texts("Abilities that the worker must have. Usually left out."),
            "labels": schema::texts("Short names to group and find tasks by, such as \"ui\"."),
            "activity": schema::text("The id of its activity, act_…. Usually left out."),
        },
        "required": ["description"],
        "additionalProperties": false,
    });
    let tasks = json!({ "type": "array", "items": task, "minItems": 1, "description": "The tasks, in any order." });
    schema::object(&["tasks"], json!({ "tasks": tasks, "project": schema::project() }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    tasks: Vec<Value>,
    project: Option<String>,
}

pub(super) async fn run(desk: &Desk, given: Arguments) -> Result<Value, Trouble> {
    let tasks: Vec<TaskAdd> =
        given.tasks.into_iter().enumerate().map(|(index, task)| one(index, task)).collect::<Result<_, _>>()?;
    let project = project::resolve(desk, given.project.as_deref()).await?;
    let added: AddedTasks = ask(&*desk.verbs, Call::TaskAdd { project, input: TasksAdd { tasks } }).await?;
    let mut answer = json!({
        "tasks": added.tasks.iter().map(list::line).collect::<Vec<_>>(),
        "next": "The tasks are in the queue; free workers take them.",
    });
    if !added.names.is_empty() {
        let names: serde_json::Map<String, Value> =
            added.names.iter().map(|named| (named.name.clone(), json!(named.task))).collect();
        answer["names"] = Value::Object(names);
    }
    if !added.similar.is_empty() {
        let similar = added.similar.iter();
        answer["similar"] = similar.map(|one| json!({ "new": one.task, "open": one.to, "title": one.title })).collect();
        answer["next"] = json!("The tasks are in the queue. Some are similar to open ones: see `similar`.");
    }
    Ok(answer)
}

/// Parses one task; an error names the task and the place.
fn one(index: usize, task: Value) -> Result<TaskAdd, Trouble> {
    let Value::Object(mut task) = task else {
        let text =
            format!("tasks[{index}] must be an object such as {{\"description\": \"…\"}}, not {}.", short(&task));
        return Err(Trouble::new(text));
    };
    task.retain(|_, value| !value.is_null());
    if let Some(criteria) = task.get_mut("acceptance") {
        let lines: Vec<String> = serde_json::from_value(criteria.take()).map_err(|error| invalid(index, &error))?;
        *criteria = json!(criteria::read(&format!("tasks[{index}]."), &lines)?);
    }
    serde_json::from_value(Value::Object(task)).map_err(|error| invalid(index, &error))
}

fn invalid(index: usize, error: &serde_json::Error) -> Trouble {
    Trouble::new(format!("tasks[{index}] is invalid: {error}. Nothing was added: fix it and call again."))
}

/// The arguments with all criteria as lines.
pub(super) fn as_lines(mut given: JsonObject) -> JsonObject {
    if let Some(Value::Array(tasks)) = given.get_mut("tasks") {
        for task in tasks {
            if let Value::Object(fields) = task {
                *fields = criteria::as_lines(std::mem::take(fields));
            }
        }
    }
    given
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
