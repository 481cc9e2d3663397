//! JSON values with their lines.

use serde_json::{Map, Number, Value};

/// A value and its first line.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) kind: Kind,
}

/// The value.
#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    /// Names as written: a name may occur twice.
    Fields(Vec<(String, Node)>),
}

impl Node {
    /// Parses a text whose first line is line `first` of its file.
    pub(super) fn parse(text: &str, first: usize) -> Result<Self, (usize, String)> {
        // The library reports errors best, but does not give the lines of valid values.
        serde_json::from_str::<Value>(text).map_err(|error| {
            let said = error.to_string();
            let said = said.rsplit_once(" at line ").map_or(said.as_str(), |(said, _)| said);
            let end = if error.is_eof() { "; the file seems to be cut off" } else { "" };
            (first + error.line().max(1) - 1, format!("invalid JSON: {said}, at column {}{end}", error.column()))
        })?;
        Ok(Scanner { text, at: 0, line: first }.value())
    }

    /// The same without lines.
    pub(super) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::Text(text) => Value::String(text.clone()),
            Kind::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Kind::Fields(fields) => Value::Object(
                fields.iter().map(|(name, value)| (name.clone(), value.to_value())).collect::<Map<_, _>>(),
            ),
        }
    }

    /// A value that stands on one line.
    pub(super) fn on(line: usize, value: Value) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(value),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::Text(text),
            Value::Array(items) => Kind::List(items.into_iter().map(|item| Self::on(line, item)).collect()),
            Value::Object(fields) => {
                Kind::Fields(fields.into_iter().map(|(name, value)| (name, Self::on(line, value))).collect())
            }
        };
        Self { line, kind }
    }

    /// The value of a field.
    pub(super) fn field(&self, name: &str) -> Option<&Self> {
        match &self.kind {
            Kind::Fields(fields) => fields.iter().find(|(known, _)| known == name).map(|(_, value)| value),
            _ => None,
        }
    }

    /// Its type, for people.
    pub(super) fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "null",
            Kind::Bool(_) => "true or false",
            Kind::Number(_) => "a number",
            Kind::Text(_) => "a string",
            Kind::List(_) => "a list",
            Kind::Fields(_) => "an object",
        }
    }
}

/// Walks over valid JSON.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Node {
        let first = self.peek();
        let line = self.line;
        let kind = match first {
            b'{' => Kind::Fields(self.several(b'}', |scanner| {
                let name = scanner.string();
                scanner.peek();
                scanner.at += 1;
                (name, scanner.value())
            })),
            b'[' => Kind::List(self.several(b']', Self::value)),
            b'"' => Kind::Text(self.string()),
            _ => self.scalar(),
        };
        Node { line, kind }
    }

    fn several<T>(&mut self, end: u8, mut one: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let mut items = Vec::new();
        self.at += 1;
        while self.peek() != end {
            items.push(one(self));
            if self.peek() == b',' {
                self.at += 1;
            }
        }
        self.at += 1;
        items
    }

    /// The next byte that is not white space.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while let Some(byte) = bytes.get(self.at) {
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                other => return *other,
            }
            self.at += 1;
        }
        0
    }

    fn string(&mut self) -> String {
        self.peek();
        let (bytes, begin) = (self.text.as_bytes(), self.at);
        self.at += 1;
        while bytes.get(self.at).is_some_and(|byte| *byte != b'"') {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        serde_json::from_str(&self.text[begin..self.at]).unwrap_or_default()
    }

    fn scalar(&mut self) -> Kind {
        let begin = self.at;
        let rest = &self.text[begin..];
        self.at += rest.find([',', ']', '}', ' ', '\t', '\r', '\n']).unwrap_or(rest.len());
        match serde_json::from_str(&self.text[begin..self.at]) {
            Ok(Value::Bool(value)) => Kind::Bool(value),
            Ok(Value::Number(number)) => Kind::Number(number),
            _ => Kind::Null,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::btree_map(any::<String>(), inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn it_reads_what_the_library_reads(value in json(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(Node::parse(&text, 1).unwrap().to_value(), value);
        }
    }

    #[test]
    fn lines_are_known() {
        let node = Node::parse("{\n \"a\": [1,\r\n  {\"b\\\"\": \"x\"}]\n}", 5).unwrap();
        assert_eq!(node.line, 5);
        let list = node.field("a").unwrap();
        assert_eq!(list.line, 6);
        let Kind::List(items) = &list.kind else { panic!("a list") };
        assert_eq!((items[0].line, items[1].line), (6, 7));
        assert!(items[1].field("b\"").is_some());
        let (line, said) = Node::parse("{\"a\": 1,\n\"b\"", 1).unwrap_err();
        assert!(line == 2 && said.contains("cut off"), "{line} {said}");
        assert!(Node::parse(&"[".repeat(100_000), 1).is_err(), "deep nesting does not overflow the stack");
    }
}
