//! The Responses API's stream, as Codex reads it.

use serde_json::{Value, json};

use super::script::{Act, Tokens, Turn};
use super::tools::{Input, choose};

/// The events of one answer, in order.
pub(crate) fn events(turn: &Turn, number: usize, request: &Value) -> Result<Vec<String>, String> {
    let id = format!("resp_{number}");
    let model = &request["model"];
    let mut events = vec![json!({
        "type": "response.created",
        "response": { "id": id, "object": "response", "status": "in_progress", "model": model, "output": [] },
    })];
    let item = match &turn.act {
        Act::Say(text) => say(&mut events, &format!("msg_{number}"), text),
        act => {
            let call = choose(act, request)?;
            let (id, call_id) = (format!("item_{number}"), format!("call_{number}"));
            match call.input {
                Input::Arguments(arguments) => {
                    let mut item = json!({
                        "type": "function_call", "id": id, "call_id": call_id, "name": call.name,
                        "arguments": arguments, "status": "completed",
                    });
                    if let Some((namespace, name)) = in_namespace(&call.name, request) {
                        (item["namespace"], item["name"]) = (json!(namespace), json!(name));
                    }
                    item
                }
                Input::Text(input) => json!({
                    "type": "custom_tool_call", "id": id, "call_id": call_id, "name": call.name,
                    "input": input, "status": "completed",
                }),
            }
        }
    };
    events.push(json!({ "type": "response.output_item.done", "output_index": 0, "item": item }));
    events.push(json!({
        "type": "response.completed",
        "response": {
            "id": id, "object": "response", "status": "completed", "model": model, "output": [item],
            "usage": usage(turn.tokens),
        },
    }));
    let name = |event: &Value| event["type"].as_str().unwrap_or_default().to_owned();
    Ok(events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect())
}

/// Codex offers the tools of an MCP server as a group: `mcp__server__tool` is `tool` in the group `mcp__server`.
fn in_namespace<'n>(name: &'n str, request: &Value) -> Option<(&'n str, &'n str)> {
    let (namespace, tool) = name.rsplit_once("__")?;
    let groups = request["tools"].as_array()?;
    groups.iter().any(|group| group["type"] == "namespace" && group["name"] == namespace).then_some((namespace, tool))
}

fn say(events: &mut Vec<Value>, id: &str, text: &str) -> Value {
    let begun = json!({ "type": "message", "id": id, "role": "assistant", "status": "in_progress", "content": [] });
    events.push(json!({ "type": "response.output_item.added", "output_index": 0, "item": begun }));
    for word in text.split_inclusive(' ') {
        events.push(json!({
            "type": "response.output_text.delta", "item_id": id, "output_index": 0, "content_index": 0, "delta": word,
        }));
    }
    let content = json!([{ "type": "output_text", "text": text, "annotations": [] }]);
    json!({ "type": "message", "id": id, "role": "assistant", "status": "completed", "content": content })
}

fn usage(tokens: Tokens) -> Value {
    json!({
        "input_tokens": tokens.input,
        "input_tokens_details": { "cached_tokens": tokens.cached },
        "output_tokens": tokens.output,
        "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": tokens.input + tokens.output,
    })
}
