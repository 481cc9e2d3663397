//! Acceptance criteria of JSON tasks: each is a line, as in Markdown and on the command line, or an object.

use super::node::{Kind, Node};
use super::{Fault, criterion, join};

/// The field, and the name that it has in Markdown and on the command line.
const FIELD: &str = "acceptance";
const SHORT: &str = "accept";

/// Replaces the criteria of a task that are lines with objects, and `accept` with `acceptance`. Lines that are no
/// criteria stay, and are returned as errors.
pub(super) fn read(task: &mut Node, path: &str) -> Vec<Fault> {
    let mut faults = Vec::new();
    let Kind::Fields(fields) = &mut task.kind else { return faults };
    for (name, value) in fields.iter_mut().filter(|(name, _)| name == FIELD || name == SHORT) {
        FIELD.clone_into(name);
        let Kind::List(items) = &mut value.kind else { continue };
        for (at, item) in items.iter_mut().enumerate() {
            let Kind::Text(line) = &item.kind else { continue };
            match criterion::parse(line).map(serde_json::to_value) {
                Ok(Ok(read)) => *item = Node::on(item.line, read),
                Ok(Err(error)) => faults.push(fault(item, path, at, error.to_string())),
                Err(reason) => faults.push(fault(item, path, at, reason)),
            }
        }
    }
    faults
}

fn fault(item: &Node, path: &str, at: usize, reason: String) -> Fault {
    Fault::new(item.line, join(path, &format!("{FIELD}[{at}]")), reason)
}
