//! Prompts in files of their own, which are put into the text before it is read.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::node::{Kind, Node, Spot, Text, Written};
use crate::{Finding, Format, parse};

/// A file that a recipe names as a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptFile {
    /// Its path as it is written, relative to the recipe.
    pub path: String,
    /// The line that names it, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// The files that a recipe names by `prompt_file`, in the order of the text.
pub fn prompt_files(text: &str, format: Format) -> Result<Vec<PromptFile>, Vec<Finding>> {
    let found = places(&parse(text, format)?);
    let file = |place: Place| PromptFile { path: place.path, line: place.value.line, column: place.value.column };
    Ok(found.into_iter().map(file).collect())
}

/// The text with each `prompt_file` replaced by a `prompt` of the file's content, by path.
pub fn inline(text: &str, format: Format, files: &BTreeMap<String, String>) -> Result<String, Vec<Finding>> {
    let mut errors = Vec::new();
    let mut changes = Vec::new();
    for place in places(&parse(text, format)?) {
        match (files.get(&place.path), place.end) {
            (Some(content), Some(end)) => changes.push((place.field, end, content)),
            (None, _) => errors.push(Finding::new(place.value, "", format!("there is no file `{}`", place.path))),
            (_, None) => errors.push(Finding::new(place.value, "", "write the path on one line, without escapes")),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let mut whole = text.to_owned();
    for (begin, end, content) in changes.into_iter().rev() {
        let content = Json::String(content.clone()).to_string();
        let field = match format {
            Format::Yaml => format!("prompt: {content}"),
            Format::Json => format!("\"prompt\": {content}"),
            Format::Toml => format!("prompt = {content}"),
        };
        if let (Some(begin), Some(end)) = (byte(text, begin), byte(text, end)) {
            whole.replace_range(begin..end, &field);
        }
    }
    Ok(whole)
}

struct Place {
    path: String,
    field: Spot,
    value: Spot,
    /// The end of the value, if it is on one line.
    end: Option<Spot>,
}

fn places(node: &Node) -> Vec<Place> {
    let mut found = Vec::new();
    visit(node, &mut found);
    found.sort_by_key(|place| place.field);
    found
}

fn visit(node: &Node, found: &mut Vec<Place>) {
    match &node.kind {
        Kind::List(items) => items.iter().for_each(|item| visit(item, found)),
        Kind::Fields(fields) => {
            for field in fields {
                match &field.value.kind {
                    Kind::Text(text) if field.name == "prompt_file" => found.push(Place {
                        path: text.value.clone(),
                        field: field.spot,
                        value: field.value.spot,
                        end: end(text, field.value.spot),
                    }),
                    _ => visit(&field.value, found),
                }
            }
        }
        _ => {}
    }
}

/// The place after a text, with its quotes.
fn end(text: &Text, spot: Spot) -> Option<Spot> {
    let Written::Plain { first, .. } = text.written else { return None };
    let quotes = first.column.checked_sub(spot.column).filter(|_| first.line == spot.line)?;
    let simple = !text.value.contains('\n');
    simple.then(|| Spot { column: first.column + text.value.chars().count() + quotes, ..spot })
}

/// The byte of a place.
fn byte(text: &str, spot: Spot) -> Option<usize> {
    let line = text.split_inclusive('\n').nth(spot.line - 1)?;
    let begin: usize = text.split_inclusive('\n').take(spot.line - 1).map(str::len).sum();
    let mark = if spot.line == 1 { text.len() - text.trim_start_matches('\u{feff}').len() } else { 0 };
    let line = line.get(mark..)?;
    let within = line.char_indices().nth(spot.column - 1).map_or(line.len(), |(at, _)| at);
    Some(begin + mark + within)
}
