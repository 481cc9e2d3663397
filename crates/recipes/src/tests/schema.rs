//! The JSON Schema and the reader agree.

use std::fs;

use jsonschema::Validator;
use serde_json::{Value as Json, json};

use super::corpus::{cases, file};
use crate::read::fields_of;
use crate::read::words::KINDS;
use crate::{Format, parse, schema, templates};

fn validator() -> Validator {
    jsonschema::options().build(&schema()).unwrap()
}

fn json(text: &str, format: Format) -> Json {
    parse(text, format).unwrap().to_json()
}

#[test]
fn it_is_a_schema() {
    jsonschema::meta::validate(&schema()).unwrap();
}

#[test]
fn it_takes_what_the_reader_takes() {
    let validator = validator();
    let mut texts: Vec<(String, Json)> =
        templates().iter().map(|it| (it.name.to_owned(), json(it.text, Format::Yaml))).collect();
    for name in ["good/every.yaml", "good/small.yaml", "good/small.toml", "good/small.json"] {
        let text = fs::read_to_string(file(name)).unwrap();
        texts.push((name.to_owned(), json(&text, crate::format_of(name))));
    }
    for (name, value) in texts {
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|it| format!("{}: {it}", it.instance_path())).collect();
        assert!(errors.is_empty(), "{name}: {errors:#?}");
    }
}

#[test]
fn it_refuses_wrong_shapes_and_only_those() {
    let validator = validator();
    for (name, valid) in [("bad/shape.txt", false), ("bad/meaning.txt", true)] {
        for case in cases(name).1 {
            let value = json(&case.text, Format::Yaml);
            assert_eq!(validator.is_valid(&value), valid, "{name}, {}: {value}", case.title);
        }
    }
}

#[test]
fn json_schema_lists_every_reader_field() {
    let schema = schema();
    /// The names of all properties at this value, through its alternatives.
    fn names(schema: &Json, value: &Json, found: &mut Vec<String>) {
        if let Some(target) = value["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
            names(schema, schema.pointer(target).unwrap(), found);
        }
        found.extend(value["properties"].as_object().into_iter().flat_map(|fields| fields.keys().cloned()));
        for word in ["oneOf", "anyOf"] {
            value[word].as_array().into_iter().flatten().for_each(|way| names(schema, way, found));
        }
        ["then", "else"].iter().filter_map(|word| value.get(word)).for_each(|way| names(schema, way, found));
    }
    for kind in KINDS.iter().filter(|kind| **kind != "branch") {
        let mut found = Vec::new();
        names(&schema, &schema["$defs"][*kind], &mut found);
        let mut known: Vec<&str> = fields_of(kind).to_vec();
        if *kind == "task" {
            known.push("tasks");
        }
        found.sort();
        known.sort_unstable();
        assert_eq!(found, known, "{kind}");
    }
    let names = |value: &Json| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    let sorted = |words: &[&str]| {
        let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        words.sort();
        words
    };
    use crate::read::words::{ENVELOPE, INPUT, RECIPE, RETRY, SCHEMA};
    assert_eq!(names(&schema["properties"]), sorted(RECIPE));
    assert_eq!(names(&schema["$defs"]["step"]["properties"]), sorted(&[ENVELOPE, KINDS].concat()));
    assert_eq!(names(&schema["$defs"]["step"]["properties"]["retry"]["properties"]), sorted(RETRY));
    assert_eq!(names(&schema["$defs"]["input"]["oneOf"][1]["properties"]), sorted(&[SCHEMA, INPUT].concat()));
}

#[test]
fn every_word_of_an_input_is_usable() {
    for word in crate::read::words::SCHEMA {
        let value = match *word {
            "type" => json!("object"),
            "title" | "format" | "pattern" => json!("x"),
            "enum" | "examples" | "required" => json!(["x"]),
            "uniqueItems" => json!(true),
            "items" | "additionalProperties" | "propertyNames" | "not" => json!({ "type": "string" }),
            "properties" | "patternProperties" => json!({ "x": {} }),
            "anyOf" | "oneOf" | "allOf" | "prefixItems" => json!([{}]),
            _ => json!(1),
        };
        assert_eq!(engine::recipes::schema::fault(&json!({ *word: value })), None, "{word}");
    }
}
