//! Every name over HTTP, into every field, path and query that takes a text.

use std::sync::Arc;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Grounds, Tally, is_harmless, nothing};
use crate::fixture::Reply;

/// Requests under way at once.
const AT_ONCE: usize = 24;

struct Try {
    place: String,
    method: Method,
    path: String,
    body: Option<Value>,
}

/// Everywhere that a text is written into.
fn fields(on: &Grounds, text: &str) -> Vec<Try> {
    let mut all = Vec::new();
    let mut post = |place: &str, path: String, body: Value| {
        all.push(Try { place: place.to_owned(), method: Method::POST, path, body: Some(body) });
    };
    let project = format!("/api/projects/{}", on.project);
    post("project", "/api/projects".into(), json!({ "content": text }));
    for (field, value) in [("location", json!(text)), ("base_branch", json!(text)), ("copy", json!([text]))] {
        let mut repository = json!({ "location": on.fixture.path("repository") });
        repository[field] = value;
        let place = format!("repository.{field}");
        post(
            &place,
            "/api/projects".into(),
            json!({ "content": domain::ProjectId::generate(), "repositories": [repository] }),
        );
    }
    post("activity", format!("{project}/activities"), json!({ "content": text }));
    let links = json!([{ "kind": "branch", "target": text }]);
    post("link", format!("{project}/activities"), json!({ "content": "x", "links": links }));
    post("message", format!("{project}/messages"), json!({ "content": text }));
    post("observer", format!("{project}/observers"), json!({ "name": text }));
    for kind in ["tokens", "invites"] {
        post(kind, format!("/api/{kind}"), json!({ "name": text }));
    }
    for (field, value) in [
        ("branch", json!(text)),
        ("base", json!(text)),
        ("repository", json!(text)),
        ("agent", json!(text)),
        ("model", json!(text)),
        ("prompt", json!(text)),
        ("argv", json!([text])),
        ("argv", json!(["true", text])),
        ("labels", json!([text])),
    ] {
        // No runner has that label: what is well-formed is refused as well, and starts nothing.
        let mut body = json!({ "project": on.project, "agent": "command", "argv": ["true"], "labels": ["none"] });
        body[field] = value;
        post(&format!("session.{field}"), "/api/sessions".into(), body);
    }
    post("send", format!("/api/sessions/{}/send", on.session), json!({ "text": text, "submit": true }));
    post("restore", format!("/api/workspaces/{}/restore", on.workspace), json!({ "save": text }));
    for (field, value) in [
        ("description", json!(text)),
        ("id", json!(text)),
        ("context", json!(text)),
        ("files", json!([text])),
        ("deps", json!([text])),
        ("needs", json!([text])),
        ("acceptance", json!([{ "kind": "file_exists", "path": text }])),
        ("acceptance", json!([{ "kind": "file_matches", "path": text, "regex": text, "not_regex": text }])),
        ("acceptance", json!([{ "kind": "command", "argv": [text, text] }])),
        ("acceptance", json!([{ "kind": "only_touches", "globs": [text] }])),
        ("acceptance", json!([{ "kind": "text", "text": text }])),
    ] {
        let mut task = json!({ "description": "x" });
        task[field] = value;
        post(&format!("task.{field}"), format!("{project}/tasks"), json!({ "tasks": [task] }));
    }
    for (field, value) in [
        ("agent", json!(text)),
        ("role", json!(text)),
        ("model", json!(text)),
        ("abilities", json!([text])),
        ("argv", json!([text])),
    ] {
        let mut body = json!({ "agent": "command", "argv": ["true"], "runner": nothing("run") });
        body[field] = value;
        post(&format!("worker.{field}"), format!("{project}/workers"), body);
    }
    let ask = json!({ "task": nothing("tsk"), "worker": text, "abilities": [text] });
    post("take", format!("{project}/take"), ask);
    all
}

/// Not with the others: each session is placed on one of them, however many there are.
fn runners(_: &Grounds, text: &str) -> Vec<Try> {
    let body = Some(json!({ "name": text }));
    vec![Try { place: "runner".to_owned(), method: Method::POST, path: "/api/runners".to_owned(), body }]
}

/// Everywhere that a text is a part of the address.
fn addresses(on: &Grounds, operations: &[(Method, String)], text: &str) -> Vec<Try> {
    let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
    let mut all: Vec<Try> = operations
        .iter()
        .map(|(method, template)| {
            let (before, rest) = template.split_once('{').unwrap();
            let (_, after) = rest.split_once('}').unwrap();
            let path = format!("{before}{encoded}{after}");
            let body = (*method != Method::GET && *method != Method::DELETE).then(|| json!({}));
            Try { place: "address".to_owned(), method: method.clone(), path, body }
        })
        .collect();
    let (project, session) = (&on.project, &on.session);
    for path in [
        format!("/api/recordings/{session}/search?text={encoded}"),
        format!("/api/recordings/{session}/part?from_ms={encoded}"),
        format!("/api/tasks?project={project}&status={encoded}"),
        format!("/api/sessions?project={encoded}"),
        format!("/api/projects/{project}/diff?from={encoded}"),
        format!("/api/auth/github/callback?code={encoded}&state={encoded}"),
        format!("/{encoded}"),
        format!("/assets/{encoded}"),
    ] {
        all.push(Try { place: "query".to_owned(), method: Method::GET, path, body: None });
    }
    all
}

