//! How much a JSON Schema stands for when all of its references are followed: some double with each of them.

use std::collections::HashMap;

use serde_json::Value;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// How many values there are in a schema, those that references lead to counted each time. One that leads to itself is not
/// followed again: how often that happens depends on what is checked.
pub(super) fn weight(schema: &Value) -> u64 {
    let mut names = HashMap::new();
    name(schema, &mut names);
    Scale { root: schema, names, known: HashMap::new() }.of(schema)
}

/// Finds what has a name of its own.
fn name<'s>(value: &'s Value, names: &mut HashMap<&'s str, &'s Value>) {
    if let Value::Object(fields) = value {
        for key in ["$anchor", "$dynamicAnchor", "$id", "id"] {
            if let Some(Value::String(text)) = fields.get(key) {
                names.entry(text.trim_start_matches('#')).or_insert(value);
            }
        }
    }
    children(value).for_each(|child| name(child, names));
}

fn children(value: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match value {
        Value::Object(fields) => Box::new(fields.values()),
        Value::Array(items) => Box::new(items.iter()),
        _ => Box::new(std::iter::empty()),
    }
}

struct Scale<'s> {
    root: &'s Value,
    names: HashMap<&'s str, &'s Value>,
    /// By place in memory; nothing while it is being weighed.
    known: HashMap<*const Value, Option<u64>>,
}

impl<'s> Scale<'s> {
    fn of(&mut self, value: &'s Value) -> u64 {
        if let Some(known) = self.known.get(&std::ptr::from_ref(value)) {
            return known.unwrap_or(0);
        }
        if !matches!(value, Value::Object(_) | Value::Array(_)) {
            return 1;
        }
        self.known.insert(value, None);
        let mut sum = 1_u64;
        for child in children(value) {
            sum = sum.saturating_add(self.of(child));
        }
        for key in REFERENCES {
            if let Some(target) = value.get(key).and_then(Value::as_str).and_then(|text| self.target(text)) {
                sum = sum.saturating_add(self.of(target));
            }
        }
        self.known.insert(value, Some(sum));
        sum
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        let (resource, part) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if resource.is_empty() { Some(self.root) } else { self.names.get(resource).copied() };
        if part.starts_with('/') {
            let part = part.replace("%25", "%").replace("%24", "$");
            return resource?.pointer(&part).or_else(|| self.root.pointer(&part));
        }
        if part.is_empty() { resource } else { self.names.get(part).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_count_as_what_they_lead_to() {
        assert_eq!(weight(&json!({ "type": "object" })), 2);
        let one = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "type": "object" } } });
        assert_eq!(weight(&one), 7);
        let by_name = json!({ "$ref": "#x", "$defs": { "a": { "$anchor": "x", "type": "object" } } });
        assert_eq!(weight(&by_name), 9);
        let by_id = json!({ "$ref": "urn:a", "$defs": { "a": { "$id": "urn:a", "type": "object" } } });
        assert_eq!(weight(&by_id), 9);
    }

    #[test]
    fn what_leads_to_itself_is_weighed_once() {
        let tree = json!({ "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } });
        assert!(weight(&tree) < 20);
        assert_eq!(weight(&json!({ "$ref": "#" })), 2);
    }

    #[test]
    fn doubling_is_seen_at_once() {
        for levels in [16, 45, 1000] {
            let mut defs = serde_json::Map::new();
            for level in 0..levels {
                let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
                defs.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
            }
            defs.insert(format!("d{levels}"), json!({ "type": "object" }));
            let schema = json!({ "$ref": "#/$defs/d0", "$defs": defs });
            assert!(weight(&schema) > 100_000, "{levels}");
        }
    }
}
