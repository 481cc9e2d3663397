//! The weight of a JSON Schema with all references followed, some of which can double it. Uses the library that also
//! validates values, so that both follow the same references.

use std::collections::{BTreeSet, HashMap};

use referencing::{Draft, Registry, Resolver, ResourceRef};
use serde_json::Value;

const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];
/// Keywords whose values are data without references.
const DATA: [&str; 4] = ["const", "enum", "default", "examples"];
/// Keywords whose values are schemas by name.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"];
/// The maximum nesting of values and references. No schema that people write comes near it.
const DEEPEST: usize = 500;
/// The address of a schema without its own.
const HERE: &str = "json-schema:///";

/// Result of a walk through a schema.
#[derive(Debug)]
pub(super) struct Seen {
    /// The number of values, counting the target of a reference each time. A recursive reference is not followed again:
    /// how often it repeats depends on the checked value.
    pub(super) weight: u64,
    /// The regular expressions in the schema.
    pub(super) patterns: BTreeSet<String>,
}

/// Walks through a schema, or names the reference that cannot be resolved.
pub(super) fn walk(schema: &Value) -> Result<Seen, String> {
    let draft = Draft::default().detect(schema);
    let resource = ResourceRef::new(schema, draft);
    let words = |error: referencing::Error| error.to_string();
    let base = referencing::uri::from_str(resource.id().unwrap_or(HERE)).map_err(words)?;
    let registry =
        Registry::new().draft(draft).add(base.as_str(), resource).map_err(words)?.prepare().map_err(words)?;
    let mut walk = Walk { known: HashMap::new(), patterns: BTreeSet::new(), depth: 0 };
    let weight = walk.of(At { value: schema, named: false, draft }, &registry.resolver(base))?;
    Ok(Seen { weight, patterns: walk.patterns })
}

#[derive(Clone, Copy)]
struct At<'s> {
    value: &'s Value,
    /// Whether the fields are names of schemas rather than keywords.
    named: bool,
    draft: Draft,
}

struct Walk {
    /// Weights by address in memory; `None` while in progress.
    known: HashMap<(*const Value, bool), Option<u64>>,
    patterns: BTreeSet<String>,
    depth: usize,
}

impl Walk {
    fn of(&mut self, at: At<'_>, resolver: &Resolver<'_>) -> Result<u64, String> {
        let key = (std::ptr::from_ref(at.value), at.named);
        if let Some(known) = self.known.get(&key) {
            return Ok(known.unwrap_or(0));
        }
        if self.depth == DEEPEST {
            return Err(format!("its values and references nest more than {DEEPEST} deep"));
        }
        self.depth += 1;
        self.known.insert(key, None);
        let weight = match at.value {
            Value::Object(_) => self.object(at, resolver)?,
            Value::Array(items) => self.all(items.iter().map(|value| At { value, named: false, ..at }), resolver)?,
            _ => 0,
        };
        self.depth -= 1;
        let weight = weight.saturating_add(1);
        self.known.insert(key, Some(weight));
        Ok(weight)
    }

    fn all<'s>(&mut self, values: impl Iterator<Item = At<'s>>, resolver: &Resolver<'_>) -> Result<u64, String> {
        let mut sum = 0_u64;
        for value in values {
            sum = sum.saturating_add(self.of(value, resolver)?);
        }
        Ok(sum)
    }

    fn object(&mut self, at: At<'_>, resolver: &Resolver<'_>) -> Result<u64, String> {
        let Some(fields) = at.value.as_object() else { return Ok(0) };
        if at.named {
            return self.all(fields.values().map(|value| At { value, named: false, ..at }), resolver);
        }
        let draft = at.draft.detect(at.value);
        let inside = resolver.in_subresource(ResourceRef::new(at.value, draft));
        let inside = inside.map_err(|error| error.to_string())?;
        self.expressions(at.value);
        let mut sum = 0_u64;
        for (name, value) in fields.iter().filter(|(name, _)| !DATA.contains(&name.as_str())) {
            let named = NAMED.contains(&name.as_str());
            sum = sum.saturating_add(self.of(At { value, named, draft }, &inside)?);
        }
        for reference in REFERENCES.iter().filter_map(|key| fields.get(*key).and_then(Value::as_str)) {
            let target = inside.lookup(reference).map_err(|error| error.to_string())?;
            let (value, there, draft) = target.into_inner();
            sum = sum.saturating_add(self.of(At { value, named: false, draft }, &there)?);
        }
        Ok(sum)
    }

    fn expressions(&mut self, schema: &Value) {
        self.patterns.extend(schema.get("pattern").and_then(Value::as_str).map(str::to_owned));
        let named = schema.get("patternProperties").and_then(Value::as_object);
        self.patterns.extend(named.into_iter().flat_map(|fields| fields.keys().cloned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn weight(schema: &Value) -> u64 {
        walk(schema).unwrap().weight
    }

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
    fn a_schema_that_refers_to_itself_is_weighed_once() {
        let tree = json!({ "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } });
        assert!(weight(&tree) < 20);
        assert_eq!(weight(&json!({ "$ref": "#" })), 2);
    }

    #[test]
    fn doubling_is_seen_at_once_and_a_chain_without_end_is_refused() {
        let doubled = |levels: usize| {
            let mut defs = serde_json::Map::new();
            for level in 0..levels {
                let next = json!({ "$ref": format!("#/$defs/d{}", level + 1) });
                defs.insert(format!("d{level}"), json!({ "allOf": [next, next] }));
            }
            defs.insert(format!("d{levels}"), json!({ "type": "object" }));
            json!({ "$ref": "#/$defs/d0", "$defs": defs })
        };
        for levels in [16, 45] {
            assert!(weight(&doubled(levels)) > 100_000, "{levels}");
        }
        assert!(walk(&doubled(4000)).unwrap_err().contains("deep"));
    }
}
