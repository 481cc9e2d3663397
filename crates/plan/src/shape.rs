//! Checks a value against the documented schema and reports all errors at once.

use regex::Regex;
use serde_json::Value;

use super::node::{Kind, Node};
use super::{Fault, join};
use domain::near::{self, hint};

/// All errors in `node` as the schema's definition `name`.
pub(super) fn check(node: &Node, schema: &Value, name: &str, path: &str) -> Vec<Fault> {
    let mut checker = Checker { defs: &schema["$defs"], faults: Vec::new() };
    checker.value(node, &schema["$defs"][name], path);
    checker.faults
}

/// A criterion as a line.
const LINE: &str = "\"command: make test\"";

struct Checker<'a> {
    defs: &'a Value,
    faults: Vec<Fault>,
}

impl Checker<'_> {
    fn value(&mut self, node: &Node, schema: &Value, path: &str) {
        if let Some(target) = schema["$ref"].as_str() {
            let name = target.rsplit('/').next().unwrap_or(target);
            let defs = self.defs;
            return self.value(node, &defs[name], path);
        }
        if let Some(ways) = schema["oneOf"].as_array() {
            return self.one_of(node, ways, path);
        }
        if !self.has_type(node, schema, path) {
            return;
        }
        self.limits(node, schema, path);
        match &node.kind {
            Kind::Fields(fields) if schema["properties"].is_object() => self.fields(node, fields, schema, path),
            Kind::List(items) if schema["items"].is_object() => {
                for (at, item) in items.iter().enumerate() {
                    self.value(item, &schema["items"], &format!("{path}[{at}]"));
                }
            }
            _ => {}
        }
    }

    fn one_of(&mut self, node: &Node, ways: &[Value], path: &str) {
        if ways.iter().any(|way| way["type"] == "null") {
            match ways.iter().find(|way| way["type"] != "null") {
                Some(way) if !matches!(node.kind, Kind::Null) => self.value(node, way, path),
                _ => {}
            }
            return;
        }
        // A line in place of an object was read before.
        let line = ways.iter().any(|way| way["type"] == "string");
        if line && matches!(node.kind, Kind::Text(_)) {
            return;
        }
        if let Some(way) = ways.iter().find(|way| way["$ref"].is_string()).filter(|_| line) {
            let what = node.what();
            return match node.kind {
                Kind::Fields(_) => self.value(node, way, path),
                _ => self.say(
                    node,
                    path,
                    format!("is {what}; expected a line such as {LINE}, or an object with a `kind`"),
                ),
            };
        }
        let kind_of = |way: &Value| way["properties"]["kind"]["enum"][0].as_str().map(str::to_owned);
        let kinds: Vec<String> = ways.iter().filter_map(kind_of).collect();
        let all = kinds.join(", ");
        if !matches!(node.kind, Kind::Fields(_)) {
            return self.say(node, path, format!("is {}; expected an object with a `kind`: {all}", node.what()));
        }
        let Some(kind) = node.field("kind") else {
            return self.say(node, path, format!("`kind` is missing; it is one of: {all}"));
        };
        let Kind::Text(word) = &kind.kind else {
            return self.say(kind, &join(path, "kind"), format!("is {}; expected one of: {all}", kind.what()));
        };
        match ways.iter().find(|way| kind_of(way).as_deref() == Some(word)) {
            Some(way) => self.value(node, way, path),
            None => {
                let meant = near::criterion(word).filter(|meant| kinds.iter().any(|kind| kind == meant));
                let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
                self.say(kind, &join(path, "kind"), format!("`{word}` is not one of: {all}{meant}"));
            }
        }
    }

    fn has_type(&mut self, node: &Node, schema: &Value, path: &str) -> bool {
        let types: Vec<&str> = match &schema["type"] {
            Value::String(one) => vec![one],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => return true,
        };
        let fits = |wanted: &&str| match &node.kind {
            Kind::Null => *wanted == "null",
            Kind::Bool(_) => *wanted == "boolean",
            Kind::Number(number) => *wanted == "integer" && (number.is_i64() || number.is_u64()),
            Kind::Text(_) => *wanted == "string",
            Kind::List(_) => *wanted == "array",
            Kind::Fields(_) => *wanted == "object",
        };
        let right = types.iter().any(fits);
        if !right {
            let wanted: Vec<&str> =
                types.iter().filter(|wanted| **wanted != "null").map(|wanted| say(wanted)).collect();
            self.say(node, path, format!("is {}; expected {}", node.what(), wanted.join(" or ")));
        }
        right
    }

    fn limits(&mut self, node: &Node, schema: &Value, path: &str) {
        match &node.kind {
            Kind::Text(text) => {
                if schema["minLength"].as_u64().is_some_and(|_| text.trim().is_empty()) {
                    self.say(node, path, "is empty: write at least one visible character");
                }
                // A schema counts characters, the hub bytes: refuse what is too long for either.
                if let Some(most) = schema["maxLength"].as_u64().filter(|most| text.len() as u64 > *most) {
                    self.say(node, path, format!("has {} bytes; the limit is {most}", text.len()));
                }
                if let Some(words) = schema["enum"].as_array()
                    && !words.iter().any(|word| word == text)
                {
                    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
                    let meant = hint(text, words.iter().copied());
                    self.say(node, path, format!("`{text}` is not one of: {}{meant}", words.join(", ")));
                }
                let pattern = schema["pattern"].as_str().and_then(|pattern| Regex::new(pattern).ok());
                if let Some(pattern) = pattern.filter(|pattern| !pattern.is_match(text)) {
                    self.say(node, path, format!("does not match {pattern}"));
                }
            }
            Kind::Number(number) => {
                let value = number.as_i64().unwrap_or(i64::MAX);
                let (least, most) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
                if least.is_some_and(|least| value < least) || most.is_some_and(|most| value > most) {
                    let least = least.map(|least| format!(" from {least}")).unwrap_or_default();
                    let most = most.map(|most| format!(" to {most}")).unwrap_or_default();
                    self.say(node, path, format!("is {number}; expected a number{least}{most}"));
                }
            }
            Kind::List(items) => {
                let (count, most) = (items.len() as u64, schema["maxItems"].as_u64());
                if count < schema["minItems"].as_u64().unwrap_or(0) {
                    self.say(node, path, "is empty; expected at least one");
                }
                if let Some(most) = most.filter(|most| count > *most) {
                    self.say(node, path, format!("has {count}; the limit is {most}"));
                }
            }
            _ => {}
        }
    }

    fn fields(&mut self, node: &Node, fields: &[(String, Node)], schema: &Value, path: &str) {
        let Some(known) = schema["properties"].as_object() else { return };
        for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.iter().any(|(name, _)| name == required) {
                self.say(node, &join(path, required), "is missing");
            }
        }
        for (at, (name, value)) in fields.iter().enumerate() {
            let place = join(path, name);
            if fields[..at].iter().any(|(before, _)| before == name) {
                self.say(value, &place, "occurs twice");
            }
            match known.get(name) {
                Some(inner) => self.value(value, inner, &place),
                None if schema["additionalProperties"] == false => {
                    let names: Vec<&str> = known.keys().map(String::as_str).collect();
                    let meant = hint(name, names.iter().copied());
                    let meant = if meant.is_empty() { format!("; known fields: {}", names.join(", ")) } else { meant };
                    self.say(value, &place, format!("unknown field{meant}"));
                }
                None => {}
            }
        }
    }

    fn say(&mut self, node: &Node, path: &str, reason: impl Into<String>) {
        self.faults.push(Fault::new(node.line, path, reason));
    }
}

fn say(wanted: &str) -> &str {
    match wanted {
        "string" => "a string",
        "integer" => "a whole number",
        "array" => "a list",
        "object" => "an object",
        "boolean" => "true or false",
        other => other,
    }
}
