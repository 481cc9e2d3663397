//! The inputs that an execution is started with.

use domain::near::hint;
use engine::recipes::model::{Input, Recipe};
use engine::recipes::{limits, schema};
use serde_json::{Map, Value as Json};

/// Completes and checks the inputs of an execution. Texts, as a command line gives them, become what their input is:
/// `42` an integer, `[a]` a list. All errors are told, each with the name of its input.
pub fn inputs(recipe: &Recipe, given: &Map<String, Json>) -> Result<Map<String, Json>, Vec<String>> {
    let (mut found, mut errors) = (Map::new(), Vec::new());
    for name in given.keys().filter(|name| !recipe.inputs.iter().any(|input| input.name == **name)) {
        let names = || recipe.inputs.iter().map(|input| input.name.as_str());
        let meant = match hint(name, names()) {
            meant if !meant.is_empty() => meant,
            _ if recipe.inputs.is_empty() => format!("; `{}` has no inputs", recipe.name),
            _ => format!("; `{}` has {}", recipe.name, names().collect::<Vec<_>>().join(", ")),
        };
        errors.push(format!("unknown input `{}`{meant}", domain::text::plain(name, 60)));
    }
    for input in &recipe.inputs {
        match one(input, given.get(&input.name)) {
            Ok(value) => drop(found.insert(input.name.clone(), value)),
            Err(why) => errors.push(why),
        }
    }
    let size = serde_json::to_string(&found).map_or(0, |text| text.len());
    if size > limits::INPUTS {
        errors.push(format!("the inputs have {size} bytes; the limit is {}", limits::INPUTS));
    }
    if errors.is_empty() { Ok(found) } else { Err(errors) }
}

fn one(input: &Input, given: Option<&Json>) -> Result<Json, String> {
    let name = &input.name;
    let Some(given) = given else {
        let about = if input.description.is_empty() { String::new() } else { format!(": {}", input.description) };
        return input.default.clone().ok_or_else(|| format!("input `{name}` is missing{about}"));
    };
    let value = coerced(&input.schema, given);
    match schema::check(&input.schema, &value) {
        Ok(()) => Ok(value),
        Err(why) => Err(format!("input `{name}`: {why}")),
    }
}

/// A text as the type that the schema asks for, if it can be read so.
fn coerced(schema: &Json, given: &Json) -> Json {
    let Json::String(text) = given else { return given.clone() };
    let types: Vec<&str> = match &schema["type"] {
        Json::String(one) => vec![one],
        Json::Array(several) => several.iter().filter_map(Json::as_str).collect(),
        _ => Vec::new(),
    };
    if types.contains(&"string") {
        return given.clone();
    }
    let read = serde_json::from_str::<Json>(text.trim()).ok();
    let fits = |value: &Json| {
        types.iter().any(|wanted| match *wanted {
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            "null" => value.is_null(),
            _ => false,
        })
    };
    if let Some(value) = read.filter(|value| fits(value)) {
        return value;
    }
    match text.trim() {
        "yes" | "on" if types.contains(&"boolean") => true.into(),
        "no" | "off" if types.contains(&"boolean") => false.into(),
        // `check=make,test`: a list of words.
        words if types.contains(&"array") && !words.starts_with('[') => {
            let inner = &schema["items"];
            words
                .split(',')
                .map(str::trim)
                .filter(|word| !word.is_empty())
                .map(|word| coerced(inner, &word.into()))
                .collect()
        }
        _ => given.clone(),
    }
}
