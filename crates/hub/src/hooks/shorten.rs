//! Large messages: recipes get what fits into a step's output.

use serde_json::Value as Json;

/// Bytes of a message's data that recipes get, as JSON.
const DATA: usize = 48 * 1024;
/// Items of a list that are kept in a large message.
const ITEMS: usize = 20;
/// Letters of a text that are kept in a large message.
const LETTERS: usize = 500;

/// Whether recipes get all of it.
pub(crate) fn fits(data: &Json) -> bool {
    serde_json::to_string(data).is_ok_and(|text| text.len() <= DATA)
}

/// Leaves out the ends of long lists and texts, and then what is deep inside, until it fits.
pub(crate) fn shorten(mut data: Json) -> Json {
    for depth in (1..=6).rev() {
        cut(&mut data, depth);
        if fits(&data) {
            return data;
        }
    }
    Json::Null
}

fn cut(data: &mut Json, depth: usize) {
    match data {
        Json::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(LETTERS) {
                text.truncate(end);
            }
        }
        Json::Array(_) | Json::Object(_) if depth == 0 => *data = Json::Null,
        Json::Array(items) => {
            items.truncate(ITEMS);
            items.iter_mut().for_each(|item| cut(item, depth - 1));
        }
        Json::Object(fields) => fields.values_mut().for_each(|value| cut(value, depth - 1)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_large_message_keeps_what_says_what_happened() {
        let commits: Vec<Json> = (0..500).map(|n| json!({ "id": n, "message": "x".repeat(2_000) })).collect();
        let large = json!({ "ref": "refs/heads/main", "head": { "id": "abc" }, "commits": commits });
        assert!(!fits(&large));
        let short = shorten(large);
        assert!(fits(&short));
        assert_eq!((&short["ref"], &short["head"]["id"]), (&json!("refs/heads/main"), &json!("abc")));
        assert_eq!(short["commits"].as_array().unwrap().len(), 20);
        let wide: serde_json::Map<String, Json> = (0..20_000).map(|n| (format!("field {n}"), json!(n))).collect();
        assert_eq!(shorten(Json::Object(wide)), Json::Null, "nothing of it fits");
    }
}
