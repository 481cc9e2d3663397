//! The schema and the types say the same, both ways.

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
        Just(Criterion::Approved {}),
        text().prop_map(|text| Criterion::Text { text }),
    ]
}

fn format() -> impl Strategy<Value = FileFormat> {
    use FileFormat as F;
    prop_oneof![Just(F::Json), Just(F::Jsonl), Just(F::Toml), Just(F::Yaml), Just(F::Csv), Just(F::Xml), Just(F::Text)]
}

fn task() -> impl Strategy<Value = TaskAdd> {
    let texts = || proptest::collection::vec(text(), 0..3);
    let first = (maybe(text()), text(), text(), proptest::collection::vec(criterion(), 0..4));
    (first, texts(), texts(), maybe(0u8..10), texts(), any::<bool>()).prop_map(
        |((id, description, context, acceptance), files, deps, priority, words, activity)| TaskAdd {
            id,
            description,
            context,
            acceptance,
            files,
            deps,
            priority,
            needs: words.clone(),
            labels: words,
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
        // Criteria that are lines are read by `plan`.
        let lines = spoilt["acceptance"].as_array().is_some_and(|all| all.iter().any(Value::is_string));
        prop_assume!(!lines);
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
fn criteria_may_be_lines() {
    let task = |name: &str, criterion: Value| json!({"description": "x", name: [criterion]});
    for name in ["acceptance", "accept"] {
        assert!(
            accepts(&task(name, json!("command: make test"))) && accepts(&task(name, json!({"kind": "committed"})))
        );
        assert!(!accepts(&task(name, json!(""))) && !accepts(&task(name, json!(3))), "{name}");
    }
    assert_eq!(task_schema()["$defs"]["Task"]["properties"]["accept"], Value::Null, "the hub shows objects");
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
