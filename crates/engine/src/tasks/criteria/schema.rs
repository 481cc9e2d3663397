//! JSON Schemas of criteria. Nothing outside a schema is ever fetched.

use jsonschema::{PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Value, json};

use super::walk::{Seen, walk};
use super::{LARGEST_REGEX, MOST_PATTERNS, short};

/// The maximum weight of a JSON Schema with all references followed; beyond it, a few lines can take too long to
/// compile.
const HEAVIEST: u64 = 100_000;

/// Compiles a JSON Schema, or says what is wrong and where. This can take very long: run it only in a process that can
/// be killed.
pub fn json_schema(schema: &Value) -> Result<Validator, String> {
    bounded(schema)?;
    options().build(schema).map_err(|error| told(&error))
}

/// Why a JSON Schema cannot be used, found without compiling it, in time linear in its length.
pub fn json_schema_fault(schema: &Value) -> Option<String> {
    fault(schema).err()
}

fn fault(schema: &Value) -> Result<(), String> {
    let seen = bounded(schema)?;
    jsonschema::meta::validate(schema).map_err(|error| told(&error))?;
    if seen.patterns.len() > MOST_PATTERNS {
        return Err(format!("there are more than {MOST_PATTERNS} patterns"));
    }
    for pattern in seen.patterns {
        options().build(&json!({ "pattern": pattern })).map_err(|error| told(&error))?;
    }
    Ok(())
}

fn bounded(schema: &Value) -> Result<Seen, String> {
    let seen = walk(schema).map_err(|why| short(&why))?;
    if seen.weight > HEAVIEST {
        return Err(format!("its references stand for more than {HEAVIEST} values"));
    }
    Ok(seen)
}

fn options() -> ValidationOptions<'static> {
    jsonschema::options().with_pattern_options(PatternOptions::regex().size_limit(LARGEST_REGEX))
}

fn told(error: &ValidationError<'_>) -> String {
    let at = error.instance_path().to_string();
    let at = if at.is_empty() { String::new() } else { format!("`{at}`: ") };
    short(&format!("{at}{error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that the compiler and the quick check agree.
    fn check(schema: Value, why: &str) {
        let built = json_schema(&schema).err();
        for said in [json_schema_fault(&schema), built] {
            let said = said.unwrap_or_default();
            assert!(said.contains(why), "{schema}: {said}");
        }
    }

    #[test]
    fn a_bad_pattern_is_refused_with_the_reason() {
        let usable = json!({ "type": "object", "required": ["a"] });
        assert_eq!(json_schema_fault(&usable), None);
        assert!(json_schema(&usable).unwrap().is_valid(&json!({ "a": 1 })));
        check(json!({ "type": "objekt" }), "`/type`: \"objekt\"");
        check(json!({ "properties": { "a": { "minimum": "1" } } }), "`/properties/a/minimum`");
        check(json!({ "properties": { "a": { "pattern": "(" } } }), "(");
        check(json!({ "patternProperties": { "(": {} } }), "(");
        check(json!({ "$ref": "https://example.org/schema.json" }), "example.org");
        check(json!({ "$ref": "#/$defs/missing" }), "missing");
        check(json!("object"), "object");
    }

    #[test]
    fn references_that_double_are_refused_however_they_are_written() {
        // By pointer, with an encoded letter, and by anchor.
        let ways: [fn(usize) -> String; 3] =
            [|n| format!("#/$defs/d{n}"), |n| format!("#/%24defs/%64{n}"), |n| format!("#d{n}")];
        for way in ways {
            let doubled = |n: usize| {
                let next = json!({ "$ref": way(n + 1) });
                json!({ "$anchor": format!("d{n}"), "allOf": [next, next] })
            };
            let mut defs: serde_json::Map<String, Value> = (0..45).map(|n| (format!("d{n}"), doubled(n))).collect();
            defs.insert("d45".to_owned(), json!({ "$anchor": "d45", "type": "object" }));
            let schema = json!({ "$ref": way(0), "unevaluatedProperties": false, "$defs": defs });
            check(schema, "more than 100000");
        }
    }

    #[test]
    fn a_schema_that_leads_back_to_itself_in_many_ways_is_not_built_by_the_hub() {
        // Each definition refers to all: the number of paths is huge, although there are few values.
        let all: Vec<Value> = (0..24).map(|n| json!({ "$ref": format!("#/$defs/d{n}") })).collect();
        let defs: serde_json::Map<String, Value> =
            (0..24).map(|n| (format!("d{n}"), json!({ "anyOf": all }))).collect();
        let schema = json!({ "$ref": "#/$defs/d0", "unevaluatedProperties": false, "$defs": defs });
        // The test is that this returns.
        let _ = json_schema_fault(&schema);
    }

    #[test]
    fn usable_schemas_stay_usable() {
        for schema in [
            json!({ "$id": "https://example.org/a/b", "$ref": "c#/$defs/x",
                "$defs": { "c": { "$id": "c", "$defs": { "x": { "type": "object" } } } } }),
            json!({ "$ref": "https://json-schema.org/draft/2020-12/schema" }),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "definitions": { "a b": {} },
                "properties": { "$ref": { "$ref": "#/definitions/a%20b" }, "const": { "$ref": "#" } } }),
            json!({ "const": { "$ref": "#/no/reference" }, "examples": [{ "$ref": "nor this" }] }),
            json!({ "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } }),
            json!(true),
        ] {
            assert_eq!(json_schema_fault(&schema), None, "{schema}");
            assert_eq!(json_schema(&schema).err(), None, "{schema}");
        }
    }
}
