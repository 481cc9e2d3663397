//! The inputs of an execution: complete, checked, within limits.

use serde_json::{Map, Value as Json};

use super::model::Recipe;
use super::{limits, schema};

/// The inputs with the defaults of those that were not given, or everything that is wrong with them.
pub fn complete(recipe: &Recipe, given: &Map<String, Json>) -> Result<Map<String, Json>, Vec<String>> {
    let (mut all, mut wrong) = (Map::new(), Vec::new());
    for name in given.keys().filter(|name| !recipe.inputs.iter().any(|input| input.name == **name)) {
        wrong.push(format!("there is no input `{name}`"));
    }
    for input in &recipe.inputs {
        let Some(value) = given.get(&input.name).or(input.default.as_ref()) else {
            wrong.push(format!("the input `{}` is missing", input.name));
            continue;
        };
        if let Err(why) = schema::check(&input.schema, value) {
            wrong.push(format!("the input `{}` is wrong: {why}", input.name));
        }
        all.insert(input.name.clone(), value.clone());
    }
    let all = Json::Object(all);
    if limits::larger(&all, limits::INPUTS) {
        wrong.push(format!("the inputs are larger than {} KiB: put them into an artifact", limits::INPUTS / 1024));
    }
    match all {
        Json::Object(all) if wrong.is_empty() => Ok(all),
        _ => Err(wrong),
    }
}
