//! The JSON Schemas of the kinds of steps.

use engine::recipes::limits;
use serde_json::{Map, Value as Json, json};

use super::{about, list, name, words};
use crate::read::words::{ARGUMENTS, ENDS, EVENTS, FILES, LANES, NAME, PEOPLE, THEN};

/// Each kind's schema, by its name.
pub(super) fn kinds() -> Map<String, Json> {
    let kinds = json!({
        "agent": agent(),
        "workspace": workspace(),
        "accept": accept(),
        "task": task(),
        "task_fields": task_fields(),
        "run": run(),
        "argv": argv(),
        "wait": wait(),
        "approve": approve(),
        "branch": branch(),
        "parallel": parallel(),
        "for_each": for_each(),
        "notify": notify(),
        "merge": {
            "type": "object", "description": "Lands a branch through the merge queue.",
            "required": ["branch"], "additionalProperties": false,
            "properties": { "branch": said("The branch: {{ steps.fix.output.branch }}.") },
        },
        "call": call(),
        "end": end(),
    });
    kinds.as_object().cloned().unwrap_or_default()
}

/// A template with at least one visible character.
fn said(description: &str) -> Json {
    json!({ "$ref": "#/$defs/template", "pattern": "\\S", "description": description })
}

fn agent() -> Json {
    let fields = json!({
        "profile": said("The agent profile of the project that it follows."),
        "agent": said("The agent: codex, claude, …; default: the profile's."),
        "model": said("The model; default: the profile's, then the agent's own."),
        "prompt": said("What it is asked to do."),
        "title": said("The name of its activity; default: the first line of the prompt."),
        "accept": { "$ref": "#/$defs/accept" },
        "files": {
            "type": "array", "items": { "$ref": "#/$defs/template" }, "maxItems": FILES,
            "description": "The files that it changes: paths or patterns.",
        },
        "workspace": { "$ref": "#/$defs/workspace" },
        "prompt_file": {
            "type": "string",
            "description": "A file with the prompt, beside the recipe; the command line puts it into the recipe.",
        },
    });
    json!({
        "description": "An agent works in a session; a text is the name of an agent profile.",
        "oneOf": [
            { "type": "string", "pattern": "\\S" },
            {
                "type": "object", "properties": fields, "additionalProperties": false,
                "anyOf": [{ "required": ["prompt"] }, { "required": ["profile"] }, { "required": ["prompt_file"] }],
            },
        ],
    })
}

fn workspace() -> Json {
    json!({
        "description": "Where it works: the workspace that steps share, a new one, or that of an earlier step.",
        "oneOf": [
            { "enum": ["shared", "new"] },
            {
                "type": "object", "required": ["of"], "additionalProperties": false,
                "properties": { "of": { "type": "string", "description": "An earlier agent, run or task step." } },
            },
        ],
    })
}

fn accept() -> Json {
    json!({
        "type": "array", "maxItems": 50,
        "description": "What its work must meet, as in plans: \"command: make test\", committed, \"file_exists: a.md\".",
        "items": {
            "oneOf": [
                { "type": "string", "pattern": "\\S" },
                { "type": "object", "required": ["kind"] },
            ],
        },
    })
}

