//! Inputs, as a command line and the page give them.

use serde_json::{Map, Value as Json, json};

use super::good;
use crate::inputs;

const RECIPE: &str = "
name: a
inputs:
  issue: {type: integer, minimum: 1, description: The number}
  branch: {type: string, default: main}
  force: {type: boolean, default: false}
  check: {type: array, items: {type: string}, default: [make, test]}
  ids: {type: array, items: {type: integer}, default: []}
  more: {type: object, default: {}}
  share: {type: number, default: 0.5}
  any: {default: 1}
steps:
  - {id: one, run: [make]}
";

fn check(given: Json) -> Result<Map<String, Json>, Vec<String>> {
    inputs(&good(RECIPE).recipe, given.as_object().unwrap())
}

#[test]
fn defaults_complete_them() {
    let made = check(json!({ "issue": 3 })).unwrap();
    let all = json!({ "issue": 3, "branch": "main", "force": false, "check": ["make", "test"], "ids": [], "more": {},
        "share": 0.5, "any": 1 });
    assert_eq!(Json::Object(made), all);
}

#[test]
fn texts_become_what_their_input_is() {
    let given = json!({ "issue": "42", "branch": "1", "force": "yes", "check": "cargo, test,--all", "ids": "1,2",
        "more": "{\"a\": 1}", "share": "1e-1", "any": "x" });
    let all = json!({ "issue": 42, "branch": "1", "force": true, "check": ["cargo", "test", "--all"], "ids": [1, 2],
        "more": { "a": 1 }, "share": 0.1, "any": "x" });
    assert_eq!(Json::Object(check(given).unwrap()), all);
    let list = check(json!({ "issue": "1", "check": "[\"a,b\"]" })).unwrap();
    assert_eq!(list["check"], json!(["a,b"]));
}

#[test]
fn everything_wrong_is_said() {
    let errors = check(json!({ "isue": 3, "force": "perhaps", "more": "{", "share": null, "branch": 3 })).unwrap_err();
    let parts = [
        "unknown input `isue`; did you mean `issue`?",
        "input `issue` is missing: The number",
        "input `branch`: 3 is not of type \"string\"",
        "input `force`: \"perhaps\" is not of type \"boolean\"",
        "input `more`: ",
        "input `share`: null",
    ];
    assert_eq!(errors.len(), parts.len(), "{errors:#?}");
    for (error, part) in errors.iter().zip(parts) {
        assert!(error.contains(part), "`{error}` does not say `{part}`");
    }
    assert!(check(json!({ "issue": 0 })).unwrap_err()[0].contains("minimum"));
    let large = check(json!({ "issue": 1, "branch": "x".repeat(70_000) })).unwrap_err();
    assert!(large[0].contains("the limit is 65536"), "{large:?}");
}
