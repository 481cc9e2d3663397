//! Calls of each verb, made from its declaration.
#![allow(dead_code, reason = "several tests share this file, and each uses a part of it")]

use protocol::verbs::Schemas;
use protocol::{Call, Spec};
use serde_json::{Map, Value, json};

/// One call of each verb, about things that do not exist.
pub(crate) fn one_of_each() -> Vec<Call> {
    let call = |spec: &&Spec| serde_json::from_value(smallest(spec, &mut |_, _, _| None));
    Call::SPECS.iter().map(|spec| call(spec).unwrap_or_else(|error| panic!("{}: {error}", spec.name))).collect()
}

/// What a field is filled with instead of what its schema suggests, by its name, its schema, and whether it is required.
pub(crate) type Fill<'a> = &'a mut dyn FnMut(&str, &Value, bool) -> Option<Value>;

/// The call of a verb with what it requires, and with what `fill` has for its other fields.
pub(crate) fn smallest(spec: &Spec, fill: Fill<'_>) -> Value {
    let mut call = Map::from_iter([("verb".to_owned(), json!(spec.name))]);
    for field in spec.fields {
        let mut schemas = Schemas::new();
        let schema = json!(field.schema(&mut schemas));
        let schemas: Map<String, Value> = schemas.into_iter().map(|(name, schema)| (name, json!(schema))).collect();
        call.insert(field.name.to_owned(), example(field.name, &schema, &schemas, fill));
    }
    Value::Object(call)
}

/// Puts what `from` has over what `into` has.
pub(crate) fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            from.iter().for_each(|(name, value)| merge(into.entry(name.clone()).or_insert(Value::Null), value));
        }
        (into, from) => *into = from.clone(),
    }
}

/// The smallest value that a schema allows.
fn example(name: &str, schema: &Value, schemas: &Map<String, Value>, fill: Fill<'_>) -> Value {
    if let Some(target) = schema["$ref"].as_str() {
        let target = target.rsplit('/').next().unwrap_or(target);
        let schema = schemas.get(target).unwrap_or_else(|| panic!("{name} refers to {target}, which has no schema"));
        return example(name, schema, schemas, fill);
    }
    if let Some(value) = fill(name, schema, true) {
        return value;
    }
    if let Some(first) = schema["oneOf"].get(0) {
        return example(name, first, schemas, fill);
    }
    match schema["type"].as_str() {
        Some("object") => {
            let required =
                |field: &str| schema["required"].as_array().is_some_and(|all| all.iter().any(|one| one == field));
            let mut object = Map::new();
            for (field, schema) in schema["properties"].as_object().into_iter().flatten() {
                let value = match required(field) {
                    true => Some(example(field, schema, schemas, fill)),
                    false => fill(field, schema, false),
                };
                object.extend(value.map(|value| (field.clone(), value)));
            }
            Value::Object(object)
        }
        Some("array") => json!([example(name, &schema["items"], schemas, fill)]),
        Some("string") => text(schema),
        Some("integer") => json!(1),
        Some("boolean") => json!(true),
        _ => panic!("a required field has no type that an example can be made of: {name}: {schema}"),
    }
}

fn text(schema: &Value) -> Value {
    match (schema["enum"].get(0), schema["pattern"].as_str()) {
        (Some(first), _) => first.clone(),
        _ if schema["format"] == "date-time" => json!("2026-01-02T03:04:05Z"),
        // An id: `^prj_[0-9a-f]{32}$`.
        (None, Some(pattern)) => {
            let prefix = pattern.trim_start_matches('^').split('[').next().unwrap_or_default();
            json!(format!("{prefix}01a1e119f7ce75098aed4a97f220a95d"))
        }
        (None, None) => json!("text"),
    }
}
