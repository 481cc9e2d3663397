//! Whether JSON meets a JSON Schema; nothing outside the schema is fetched.

use serde_json::Value;

use crate::verdict::{Verdict, plain};

/// How many errors to report.
const TOLD: usize = 5;

/// Whether the JSON in `bytes` meets the schema.
pub(crate) fn meets(schema: &Value, bytes: &[u8]) -> Verdict {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text.strip_prefix('\u{feff}').unwrap_or(text),
        Err(error) => return Verdict::Not(format!("not UTF-8 text: {error}")),
    };
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => return Verdict::Not(format!("invalid JSON: {error}")),
    };
    let unusable = |why: String| Verdict::Unclear(format!("the criterion's JSON Schema is not usable: {why}"));
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
        let at = if at.is_empty() { "the root" } else { at.as_str() };
        faults.push(format!("{at}: {}", plain(&error.to_string(), 300)));
    }
    if faults.is_empty() {
        Verdict::Met("it meets the JSON Schema".to_owned())
    } else {
        Verdict::Not(format!("it does not meet the JSON Schema: {}", faults.join("; ")))
    }
}
