//! The inputs of a recipe: names, types, defaults.

use engine::recipes::model::Input;
use engine::recipes::schema;
use serde_json::{Map, Value as Json, json};

use super::at::short;
use super::values::name_fault;
use super::{At, Reader};
use crate::Finding;
use crate::node::Kind;

/// How many inputs a recipe may have.
pub(crate) const INPUTS: usize = 100;

/// The fields of an input that are not part of its JSON Schema.
pub(crate) const INPUT: &[&str] = &["description", "default"];

/// The types of JSON Schema.
pub(crate) const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object"];

/// The words of a JSON Schema, which can be written beside `type`.
pub(crate) const SCHEMA: &[&str] = &[
    "type",
    "title",
    "enum",
    "const",
    "format",
    "pattern",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
    "minProperties",
    "maxProperties",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "examples",
];

impl<'n> Reader<'n> {
    pub(super) fn inputs(&mut self, at: &At<'n>) -> Vec<Input> {
        let entries = self.entries(at, "the inputs by name");
        if entries.len() > INPUTS {
            self.error(at.say(format!("has {} inputs; the limit is {INPUTS}", entries.len())));
        }
        let mut inputs = Vec::new();
        for (field, at) in entries {
            if let Some(why) = name_fault(&field.name) {
                let finding = Finding::new(field.spot, at.path.clone(), why);
                let tidy = field.name.replace('-', "_");
                self.error(if name_fault(&tidy).is_none() { finding.instead(tidy) } else { finding });
            }
            // Also an input with an error is known to expressions.
            self.known.inputs.push(field.name.clone());
            inputs.extend(self.input(&field.name, &at));
        }
        inputs
    }

    fn input(&mut self, name: &str, at: &At<'n>) -> Option<Input> {
        if at.node.text().is_some() {
            let schema = json!({ "type": self.type_of(at)? });
            return Some(Input { name: name.to_owned(), description: String::new(), schema, default: None });
        }
        let Kind::Fields(fields) = &at.node.kind else {
            let said =
                format!("is {}; expected a type, or a mapping with `type`, `description`, `default`", at.node.what());
            let finding = at.say(said);
            self.error(match &at.node.kind {
                Kind::Number(_) | Kind::Bool(_) | Kind::List(_) => {
                    finding.instead(format!("{{default: {}}}", short(&at.node.to_json().to_string())))
                }
                _ => finding,
            });
            return None;
        };
        let before = self.errors.len();
        let mut schema = Map::new();
        for field in fields.iter().filter(|field| !INPUT.contains(&field.name.as_str())) {
            self.schema_word(field, at);
            schema.insert(field.name.clone(), field.value.to_json());
        }
        let get = |name: &str| at.node.field(name).map(|node| at.below(name, node));
        if let Some(at) = get("type").filter(|at| at.node.text().is_some()) {
            self.type_of(&at);
        }
        let description = get("description").and_then(|at| self.text(&at)).unwrap_or_default();
        let schema = Json::Object(schema);
        if self.errors.len() == before
            && let Some(why) = schema::fault(&schema)
        {
            self.error(at.say(format!("is not a usable JSON Schema: {why}")));
        }
        if self.errors.len() > before {
            return None;
        }
        let default = match get("default") {
            Some(at) => Some(self.default(&at, &schema)?),
            None => None,
        };
        Some(Input { name: name.to_owned(), description, schema, default })
    }

    /// Refuses a word that JSON Schema does not know.
    fn schema_word(&mut self, field: &crate::node::Field, at: &At<'n>) {
        let place = at.below(&short(&field.name), &field.value).path;
        let meant = super::at::near(&field.name, SCHEMA.iter().chain(INPUT).copied());
        if meant == Some("required") && matches!(field.value.kind, Kind::Bool(_)) {
            let said = "an input must be given unless it has a `default`; `required` lists fields of an object";
            return self.error(Finding::new(field.spot, place, said));
        }
        if !SCHEMA.contains(&field.name.as_str()) {
            let finding = Finding::new(field.spot, place, "unknown field of an input");
            self.error(finding.perhaps(meant));
        }
    }

    fn type_of(&mut self, at: &At<'n>) -> Option<String> {
        let text = at.node.text()?;
        if TYPES.contains(&text) {
            return Some(text.to_owned());
        }
        let finding = at.say(format!("`{}` is not one of: {}", short(text), TYPES.join(", ")));
        let other = match text.to_ascii_lowercase().as_str() {
            "str" | "text" => Some("string"),
            "int" => Some("integer"),
            "bool" => Some("boolean"),
            "list" => Some("array"),
            "map" | "dict" | "mapping" => Some("object"),
            "float" | "double" => Some("number"),
            lower => super::at::near(lower, TYPES.iter().copied()),
        };
        self.error(finding.perhaps(other));
        None
    }

    fn default(&mut self, at: &At<'n>, schema: &Json) -> Option<Json> {
        if let Kind::Null = at.node.kind {
            self.error(
                at.say("is empty; leave it out, so that the input must be given, or write `\"\"`, `[]` or `{}`"),
            );
            return None;
        }
        let value = at.node.to_json();
        match schema::check(schema, &value) {
            Err(why) => {
                self.error(at.say(format!("does not fit the input: {why}")));
                None
            }
            Ok(()) => Some(value),
        }
    }
}
