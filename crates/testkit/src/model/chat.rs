//! The Chat Completions stream, as OpenAI-compatible clients read it.

use serde_json::{Value, json};

use super::script::{Act, Tokens, Turn};
use super::tools::{Input, choose};

/// The chunks of one answer, in order.
pub(crate) fn events(turn: &Turn, number: usize, request: &Value) -> Result<Vec<String>, String> {
    let chunk = |delta: Value, finish: Option<&str>| {
        json!({
            "id": format!("chatcmpl-{number}"), "object": "chat.completion.chunk", "created": 1, "model": request["model"],
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        })
    };
    let mut chunks = vec![chunk(json!({ "role": "assistant", "content": "" }), None)];
    match &turn.act {
        Act::Say(text) => {
            chunks.extend(text.split_inclusive(' ').map(|word| chunk(json!({ "content": word }), None)));
            chunks.push(chunk(json!({}), Some("stop")));
        }
        act => {
            let call = choose(act, request)?;
            let (Input::Arguments(arguments) | Input::Text(arguments)) = call.input;
            let function = json!({ "name": call.name, "arguments": arguments });
            let calls =
                json!([{ "index": 0, "id": format!("call_{number}"), "type": "function", "function": function }]);
            chunks.push(chunk(json!({ "tool_calls": calls }), None));
            chunks.push(chunk(json!({}), Some("tool_calls")));
        }
    }
    let mut last = chunk(json!({}), None);
    last["choices"] = json!([]);
    last["usage"] = usage(turn.tokens);
    chunks.push(last);
    let mut events: Vec<_> = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    events.push("data: [DONE]\n\n".to_owned());
    Ok(events)
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "prompt_tokens": tokens.input,
        "prompt_tokens_details": { "cached_tokens": tokens.cached },
        "completion_tokens": tokens.output,
        "total_tokens": tokens.input + tokens.output,
    })
}
