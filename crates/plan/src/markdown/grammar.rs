//! The lines of a list: their indentation, and whether they are items, fields or neither.

use crate::criterion;
use domain::near::nearest;

/// The names of fields, with synonyms.
const FIELDS: &[(&str, Field)] = &[
    ("id", Field::Id),
    ("context", Field::Context),
    ("accept", Field::Accept),
    ("acceptance", Field::Accept),
    ("files", Field::Files),
    ("file", Field::Files),
    ("deps", Field::Deps),
    ("dep", Field::Deps),
    ("after", Field::Deps),
    ("priority", Field::Priority),
    ("needs", Field::Needs),
    ("need", Field::Needs),
    ("labels", Field::Labels),
    ("label", Field::Labels),
];

/// The field names that errors list.
pub(super) const KNOWN: &str = "id, context, accept, files, after, priority, needs, labels";

/// Other common names of fields.
const MEANT: &[(&str, &str)] = &[
    ("depends", "after"),
    ("depends on", "after"),
    ("dependency", "after"),
    ("dependencies", "after"),
    ("blocked by", "after"),
    ("waits for", "after"),
    ("acceptance criteria", "accept"),
    ("criteria", "accept"),
    ("done when", "accept"),
    ("prio", "priority"),
    ("ability", "needs"),
    ("abilities", "needs"),
    ("tag", "labels"),
    ("tags", "labels"),
];

/// A field of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Id,
    Context,
    Accept,
    Files,
    Deps,
    Priority,
    Needs,
    Labels,
}

/// A word without white space and code marks around it.
pub(super) fn plain(word: &str) -> &str {
    word.trim().trim_matches('`').trim()
}

/// A line's indentation in columns, and the rest.
pub(super) fn indentation(line: &str) -> (usize, &str) {
    let text = line.trim_start_matches([' ', '\t']);
    let mut columns = 0;
    for c in line[..line.len() - text.len()].chars() {
        columns = if c == '\t' { (columns / 4 + 1) * 4 } else { columns + 1 };
    }
    (columns, text)
}

/// The text after a list marker.
pub(super) fn bullet(text: &str) -> Option<&str> {
    let rest = match text.strip_prefix(['-', '*', '+']) {
        Some(rest) => rest,
        None => text
            .trim_start_matches(|c: char| c.is_ascii_digit())
            .strip_prefix(['.', ')'])
            .filter(|_| text.starts_with(|c: char| c.is_ascii_digit()))?,
    };
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix([' ', '\t']).map(str::trim_start) }
}

/// Whether an item is ticked off, and its title.
pub(super) fn checkbox(text: &str) -> Option<(bool, &str)> {
    let rest = bullet(text)?.strip_prefix('[')?;
    let (mark, rest) = rest.split_once(']')?;
    let done = match mark {
        " " | "" => false,
        "x" | "X" => true,
        _ => return None,
    };
    (rest.is_empty() || rest.starts_with([' ', '\t'])).then(|| (done, rest.trim()))
}

/// A title and the name at its end, as in `Write the lexer {#lexer}`.
pub(super) fn named(title: &str) -> (&str, Option<&str>) {
    let name = title.strip_suffix('}').and_then(|title| title.rsplit_once("{#"));
    match name {
        Some((title, name)) if !name.trim().is_empty() => (title.trim_end(), Some(name.trim())),
        _ => (title, None),
    }
}

/// A field, such as `- files: src/lexer.rs`, with or without the dash. A criterion in a list may omit `accept:`.
pub(super) fn field(text: &str) -> Option<(Field, &str)> {
    if let Some(criterion) = bullet(text).filter(|item| criterion::is_one(item)) {
        return Some((Field::Accept, criterion));
    }
    let text = bullet(text).unwrap_or(text);
    let (name, value) = text.split_once(':')?;
    let name = name.trim().trim_matches('*').to_ascii_lowercase();
    FIELDS.iter().find(|(known, _)| *known == name).map(|(_, field)| (*field, value.trim_start_matches('*').trim()))
}

/// An unknown name before a colon that looks like a field, and which field was probably meant. Ordinary prose is left
/// alone: several words before a colon, and a single word unless it stands in a list of fields (`among`).
pub(super) fn slip(text: &str, among: bool) -> Option<(&str, Option<&'static str>)> {
    let listed = bullet(text);
    let (name, value) = listed.unwrap_or(text).split_once(':')?;
    let name = name.trim().trim_matches('*');
    let word = name.to_ascii_lowercase().replace(['_', '-'], " ");
    if let Some((_, meant)) = MEANT.iter().find(|(other, _)| *other == word) {
        return Some((name, Some(meant)));
    }
    let single = among && listed.is_some() && !name.is_empty() && name.chars().all(char::is_alphabetic);
    if let Some(meant) = nearest(&word, FIELDS.iter().map(|(known, _)| *known)).filter(|_| single) {
        return Some((name, Some(meant)));
    }
    let ends = value.is_empty() || value.starts_with(char::is_whitespace);
    (single && ends && name.chars().all(char::is_lowercase)).then_some((name, None))
}

/// The end marker of the code block that begins here.
pub(super) fn fence(text: &str) -> Option<&'static str> {
    ["```", "~~~"].into_iter().find(|fence| text.starts_with(fence))
}

/// `line` without its first `columns` columns of white space.
pub(super) fn shift(line: &str, columns: usize) -> String {
    let (indent, text) = indentation(line);
    if text.is_empty() { String::new() } else { format!("{}{text}", " ".repeat(indent.saturating_sub(columns))) }
}
