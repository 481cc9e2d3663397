//! Whether JSON meets a JSON Schema; nothing outside the schema is ever fetched.

use serde_json::Value;

use crate::verdict::{Verdict, plain};

/// How many faults are told.
const TOLD: usize = 5;

/// Whether the JSON in `bytes` meets the schema.
pub(crate) fn meets(schema: &Value, bytes: &[u8]) -> Verdict {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => return Verdict::Not(format!("it is not UTF-8 text: {error}")),
    };
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Verdict::Not(format!("it is not JSON: {error}")),
    };
    let unusable = |why: String| Verdict::Unclear(format!("the criterion's JSON Schema cannot be used: {why}"));
    let validator = match engine::tasks::criteria::json_schema(schema) {
        Ok(validator) => validator,
        Err(why) => return unusable(why),
    };
    let mut faults = Vec::new();
    for error in validator.iter_errors(&value).take(TOLD + 1) {
        if faults.len() == TOLD {
            faults.push("and more".to_owned());
            break;
        }
        let at = error.instance_path().to_string();
        let at = if at.is_empty() { "the whole" } else { at.as_str() };
        faults.push(format!("{at}: {}", plain(&error.to_string(), 300)));
    }
    if faults.is_empty() {
        Verdict::Met("its JSON meets the schema".to_owned())
    } else {
        Verdict::Not(format!("its JSON does not meet the schema: {}", faults.join("; ")))
    }
}
