//! Parses tasks from a Markdown list: `- [ ]` items, indented details, fields such as `- files: …`, and nested items.

mod grammar;

use std::collections::HashMap;

use protocol::TaskAdd;

use super::{Entry, Fault, Found, Lines, criterion};
use grammar::{Field, KNOWN, bullet, checkbox, fence, field, indentation, named, plain, shift, slip};

/// An item while it is parsed.
#[derive(Debug)]
struct Item {
    indent: usize,
    line: usize,
    done: bool,
    title: String,
    details: Vec<String>,
    /// Fields with their values, each with its line.
    fields: Vec<(Field, String, usize)>,
    /// Unknown field names, and the probably intended ones, each with its line.
    slips: Vec<(String, Option<&'static str>, usize)>,
    /// The indentation of its first line, where its fields are.
    depth: Option<usize>,
    /// Its nested items, by index.
    parts: Vec<usize>,
}

/// Parses a list.
pub(super) fn read(text: &str) -> Found {
    let mut reader = Reader::default();
    for (index, line) in text.lines().enumerate() {
        reader.line(line.trim_end(), index + 1);
    }
    reader.finish()
}

#[derive(Debug, Default)]
struct Reader {
    items: Vec<Item>,
    /// The open items, outermost first, by index.
    open: Vec<usize>,
    /// The field that deeper lines belong to, and its indentation.
    field: Option<usize>,
    /// The end marker, while inside a code block.
    fence: Option<&'static str>,
    /// Lines outside of items.
    outside: Vec<usize>,
}

impl Reader {
    fn line(&mut self, line: &str, number: usize) {
        let (indent, text) = indentation(line);
        if let Some(fence) = self.fence {
            if text.starts_with(fence) {
                self.fence = None;
            }
            return self.detail(line);
        }
        if text.is_empty() {
            return self.detail("");
        }
        if let Some((done, title)) = checkbox(text) {
            return self.item(indent, number, done, title);
        }
        self.open.retain(|at| self.items[*at].indent < indent);
        if self.open.is_empty() {
            self.fence = fence(text);
            // Headings are ignored.
            if !text.starts_with('#') {
                self.outside.push(number);
            }
            return;
        }
        if self.field.is_some_and(|deep| indent > deep) {
            return self.value(text, number);
        }
        self.field = None;
        match field(text) {
            Some((field, value)) => {
                self.field = Some(indent);
                if let Some(item) = self.open.last().map(|at| &mut self.items[*at]) {
                    item.depth.get_or_insert(indent);
                }
                self.push(field, value, number);
            }
            None => {
                if let Some(item) = self.open.last().map(|at| &mut self.items[*at]) {
                    let among = indent <= *item.depth.get_or_insert(indent);
                    let slip = slip(text, among).map(|(name, meant)| (name.to_owned(), meant, number));
                    item.slips.extend(slip);
                }
                self.fence = fence(text);
                self.detail(line);
            }
        }
    }

    fn item(&mut self, indent: usize, line: usize, done: bool, title: &str) {
        self.field = None;
        self.open.retain(|at| self.items[*at].indent < indent);
        let at = self.items.len();
        if let Some(outer) = self.open.last() {
            self.items[*outer].parts.push(at);
        }
        let (title, name) = named(title);
        let fields = name.map(|name| (Field::Id, name.to_owned(), line)).into_iter().collect();
        let title = title.to_owned();
        self.items.push(Item {
            indent,
            line,
            done,
            title,
            details: Vec::new(),
            fields,
            slips: Vec::new(),
            depth: None,
            parts: Vec::new(),
        });
        self.open.push(at);
    }

    fn detail(&mut self, line: &str) {
        if let Some(at) = self.open.last() {
            self.items[*at].details.push(line.to_owned());
        }
    }

    fn push(&mut self, field: Field, value: &str, line: usize) {
        if let Some(at) = self.open.last() {
            self.items[*at].fields.push((field, value.to_owned(), line));
        }
    }

    /// A line below a field: another value, or more of the last one.
    fn value(&mut self, text: &str, number: usize) {
        let Some(item) = self.open.last().map(|at| &mut self.items[*at]) else { return };
        let Some((field, last, _)) = item.fields.last_mut() else { return };
        match bullet(text) {
            Some(value) if *field != Field::Context => {
                let field = *field;
                if last.is_empty() {
                    item.fields.pop();
                }
                item.fields.push((field, value.to_owned(), number));
            }
            _ => {
                if !last.is_empty() {
                    last.push(if *field == Field::Context { '\n' } else { ' ' });
                }
                last.push_str(text);
            }
        }
    }