fn check(tried: &Try, text: &str, reply: &Reply) -> bool {
    let Try { place, method, path, .. } = tried;
    let what = || format!("{place} {method} {path} {text:?}: {} {}", reply.status, reply.text);
    // Without a built page, every address says so.
    let no_page = reply.status == 503 && reply.text.starts_with("The page was not built");
    assert!((200..500).contains(&reply.status) || no_page, "{}", what());
    let taken = reply.status < 400;
    if !taken {
        // What is no part of the API says it in words.
        let detail = reply.body()["detail"].as_str().map_or(!path.starts_with("/api"), |detail| !detail.is_empty());
        assert!(detail && !reply.text.is_empty(), "it says nothing: {}", what());
        assert!(is_harmless(&reply.text), "{}", what());
    }
    taken
}

/// Whether a text goes no further than a row and a screen: each name goes into a third of these fields.
fn is_text_alone(place: &str) -> bool {
    const TEXTS: [&str; 18] = [
        "project",
        "activity",
        "link",
        "message",
        "observer",
        "tokens",
        "invites",
        "session.agent",
        "session.labels",
        "task.description",
        "task.context",
        "task.deps",
        "task.needs",
        "worker.agent",
        "worker.role",
        "worker.model",
        "worker.abilities",
        "take",
    ];
    TEXTS.contains(&place)
}

async fn all(on: Arc<Grounds>, tries: impl Fn(&Grounds, &str) -> Vec<Try> + Send + Sync + 'static) -> Tally {
    let tries = Arc::new(tries);
    let mut lanes = tokio::task::JoinSet::new();
    for lane in 0..AT_ONCE {
        let (on, tries) = (on.clone(), tries.clone());
        lanes.spawn(async move {
            let mut tally = Tally::default();
            for (index, text) in on.names.iter().enumerate().skip(lane).step_by(AT_ONCE) {
                for (turn, tried) in tries(&on, text).into_iter().enumerate() {
                    if is_text_alone(&tried.place) && (index / 4 + turn) % 3 != 0 {
                        continue;
                    }
                    let reply = on.fixture.http(tried.method.clone(), &tried.path, tried.body.as_ref()).await;
                    tally.count(&tried.place, check(&tried, text, &reply));
                }
            }
            tally
        });
    }
    let mut sum = Tally::default();
    while let Some(tally) = lanes.join_next().await {
        sum.merge(tally.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic())));
    }
    sum
}

#[tokio::test]
async fn every_field_takes_hostile_names_as_texts_or_refuses_them() {
    let on = Arc::new(Grounds::open_share(1).await);
    // A name that is none gets through everywhere: it is not the request that is wrong.
    for tried in fields(&on, "plain") {
        let reply = on.fixture.http(tried.method.clone(), &tried.path, tried.body.as_ref()).await;
        let refused = reply.body()["detail"].as_str().unwrap_or_default().to_owned();
        let expected = match tried.place.as_str() {
            "session.repository" => refused.contains("does not name it"),
            place if place.starts_with("session.") => reply.status == 409,
            place if place.starts_with("worker.") => [404, 409].contains(&reply.status),
            "restore" | "task.deps" => reply.status == 400,
            "take" => reply.status == 404,
            _ => reply.status < 300,
        };
        assert!(expected, "{}: {} {}", tried.place, reply.status, reply.text);
    }
    let mut tally = all(on.clone(), fields).await;
    assert!(tally.sum() > Grounds::expected(8_000), "{tally:?}");
    for place in ["project", "activity", "message", "task.description", "send"] {
        assert!(tally.taken(place) > Grounds::expected(80), "{tally:?}");
    }
    // `con` and `aux.txt` are odd elsewhere only.
    let usual = on.names.iter().filter(|name| ["con", "aux.txt"].contains(&name.as_str())).count();
    assert_eq!(tally.taken("repository.base_branch") as usize, usual, "{tally:?}");
    assert_eq!(tally.taken("restore"), 0, "{tally:?}");
    tally.merge(all(on.clone(), runners).await);
    assert!(tally.taken("runner") > Grounds::expected(100), "{tally:?}");
    eprintln!("{tally:?}");
    Arc::into_inner(on).unwrap().close().await;
}

#[tokio::test]
async fn every_address_and_query_refuses_hostile_names() {
    let on = Arc::new(Grounds::open_share(2).await);
    let document = on.fixture.get("/api/openapi.json").await;
    let mut operations = Vec::new();
    for (template, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            if template.matches('{').count() == 1
                && let Ok(method) = method.to_uppercase().parse::<Method>()
                && [Method::GET, Method::POST, Method::PATCH, Method::DELETE].contains(&method)
            {
                operations.push((method, template.clone()));
            }
        }
    }
    assert!(operations.len() > 40, "{operations:?}");
    let tally = all(on.clone(), move |on, text| addresses(on, &operations, text)).await;
    assert_eq!(tally.taken("address"), 0, "{tally:?}");
    Arc::into_inner(on).unwrap().close().await;
}