fn task() -> Json {
    json!({
        "description": "Tasks for the queue; the step is done when all of them are.",
        "type": "object",
        "if": { "required": ["tasks"] },
        "then": {
            "additionalProperties": false,
            "properties": {
                "tasks": {
                    "description": "The tasks, or an expression that gives them.",
                    "oneOf": [
                        { "type": "string", "pattern": "^\\s*\\{\\{" },
                        { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/task_fields" } },
                    ],
                },
            },
        },
        "else": { "$ref": "#/$defs/task_fields" },
    })
}

fn task_fields() -> Json {
    let texts = |description: &str| json!({ "type": "array", "items": { "$ref": "#/$defs/template" }, "description": description, "maxItems": 200 });
    json!({
        "type": "object", "additionalProperties": false,
        "anyOf": [{ "required": ["title"] }, { "required": ["description"] }],
        "properties": {
            "id": { "type": "string", "minLength": 1, "description": "A name for `after` of other tasks of the step." },
            "title": said("What to do, in a line."),
            "description": said("What to do, in full."),
            "context": about("#/$defs/template", "What its worker should know."),
            "accept": { "$ref": "#/$defs/accept" },
            "files": texts("The files that it changes: paths or patterns."),
            "after": texts("Tasks that must be done first: ids of tasks of this step, or existing ones (CALC-12)."),
            "priority": { "type": "integer", "minimum": 0, "maximum": 9, "description": "Higher goes first; default: 5." },
            "needs": {
                "type": "array", "items": { "type": "string", "minLength": 1 }, "maxItems": 20,
                "description": "Abilities that its worker must have.",
            },
        },
    })
}

fn run() -> Json {
    json!({
        "description": "A command on a runner: a program and its arguments, never through a shell.",
        "if": { "type": "object" },
        "then": {
            "required": ["argv"], "additionalProperties": false,
            "properties": { "argv": { "$ref": "#/$defs/argv" }, "workspace": { "$ref": "#/$defs/workspace" } },
        },
        "else": { "$ref": "#/$defs/argv" },
    })
}

fn argv() -> Json {
    json!({
        "description": "The program and its arguments, or one expression in braces that gives them.",
        "oneOf": [
            { "type": "array", "minItems": 1, "maxItems": ARGUMENTS, "items": { "$ref": "#/$defs/template" } },
            { "type": "string", "pattern": "^\\s*\\{\\{[\\s\\S]*\\}\\}\\s*$" },
        ],
    })
}

fn wait() -> Json {
    json!({
        "type": "object", "description": "Waits for a time or an event.", "additionalProperties": false,
        "properties": {
            "for": { "type": "string", "description": "A span: 90s, 2h; at most 30d." },
            "until": { "type": "string", "description": "A time: 2026-12-24T18:00:00Z." },
            "event": { "enum": EVENTS, "description": "An event of the project." },
            "matching": about("#/$defs/expression", "Which event counts, over `event`: event.task == steps.queue.output.task."),
        },
        "oneOf": [{ "required": ["for"] }, { "required": ["until"] }, { "required": ["event"] }],
        "dependentRequired": { "matching": ["event"] },
    })
}

fn approve() -> Json {
    json!({
        "type": "object", "description": "Asks people.", "required": ["question"], "additionalProperties": false,
        "properties": {
            "question": said("The question."),
            "who": {
                "type": "array", "items": { "$ref": "#/$defs/template" }, "maxItems": PEOPLE,
                "description": "Who may answer; default: everybody who may write in the project.",
            },
            "count": {
                "type": "integer", "minimum": 1, "maximum": PEOPLE, "description": "How many must approve; default: 1.",
            },
            "not_starter": {
                "type": "boolean",
                "description": "Whether the person who started the execution may not answer; default: false.",
            },
            "form": about("#/$defs/typed", "What an answer must tell besides yes or no."),
            "deadline": about("#/$defs/span", "How long people have; at most 30d."),
            "then": { "enum": words(THEN), "description": "What happens at the deadline; default: fail." },
        },
        "dependentRequired": { "then": ["deadline"] },
    })
}

fn branch() -> Json {
    json!({
        "type": "array", "minItems": 1, "maxItems": LANES,
        "description": "The first case whose condition holds.",
        "items": {
            "oneOf": [
                {
                    "type": "object", "required": ["if", "steps"], "additionalProperties": false,
                    "properties": {
                        "if": about("#/$defs/expression", "When it is taken."),
                        "steps": { "$ref": "#/$defs/steps" },
                    },
                },
                {
                    "type": "object", "required": ["else"], "additionalProperties": false,
                    "properties": { "else": list("#/$defs/step", "The steps if no case is taken; the last case.") },
                },
            ],
        },
    })
}

fn parallel() -> Json {
    json!({
        "type": "object", "description": "Several lists of steps at once.",
        "required": ["branches"], "additionalProperties": false,
        "properties": {
            "join": {
                "description": "How many must succeed; default: all. When enough have, the others are stopped.",
                "oneOf": [
                    { "enum": ["all", "any"] },
                    {
                        "type": "object", "required": ["at_least"], "additionalProperties": false,
                        "properties": { "at_least": { "type": "integer", "minimum": 1, "maximum": LANES } },
                    },
                ],
            },
            "branches": {
                "type": "object", "minProperties": 1, "maxProperties": LANES, "description": "The lists by name.",
                "propertyNames": name(), "additionalProperties": { "$ref": "#/$defs/steps" },
            },
        },
    })
}

fn for_each() -> Json {
    json!({
        "type": "object", "description": "A list of steps for each item of a list.",
        "required": ["items", "steps"], "additionalProperties": false,
        "properties": {
            "items": about("#/$defs/expression", "The list: inputs.issues."),
            "as": {
                "type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$", "maxLength": NAME,
                "description": "The variable that holds the item; default: item.",
            },
            "key": about("#/$defs/expression", "The key of an item, stable when the list changes; default: its position."),
            "max_parallel": {
                "type": "integer", "minimum": 1, "maximum": limits::ITEMS,
                "description": "How many items at once; default: 4.",
            },
            "steps": { "$ref": "#/$defs/steps" },
        },
    })
}

fn notify() -> Json {
    json!({
        "type": "object", "description": "Tells people.", "required": ["to", "text"], "additionalProperties": false,
        "properties": { "to": said("chat, or the name of a person."), "text": said("What is said.") },
    })
}

fn call() -> Json {
    json!({
        "type": "object", "description": "Another recipe; its outputs are the output of the step.",
        "required": ["recipe"], "additionalProperties": false,
        "properties": {
            "recipe": {
                "type": "string", "pattern": "^[a-z][a-z0-9_-]*$", "maxLength": NAME, "description": "Its name.",
            },
            "inputs": {
                "type": "object", "description": "Its inputs by name.",
                "additionalProperties": { "$ref": "#/$defs/value" },
            },
        },
    })
}

fn end() -> Json {
    json!({
        "description": "Ends the execution here.",
        "oneOf": [
            { "enum": words(ENDS) },
            {
                "type": "object", "required": ["success"], "additionalProperties": false,
                "properties": {
                    "success": { "type": "boolean", "description": "Whether it has succeeded." },
                    "reason": said("Why."),
                },
            },
        ],
    })
}
