//! JSON into nodes.

use serde_json::Value as Json;

use crate::Finding;
use crate::node::{Budget, Field, Kind, Node, Spot, Text, Written};

/// The value of a JSON text.
pub(crate) fn parse(text: &str) -> Result<Node, Finding> {
    // The library refuses what is not JSON, or is very deep; it does not give the places of values.
    serde_json::from_str::<Json>(text).map_err(|error| {
        let said = error.to_string();
        let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
        let end = if error.is_eof() { "; the text seems to be cut off" } else { "" };
        let spot = Spot { line: error.line().max(1), column: error.column().max(1) };
        Finding::new(spot, "", format!("invalid JSON: {said}{end}"))
    })?;
    Scanner { text, at: 0, line: 1, begin: 0, budget: Budget::new() }.value()
}

/// Walks over valid JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    /// Where the line begins.
    begin: usize,
    budget: Budget,
}

impl Scanner<'_> {
    fn value(&mut self) -> Result<Node, Finding> {
        let first = self.peek();
        let spot = self.spot();
        self.budget.count(spot)?;
        let kind = match first {
            b'{' => Kind::Fields(self.several(b'}', |scanner| {
                scanner.peek();
                let spot = scanner.spot();
                let name = scanner.string().value;
                scanner.peek();
                scanner.at += 1;
                Ok(Field { name, spot, value: scanner.value()? })
            })?),
            b'[' => Kind::List(self.several(b']', Self::value)?),
            b'"' => Kind::Text(self.string()),
            _ => self.scalar(),
        };
        Ok(Node { spot, kind })
    }

    fn several<T>(&mut self, end: u8, mut one: impl FnMut(&mut Self) -> Result<T, Finding>) -> Result<Vec<T>, Finding> {
        let mut items = Vec::new();
        let spot = self.spot();
        self.budget.enter(spot)?;
        self.at += 1;
        while self.peek() != end {
            items.push(one(self)?);
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        self.budget.leave();
        Ok(items)
    }

    fn spot(&self) -> Spot {
        let before = self.text.get(self.begin..self.at).unwrap_or_default();
        Spot { line: self.line, column: before.chars().count() + 1 }
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.begin = self.at + 1;
                }
                b' ' | b'\t' | b'\r' => {}
                other => return *other,
            }
            self.at += 1;
        }
        0
    }

    fn string(&mut self) -> Text {
        let spot = self.spot();
        let (bytes, begin) = (self.text.as_bytes(), self.at);
        self.at += 1;
        while bytes.get(self.at).is_some_and(|byte| *byte != b'"') {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        let raw = self.text.get(begin..self.at).unwrap_or_default();
        let first = Spot { column: spot.column + 1, ..spot };
        let written = if raw.contains('\\') { Written::Escaped } else { Written::Plain { first, indent: 0 } };
        Text { value: serde_json::from_str(raw).unwrap_or_default(), written }
    }

    fn scalar(&mut self) -> Kind {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
        self.at += end;
        match serde_json::from_str(&rest[..end]) {
            Ok(Json::Bool(value)) => Kind::Bool(value),
            Ok(Json::Number(number)) => Kind::Number(number),
            _ => Kind::Null,
        }
    }
}
