//! Plans: from JSON, JSONL or a Markdown list to tasks, with every error and where it is.
//!
//! The grammar is here once, for the CLI and for the hub, which reads for the page. This crate opens no file and asks no hub.

mod criterion;
mod json;
mod lines;
mod markdown;
mod meaning;
mod near;
mod node;
mod shape;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use protocol::TaskAdd;
use serde::Serialize;

pub use criterion::{parse as criterion, say as say_criterion};
pub use meaning::no_acceptance;
pub use words::join as line_of;

use lines::Lines;

/// How tasks are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One task, a list of tasks, or an object with a list `tasks`.
    Json,
    /// One task on each line.
    Jsonl,
    /// A list of `- [ ]` items with indented details.
    Markdown,
}

/// Something wrong in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The line, from 1, where one can be named.
    pub line: Option<usize>,
    /// The place in the file, as `tasks[3].deps[0]`.
    pub path: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl Fault {
    fn new(line: usize, path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { line: Some(line), path: path.into(), reason: reason.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!("line {line}"));
        let path = Some(self.path.clone()).filter(|path| !path.is_empty());
        let place: Vec<String> = line.into_iter().chain(path).collect();
        if place.is_empty() { f.write_str(&self.reason) } else { write!(f, "{}: {}", place.join(", "), self.reason) }
    }
}

/// What was read.
#[derive(Debug, Default)]
pub struct Plan {
    /// The tasks, in their order; only those that could be read.
    pub tasks: Vec<TaskAdd>,
    /// Everything that is wrong.
    pub faults: Vec<Fault>,
    /// What is worth knowing and not wrong.
    pub notes: Vec<String>,
    /// Tasks that say nearly the same; a hub says it of those that it takes.
    pub similar: Vec<String>,
    /// How many tasks are ticked off, and not among the tasks.
    pub ticked: usize,
}

/// A task with where it was written.
#[derive(Debug)]
struct Entry {
    task: TaskAdd,
    path: String,
    lines: Lines,
    /// Where the items of a list were written, when some of them could not be read.
    places: HashMap<&'static str, Vec<usize>>,
}

impl Entry {
    /// What is wrong with a field of the task.
    fn fault(&self, field: &str, reason: impl Into<String>) -> Fault {
        Fault { line: self.lines.of(field), path: join(&self.path, field), reason: reason.into() }
    }

    /// Where an item of a list was written, as `deps[1]`.
    fn item(&self, list: &str, at: usize) -> String {
        let written = self.places.get(list).and_then(|places| places.get(at));
        format!("{list}[{}]", written.unwrap_or(&at))
    }
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() || field.is_empty() { format!("{path}{field}") } else { format!("{path}.{field}") }
}

/// What a reader makes of a text.
#[derive(Debug, Default)]
struct Found {
    entries: Vec<Entry>,
    faults: Vec<Fault>,
    notes: Vec<String>,
    similar: Vec<String>,
    ticked: usize,
    /// Names of tasks that are done already, which others may wait for.
    done: Vec<String>,
}

/// Reads the bytes of a file called `name`; without a `format`, by the name's ending, else by the text.
pub fn read(bytes: &[u8], name: &str, format: Option<Format>) -> Plan {
    let text = match decode(bytes) {
        Ok(text) => text,
        Err(fault) => return Plan { faults: vec![fault], ..Plan::default() },
    };
    let format = format.unwrap_or_else(|| guess(name, text));
    let mut found = match format {
        Format::Json => json::read(text),
        Format::Jsonl => json::read_lines(text),
        Format::Markdown => markdown::read(text),
    };
    if found.entries.is_empty() && found.faults.is_empty() {
        let what = match format {
            Format::Markdown if found.notes.is_empty() => "there is no task in it: begin each with `- [ ]`",
            Format::Markdown => "every task in it is ticked off",
            Format::Json | Format::Jsonl => "there is no task in it",
        };
        found.faults.push(Fault { line: None, path: String::new(), reason: what.to_owned() });
    }
    meaning::check(&mut found);
    found.faults.sort_by_key(|fault| fault.line);
    let tasks = found.entries.into_iter().map(|entry| entry.task).collect();
    Plan { tasks, faults: found.faults, notes: found.notes, similar: found.similar, ticked: found.ticked }
}

fn decode(bytes: &[u8]) -> Result<&str, Fault> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Fault::new(1, "", "it is UTF-16: save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Fault::new(line, "", format!("it is not UTF-8 from byte {} on", error.valid_up_to()))
    })
}

fn guess(name: &str, text: &str) -> Format {
    let end = Path::new(name).extension().and_then(|end| end.to_str()).map(str::to_ascii_lowercase);
    match end.as_deref() {
        Some("json") => Format::Json,
        Some("jsonl" | "ndjson") => Format::Jsonl,
        Some("md" | "markdown") => Format::Markdown,
        _ => guess_by_text(text),
    }
}

fn guess_by_text(text: &str) -> Format {
    let text = text.trim_start();
    if !text.starts_with(['{', '[']) || text.starts_with("[ ]") {
        return Format::Markdown;
    }
    // Several whole values on lines of their own; anything else is one value, whole or not.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let whole = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    match (lines.next(), lines.next()) {
        (Some(first), Some(_)) if first.starts_with('{') && whole(first) => Format::Jsonl,
        _ => Format::Json,
    }
}

#[cfg(test)]
mod tests;
