//! The door for agents: each tool is named, its requests are counted and of bounded size, and so are their sessions.

use std::collections::BTreeSet;

use protocol::MAX_FRAME;
use reqwest::Method;
use serde_json::{Value, json};
use testkit::TestHub;

use super::strict;
use crate::support::{Reply, ann, begin, send};

/// Each tool is some of the verbs, and bounded as they are.
const TOOLS: [&str; 23] = [
    "activity_update",
    "add_tasks",
    "artifact_get",
    "artifact_list",
    "artifact_put",
    "ask",
    "chat_read",
    "chat_send",
    "edit_task",
    "escalate",
    "handoff_ack",
    "handoff_write",
    "heartbeat",
    "list_tasks",
    "merge_request",
    "overlaps",
    "release",
    "report",
    "reserve",
    "review_reply",
    "search",
    "take_task",
    "who_is_doing_what",
];

async fn post(hub: &TestHub, named: Option<&str>, body: impl Into<reqwest::Body>) -> Reply {
    let mut request = begin(hub, Method::POST, "/mcp").headers(ann(hub).headers(hub.url()));
    request =
        request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
    if let Some(named) = named {
        request = request.header("mcp-session-id", named);
    }
    send(request.body(body)).await
}

fn message(method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": {} }).to_string()
}

#[tokio::test]
async fn every_tool_is_known() {
    let hub = TestHub::start().await;
    let reply = post(&hub, None, message("tools/list")).await;
    let text = reply.text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&reply.text).to_owned();
    let answer: Value = serde_json::from_str(&text).expect("an answer");
    let tools = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    let names: BTreeSet<&str> = tools.filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, TOOLS.into_iter().collect(), "say in `TOOLS` which there are");
}

#[tokio::test]
async fn requests_of_agents_are_counted_and_bounded() {
    let hub = TestHub::start().await;
    assert_eq!(post(&hub, None, vec![b' '; MAX_FRAME + 1]).await.status, 413);
    let long = "x".repeat(1000);
    assert_eq!(post(&hub, Some(&long), message("tools/list")).await.status, 400);
    let hub = strict().await;
    let mut seen = BTreeSet::new();
    for _ in 0..5 {
        seen.insert(post(&hub, None, message("ping")).await.status);
    }
    assert!(seen.contains(&429), "{seen:?}");
}

#[tokio::test]
async fn at_most_a_hundred_session_names_are_kept() {
    let hub = TestHub::start().await;
    for number in 0..1000 {
        let reply = post(&hub, Some(&format!("name-{number}")), message("ping")).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
}
