//! The Messages API's stream, as Claude Code reads it.

use serde_json::{Value, json};

use super::script::{Act, Turn};
use super::tools::{Input, choose};

/// The events of one answer, in order.
pub(crate) fn events(turn: &Turn, number: usize, request: &Value) -> Result<Vec<String>, String> {
    let tokens = turn.tokens;
    // As the real one does, the first event knows what went in, and only the last one but one what came out.
    let message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": tokens.input.saturating_sub(tokens.cached), "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens.cached, "output_tokens": 1,
        },
    });
    let mut events = vec![json!({ "type": "message_start", "message": message })];
    let (block, deltas, reason) = match &turn.act {
        Act::Say(text) => {
            let deltas = text.split_inclusive(' ').map(|word| json!({ "type": "text_delta", "text": word })).collect();
            (json!({ "type": "text", "text": "" }), deltas, "end_turn")
        }
        act => {
            let call = choose(act, request)?;
            let (Input::Arguments(arguments) | Input::Text(arguments)) = call.input;
            let block = json!({ "type": "tool_use", "id": format!("toolu_{number}"), "name": call.name, "input": {} });
            (block, vec![json!({ "type": "input_json_delta", "partial_json": arguments })], "tool_use")
        }
    };
    events.push(json!({ "type": "content_block_start", "index": 0, "content_block": block }));
    let delta = |delta: Value| json!({ "type": "content_block_delta", "index": 0, "delta": delta });
    events.extend(deltas.into_iter().map(delta));
    events.push(json!({ "type": "content_block_stop", "index": 0 }));
    events.push(json!({
        "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null },
        "usage": { "output_tokens": tokens.output },
    }));
    events.push(json!({ "type": "message_stop" }));
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    Ok(events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect())
}