    fn finish(mut self) -> Found {
        let mut found = Found::default();
        // Nested items need names that the outer item can depend on.
        let whole: Vec<usize> = (0..self.items.len()).filter(|at| !self.items[*at].done).collect();
        for outer in whole {
            for part in self.items[outer].parts.clone() {
                if self.items[part].done {
                    continue;
                }
                let line = self.items[part].line;
                let known = self.items[part].fields.iter().find(|(field, ..)| *field == Field::Id);
                let name = known.map(|(_, name, _)| name.clone()).unwrap_or_else(|| {
                    let name = format!("line-{line}");
                    self.items[part].fields.push((Field::Id, name.clone(), line));
                    name
                });
                self.items[outer].fields.push((Field::Deps, name, line));
            }
        }
        let ticked = self.items.iter().filter(|item| item.done).count();
        for item in self.items {
            if item.done {
                found
                    .done
                    .extend(item.fields.into_iter().filter(|(field, ..)| *field == Field::Id).map(|(_, name, _)| name));
            } else {
                let path = format!("tasks[{}]", found.entries.len());
                let (entry, faults) = item.entry(path);
                found.entries.push(entry);
                found.faults.extend(faults);
            }
        }
        found.ticked = ticked;
        if ticked > 0 {
            found
                .notes
                .push(format!("skipped {}", domain::text::counted(ticked, "ticked-off item", "ticked-off items")));
        }
        if let (Some(first), false) = (self.outside.first(), found.entries.is_empty()) {
            found.notes.push(match self.outside.len() {
                1 => format!("ignored line {first}: it belongs to no item"),
                count => format!("ignored {count} lines that belong to no item, the first on line {first}"),
            });
        }
        found
    }
}

impl Item {
    fn entry(self, path: String) -> (Entry, Vec<Fault>) {
        let mut entry = Entry { task: TaskAdd::default(), path, lines: Lines::new(self.line), places: HashMap::new() };
        let mut faults = Vec::new();
        entry.task.description = self.description();
        if self.title.is_empty() {
            faults.push(entry.fault("description", "the item has no title after `[ ]`"));
        }
        for (name, meant, line) in &self.slips {
            let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_else(|| ".".to_owned());
            let reason = format!(
                "unknown field{meant} Known fields: {KNOWN}. If this is part of the description, remove the colon"
            );
            faults.push(Fault::new(*line, super::join(&entry.path, name), reason));
        }
        let mut context: Vec<String> = Vec::new();
        let (mut criteria, mut readable) = (0, Vec::new());
        for (field, value, line) in self.fields {
            let value = value.trim();
            let task = &mut entry.task;
            match field {
                Field::Context => context.push(value.to_owned()),
                Field::Id if task.id.is_some() => {
                    faults.push(Fault::new(line, super::join(&entry.path, "id"), "the task already has a name"));
                }
                Field::Id => {
                    task.id = Some(plain(value).to_owned());
                    entry.lines.note("id", line);
                }
                Field::Accept => {
                    let place = format!("acceptance[{criteria}]");
                    criteria += 1;
                    match criterion::parse(value) {
                        Ok(criterion) => {
                            task.acceptance.push(criterion);
                            readable.push(criteria - 1);
                            entry.lines.note(place, line);
                        }
                        Err(reason) => faults.push(Fault::new(line, super::join(&entry.path, &place), reason)),
                    }
                }
                Field::Files => several(&mut task.files, "files", value, line, &mut entry.lines),
                Field::Deps => several(&mut task.deps, "deps", value, line, &mut entry.lines),
                Field::Needs => several(&mut task.needs, "needs", value, line, &mut entry.lines),
                Field::Labels => several(&mut task.labels, "labels", value, line, &mut entry.lines),
                Field::Priority => match value.parse::<u8>() {
                    Ok(priority @ 0..=9) => task.priority = Some(priority),
                    _ => {
                        let reason = format!("is `{value}`; expected a number from 0 to 9");
                        faults.push(Fault::new(line, super::join(&entry.path, "priority"), reason));
                    }
                },
            }
        }
        entry.task.context = context.join("\n");
        entry.places.insert("acceptance", readable);
        (entry, faults)
    }

    /// The title, and below it the details with their common indentation removed.
    fn description(&self) -> String {
        let depth = self.details.iter().filter(|line| !line.trim().is_empty()).map(|line| indentation(line).0).min();
        let lines = self.details.iter().map(|line| shift(line, depth.unwrap_or(0)));
        let details = lines.collect::<Vec<_>>().join("\n");
        match details.trim_matches('\n') {
            "" => self.title.clone(),
            details => format!("{}\n\n{details}", self.title),
        }
    }
}

fn several(list: &mut Vec<String>, name: &str, value: &str, line: usize, lines: &mut Lines) {
    for part in value.split(',').map(plain).filter(|part| !part.is_empty()) {
        lines.note(format!("{name}[{}]", list.len()), line);
        list.push(part.to_owned());
    }
}
