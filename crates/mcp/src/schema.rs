//! The arguments of tools, as JSON Schema that every client understands: flat objects, no references, no unions.

use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::misfit::misfit;
use crate::tools::Spec;

/// The schema of a tool's arguments.
pub(crate) struct Shape {
    tool: &'static str,
    schema: Value,
}

impl Shape {
    pub(crate) fn of(spec: &Spec) -> Self {
        Self { tool: spec.name, schema: (spec.schema)() }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.schema["properties"].get(name).is_some()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.schema["properties"].as_object().into_iter().flat_map(|all| all.keys().map(String::as_str))
    }

    pub(crate) fn required(&self) -> impl Iterator<Item = &str> {
        self.schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str)
    }

    /// The first error in these arguments.
    pub(crate) fn misfit(&self, given: &JsonObject) -> Option<String> {
        misfit(&Value::Object(given.clone()), &self.schema, "")
    }

    /// A sentence that lists the arguments.
    pub(crate) fn usage(&self) -> String {
        let required: Vec<&str> = self.required().collect();
        let optional: Vec<&str> = self.names().filter(|name| !required.contains(name)).collect();
        let list = |names: &[&str]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        format!("{} takes: Required: {}. Optional: {}.", self.tool, list(&required), list(&optional))
    }
}

/// An object with exactly these properties.
pub(crate) fn object(required: &[&str], properties: Value) -> Value {
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

/// The same in the SDK's type.
pub(crate) fn map(schema: Value) -> JsonObject {
    match schema {
        Value::Object(map) => map,
        _ => JsonObject::new(),
    }
}

pub(crate) fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

pub(crate) fn texts(description: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": description })
}

pub(crate) fn number(least: u64, most: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most, "description": description })
}

pub(crate) fn choice(words: impl IntoIterator<Item = &'static str>, description: &str) -> Value {
    json!({ "type": "string", "enum": words.into_iter().collect::<Vec<_>>(), "description": description })
}

pub(crate) fn project() -> Value {
    text("The project's id or name. Leave it out if you work in only one project.")
}

pub(crate) fn task() -> Value {
    text("The task: its name, such as CALC-12, or its id, tsk_…. Leave it out for the task that you hold.")
}

pub(crate) fn fence() -> Value {
    json!({
        "type": "integer", "minimum": 0,
        "description": "The fence that take_task answered. Leave it out: it is remembered. \
                        Needed, together with `task`, only if the connection was lost since then.",
    })
}
