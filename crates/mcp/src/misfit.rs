//! Checks a model's arguments against the tool's schema, and says what would be valid.

use serde_json::Value;

/// The first error in `value` against `schema`; `place` is its path. Supports only what our schemas use; anything else
/// is accepted.
pub(crate) fn misfit(value: &Value, schema: &Value, place: &str) -> Option<String> {
    let wanted = schema["type"].as_str()?;
    let fits = match value {
        Value::Null => true,
        Value::Bool(_) => wanted == "boolean",
        Value::Number(number) => wanted == "number" || wanted == "integer" && (number.is_i64() || number.is_u64()),
        Value::String(_) => wanted == "string",
        Value::Array(_) => wanted == "array",
        Value::Object(_) => wanted == "object",
    };
    if !fits {
        return Some(format!("`{place}` is {}; it takes {}.", what(value), takes(schema)));
    }
    match value {
        Value::String(word) => {
            let words = schema["enum"].as_array()?;
            let known = words.iter().any(|known| known == word);
            (!known).then(|| format!("`{place}` is {}; it takes {}.", what(value), takes(schema)))
        }
        Value::Number(number) => {
            let (least, most) = (schema["minimum"].as_i64(), schema["maximum"].as_i64());
            let inside = number.as_i64().is_none_or(|number| {
                least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
            });
            (!inside).then(|| format!("`{place}` is {number}; it takes {}.", takes(schema)))
        }
        Value::Array(items) => {
            let inner = |(at, item): (usize, &Value)| misfit(item, &schema["items"], &format!("{place}[{at}]"));
            items.iter().enumerate().find_map(inner)
        }
        Value::Object(fields) => {
            let known = schema["properties"].as_object()?;
            let place = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
            fields.iter().find_map(|(name, value)| misfit(value, known.get(name)?, &place(name)))
        }
        _ => None,
    }
}

/// A value, in short.
fn what(value: &Value) -> String {
    match value {
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
        Value::String(text) => format!("the string {:?}", text.chars().take(40).collect::<String>()),
        other => format!("{other}"),
    }
}

fn takes(schema: &Value) -> String {
    let words = schema["enum"].as_array().map(|words| words.iter().map(ToString::to_string).collect::<Vec<_>>());
    match (schema["type"].as_str(), words) {
        (_, Some(words)) => format!("one of {}", words.join(", ")),
        (Some("integer"), _) => match (schema["minimum"].as_u64(), schema["maximum"].as_u64()) {
            (Some(least), Some(most)) if most < u64::from(u32::MAX) => format!("a whole number from {least} to {most}"),
            _ => "a whole number".to_owned(),
        },
        (Some("array"), _) => match schema["items"]["type"].as_str() {
            Some("string") => "a list of strings, such as [\"a\", \"b\"]".to_owned(),
            _ => "a list of objects, such as [{…}]".to_owned(),
        },
        (Some("number"), _) => "a number".to_owned(),
        (Some("boolean"), _) => "true or false".to_owned(),
        (Some("object"), _) => "an object, such as {…}".to_owned(),
        _ => "a string".to_owned(),
    }
}
