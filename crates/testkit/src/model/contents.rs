//! The stream of `generateContent`, as Gemini CLI reads it.

use serde_json::{Value, json};

use super::script::{Act, Tokens, Turn};
use super::tools::{Input, choose};

/// The chunks of one answer, in order.
pub(crate) fn events(turn: &Turn, number: usize, request: &Value) -> Result<Vec<String>, String> {
    let chunk = |part: Value| {
        let content = json!({ "role": "model", "parts": [part] });
        json!({ "responseId": format!("r-{number}"), "candidates": [{ "index": 0, "content": content }] })
    };
    let mut chunks: Vec<_> = match &turn.act {
        Act::Say(text) => text.split_inclusive(' ').map(|word| chunk(json!({ "text": word }))).collect(),
        act => {
            let call = choose(act, request)?;
            let (Input::Arguments(arguments) | Input::Text(arguments)) = call.input;
            let arguments: Value = serde_json::from_str(&arguments).map_err(|error| error.to_string())?;
            vec![chunk(json!({ "functionCall": { "name": call.name, "args": arguments } }))]
        }
    };
    let mut last = chunk(json!({ "text": "" }));
    last["candidates"][0]["finishReason"] = json!("STOP");
    last["usageMetadata"] = usage(turn.tokens);
    chunks.push(last);
    Ok(chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect())
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "promptTokenCount": tokens.input,
        "cachedContentTokenCount": tokens.cached,
        "candidatesTokenCount": tokens.output,
        "totalTokenCount": tokens.input + tokens.output,
    })
}
