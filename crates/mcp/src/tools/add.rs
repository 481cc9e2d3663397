//! `add_tasks`: adds a coordinator's tasks.

use protocol::{AddedTasks, Call, Criterion, TaskAdd, TasksAdd};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Spec, list};
use crate::desk::Desk;
use crate::trouble::Trouble;
use crate::verbs::ask;
use crate::{project, schema};

pub(super) static SPEC: Spec = Spec {
    name: "add_tasks",
    title: "Add tasks",
    description: "Adds tasks to the project's queue: all or none. Each should take one worker between minutes and an hour, \
        be understandable without your context, and have `acceptance` that a machine can check. Use `id` as a name within \
        this call and `deps` to say what must be done before. Example: {\"tasks\": [{\"id\": \"parser\", \
        \"description\": \"Write a parser for dates\\nIn src/date.rs, ISO 8601 only.\", \"files\": [\"src/date.rs\"], \
        \"acceptance\": [{\"kind\": \"file_exists\", \"path\": \"src/date.rs\"}, {\"kind\": \"command\", \"argv\": \
        [\"cargo\", \"test\", \"date\"]}]}, {\"description\": \"Document the date parser\", \"deps\": [\"parser\"]}]}. \
        The answer lists similar open tasks.",
    schema,
    reads: false,
};

/// The schema of acceptance criteria.
pub(super) fn acceptance() -> Value {
    let criterion = json!({
        "type": "object",
        "description": "What must be true. file_exists: path. file_matches: path and one or more of regex, not_regex, \
                        min_words, json_schema, parses. command: argv (no shell), maybe exit_code, timeout_seconds. \
                        only_touches: globs. no_conflict_with_base, committed and approved (a \
                        person approves the diff): nothing more. text: text, which a \
                        person judges.",
        "properties": {
            "kind": schema::choice(
                ["file_exists", "file_matches", "command", "only_touches", "no_conflict_with_base", "committed", "approved", "merged", "text"],
                "The kind of check.",
            ),
            "path": schema::text("file_exists, file_matches: the file, relative to the workspace."),
            "regex": schema::text("file_matches: must be found in the file."),
            "not_regex": schema::text("file_matches: must not be found in the file."),
            "min_words": schema::number(0, u32::MAX.into(), "file_matches: the minimum number of words."),
            "json_schema": json!({ "type": "object", "description": "file_matches: a JSON Schema that the file must satisfy." }),
            "parses": schema::choice(
                ["json", "jsonl", "toml", "yaml", "csv", "xml", "text"],
                "file_matches: the format in which the file must be valid.",
            ),
            "argv": schema::texts("command: the program and its arguments, such as [\"make\", \"test\"]."),
            "exit_code": json!({ "type": "integer", "description": "command: the expected exit code; default 0." }),
            "timeout_seconds": schema::number(1, 86_400, "command: the time limit; default 300."),
            "globs": schema::texts("only_touches: patterns, such as [\"src/**\", \"docs/*.md\"]."),
            "text": schema::text("text: what must be true, for a person to judge."),
        },
        "required": ["kind"],
        "additionalProperties": false,
    });
    json!({ "type": "array", "items": criterion, "description": "The criteria that the work is checked against." })
}

fn schema() -> Value {
    let task = json!({
        "type": "object",
        "properties": {
            "id": schema::text("A name for this task within this call, so that others can depend on it."),
            "description": schema::text("What to do. The first line is the title."),
            "context": schema::text("What the worker should know: decisions, relevant places."),
            "acceptance": acceptance(),
            "files": schema::texts("Files that the task changes: paths or patterns. Keeps two workers from changing the same file."),
            "deps": schema::texts("Tasks that must be done first: names from this call, or existing tasks (CALC-12 or tsk_…)."),
            "priority": schema::number(0, 9, "Higher goes first; default 5."),
            "needs": schema::texts("Abilities that the worker must have. Usually left out."),
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
    if let Some(Value::Array(criteria)) = task.get_mut("acceptance") {
        for (place, one) in criteria.iter_mut().enumerate() {
            *one = json!(criterion(&format!("tasks[{index}].acceptance[{place}]"), one.take())?);
        }
    }
    serde_json::from_value(Value::Object(task)).map_err(|error| {
        Trouble::new(format!("tasks[{index}] is invalid: {error}. Nothing was added: fix it and call again."))
    })
}

/// Parses a criterion; an error names its place.
pub(super) fn criterion(place: &str, mut given: Value) -> Result<Criterion, Trouble> {
    if let Value::Object(fields) = &mut given {
        fields.retain(|_, value| !value.is_null());
    }
    serde_json::from_value(given).map_err(|error| {
        Trouble::new(format!(
            "{place} is invalid: {error}. It must look like {{\"kind\": \"file_exists\", \"path\": \"…\"}}; the kinds are \
             file_exists, file_matches, command, only_touches, no_conflict_with_base, committed, approved, text. Nothing was \
             changed."
        ))
    })
}

fn short(value: &Value) -> String {
    value.to_string().chars().take(40).collect()
}
