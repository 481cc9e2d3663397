//! Agents over HTTP: the hub remembers each agent's tasks, and distinguishes the agents of one token.

use domain::TaskStatus;
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::fixture::{Fixture, TOOLS, names};

/// An agent with its own connection.
struct Agent<'a> {
    fixture: &'a Fixture,
    session: String,
}

impl<'a> Agent<'a> {
    async fn connect(fixture: &'a Fixture) -> Self {
        let params = json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "codex-mcp-client", "version": "1" },
        });
        let answer = post(fixture, None, &message("initialize", params)).await;
        let session = answer.headers().get("mcp-session-id").expect("a client that begins is given a session");
        Self { fixture, session: session.to_str().unwrap().to_owned() }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let body = message("tools/call", json!({ "name": tool, "arguments": arguments }));
        let answer = post(self.fixture, Some(&self.session), &body).await;
        let mut answer: Value = answer.json().await.unwrap();
        answer["result"].take()
    }

    async fn take(&self, arguments: Value) -> Value {
        self.call("take_task", arguments).await["structuredContent"]["task"].clone()
    }
}

fn message(method: &str, params: Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

async fn post(fixture: &Fixture, session: Option<&str>, body: &str) -> Response {
    let mut request = reqwest::Client::new().post(format!("{}/mcp", fixture.url)).body(body.to_owned());
    request = request.header("content-type", "application/json").bearer_auth(&fixture.token);
    request = request.header("accept", "application/json, text/event-stream");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn agents_that_share_a_token_are_different_workers() {
    let fixture = Fixture::open().await;
    for description in ["Write a", "Weigh the second anchor", "Paint it blue"] {
        fixture.add(description).await;
    }
    let (one, two) = (Agent::connect(&fixture).await, Agent::connect(&fixture).await);
    let (first, second) = (one.take(json!({})).await, two.take(json!({})).await);
    assert_ne!(first, second, "two agents are two workers");
    assert_eq!(one.take(json!({})).await, first, "it already holds the task");
    for (agent, task, told) in [(&one, &first, "one half"), (&two, &second, "all but one")] {
        agent.call("heartbeat", json!({ "progress": told })).await;
        let lines = fixture.tasks().await;
        let line = lines.iter().find(|line| *task == json!(line.id)).unwrap();
        assert_eq!(line.progress.as_deref(), Some(told), "each reports progress of its own task");
    }
    let stranger = Agent::connect(&fixture).await;
    let refused = stranger.call("report", json!({ "summary": "Done" })).await;
    assert_eq!(refused["isError"], json!(true), "an agent without a task cannot report: {refused}");
    let reported = two.call("report", json!({ "summary": "Done" })).await;
    assert_eq!(reported["structuredContent"]["task"], second, "{reported}");

    // An agent that reconnects is the same worker by its session's name, or by its own.
    let back = Agent { fixture: &fixture, session: one.session.clone() };
    assert_eq!(back.take(json!({})).await, first);
    let named = stranger.take(json!({ "worker": "anna" })).await;
    let again = Agent::connect(&fixture).await;
    assert_eq!(again.take(json!({ "worker": "anna" })).await, named);
    let reported = again.call("report", json!({ "summary": "Done" })).await;
    assert_eq!(reported["structuredContent"]["verdict"], "accepted", "{reported}");
}

#[tokio::test]
async fn an_agent_that_ends_its_session_returns_its_task() {
    let fixture = Fixture::open().await;
    let line = fixture.add("Write a").await;
    let agent = Agent::connect(&fixture).await;
    assert_eq!(agent.take(json!({})).await, json!(line.id));
    let end = |session: &str| {
        let request = reqwest::Client::new().delete(format!("{}/mcp", fixture.url)).bearer_auth(&fixture.token);
        request.header("mcp-session-id", session).send()
    };
    assert_eq!(end("another").await.unwrap().status(), StatusCode::NO_CONTENT);
    assert!(fixture.show(&line).await.task.lease.is_some(), "only its own");
    assert_eq!(end(&agent.session).await.unwrap().status(), StatusCode::NO_CONTENT);
    assert_eq!(fixture.show(&line).await.task.status, TaskStatus::Ready);
    assert_eq!(end("name with spaces").await.unwrap().status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_task_is_taken_and_reported_without_naming_ids() {
    let fixture = Fixture::open().await;
    let line = fixture.add("Write a").await;
    let token = &fixture.token;
    let list = fixture.over_http(token, &["--method", "tools/list"]).await.unwrap();
    assert_eq!(names(&list), TOOLS);
    let call = ["--method", "tools/call", "--tool-name"];
    let taken = fixture.over_http(token, &[&call[..], &["take_task"]].concat()).await.unwrap();
    assert_eq!(taken["structuredContent"]["task"], line.id.to_string(), "{taken}");
    let again = fixture.over_http(token, &[&call[..], &["take_task"]].concat()).await.unwrap();
    assert_eq!(again["structuredContent"]["fence"], taken["structuredContent"]["fence"], "{again}");
    let progress = ["heartbeat", "--tool-arg", "progress=half"];
    fixture.over_http(token, &[&call[..], &progress].concat()).await.unwrap();
    assert_eq!(fixture.tasks().await[0].progress.as_deref(), Some("half"));
    let report = ["report", "--tool-arg", "summary=Done", "--tool-arg", "context_score=5"];
    let reported = fixture.over_http(token, &[&call[..], &report].concat()).await.unwrap();
    assert_eq!(reported["structuredContent"]["verdict"], "accepted", "{reported}");
    let detail = fixture.show(&line).await;
    assert_eq!(detail.task.status, TaskStatus::Done);
    assert_eq!((detail.reports.len(), detail.reports[0].context_score), (1, Some(5)));
}
