//! Acceptance criteria in arguments: lines, as in plans and on the command line. Objects are accepted, too.

use protocol::Criterion;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::schema;
use crate::trouble::Trouble;

/// The argument, and its name in plans and on the command line.
const NAME: &str = "acceptance";
const SHORT: &str = "accept";

/// The schema of the argument.
pub(crate) fn shape() -> Value {
    schema::texts(
        "What must be true of the work, one line each. Checked by machine: \"command: PROGRAM ARGUMENT…\" (no shell), \
         \"file_exists: PATH\", \"file_matches: PATH regex=… not_regex=… min_words=N parses=json\" (or jsonl, toml, yaml, \
         csv, xml, text), \"only_touches: PATTERN…\", \"committed\", \"no_conflict_with_base\", \"merged\". By a person: \
         \"approved\" (the diff), \"text: …\". What a line cannot say is JSON: {\"kind\": \"command\", \"argv\": [\"make\"], \
         \"exit_code\": 0, \"timeout_seconds\": 600}, {\"kind\": \"file_matches\", \"path\": \"a.json\", \"json_schema\": {…}}.",
    )
}

/// The arguments with `accept` as `acceptance`, and with criteria that are objects as lines.
pub(crate) fn as_lines(mut fields: JsonObject) -> JsonObject {
    if !fields.contains_key(NAME)
        && let Some(criteria) = fields.remove(SHORT)
    {
        fields.insert(NAME.to_owned(), criteria);
    }
    if let Some(Value::Array(criteria)) = fields.get_mut(NAME) {
        for criterion in criteria {
            if let Value::Object(parts) = criterion {
                parts.retain(|_, value| !value.is_null());
                *criterion = json!(criterion.to_string());
            }
        }
    }
    fields
}

/// Parses the lines; an error names the place, which begins with `before`.
pub(crate) fn read(before: &str, lines: &[String]) -> Result<Vec<Criterion>, Trouble> {
    let one = |(at, line): (usize, &String)| {
        let wrong = |reason| Trouble::new(format!("{before}{NAME}[{at}]: {reason}. Nothing was changed."));
        plan::criterion(line).map_err(wrong)
    };
    lines.iter().enumerate().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(fields: Value) -> Value {
        let Value::Object(fields) = fields else { panic!("arguments are an object") };
        Value::Object(as_lines(fields))
    }

    #[test]
    fn lines_and_objects_are_the_same() {
        let given = json!({ "accept": ["command: make test", { "kind": "committed", "path": null }] });
        let same = lines(given);
        assert_eq!(same, json!({ "acceptance": ["command: make test", "{\"kind\":\"committed\"}"] }));
        let texts: Vec<String> = serde_json::from_value(same["acceptance"].clone()).unwrap();
        let argv = ["make", "test"].map(str::to_owned).to_vec();
        let command = Criterion::Command { argv, exit_code: None, timeout_seconds: None };
        assert_eq!(read("", &texts).unwrap(), [command, Criterion::Committed {}]);
    }

    #[test]
    fn the_schema_explains_every_kind() {
        let said = shape()["description"].as_str().unwrap().to_owned();
        for kind in domain::near::CRITERIA {
            assert!(said.contains(&format!("\"{kind}")), "{kind}");
        }
    }

    #[test]
    fn an_unknown_word_is_refused_with_its_place() {
        for (line, said) in [
            ("cmd: make", "tasks[1].acceptance[0]: `cmd` is not a kind of criterion; did you mean `command`?"),
            (r#"{"kind": "tests"}"#, "`tests` is not a kind of criterion; did you mean `command`?"),
            (r#"{"kind": "file_exists"}"#, "missing field `path`"),
        ] {
            let text = read("tasks[1].", &[line.to_owned()]).unwrap_err().text;
            assert!(text.contains(said) && text.ends_with("Nothing was changed."), "{text}");
        }
    }
}
