//! What differs between the facts of two handoff documents.

use serde_json::Value;

/// Facts that differ between any two handoffs.
const OWN: [&str; 2] = ["handoff", "hash"];

/// A fact that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its name in the front matter.
    pub name: String,
    /// Its value in the older document.
    pub older: Option<String>,
    /// Its value in the newer document.
    pub newer: Option<String>,
}

/// The facts that differ between two sealed documents, in their order; empty if one has no front matter.
pub fn changed(older: &str, newer: &str) -> Vec<Changed> {
    let (Some(older), Some(newer)) = (facts(older), facts(newer)) else { return Vec::new() };
    let value = |facts: &[(&str, &str)], name: &str| {
        let found = facts.iter().find(|(known, _)| *known == name);
        found.and_then(|(_, value)| shown(value))
    };
    let mut names: Vec<&str> = older.iter().map(|(name, _)| *name).collect();
    names.extend(newer.iter().map(|(name, _)| *name).filter(|name| !older.iter().any(|(known, _)| known == name)));
    names.retain(|name| !OWN.contains(name));
    let all = names.into_iter().map(|name| Changed {
        name: name.to_owned(),
        older: value(&older, name),
        newer: value(&newer, name),
    });
    all.filter(|fact| fact.older != fact.newer).collect()
}

/// The lines of the front matter; `None` without one.
fn facts(document: &str) -> Option<Vec<(&str, &str)>> {
    let front = document.strip_prefix("---\n")?;
    // Values are JSON on one line: no value can end the front matter.
    let lines = front.lines().take_while(|line| *line != "---");
    Some(lines.filter_map(|line| line.split_once(": ")).collect())
}

/// A value as people read it; `None` if it is empty.
fn shown(value: &str) -> Option<String> {
    let text = match serde_json::from_str(value) {
        Ok(Value::Null) => String::new(),
        Ok(Value::String(text)) => text,
        Ok(Value::Array(items)) => items.iter().map(item).collect::<Vec<_>>().join(", "),
        Ok(other) => other.to_string(),
        Err(_) => value.to_owned(),
    };
    Some(text).filter(|text| !text.is_empty())
}

/// A path, or a check with its result.
fn item(item: &Value) -> String {
    let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let passed = match item.get("passed").and_then(Value::as_bool) {
        Some(true) => "passed",
        Some(false) => "failed",
        None => "unknown",
    };
    match item {
        Value::String(path) => path.clone(),
        Value::Object(_) => format!("{}: {passed} ({})", text("check"), text("result")),
        other => other.to_string(),
    }
}
