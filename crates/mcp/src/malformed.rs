//! JSON-RPC's answer to an invalid message, so that a client's author can fix it.

use serde_json::{Value, json};

const PARSE: i32 = -32700;
const REQUEST: i32 = -32600;

/// The answer to an invalid message; `None` for a valid one.
pub fn malformed(message: &[u8]) -> Option<String> {
    let (id, code, why) = match serde_json::from_slice::<Value>(message) {
        Err(error) => (Value::Null, PARSE, format!("Parse error: a message is one JSON object: {error}")),
        Ok(value) => {
            let why = fault(&value)?;
            (id_of(&value), REQUEST, format!("Invalid request: {why}"))
        }
    };
    Some(json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": why } }).to_string())
}

/// Why a value is not a message.
fn fault(value: &Value) -> Option<&'static str> {
    let Value::Object(message) = value else {
        return Some(match value {
            Value::Array(_) => "batches are not supported: send each message separately",
            _ => "a message must be an object",
        });
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Some("`jsonrpc` must be \"2.0\"");
    }
    let is_answer = message.contains_key("result") || message.contains_key("error");
    match message.get("method") {
        None if is_answer => return None,
        None => return Some("`method` is missing"),
        Some(method) if !method.is_string() => return Some("`method` must be a string"),
        Some(_) => {}
    }
    if message.get("id").is_some_and(|id| !id.is_string() && !id.is_i64() && !id.is_u64()) {
        return Some("`id` must be a string or a whole number");
    }
    let params = message.get("params").filter(|params| !params.is_null());
    params.filter(|params| !params.is_object()).map(|_| "`params` must be an object")
}

/// The message's id, as far as known.
fn id_of(value: &Value) -> Value {
    let id = value.get("id").filter(|id| id.is_string() || id.is_i64() || id.is_u64());
    id.cloned().unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_messages_are_answered() {
        let check = |message: &str, code: i32, id: Value, why: &str| {
            let answer: Value = serde_json::from_str(&malformed(message.as_bytes()).expect(message)).unwrap();
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{message}: {answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(why), "{message}: {answer}");
        };
        check("{broken", PARSE, Value::Null, "one JSON object");
        check("[]", REQUEST, Value::Null, "batches");
        check(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, REQUEST, Value::Null, "separately");
        check("3", REQUEST, Value::Null, "an object");
        check("{}", REQUEST, Value::Null, "`jsonrpc`");
        check(r#"{"jsonrpc":"2.0","id":7}"#, REQUEST, json!(7), "`method` is missing");
        check(r#"{"jsonrpc":"2.0","id":"a","method":5}"#, REQUEST, json!("a"), "`method` must be");
        check(r#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#, REQUEST, Value::Null, "`id`");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, REQUEST, json!(1), "`params`");
        for fine in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        ] {
            assert_eq!(malformed(fine.as_bytes()), None, "{fine}");
        }
    }
}
