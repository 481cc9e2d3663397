//! JSON Schemas of inputs, outputs and forms: the part of the language whose cost is bounded by its length.
//!
//! References, conditions and `unevaluated…` are left out: with them nobody can predict how long a value takes.

use jsonschema::PatternOptions;
use serde_json::Value as Json;

use super::limits;

/// The largest schema, in bytes of JSON.
const LARGEST: usize = 16 * 1024;
/// The deepest schema.
const DEEPEST: usize = 16;
/// The largest compiled pattern, in bytes.
const LARGEST_PATTERN: usize = 64 * 1024;

/// Keywords whose value is data.
const PLAIN: [&str; 23] = [
    "$schema",
    "$comment",
    "title",
    "description",
    "default",
    "examples",
    "deprecated",
    "format",
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "required",
    "uniqueItems",
];
/// Keywords whose value is a schema.
const ONE: [&str; 3] = ["items", "additionalProperties", "propertyNames"];
/// Keywords whose value is a list of schemas.
const MANY: [&str; 4] = ["prefixItems", "anyOf", "oneOf", "allOf"];

/// Why a schema cannot be used, for people.
pub fn fault(schema: &Json) -> Option<String> {
    compile(schema).err()
}

/// Why a value does not meet a schema, for people: the first few errors.
pub fn check(schema: &Json, value: &Json) -> Result<(), String> {
    let validator = compile(schema)?;
    let told = |error: jsonschema::ValidationError<'_>| {
        let at = error.instance_path().to_string();
        let text = super::short(&error.to_string(), 200);
        if at.is_empty() { text } else { format!("`{at}`: {text}") }
    };
    let errors: Vec<String> = validator.iter_errors(value).take(3).map(told).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors.join("; ")) }
}

fn compile(schema: &Json) -> Result<jsonschema::Validator, String> {
    if limits::larger(schema, LARGEST) {
        return Err(format!("the schema is larger than {} KiB", LARGEST / 1024));
    }
    walk(schema, 0)?;
    let patterns = PatternOptions::regex().size_limit(LARGEST_PATTERN);
    let options = jsonschema::options().with_draft(jsonschema::Draft::Draft202012).with_pattern_options(patterns);
    options.build(schema).map_err(|error| {
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { String::new() } else { format!("`{at}`: ") };
        super::short(&format!("{at}{error}"), 300)
    })
}

fn walk(schema: &Json, depth: usize) -> Result<(), String> {
    if depth > DEEPEST {
        return Err(format!("the schema is deeper than {DEEPEST}"));
    }
    let fields = match schema {
        Json::Object(fields) => fields,
        Json::Bool(_) => return Ok(()),
        _ => return Err("a schema is an object".to_owned()),
    };
    for (name, value) in fields {
        match (name.as_str(), value) {
            ("properties" | "patternProperties", Json::Object(inner)) => {
                inner.values().try_for_each(|schema| walk(schema, depth + 1))?;
            }
            ("minProperties" | "maxProperties", Json::Number(_)) => {}
            (name, _) if PLAIN.contains(&name) => {}
            (name, schema) if ONE.contains(&name) => walk(schema, depth + 1)?,
            ("not", schema) => walk(schema, depth + 1)?,
            (name, Json::Array(schemas)) if MANY.contains(&name) => {
                schemas.iter().try_for_each(|schema| walk(schema, depth + 1))?;
            }
            (name, _) => return Err(format!("`{name}` cannot be used in this schema")),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_meets_its_schema_or_says_where_not() {
        let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
        assert_eq!(check(&schema, &json!({ "n": 1 })), Ok(()));
        assert!(check(&schema, &json!({ "n": "x" })).unwrap_err().starts_with("`/n`: "));
        assert!(check(&schema, &json!({})).unwrap_err().contains("required"));
    }

    #[test]
    fn a_schema_without_a_bound_is_refused() {
        for (schema, why) in [
            (json!({ "$ref": "#" }), "`$ref`"),
            (json!({ "$ref": "https://example.org/a.json" }), "`$ref`"),
            (json!({ "anyOf": [{ "unevaluatedProperties": false }] }), "`unevaluatedProperties`"),
            (json!({ "type": "objekt" }), "objekt"),
            (json!({ "pattern": "(" }), "("),
            (json!({ "pattern": "(((a{100}){100}){100})" }), ""),
            (json!({ "description": "x".repeat(20_000) }), "16 KiB"),
            (json!([]), "an object"),
            ((0..20).fold(json!({}), |inner, _| json!({ "items": inner })), "deeper"),
        ] {
            assert!(fault(&schema).is_some_and(|fault| fault.contains(why)), "{schema}");
        }
    }
}
