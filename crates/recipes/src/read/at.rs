//! A value and its place in the recipe, and the checks of its shape.

use domain::near::nearest;

use super::Reader;
use super::values::NAME;
use crate::Finding;
use crate::node::{Field, Kind, Node, Spot};

/// A value and its place in the recipe, such as `steps[0].run`.
#[derive(Debug, Clone)]
pub(crate) struct At<'n> {
    pub(crate) node: &'n Node,
    pub(crate) path: String,
}

impl<'n> At<'n> {
    pub(crate) fn root(node: &'n Node) -> Self {
        Self { node, path: String::new() }
    }

    pub(crate) fn below(&self, name: &str, node: &'n Node) -> Self {
        Self { node, path: join(&self.path, name) }
    }

    pub(crate) fn item(&self, at: usize, node: &'n Node) -> Self {
        Self { node, path: format!("{}[{at}]", self.path) }
    }

    /// The items of a list.
    pub(crate) fn items(&self) -> Vec<Self> {
        let items = self.node.list().unwrap_or_default();
        items.iter().enumerate().map(|(at, node)| self.item(at, node)).collect()
    }

    pub(crate) fn say(&self, message: impl Into<String>) -> Finding {
        Finding::new(self.node.spot, self.path.clone(), message)
    }

    /// Of a part of its text, by byte.
    pub(crate) fn say_inside(&self, byte: usize, message: impl Into<String>) -> Finding {
        Finding::new(self.node.inside(byte), self.path.clone(), message)
    }
}

/// A mapping with known fields.
pub(crate) struct Fields<'n> {
    at: At<'n>,
}

impl<'n> Fields<'n> {
    pub(crate) fn get(&self, name: &str) -> Option<At<'n>> {
        self.at.node.field(name).map(|node| self.at.below(name, node))
    }

    /// A field that must be there.
    pub(crate) fn needed(&self, reader: &mut Reader<'n>, name: &str) -> Option<At<'n>> {
        let found = self.get(name);
        if found.is_none() {
            let at = At { node: self.at.node, path: join(&self.at.path, name) };
            reader.error(at.say("is missing"));
        }
        found
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.at.node.field(name).is_some()
    }
}

impl<'n> Reader<'n> {
    /// A mapping of these fields only.
    pub(crate) fn fields(&mut self, at: &At<'n>, what: &str, known: &[&str]) -> Option<Fields<'n>> {
        let Kind::Fields(fields) = &at.node.kind else {
            let list = known.join(", ");
            self.error(at.say(format!("is {}; expected {what}: a mapping with {list}", at.node.what())));
            return None;
        };
        for field in fields.iter().filter(|field| !known.contains(&field.name.as_str())) {
            let place = join(&at.path, &short(&field.name));
            let finding = match meant(&field.name, known) {
                Some(near) => Finding::new(field.spot, place, "unknown field").instead(near),
                None => Finding::new(field.spot, place, format!("unknown field; {what} has {}", known.join(", "))),
            };
            self.error(finding);
        }
        Some(Fields { at: at.clone() })
    }

    /// A mapping with names of the author's choice.
    pub(crate) fn entries(&mut self, at: &At<'n>, what: &str) -> Vec<(&'n Field, At<'n>)> {
        let Kind::Fields(fields) = &at.node.kind else {
            self.error(at.say(format!("is {}; expected {what}: a mapping", at.node.what())));
            return Vec::new();
        };
        fields.iter().map(|field| (field, at.below(&field.name, &field.value))).collect()
    }

    /// Refuses names that occur twice in a mapping, at any depth.
    pub(crate) fn twice(&mut self, at: &At<'n>) {
        match &at.node.kind {
            Kind::Fields(fields) => {
                let mut seen = std::collections::HashMap::<&str, Spot>::new();
                for field in fields {
                    let below = at.below(&short(&field.name), &field.value);
                    match seen.get(field.name.as_str()) {
                        Some(before) => {
                            let said = format!("occurs twice, first on line {}", before.line);
                            self.error(Finding::new(field.spot, below.path.clone(), said));
                        }
                        None => drop(seen.insert(&field.name, field.spot)),
                    }
                    self.twice(&below);
                }
            }
            Kind::List(_) => at.items().iter().for_each(|item| self.twice(item)),
            _ => {}
        }
    }

    pub(crate) fn wrong_name(&mut self, field: &Field, at: &At<'n>, why: String) {
        self.error(Finding::new(field.spot, at.path.clone(), why));
    }
}

/// Other words for fields, which are not typing errors.
const OTHER_WORDS: &[(&str, &str)] = &[
    ("when", "if"),
    ("cond", "if"),
    ("condition", "if"),
    ("name", "id"),
    ("retries", "retry"),
    ("uses", "call"),
    ("with", "inputs"),
    ("cmd", "run"),
    ("command", "run"),
    ("exec", "run"),
    ("shell", "run"),
    ("sleep", "wait"),
    ("ask", "approve"),
    ("approval", "approve"),
    ("switch", "branch"),
    ("foreach", "for_each"),
    ("loop", "for_each"),
    ("each", "for_each"),
    ("say", "notify"),
    ("message", "text"),
    ("land", "merge"),
    ("stop", "end"),
    ("tasks", "task"),
    ("duration", "for"),
    ("continue-on-error", "continue_on_error"),
    ("timeout_minutes", "timeout"),
    ("timeout-minutes", "timeout"),
    ("max-parallel", "max_parallel"),
    ("acceptance", "accept"),
    ("deps", "after"),
    ("cases", "branch"),
    ("attempt", "attempts"),
    ("delay", "first"),
    ("env", "inputs"),
];

/// The candidate that a word probably means: a similar one, or one with the same letters.
pub(crate) fn near<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let candidates: Vec<&str> = candidates.into_iter().collect();
    let letters = |word: &str| {
        let mut letters: Vec<char> = word.chars().take(NAME).collect();
        letters.sort_unstable();
        letters
    };
    let swapped = || candidates.iter().find(|candidate| letters(candidate) == letters(word)).copied();
    nearest(word, candidates.iter().copied()).or_else(swapped)
}

/// The field that a name probably means.
pub(crate) fn meant(name: &str, known: &[&str]) -> Option<String> {
    let lower = name.to_ascii_lowercase().replace('-', "_");
    if known.contains(&lower.as_str()) {
        return Some(lower);
    }
    let near = near(&lower, known.iter().copied()).map(str::to_owned);
    let other = || OTHER_WORDS.iter().find(|(other, to)| *other == name && known.contains(to));
    near.or_else(|| other().map(|(_, to)| (*to).to_owned()))
}

pub(crate) fn join(path: &str, field: &str) -> String {
    if path.is_empty() { field.to_owned() } else { format!("{path}.{field}") }
}

/// A name as a message shows it.
pub(crate) fn short(name: &str) -> String {
    domain::text::plain(name, 60)
}
