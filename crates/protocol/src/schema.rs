//! The JSON Schema of a task file, made from the types that read it, so that the two cannot differ.

use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::{Task, TaskAdd};

const OPENAPI: &str = "#/components/schemas/";
const ABOUT: &str = "Tasks to be added, as `shopfloor task add --file` reads them: one, a list, or an object with a list. \
                     In a JSONL file each line is one task. `$defs/Task` is a task as the hub shows it afterwards.";

/// The JSON Schema (draft 2020-12) of a task file.
pub fn task_schema() -> Value {
    let mut found: Vec<(String, RefOr<Schema>)> =
        vec![("TaskAdd".to_owned(), TaskAdd::schema()), ("Task".to_owned(), Task::schema())];
    TaskAdd::schemas(&mut found);
    Task::schemas(&mut found);
    let mut defs = Map::new();
    for (name, schema) in found {
        let mut schema = serde_json::to_value(schema).expect("a schema is plain data");
        adapt(&mut schema);
        defs.insert(name, schema);
    }
    refine(&mut defs);
    let list = json!({"type": "array", "items": {"$ref": "#/$defs/TaskAdd"}, "minItems": 1});
    let mut tasks = list.clone();
    tasks["description"] = "The tasks.".into();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Shopfloor task file",
        "description": ABOUT,
        "oneOf": [
            {"$ref": "#/$defs/TaskAdd"},
            list,
            {"type": "object", "required": ["tasks"], "properties": {"tasks": tasks}, "additionalProperties": false},
        ],
        "$defs": defs,
    })
}

/// Turns OpenAPI's references into the schema's own, and leaves out formats that JSON Schema does not know.
fn adapt(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            if let Some(Value::String(target)) = fields.get_mut("$ref") {
                *target = target.replace(OPENAPI, "#/$defs/");
            }
            if fields.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("int")) {
                fields.remove("format");
            }
            fields.values_mut().for_each(adapt);
        }
        Value::Array(items) => items.iter_mut().for_each(adapt),
        _ => {}
    }
}

/// What the types do not say: limits, what is unknown in a criterion, and what each status means.
fn refine(defs: &mut Map<String, Value>) {
    for name in ["TaskAdd", "Task"] {
        if let Some(Value::Object(fields)) = defs.get_mut(name).and_then(|task| task.get_mut("properties")) {
            limit(fields, TASK_LIMITS);
        }
    }
    if let Some(Value::Object(fields)) = defs.get_mut("TaskAdd").and_then(|task| task.get_mut("properties")) {
        acceptance(fields);
    }
    if let Some(Value::Array(kinds)) = defs.get_mut("Criterion").and_then(|criterion| criterion.get_mut("oneOf")) {
        for kind in kinds {
            kind["additionalProperties"] = false.into();
            if let Some(Value::Object(fields)) = kind.get_mut("properties") {
                limit(fields, CRITERION_LIMITS);
                if let Some(schema) = fields.get_mut("json_schema") {
                    *schema = json!({"type": ["object", "boolean", "null"], "description": schema["description"]});
                }
            }
        }
    }
    if let Some(status) = defs.get_mut("TaskStatus") {
        let words = domain::TaskStatus::ALL.iter();
        let each: Vec<Value> =
            words.map(|status| json!({"const": status.word(), "description": status.meaning()})).collect();
        *status = json!({"type": "string", "description": "What a task is at.", "oneOf": each});
    }
}

/// A task file takes criteria as lines, too, and `accept` as the name of their list, as in Markdown.
fn acceptance(fields: &mut Map<String, Value>) {
    let Some(list) = fields.get_mut("acceptance") else { return };
    list["items"] = json!({"oneOf": [
        {"type": "string", "minLength": 1, "description": "A line, such as `command: make test`, as in a Markdown list."},
        {"$ref": "#/$defs/Criterion"},
    ]});
    let mut short = list.clone();
    short["description"] = "The same as `acceptance`.".into();
    fields.insert("accept".to_owned(), short);
}

/// The hub's own limits; it counts bytes where a schema can only count characters.
const TASK_LIMITS: &[(&str, &str, i64)] = &[
    ("id", "minLength", 1),
    ("description", "minLength", 1),
    ("description", "maxLength", 64 * 1024),
    ("context", "maxLength", 64 * 1024),
    ("acceptance", "maxItems", 50),
    ("files", "maxItems", 200),
    ("deps", "maxItems", 200),
    ("needs", "maxItems", 20),
    ("labels", "maxItems", domain::labels::MAX as i64),
    ("priority", "maximum", 9),
];

const CRITERION_LIMITS: &[(&str, &str, i64)] = &[
    ("path", "minLength", 1),
    ("path", "maxLength", 1024),
    ("regex", "maxLength", 4096),
    ("not_regex", "maxLength", 4096),
    ("text", "minLength", 1),
    ("text", "maxLength", 4096),
    ("min_words", "maximum", u32::MAX as i64),
    ("argv", "minItems", 1),
    ("argv", "maxItems", 500),
    ("exit_code", "minimum", i32::MIN as i64),
    ("exit_code", "maximum", i32::MAX as i64),
    ("timeout_seconds", "minimum", 1),
    ("timeout_seconds", "maximum", 24 * 3600),
    ("globs", "minItems", 1),
    ("globs", "maxItems", 200),
];

fn limit(fields: &mut Map<String, Value>, limits: &[(&str, &str, i64)]) {
    for (field, limit, value) in limits {
        if let Some(field) = fields.get_mut(*field) {
            field[*limit] = (*value).into();
        }
    }
}

#[cfg(test)]
mod tests;
