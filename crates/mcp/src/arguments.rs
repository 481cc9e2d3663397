//! Parses a model's arguments; invalid ones are refused with a hint how to fix them.

use rmcp::model::JsonObject;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::schema::Shape;
use crate::trouble::Trouble;

/// Names that models use instead of ours.
const ALIASES: &[(&str, &str)] = &[
    ("task_id", "task"),
    ("id", "task"),
    ("project_id", "project"),
    ("activity_id", "activity"),
    ("message", "text"),
    ("content", "text"),
    ("description", "summary"),
    ("result", "summary"),
    ("deliverables", "files"),
    ("dependencies", "deps"),
    ("depends_on", "deps"),
    ("title", "description"),
    ("criteria", "acceptance"),
    ("acceptance_criteria", "acceptance"),
    ("reason", "question"),
    ("timeout", "wait_seconds"),
    ("agent", "worker"),
    ("name", "worker"),
    ("capabilities", "abilities"),
    ("error", "failed"),
    ("status", "progress"),
];

/// Parses the arguments of a tool; `null` counts as absent.
pub(crate) fn decode<T: DeserializeOwned>(shape: &Shape, given: Option<JsonObject>) -> Result<T, Trouble> {
    let mut given = given.unwrap_or_default();
    given.retain(|_, value| !value.is_null());
    if let Some(unknown) = given.keys().find(|name| !shape.has(name)) {
        return Err(unknown_field(shape, unknown));
    }
    if let Some(missing) = shape.required().find(|name| !given.contains_key(*name)) {
        return Err(Trouble::new(format!("`{missing}` is missing. {}", shape.usage())));
    }
    if let Some(misfit) = shape.misfit(&given) {
        return Err(Trouble::new(format!("{misfit} {}", shape.usage())));
    }
    serde_json::from_value(Value::Object(given))
        .map_err(|error| Trouble::new(format!("An argument is invalid: {error}. {}", shape.usage())))
}

fn unknown_field(shape: &Shape, unknown: &str) -> Trouble {
    let lower = unknown.to_lowercase();
    let alias = ALIASES.iter().filter(|(from, to)| *from == lower && shape.has(to)).map(|(_, to)| *to).next();
    let close = alias.or_else(|| shape.names().find(|name| near(name, &lower)));
    let hint = close.map(|name| format!(" Did you mean `{name}`?")).unwrap_or_default();
    let shown: String = unknown.chars().take(60).collect();
    Trouble::new(format!("There is no argument `{shown}`.{hint} {}", shape.usage()))
}

/// Whether two words differ by at most one letter.
fn near(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    let (short, long) = (short.as_bytes(), long.as_bytes());
    if long.len() - short.len() > 1 {
        return false;
    }
    let same = short.iter().zip(long).take_while(|(a, b)| a == b).count();
    let skipped = if short.len() == long.len() { same + 1 } else { same };
    short.get(skipped..).unwrap_or_default() == long.get(same + 1..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools;

    fn refused(tool: &str, given: Value) -> String {
        let spec = tools::ALL.iter().find(|spec| spec.name == tool).unwrap();
        let Value::Object(given) = given else { panic!("arguments are an object") };
        decode::<Value>(&Shape::of(spec), Some(given)).unwrap_err().text
    }

    #[test]
    fn unknown_and_missing_arguments_are_refused_with_a_hint() {
        let text = refused("report", serde_json::json!({ "sumary": "done" }));
        assert!(text.contains("`sumary`") && text.contains("Did you mean `summary`?"), "{text}");
        assert!(text.contains("Required: summary"), "{text}");
        let text = refused("report", serde_json::json!({ "summary": "done", "task_id": "t" }));
        assert!(text.contains("Did you mean `task`?"), "{text}");
        let text = refused("report", serde_json::json!({ "files": ["a"] }));
        assert!(text.starts_with("`summary` is missing."), "{text}");
        let text = refused("chat_send", serde_json::json!({ "text": null }));
        assert!(text.starts_with("`text` is missing."), "null is absent: {text}");
    }

    #[test]
    fn values_of_a_wrong_type_are_refused_with_the_right_type() {
        let check = |tool: &str, given: Value, said: &str| {
            let text = refused(tool, given);
            assert!(text.starts_with(said), "{text}");
        };
        let score = serde_json::json!({ "summary": "done", "context_score": "good" });
        check("report", score, "`context_score` is the string \"good\"; it takes a whole number from 1 to 5.");
        let score = serde_json::json!({ "summary": "done", "context_score": 9 });
        check("report", score, "`context_score` is 9; it takes a whole number from 1 to 5.");
        let files = serde_json::json!({ "summary": "done", "files": "a.rs" });
        check("report", files, "`files` is the string \"a.rs\"; it takes a list of strings, such as [\"a\", \"b\"].");
        let deep = serde_json::json!({ "tasks": [{ "description": "x", "priority": "high" }] });
        check("add_tasks", deep, "`tasks[0].priority` is the string \"high\"; it takes a whole number from 0 to 9.");
        let line = serde_json::json!({ "tasks": [{ "description": "x", "acceptance": [3] }] });
        check("add_tasks", line, "`tasks[0].acceptance[0]` is 3; it takes a string.");
    }

    #[test]
    fn typos_of_one_letter_are_suggested() {
        for (one, other, is) in [
            ("summary", "sumary", true),
            ("file", "files", true),
            ("branch", "brunch", true),
            ("task", "text", false),
            ("a", "abc", false),
        ] {
            assert_eq!(near(one, other), is, "{one} {other}");
            assert_eq!(near(other, one), is, "{other} {one}");
        }
    }
}
