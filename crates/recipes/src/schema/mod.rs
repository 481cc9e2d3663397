//! The JSON Schema of the language, for editors. What a schema cannot say, such as which steps exist, only the reader
//! checks.

mod kinds;

use engine::recipes::limits;
use serde_json::{Map, Value as Json, json};

use crate::read::words::{BACKOFF, ERRORS, IDEMPOTENCY, INPUTS, KINDS, NAME, SCHEMA, TYPES};

/// The JSON Schema (draft 2020-12) of a recipe.
pub fn schema() -> Json {
    let mut defs = kinds::kinds();
    let shared = [
        ("step", step()),
        ("steps", list("#/$defs/step", "Steps that run one after the other.")),
        ("input", input()),
        ("schema", json!({ "type": ["object", "boolean"], "description": "A JSON Schema without references." })),
        ("typed", typed()),
        ("expression", expression()),
        ("template", template()),
        ("span", span()),
        ("value", json!({ "description": "A value; each text in it is a template." })),
    ];
    defs.extend(shared.into_iter().map(|(name, schema)| (name.to_owned(), schema)));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Shopfloor recipe",
        "description": "A plan as data: steps that run agents and commands, wait, ask, branch, notify and merge.",
        "type": "object",
        "required": ["name", "steps"],
        "additionalProperties": false,
        "properties": {
            "name": {
                "type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "maxLength": NAME,
                "description": "Its name, unique in the project: fix-issue.",
            },
            "description": { "type": "string", "description": "What it is for." },
            "inputs": {
                "type": "object", "description": "What an execution is started with, by name.",
                "propertyNames": name(), "maxProperties": INPUTS,
                "additionalProperties": { "$ref": "#/$defs/input" },
            },
            "outputs": {
                "type": "object", "description": "What an execution leaves, by name; each an expression.",
                "propertyNames": name(), "additionalProperties": { "$ref": "#/$defs/expression" },
            },
            "timeout": about("#/$defs/span", "When an execution that still runs has failed; at most 30d."),
            "lost_after": about(
                "#/$defs/span",
                "How long the runner of an agent or run step may be away before the attempt is lost; default: 15m.",
            ),
            "steps": { "$ref": "#/$defs/steps" },
        },
        "$defs": defs,
    })
}

fn step() -> Json {
    let mut fields = Map::new();
    let envelope = json!({
        "id": {
            "type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "maxLength": NAME,
            "description": "Its name, unique in the recipe: fix.",
        },
        "if": about("#/$defs/expression", "Whether it runs; default: it does."),
        "timeout": about("#/$defs/span", "When an attempt that still runs has failed; at most 30d."),
        "retry": retry(),
        "continue_on_error": {
            "type": "boolean", "description": "Whether the recipe goes on when the step has failed; default: false.",
        },
        "output": about("#/$defs/typed", "What its output must meet."),
        "needs": {
            "type": "array", "items": { "type": "string", "minLength": 1 }, "maxItems": 20,
            "description": "What a runner must offer to do it: [rust].",
        },
        "idempotency": {
            "enum": words(IDEMPOTENCY),
            "description": "What a crash in the middle means: at_least_once runs the attempt again, at_most_once asks a \
                            person. Default: at_most_once for agent, notify and merge.",
        },
    });
    fields.extend(envelope.as_object().cloned().unwrap_or_default());
    for kind in KINDS {
        fields.insert((*kind).to_owned(), json!({ "$ref": format!("#/$defs/{kind}") }));
    }
    let one: Vec<Json> = KINDS.iter().map(|kind| json!({ "required": [kind] })).collect();
    json!({
        "type": "object", "description": "A step: an id, one thing that it does, and when and how.",
        "required": ["id"], "properties": fields, "additionalProperties": false, "oneOf": one,
    })
}

fn retry() -> Json {
    json!({
        "type": "object", "description": "What happens when an attempt has failed.",
        "required": ["attempts"], "additionalProperties": false,
        "properties": {
            "attempts": {
                "type": "integer", "minimum": 1, "maximum": limits::ATTEMPTS, "description": "How many attempts in all.",
            },
            "backoff": { "enum": words(BACKOFF), "description": "How the wait grows; default: exponential." },
            "first": about("#/$defs/span", "The first wait; default: 1s."),
            "max": about("#/$defs/span", "The longest wait; default: 5m."),
            "jitter": {
                "type": "integer", "minimum": 0, "maximum": 100,
                "description": "The share of the wait that varies, in per cent; default: 10.",
            },
            "on": {
                "type": "array", "minItems": 1, "items": { "enum": words(ERRORS) },
                "description": "The errors that are retried; default: all but a rejection.",
            },
        },
    })
}

fn input() -> Json {
    let mut fields: Map<String, Json> = SCHEMA.iter().map(|word| ((*word).to_owned(), json!({}))).collect();
    fields.insert(
        "type".to_owned(),
        json!({
            "description": "Its type.",
            "anyOf": [{ "enum": TYPES }, { "type": "array", "items": { "enum": TYPES }, "minItems": 1 }],
        }),
    );
    fields.insert("description".to_owned(), json!({ "type": "string", "description": "What it is for." }));
    let default = json!({ "not": { "type": "null" }, "description": "Its value where none is given." });
    fields.insert("default".to_owned(), default);
    json!({
        "description": "An input: its type, or a JSON Schema with a description and a default.",
        "oneOf": [
            { "enum": TYPES },
            { "type": "object", "properties": fields, "additionalProperties": false },
        ],
    })
}

fn typed() -> Json {
    json!({
        "type": "object", "required": ["schema"], "additionalProperties": false,
        "properties": { "schema": { "$ref": "#/$defs/schema" } },
    })
}

fn expression() -> Json {
    json!({
        "type": ["string", "boolean", "number"], "pattern": "\\S",
        "description": "An expression over inputs and steps: inputs.issue > 0 and steps.fix.status == 'succeeded'.",
    })
}

fn template() -> Json {
    json!({
        "type": ["string", "boolean", "number"],
        "description": "A text with expressions in it: Fix issue {{ inputs.issue }}.",
    })
}

fn span() -> Json {
    json!({
        "type": "string", "pattern": "^\\s*([0-9]+(ms|s|m|min|h|d|w)\\s*)+$", "description": "A time span: 90s, 1h30m, 2d.",
    })
}

/// A name of an input, an output, a lane or a variable.
fn name() -> Json {
    json!({ "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "maxLength": NAME })
}

fn about(target: &str, description: &str) -> Json {
    json!({ "$ref": target, "description": description })
}

fn list(target: &str, description: &str) -> Json {
    json!({ "type": "array", "minItems": 1, "items": { "$ref": target }, "description": description })
}

fn words<T>(words: &[(&str, T)]) -> Vec<String> {
    words.iter().map(|(word, _)| (*word).to_owned()).collect()
}
