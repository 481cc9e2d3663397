//! Who is refused at `/mcp`, and what a token cannot see.

use protocol::{Call, NewToken, TokenCreate};
use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::fixture::{Fixture, create};

const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;

/// Sends a client's request with further headers.
async fn post(fixture: &Fixture, body: &str, headers: &[(&str, &str)]) -> (StatusCode, String) {
    let mut request = reqwest::Client::new().post(format!("{}/mcp", fixture.url)).body(body.to_owned());
    request =
        request.header("content-type", "application/json").header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = request.send().await.unwrap();
    (answer.status(), answer.text().await.unwrap())
}

#[tokio::test]
async fn strangers_foreign_pages_and_rebound_names_are_refused() {
    let fixture = Fixture::open().await;
    let bearer = format!("Bearer {}", fixture.token);
    let token = ("authorization", bearer.as_str());
    let (status, text) = post(&fixture, LIST, &[token]).await;
    assert_eq!(status, StatusCode::OK, "{text}");
    let cookie = format!("shopfloor_{}={}", fixture.url.rsplit(':').next().unwrap(), fixture.token);
    for (headers, expected) in [
        (vec![], StatusCode::UNAUTHORIZED),
        (vec![("authorization", "Bearer sf_nonsense")], StatusCode::UNAUTHORIZED),
        (vec![("authorization", "Basic YTpi")], StatusCode::UNAUTHORIZED),
        (vec![("cookie", cookie.as_str())], StatusCode::UNAUTHORIZED),
        (vec![token, ("host", "evil.example")], StatusCode::MISDIRECTED_REQUEST),
        (vec![token, ("host", "127.0.0.1:1")], StatusCode::MISDIRECTED_REQUEST),
        (vec![token, ("origin", "http://evil.example")], StatusCode::FORBIDDEN),
        (vec![token, ("origin", "null")], StatusCode::FORBIDDEN),
        (vec![token, ("sec-fetch-site", "cross-site")], StatusCode::FORBIDDEN),
    ] {
        let (status, text) = post(&fixture, LIST, &headers).await;
        assert_eq!(status, expected, "{headers:?}: {text}");
        assert!(!text.contains("take_task"), "{headers:?}: {text}");
    }
    let large = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":\"{}\"}}", "x".repeat(2 << 20));
    assert_eq!(post(&fixture, &large, &[token]).await.0, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn invalid_messages_are_answered_in_json_rpc() {
    let fixture = Fixture::open().await;
    let bearer = format!("Bearer {}", fixture.token);
    for (body, code, id) in [
        ("{broken", -32700, json!(null)),
        ("[]", -32600, json!(null)),
        ("{}", -32600, json!(null)),
        (r#"{"jsonrpc":"2.0","id":7,"method":5}"#, -32600, json!(7)),
    ] {
        let (status, text) = post(&fixture, body, &[("authorization", &bearer)]).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{body}: {text}");
        let answer: Value = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{body}: {text}");
    }
}

#[tokio::test]
async fn a_token_has_its_owners_rights_until_it_is_revoked() {
    let fixture = Fixture::open().await;
    let hidden = fixture.add("Ann's secret plan").await;
    let bo = join(&fixture).await;
    create(&bo, "Bo's own").await;
    let bearer = format!("Bearer {}", bo.token().unwrap());
    let token = ("authorization", bearer.as_str());
    let call = async |tool: &str, arguments: Value| {
        let params = json!({ "name": tool, "arguments": arguments });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let (_, text) = post(&fixture, &body, &[token]).await;
        serde_json::from_str::<Value>(&text).unwrap_or_else(|_| panic!("{text}"))["result"].clone()
    };
    let seen = call("list_tasks", json!({})).await;
    assert_eq!(seen["structuredContent"]["tasks"], json!([]), "the only project is one's own: {seen}");
    let project = fixture.project.id.to_string();
    for (tool, arguments) in [
        ("list_tasks", json!({ "project": project })),
        ("list_tasks", json!({ "project": "Parser" })),
        ("take_task", json!({ "project": project })),
        ("take_task", json!({ "task": hidden.id })),
        ("report", json!({ "summary": "x", "task": hidden.id, "fence": 1 })),
        ("heartbeat", json!({ "task": hidden.id, "fence": 0 })),
        ("review_reply", json!({ "thread": domain::ThreadId::generate(), "text": "x" })),
        ("who_is_doing_what", json!({ "project": project })),
        ("overlaps", json!({ "project": project })),
        ("reserve", json!({ "files": ["x"], "activity": domain::ActivityId::generate() })),
        ("release", json!({ "reservation": domain::ReservationId::generate() })),
        ("handoff_write", json!({ "done": "x", "next": "x" })),
        ("handoff_ack", json!({ "hash": "x" })),
        ("chat_read", json!({ "project": project })),
        ("artifact_put", json!({ "project": project, "name": "x.txt", "text": "x" })),
        ("artifact_list", json!({ "project": project })),
        ("artifact_get", json!({ "artifact": domain::ArtifactId::generate() })),
        ("search", json!({ "project": project, "text": "x" })),
        ("merge_request", json!({ "project": project, "branch": "x" })),
        ("add_tasks", json!({ "project": project, "tasks": [{ "description": "x" }] })),
    ] {
        let answer = call(tool, arguments.clone()).await;
        let text = answer["content"][0]["text"].as_str().unwrap_or_default();
        let empty =
            answer["structuredContent"]["tasks"] == json!([]) || answer["structuredContent"]["taken"] == json!(false);
        assert!(answer["isError"] == json!(true) || empty, "{tool} {arguments}: {answer}");
        assert!(!text.contains("secret") && !answer.to_string().contains("Ann's"), "{tool} {arguments}: {answer}");
    }
    assert_eq!(fixture.tasks().await.len(), 1, "nothing was added");

    let input = TokenCreate { name: "agent".into(), expires_at: None };
    let made: NewToken = bo.ask(Call::TokenCreate { input }).await.unwrap();
    let header = format!("Bearer {}", made.secret);
    assert_eq!(post(&fixture, LIST, &[("authorization", &header)]).await.0, StatusCode::OK);
    bo.ask::<()>(Call::TokenRevoke { token: made.token.id }).await.unwrap();
    assert_eq!(post(&fixture, LIST, &[("authorization", &header)]).await.0, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_branch_is_added_to_the_merge_queue_if_agents_may_add() {
    let fixture = Fixture::open().await;
    let bearer = format!("Bearer {}", fixture.token);
    let location = "https://git.example.com/calc.git".to_owned();
    let repository = protocol::Repository { location, base_branch: Some("main".into()), ..Default::default() };
    let input = protocol::ProjectUpdate { repositories: Some(vec![repository]), ..Default::default() };
    let project = fixture.project.id;
    fixture.ann.ask::<protocol::Project>(Call::ProjectUpdate { project, input }).await.unwrap();
    let call = async |branch: &str| {
        let params = json!({ "name": "merge_request", "arguments": { "branch": branch, "title": "Add sum" } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string();
        let (_, text) = post(&fixture, &body, &[("authorization", &bearer)]).await;
        serde_json::from_str::<Value>(&text).unwrap_or_else(|_| panic!("{text}"))["result"].clone()
    };
    let added = call("feature/sum").await;
    assert_eq!(added["structuredContent"]["target"], json!("main"), "{added}");
    let queues: Vec<protocol::MergeQueue> = fixture.ann.ask(Call::MergeList { project }).await.unwrap();
    let [one] = queues[0].candidates.as_slice() else { panic!("{queues:?}") };
    assert_eq!((one.branch.as_str(), one.title.as_str()), ("feature/sum", "Add sum"));
    assert!(one.by_agent, "what comes through MCP is an agent's");

    let input = protocol::MergeConfigure { adders: Some(domain::MergeAdders::People), ..Default::default() };
    fixture.ann.ask::<protocol::MergeSettings>(Call::MergeConfigure { project, input }).await.unwrap();
    let refused = call("feature/product").await;
    assert_eq!(refused["isError"], json!(true), "{refused}");
}

/// A second person with their own token.
async fn join(fixture: &Fixture) -> client::Client {
    let token = testkit::join(&fixture.url, &fixture.ann, "bo").await.unwrap();
    client::Client::new(&fixture.url, &token).unwrap()
}
