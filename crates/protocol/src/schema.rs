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
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::{Criterion, FileFormat, TasksAdd};

    fn accepts(value: &Value) -> bool {
        jsonschema::draft202012::new(&task_schema()).unwrap().is_valid(value)
    }

    fn text() -> impl Strategy<Value = String> {
        "[a-zA-Z0-9 /*.\\n-]{1,20}"
    }

    fn maybe<T: std::fmt::Debug + Clone>(some: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
        proptest::option::of(some)
    }

    fn criterion() -> impl Strategy<Value = Criterion> {
        let schema = Just(json!({"type": "object"}));
        let matches = (text(), maybe(text()), maybe(text()), maybe(any::<u32>()), maybe(schema), maybe(format()));
        prop_oneof![
            text().prop_map(|path| Criterion::FileExists { path }),
            matches.prop_map(|(path, regex, not_regex, min_words, json_schema, parses)| {
                Criterion::FileMatches { path, regex, not_regex, min_words, json_schema, parses }
            }),
            (proptest::collection::vec(text(), 1..4), maybe(any::<i32>()), maybe(1u32..=86_400))
                .prop_map(|(argv, exit_code, timeout_seconds)| Criterion::Command { argv, exit_code, timeout_seconds }),
            proptest::collection::vec(text(), 1..3).prop_map(|globs| Criterion::OnlyTouches { globs }),
            Just(Criterion::NoConflictWithBase {}),
            Just(Criterion::Committed {}),
            text().prop_map(|text| Criterion::Text { text }),
        ]
    }

    fn format() -> impl Strategy<Value = FileFormat> {
        use FileFormat as F;
        prop_oneof![
            Just(F::Json),
            Just(F::Jsonl),
            Just(F::Toml),
            Just(F::Yaml),
            Just(F::Csv),
            Just(F::Xml),
            Just(F::Text)
        ]
    }

    fn task() -> impl Strategy<Value = TaskAdd> {
        let texts = || proptest::collection::vec(text(), 0..3);
        let first = (maybe(text()), text(), text(), proptest::collection::vec(criterion(), 0..4));
        (first, texts(), texts(), maybe(0u8..10), texts(), any::<bool>()).prop_map(
            |((id, description, context, acceptance), files, deps, priority, needs, activity)| TaskAdd {
                id,
                description,
                context,
                acceptance,
                files,
                deps,
                priority,
                needs,
                activity: activity.then(domain::ActivityId::generate),
            },
        )
    }

    /// Every place in a value, as the steps that lead there.
    fn places(value: &Value, here: &str, found: &mut Vec<String>) {
        found.push(here.to_owned());
        match value {
            Value::Object(fields) => {
                fields.iter().for_each(|(name, inner)| places(inner, &format!("{here}/{name}"), found));
            }
            Value::Array(items) => {
                items.iter().enumerate().for_each(|(at, inner)| places(inner, &format!("{here}/{at}"), found));
            }
            _ => {}
        }
    }

    /// The same with one thing wrong, or not, at the place.
    fn spoil(task: &Value, place: usize, how: u8) -> Value {
        let mut all = Vec::new();
        places(task, "", &mut all);
        let mut spoilt = task.clone();
        let place = &all[place % all.len()];
        let Some(target) = spoilt.pointer_mut(place) else { return spoilt };
        match how {
            0 => *target = Value::Null,
            1 => *target = json!(true),
            2 => *target = json!(-1),
            3 => *target = json!({}),
            4 => *target = json!("no_such_word"),
            5 => *target = json!([]),
            6 => *target = json!(1.5),
            7 => {
                if let Value::Object(fields) = target {
                    fields.insert("surprise".into(), json!(1));
                }
            }
            _ => {
                if let Value::Object(fields) = target
                    && let Some(name) = fields.keys().next().cloned()
                {
                    fields.remove(&name);
                }
            }
        }
        spoilt
    }

    proptest! {
        #[test]
        fn what_the_types_write_meets_the_schema(tasks in proptest::collection::vec(task(), 1..3)) {
            let one = serde_json::to_value(&tasks[0]).unwrap();
            prop_assert!(accepts(&one), "{one}");
            prop_assert!(accepts(&serde_json::to_value(&tasks).unwrap()));
            let object = serde_json::to_value(TasksAdd { tasks }).unwrap();
            prop_assert!(accepts(&object), "{object}");
        }

        #[test]
        fn what_meets_the_schema_is_read_and_what_is_not_read_does_not_meet_it(
            task in task(), place in any::<usize>(), how in 0u8..9,
        ) {
            let spoilt = spoil(&serde_json::to_value(&task).unwrap(), place, how);
            // Lists alone are another form of the file.
            prop_assume!(!spoilt.is_array());
            let read = serde_json::from_value::<TaskAdd>(spoilt.clone());
            // The schema is stricter only in its limits, and in what a JSON Schema is.
            if accepts(&spoilt) {
                prop_assert!(read.is_ok(), "{spoilt}: {read:?}");
            } else if let Ok(read) = read {
                let limits = read.description.is_empty() || read.priority.is_some_and(|at| at > 9)
                    || read.acceptance.iter().any(|criterion| match criterion {
                        Criterion::Command { argv, .. } => argv.is_empty(),
                        Criterion::OnlyTouches { globs } => globs.is_empty(),
                        Criterion::FileMatches { json_schema: Some(schema), .. } => {
                            !schema.is_object() && !schema.is_boolean()
                        }
                        _ => false,
                    });
                prop_assert!(limits, "{spoilt} is read but does not meet the schema");
            }
        }
    }

    #[test]
    fn every_word_of_it_is_explained() {
        let schema = task_schema();
        for (name, definition) in schema["$defs"].as_object().unwrap() {
            assert!(definition["description"].is_string(), "{name}");
            for (field, inner) in definition["properties"].as_object().into_iter().flatten() {
                let described = inner.to_string().contains("\"description\"");
                assert!(described, "{name}.{field} says nothing");
            }
        }
        let text = schema.to_string();
        assert!(!text.contains(OPENAPI), "every reference leads somewhere here");
        for word in ["lease", "created_by", "assigned_to", "no_conflict_with_base", "A worker holds its lease"] {
            assert!(text.contains(word), "{word}");
        }
        assert!(!accepts(&json!([])) && !accepts(&json!({"tasks": []})) && !accepts(&json!({"description": ""})));
    }
}
