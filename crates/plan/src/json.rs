//! Parses tasks from JSON and JSONL.

use std::collections::HashMap;

use protocol::{TaskAdd, task_schema};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::node::{Kind, Node};
use super::{Entry, Fault, Found, Lines, accept, shape};

/// One task, a list, or an object with a list.
pub(super) fn read(text: &str) -> Found {
    let mut found = Found::default();
    let mut node = match Node::parse(text, 1) {
        Ok(node) => node,
        Err((line, reason)) => {
            let several = reason.contains("trailing characters") && text.trim_start().starts_with('{');
            let advice =
                if several { "; for one task per line, name the file .jsonl or pass --format jsonl" } else { "" };
            found.faults.push(Fault::new(line, "", format!("{reason}{advice}")));
            return found;
        }
    };
    let schema = task_schema();
    let what = node.what();
    let file = node.field("tasks").is_some();
    match &mut node.kind {
        Kind::List(items) => list(items, &schema, &mut found),
        Kind::Fields(fields) if file => {
            for (name, value) in fields.iter().filter(|(name, _)| name != "tasks") {
                let reason = "unknown field beside `tasks`; put the fields of a task into the task";
                found.faults.push(Fault::new(value.line, name, reason));
            }
            let Some((_, tasks)) = fields.iter_mut().find(|(name, _)| name == "tasks") else { return found };
            let what = tasks.what();
            match &mut tasks.kind {
                Kind::List(items) => list(items, &schema, &mut found),
                _ => {
                    let reason = format!("is {what}; expected a list");
                    found.faults.push(Fault::new(tasks.line, "tasks", reason));
                }
            }
        }
        Kind::Fields(_) => one(&mut node, &schema, String::new(), &mut found),
        _ => {
            let reason = format!("is {what}; expected a task, a list of tasks, or an object with `tasks`");
            found.faults.push(Fault::new(node.line, "", reason));
        }
    }
    found
}

/// One task per line; empty lines are skipped.
pub(super) fn read_lines(text: &str) -> Found {
    let mut found = Found::default();
    let schema = task_schema();
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    for (at, (index, line)) in lines.enumerate() {
        let path = format!("tasks[{at}]");
        match Node::parse(line, index + 1) {
            Ok(mut node) => one(&mut node, &schema, path, &mut found),
            Err((line, reason)) => {
                found.faults.push(Fault::new(line, path, reason));
                // A value that spans several lines makes every line invalid.
                if at == 0 && Node::parse(text, 1).is_ok() {
                    let reason = "the file is one JSON value on several lines: name it .json or pass --format json";
                    found.faults = vec![Fault::new(line, "", reason)];
                    return found;
                }
            }
        }
    }
    found
}

fn list(items: &mut [Node], schema: &Value, found: &mut Found) {
    for (at, item) in items.iter_mut().enumerate() {
        one(item, schema, format!("tasks[{at}]"), found);
    }
}

fn one(node: &mut Node, schema: &Value, path: String, found: &mut Found) {
    let mut faults = accept::read(node, &path);
    faults.extend(shape::check(node, schema, "TaskAdd", &path));
    let fine = faults.is_empty();
    found.faults.extend(faults);
    let (task, places) = match serde_json::from_value(node.to_value()) {
        Ok(task) => (task, HashMap::new()),
        Err(error) if fine => return found.faults.push(Fault::new(node.line, path, error.to_string())),
        // The shape check reported this error better; check the rest anyway.
        Err(_) if matches!(node.kind, Kind::Fields(_)) => salvage(node),
        Err(_) => return,
    };
    found.entries.push(Entry { task, path, lines: lines(node), places });
}

/// The readable parts of an invalid task, with the original positions of its list items.
fn salvage(node: &Node) -> (TaskAdd, HashMap<&'static str, Vec<usize>>) {
    fn one<T: DeserializeOwned>(node: &Node) -> Option<T> {
        serde_json::from_value(node.to_value()).ok()
    }
    fn several<T: DeserializeOwned>(node: &Node, name: &'static str, places: &mut Places) -> Vec<T> {
        let Some(Kind::List(items)) = node.field(name).map(|list| &list.kind) else { return Vec::new() };
        let good: Vec<(usize, T)> = items.iter().enumerate().filter_map(|(at, item)| Some((at, one(item)?))).collect();
        places.insert(name, good.iter().map(|(at, _)| *at).collect());
        good.into_iter().map(|(_, item)| item).collect()
    }
    type Places = HashMap<&'static str, Vec<usize>>;
    let mut places = Places::new();
    let task = TaskAdd {
        id: node.field("id").and_then(one),
        description: node.field("description").and_then(one).unwrap_or_default(),
        context: node.field("context").and_then(one).unwrap_or_default(),
        acceptance: several(node, "acceptance", &mut places),
        files: several(node, "files", &mut places),
        deps: several(node, "deps", &mut places),
        priority: node.field("priority").and_then(one),
        needs: several(node, "needs", &mut places),
        labels: several(node, "labels", &mut places),
        activity: node.field("activity").and_then(one),
    };
    (task, places)
}

fn lines(node: &Node) -> Lines {
    let mut lines = Lines::new(node.line);
    note(node, "", &mut lines);
    lines
}

fn note(node: &Node, path: &str, lines: &mut Lines) {
    // Values on the task's first line need no position of their own.
    if !path.is_empty() && Some(node.line) != lines.of("") {
        lines.note(path, node.line);
    }
    match &node.kind {
        Kind::Fields(fields) => fields.iter().for_each(|(name, value)| note(value, &super::join(path, name), lines)),
        Kind::List(items) => {
            items.iter().enumerate().for_each(|(at, item)| note(item, &format!("{path}[{at}]"), lines));
        }
        _ => {}
    }
}
