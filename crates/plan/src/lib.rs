//! Parses plans (JSON, JSONL or a Markdown list) into tasks, with every error and its place.
//!
//! The CLI and the hub share this grammar; the hub parses for the page. This crate opens no file and needs no hub.

mod accept;
mod criterion;
mod json;
mod lines;
mod markdown;
mod meaning;
mod node;
mod render;
mod shape;
mod words;

use std::collections::HashMap;
use std::fmt;
use std::path::Path;

use protocol::TaskAdd;
use serde::Serialize;

pub use criterion::{parse as criterion, say as say_criterion};
pub use meaning::no_acceptance;
pub use render::{render, say_edit};
pub use words::{join as line_of, split as words_of};

use lines::Lines;

/// The formats of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One task, a list of tasks, or an object with a list `tasks`.
    Json,
    /// One task per line.
    Jsonl,
    /// A list of `- [ ]` items with indented details.
    Markdown,
}

/// An error in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The line, from 1, if known.
    pub line: Option<usize>,
    /// The place in the plan, such as `tasks[3].deps[0]`.
    pub path: String,
    /// What is wrong, and how to fix it.
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

/// A parsed plan.
#[derive(Debug, Default)]
pub struct Plan {
    /// The readable tasks, in order.
    pub tasks: Vec<TaskAdd>,
    /// All errors.
    pub faults: Vec<Fault>,
    /// Notes that are not errors.
    pub notes: Vec<String>,
    /// Notes about similar tasks; when tasks are added, the hub reports these.
    pub similar: Vec<String>,
    /// How many tasks are ticked off; `tasks` leaves them out.
    pub ticked: usize,
}

/// A task and its place in the plan.
#[derive(Debug)]
struct Entry {
    task: TaskAdd,
    path: String,
    lines: Lines,
    /// The original positions of list items, if some of them were unreadable.
    places: HashMap<&'static str, Vec<usize>>,
}

impl Entry {
    /// An error in a field of the task.
    fn fault(&self, field: &str, reason: impl Into<String>) -> Fault {
        Fault { line: self.lines.of(field), path: join(&self.path, field), reason: reason.into() }
    }

    /// The original place of a list item, such as `deps[1]`.
    fn item(&self, list: &str, at: usize) -> String {
        let written = self.places.get(list).and_then(|places| places.get(at));
        format!("{list}[{}]", written.unwrap_or(&at))
    }
}

fn join(path: &str, field: &str) -> String {
    if path.is_empty() || field.is_empty() { format!("{path}{field}") } else { format!("{path}.{field}") }
}

/// A parser's result.
#[derive(Debug, Default)]
struct Found {
    entries: Vec<Entry>,
    faults: Vec<Fault>,
    notes: Vec<String>,
    similar: Vec<String>,
    ticked: usize,
    /// Names of ticked-off tasks, which others may depend on.
    done: Vec<String>,
}

/// Parses the bytes of a plan called `name`. Without a `format`, the name's extension decides, or else the text.
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
            Format::Markdown if found.notes.is_empty() => "the file has no task: begin each task with `- [ ]`",
            Format::Markdown => "every task in the file is ticked off",
            Format::Json | Format::Jsonl => "the file has no task",
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
        return Err(Fault::new(1, "", "the file is UTF-16: save it as UTF-8"));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        Fault::new(line, "", format!("the file is not UTF-8 from byte {} on", error.valid_up_to()))
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
    // Several complete values on their own lines; otherwise one value.
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let whole = |line: &str| serde_json::from_str::<serde::de::IgnoredAny>(line).is_ok();
    match (lines.next(), lines.next()) {
        (Some(first), Some(_)) if first.starts_with('{') && whole(first) => Format::Jsonl,
        _ => Format::Json,
    }
}

#[cfg(test)]
mod tests;
