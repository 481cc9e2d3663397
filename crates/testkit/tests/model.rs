//! The scripted model answers as the real ones do: streams, tools, refusals, slowness, broken connections.
#![cfg(feature = "model")]

use serde_json::{Value, json};
use testkit::model::{Model, Turn};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Posts as plain HTTP; everything that came back until the connection ended.
async fn post(model: &Model, path: &str, body: &Value) -> String {
    let address = model.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let mut stream = tokio::net::TcpStream::connect(address).await.expect("the model listens");
    let body = body.to_string();
    let request = format!(
        "POST /v1{path} HTTP/1.1\r\nhost: model\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.expect("the model reads");
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

fn with_tool(name: &str) -> Value {
    json!({ "model": "m", "tools": [{ "type": "function", "name": name, "function": { "name": name } }] })
}

#[tokio::test]
async fn a_text_is_streamed_with_its_tokens() {
    let turn = Turn::say("Hello there.").tokens(7, 3, 2);
    let model = Model::start([turn.clone(), turn]).await;
    let answer = post(&model, "/responses", &with_tool("exec_command")).await;
    assert!(answer.contains("content-type: text/event-stream"), "{answer}");
    let order = [
        "response.created",
        "\"delta\":\"Hello \"",
        "\"delta\":\"there.\"",
        "response.completed",
        "\"cached_tokens\":3",
    ];
    let places: Vec<_> =
        order.iter().map(|part| answer.find(part).unwrap_or_else(|| panic!("{part} in {answer}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let answer = post(&model, "/chat/completions", &with_tool("bash")).await;
    assert!(answer.contains("\"prompt_tokens\":7") && answer.trim_end().contains("data: [DONE]"), "{answer}");
}

#[tokio::test]
async fn a_tool_is_one_that_the_agent_offers() {
    let model = Model::start((0..4).map(|_| Turn::run("ls"))).await;
    let answer = post(&model, "/responses", &with_tool("exec_command")).await;
    assert!(answer.contains(r#"{\"cmd\":\"ls\"}"#), "{answer}");
    let answer = post(&model, "/chat/completions", &with_tool("bash")).await;
    assert!(
        answer.contains(r#"\"command\":\"ls\""#) && answer.contains("\"finish_reason\":\"tool_calls\""),
        "{answer}"
    );
    let answer = post(&model, "/responses", &with_tool("juggle")).await;
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("juggle"), "{answer}");
}

#[tokio::test]
async fn it_refuses_breaks_off_and_ends_as_the_script_says() {
    let model = Model::start([Turn::refuse(429, Some(3)), Turn::say("one two three four").broken()]).await;
    let answer = post(&model, "/responses", &with_tool("shell")).await;
    assert!(answer.starts_with("HTTP/1.1 429") && answer.contains("retry-after: 3"), "{answer}");
    let answer = post(&model, "/responses", &with_tool("shell")).await;
    assert!(answer.contains("response.created") && !answer.contains("response.completed"), "{answer}");
    let answer = post(&model, "/responses", &with_tool("shell")).await;
    assert!(answer.starts_with("HTTP/1.1 500") && answer.contains("the script is over"), "{answer}");
}

#[tokio::test]
async fn what_is_held_goes_on_when_it_is_released_and_titles_cost_no_turn() {
    let model = Model::start([Turn::say("late").held()]).await;
    let title = post(&model, "/chat/completions", &json!({ "model": "m" })).await;
    assert!(title.contains("Scripted") && model.left() == 1, "{title}");
    let body = with_tool("shell");
    let held = post(&model, "/responses", &body);
    tokio::pin!(held);
    tokio::select! {
        answer = &mut held => panic!("it did not wait: {answer}"),
        () = testkit::wait_until("it was asked", async || (model.left() == 0).then_some(())) => {}
    }
    model.release();
    assert!(held.await.contains("response.completed"));
    let asked = model.asked();
    assert_eq!(asked.iter().map(|asked| asked.scripted).collect::<Vec<_>>(), [false, true]);
}

#[tokio::test]
async fn claude_and_gemini_are_answered_as_they_read_it() {
    let turns = [Turn::run("ls").tokens(7, 3, 2), Turn::say("Hello there.").tokens(7, 3, 2)];
    let model = Model::start(turns.iter().chain(&turns).cloned()).await;
    let answer = post(&model, "/messages", &json!({ "model": "m", "tools": [{ "name": "Bash" }] })).await;
    let order =
        ["message_start", "\"cache_read_input_tokens\":3", "tool_use", "\\\"ls\\\"", "message_delta", "message_stop"];
    let places: Vec<_> =
        order.iter().map(|part| answer.find(part).unwrap_or_else(|| panic!("{part} in {answer}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let answer = post(&model, "/messages", &json!({ "model": "m", "tools": [{ "name": "Bash" }] })).await;
    assert!(answer.contains("\"text\":\"Hello \"") && answer.contains("\"end_turn\""), "{answer}");
    let tools = json!({ "tools": [{ "functionDeclarations": [{ "name": "run_shell_command" }] }] });
    let answer = post(&model, "/models/m:streamGenerateContent", &tools).await;
    assert!(answer.contains("\"functionCall\":{\"args\":{\"command\":\"ls\"}") && answer.contains("STOP"), "{answer}");
    let answer = post(&model, "/models/m:streamGenerateContent", &tools).await;
    assert!(answer.contains("\"text\":\"there.\"") && answer.contains("\"cachedContentTokenCount\":3"), "{answer}");
}
