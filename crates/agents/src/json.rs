//! Looking into a JSON object by dotted paths, and asking whether it is what a rule is about.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Fields that must have one of the given values; `"*"`: any value, as long as there is one.
pub(crate) type Conditions = BTreeMap<String, Allowed>;

/// What a field may be.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, expecting = "a text, true or false, or a list of texts")]
pub(crate) enum Allowed {
    Flag(bool),
    One(String),
    Several(Vec<String>),
}

impl Allowed {
    fn allows(&self, value: &Value) -> bool {
        match self {
            Self::Flag(flag) => value == &Value::Bool(*flag),
            Self::One(text) => text == "*" && !value.is_null() || value.as_str() == Some(text),
            Self::Several(texts) => value.as_str().is_some_and(|value| texts.iter().any(|text| text == value)),
        }
    }
}

/// The value at a dotted path; a number is an index into a list.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| match value {
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => value.get(key),
    })
}

pub(crate) fn holds(conditions: &Conditions, value: &Value) -> bool {
    conditions.iter().all(|(path, allowed)| at(value, path).is_some_and(|found| allowed.allows(found)))
}

/// All values at a dotted path, in which `*` stands for every name.
pub(crate) fn all<'a>(value: &'a Value, path: &str) -> Vec<&'a Value> {
    match path.split_once("*.") {
        None => at(value, path).into_iter().collect(),
        Some((before, rest)) => {
            let table = if before.is_empty() { Some(value) } else { at(value, before.trim_end_matches('.')) };
            table
                .and_then(Value::as_object)
                .into_iter()
                .flat_map(|table| table.values())
                .flat_map(|value| all(value, rest))
                .collect()
        }
    }
}

/// The sum of the whole numbers at these paths; `None` if none of them is there.
pub(crate) fn sum(value: &Value, paths: &[String]) -> Option<u64> {
    let found = paths.iter().flat_map(|path| all(value, path));
    let numbers: Vec<u64> = found.filter_map(Value::as_u64).collect();
    (!numbers.is_empty()).then(|| numbers.iter().fold(0, |sum: u64, number| sum.saturating_add(*number)))
}

/// The sum of the amounts at this path that are numbers from 0 on; `None` if there is none.
pub(crate) fn amount(value: &Value, path: &str) -> Option<f64> {
    let found = all(value, path).into_iter().filter_map(Value::as_f64);
    let amounts: Vec<f64> = found.filter(|amount| amount.is_finite() && *amount >= 0.0).collect();
    (!amounts.is_empty()).then(|| amounts.iter().sum())
}
