//! JSON documents with placeholders: an adapter's settings files, and one MCP server in its format.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::template::Template;

/// A document template. A part without a value is left out, with tables and lists that become empty.
#[derive(Debug, Clone)]
pub(crate) enum Shape {
    Text(Template),
    Flag(bool),
    Number(i64),
    List(Vec<Shape>),
    Table(BTreeMap<String, Shape>),
}

impl Shape {
    pub(crate) fn fill(&self, get: &impl Fn(&str) -> Option<Value>) -> Option<Value> {
        match self {
            Self::Flag(flag) => Some(Value::Bool(*flag)),
            Self::Number(number) => Some(Value::from(*number)),
            Self::Text(template) => match template.whole() {
                Some(name) => get(name),
                None => template.fill(|name| get(name).map(as_text)).map(Value::String),
            },
            Self::List(items) => {
                let mut list = Vec::new();
                for item in items {
                    match (item, item.fill(get)) {
                        (Self::Text(_), Some(Value::Array(several))) => list.extend(several),
                        (_, Some(value)) => list.push(value),
                        (_, None) => {}
                    }
                }
                (!list.is_empty() || items.is_empty()).then_some(Value::Array(list))
            }
            Self::Table(fields) => {
                let filled = fields.iter().filter_map(|(key, shape)| Some((key.clone(), shape.fill(get)?)));
                let table: serde_json::Map<_, _> = filled.collect();
                (!table.is_empty() || fields.is_empty()).then_some(Value::Object(table))
            }
        }
    }

    pub(crate) fn templates(&self) -> Vec<&Template> {
        match self {
            Self::Text(template) => vec![template],
            Self::Flag(_) | Self::Number(_) => Vec::new(),
            Self::List(items) => items.iter().flat_map(Self::templates).collect(),
            Self::Table(fields) => fields.values().flat_map(Self::templates).collect(),
        }
    }
}

pub(crate) fn as_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        other => other.to_string(),
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

/// Not serde's `untagged`, which would not report the wrong placeholder and its place.
struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a whole number, true or false, a list, or a table")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Shape, E> {
        Template::ours(text).map(Shape::Text).map_err(E::custom)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Shape, E> {
        Ok(Shape::Flag(flag))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Shape, E> {
        Ok(Shape::Number(number))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Shape, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Shape::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Shape, A::Error> {
        let mut table = BTreeMap::new();
        while let Some((key, value)) = fields.next_entry()? {
            table.insert(key, value);
        }
        Ok(Shape::Table(table))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_without_a_value_are_left_out() {
        let text = r#"keep = { on = true, list = ["{command}", "{args}"] }
            gone = { a = ["{model}"], b = { c = "x{model}" } }"#;
        let shape: Shape = toml::from_str(text).unwrap();
        let get = |name: &str| match name {
            "command" => Some(Value::from("run")),
            "args" => Some(Value::from(vec!["a", "b"])),
            _ => None,
        };
        let expected = serde_json::json!({"keep": {"on": true, "list": ["run", "a", "b"]}});
        assert_eq!(shape.fill(&get), Some(expected));
    }
}
