//! A value with the place of each of its parts, whatever the format of the text.

use serde_json::{Map, Number, Value as Json};

use crate::Finding;

/// A line and a column, both from 1; columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Spot {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Spot {
    pub(crate) const START: Self = Self { line: 1, column: 1 };
}

/// A value and where it begins.
#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) spot: Spot,
    pub(crate) kind: Kind,
}

/// The value.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(Text),
    List(Vec<Node>),
    Fields(Vec<Field>),
}

/// A text.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    pub(crate) value: String,
    /// Where its characters are in the file, if they are there as they are.
    pub(crate) written: Written,
}

/// How a text is written, to find the place of a part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// As it is: the place of its first character, and how far its other lines are indented.
    Plain { first: Spot, indent: usize },
    /// With escapes or folded lines.
    Escaped,
}

/// A field of a mapping.
#[derive(Debug, Clone)]
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) spot: Spot,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.fields()?.iter().find(|field| field.name == name).map(|field| &field.value)
    }

    pub(crate) fn fields(&self) -> Option<&[Field]> {
        match &self.kind {
            Kind::Fields(fields) => Some(fields),
            _ => None,
        }
    }

    pub(crate) fn list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(items) => Some(items),
            _ => None,
        }
    }

    pub(crate) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(&text.value),
            _ => None,
        }
    }

    /// Its type, for people.
    pub(crate) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "empty",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Fields(_) => "a mapping",
        }
    }

    /// The same without places.
    pub(crate) fn to_json(&self) -> Json {
        match &self.kind {
            Kind::Null => Json::Null,
            Kind::Bool(value) => Json::Bool(*value),
            Kind::Number(number) => Json::Number(number.clone()),
            Kind::Text(text) => Json::String(text.value.clone()),
            Kind::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Kind::Fields(fields) => Json::Object(
                fields.iter().map(|field| (field.name.clone(), field.value.to_json())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// Where the byte `at` of its text is.
    pub(crate) fn inside(&self, at: usize) -> Spot {
        let Kind::Text(Text { value, written: Written::Plain { first, indent } }) = &self.kind else {
            return self.spot;
        };
        let before = value.get(..at).unwrap_or(value);
        match before.rsplit_once('\n') {
            None => Spot { column: first.column + before.chars().count(), ..*first },
            Some((above, here)) => {
                Spot { line: first.line + above.matches('\n').count() + 1, column: indent + 1 + here.chars().count() }
            }
        }
    }
}

/// How deep values may be in each other.
const DEEPEST: usize = 48;

/// How many values a recipe may have.
const MOST: usize = 50_000;

/// What is left of the limits on depth and number of values.
#[derive(Debug)]
pub(crate) struct Budget {
    depth: usize,
    values: usize,
}

impl Budget {
    pub(crate) fn new() -> Self {
        Self { depth: 0, values: 0 }
    }

    /// Counts a value.
    pub(crate) fn count(&mut self, spot: Spot) -> Result<(), Finding> {
        self.values += 1;
        let said = || format!("the recipe has more than {MOST} values; split it and use `call`");
        if self.values > MOST { Err(Finding::new(spot, "", said())) } else { Ok(()) }
    }

    /// Goes into a list or a mapping.
    pub(crate) fn enter(&mut self, spot: Spot) -> Result<(), Finding> {
        self.depth += 1;
        let said =
            || format!("this is nested more than {DEEPEST} levels deep; move steps to another recipe and use `call`");
        if self.depth > DEEPEST { Err(Finding::new(spot, "", said())) } else { Ok(()) }
    }

    /// Leaves it.
    pub(crate) fn leave(&mut self) {
        self.depth -= 1;
    }
}
