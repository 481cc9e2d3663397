//! The content hash of a recipe.

use engine::recipes::model::Recipe;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

/// The SHA-256 of the model as JSON with sorted names and without spaces: `sha256:…`. Recipes that do the same, written
/// in whichever format, have the same hash.
pub fn hash(recipe: &Recipe) -> String {
    let mut text = String::new();
    // A model consists of texts, numbers, lists and mappings only.
    if let Ok(model) = serde_json::to_value(recipe) {
        write(&model, &mut text);
    }
    format!("sha256:{}", hex::encode(Sha256::digest(text)))
}

/// Sorted here, because another crate could make the library keep the order of the text.
fn write(value: &Json, text: &mut String) {
    match value {
        Json::Object(fields) => {
            let mut fields: Vec<(&String, &Json)> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            text.push('{');
            for (at, (name, value)) in fields.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&Json::String(name.clone()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Json::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}
