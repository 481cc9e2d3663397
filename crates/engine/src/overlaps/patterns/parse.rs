//! Reading a pattern.

use super::{MAX_ALTERNATIVES, MAX_PATTERN, Piece, Unit, anything};

/// What is wrong with a pattern, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// Nothing is written.
    #[error("a pattern is empty: name a file, a folder or a glob such as src/**")]
    Empty,
    /// It is longer than [`MAX_PATTERN`].
    #[error("a pattern has {0} bytes; the limit is {MAX_PATTERN}")]
    Long(usize),
    /// It has a control character.
    #[error("a pattern has a control character: remove it")]
    Control,
    /// It starts with `/`.
    #[error("a pattern starts with `/`: paths start at the root of the repository, such as src/main.rs")]
    Absolute,
    /// It goes up, or has an empty part.
    #[error("the part `{0}` of a pattern names no file: leave out `.`, `..` and `//`")]
    Part(String),
    /// Brackets or braces are not closed.
    #[error("`{0}` in a pattern is not closed: add `{1}`, or write `\\{0}` for the character")]
    Open(char, char),
    /// Brackets without a character.
    #[error("`[…]` in a pattern names no character: write one, such as [a-z]")]
    NoCharacter,
    /// A backslash at the end.
    #[error("a pattern ends with a backslash: add the character that it stands before")]
    Escape,
    /// The braces stand for more than [`MAX_ALTERNATIVES`].
    #[error("the braces of a pattern stand for more than {MAX_ALTERNATIVES} patterns: write several patterns")]
    Alternatives,
}

/// Whether a character makes a pattern a glob.
pub(super) fn is_special(c: char) -> bool {
    matches!(c, '*' | '?' | '[' | '{' | '\\')
}

/// The patterns without braces that a pattern stands for.
pub(super) fn alternatives(text: &str) -> Result<Vec<String>, PatternError> {
    let mut waiting = vec![text.to_owned()];
    let mut found = Vec::new();
    while let Some(one) = waiting.pop() {
        match braces(&one)? {
            None => found.push(one),
            Some((before, choices, after)) => {
                waiting.extend(choices.iter().rev().map(|choice| format!("{before}{choice}{after}")));
            }
        }
        if waiting.len() + found.len() > MAX_ALTERNATIVES {
            return Err(PatternError::Alternatives);
        }
    }
    Ok(found)
}

/// What is before braces, the choices in them, and what is after them.
type Braces<'a> = (&'a str, Vec<&'a str>, &'a str);

/// The first braces.
fn braces(text: &str) -> Result<Option<Braces<'_>>, PatternError> {
    let (mut depth, mut open, mut cuts) = (0_usize, 0, Vec::new());
    let mut escaped = false;
    let mut brackets = Brackets::default();
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        if brackets.inside(c) {
            continue;
        }
        match c {
            '\\' => escaped = true,
            '{' => {
                depth += 1;
                if depth == 1 {
                    (open, cuts) = (at, vec![at]);
                }
            }
            ',' if depth == 1 => cuts.push(at),
            '}' if depth == 1 => {
                cuts.push(at);
                let choices = cuts.windows(2).map(|cut| &text[cut[0] + 1..cut[1]]).collect();
                return Ok(Some((&text[..open], choices, &text[at + 1..])));
            }
            '}' if depth > 1 => depth -= 1,
            _ => {}
        }
    }
    if depth > 0 { Err(PatternError::Open('{', '}')) } else { Ok(None) }
}

/// Where brackets begin and end: braces inside are characters.
#[derive(Default)]
struct Brackets {
    open: bool,
    /// Number of characters since the bracket, without the sign of a negation.
    seen: usize,
}

impl Brackets {
    /// Whether this character is inside brackets, or one of the brackets.
    fn inside(&mut self, c: char) -> bool {
        if !self.open {
            (self.open, self.seen) = (c == '[', 0);
            return self.open;
        }
        match c {
            '!' | '^' if self.seen == 0 => {}
            ']' if self.seen > 0 => self.open = false,
            _ => self.seen += 1,
        }
        true
    }
}

/// The parts of a pattern without braces.
pub(super) fn split(text: &str) -> Result<Vec<Piece>, PatternError> {
    let parts: Vec<&str> = text.split('/').collect();
    let mut pieces = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        match *part {
            "" | "." | ".." => return Err(PatternError::Part((*part).to_owned())),
            // At the end, it is what is in the folder, not the folder.
            "**" if at + 1 == parts.len() => pieces.extend(anything()),
            "**" => pieces.push(Piece::Deep),
            part if part.contains(is_special) => pieces.push(name(&units(part)?)),
            part => pieces.push(Piece::Name(part.to_owned())),
        }
    }
    Ok(pieces)
}

/// A name, if only escaped characters made it a glob.
fn name(units: &[Unit]) -> Piece {
    let only = |unit: &Unit| match unit {
        Unit::One(ranges) => match ranges.as_slice() {
            [(first, last)] if first == last => Some(*first),
            _ => None,
        },
        Unit::Many => None,
    };
    let name: Option<String> = units.iter().map(only).collect();
    name.map_or_else(|| Piece::Glob(units.to_vec()), Piece::Name)
}

fn units(part: &str) -> Result<Vec<Unit>, PatternError> {
    let mut units = Vec::new();
    let mut rest = part.chars();
    while let Some(c) = rest.next() {
        units.push(match c {
            '*' if units.last() == Some(&Unit::Many) => continue,
            '*' => Unit::Many,
            '?' => Unit::One(vec![(char::MIN, char::MAX)]),
            '\\' => {
                let c = rest.next().ok_or(PatternError::Escape)?;
                Unit::One(vec![(c, c)])
            }
            '[' => {
                let inside = rest.as_str();
                let negated = inside.starts_with(['!', '^']);
                let inside = if negated { &inside[1..] } else { inside };
                // A closing bracket that comes first is a character.
                let first = inside.chars().next().ok_or(PatternError::Open('[', ']'))?.len_utf8();
                let end = inside[first..].find(']').ok_or(match inside.starts_with(']') {
                    true => PatternError::NoCharacter,
                    false => PatternError::Open('[', ']'),
                })?;
                let end = first + end;
                rest = inside[end + 1..].chars();
                let ranges = ranges(&inside[..end]);
                let ranges = if negated { others(&ranges) } else { ranges };
                if ranges.is_empty() {
                    return Err(PatternError::NoCharacter);
                }
                Unit::One(ranges)
            }
            c => Unit::One(vec![(c, c)]),
        });
    }
    Ok(units)
}

/// The ranges between brackets, sorted.
fn ranges(inside: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = inside.chars().collect();
    let (mut at, mut found) = (0, Vec::new());
    while at < chars.len() {
        let first = chars[at];
        let last = match chars.get(at + 1..at + 3) {
            Some(['-', last]) => *last,
            _ => first,
        };
        at += if chars.get(at + 1..at + 3).is_some_and(|next| next[0] == '-') { 3 } else { 1 };
        if first <= last {
            found.push((first, last));
        }
    }
    found.sort_unstable();
    found
}

/// All characters outside sorted ranges.
fn others(ranges: &[(char, char)]) -> Vec<(char, char)> {
    let (mut from, mut found) = (Some(char::MIN), Vec::new());
    for (first, last) in ranges {
        let Some(start) = from else { break };
        if let Some(before) = (char::MIN..*first).next_back()
            && start <= before
        {
            found.push((start, before));
        }
        if *last >= start {
            from = (*last..=char::MAX).nth(1);
        }
    }
    found.extend(from.map(|from| (from, char::MAX)));
    found
}
