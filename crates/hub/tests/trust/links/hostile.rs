//! T5: names that git, a shell or a terminal could take for something else are refused by name, over every way in.

use protocol::{Call, ProblemKind, Repository, WorkspaceRestore};
use reqwest::Method;
use serde_json::{Value, json};
use testkit::Canary;

use super::Fixture;
use crate::support::{Socket, begin, db, send};

#[tokio::test]
async fn hostile_names_are_refused_by_name_and_nothing_is_stored() {
    let mut fixture = Fixture::new().await;
    let repositories = vec![Repository { location: "/srv/code".into(), ..Default::default() }];
    let input = protocol::ProjectUpdate { repositories: Some(repositories), ..Default::default() };
    crate::support::ask(&fixture.hub, &fixture.olga, Call::ProjectUpdate { project: fixture.project, input }).await;
    let before = db::rows(&fixture.hub).await;
    let mut socket = Socket::live(fixture.hub.url(), &fixture.olga).await;
    let (mut tried, mut number) = (0, 0);
    let folder = tempfile::tempdir().unwrap();
    let canary = Canary::new(folder.path());
    for bad in &canary.names() {
        let argv = bad.contains('\0') || bad.is_empty();
        let branch = domain::branch::check(bad).is_err();
        let invisible = domain::text::PROMPT.check(bad).is_err();
        let model = domain::text::MODEL.check(bad).is_err() || bad.starts_with('-');
        // A name such as `a..b` is none of an agent's, but harms nobody: no runner has it.
        let word = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let agent = bad.is_empty() || bad.len() > 80 || bad.starts_with(['-', '.']) || !bad.chars().all(word);
        for (field, wrong, value) in [
            ("branch", branch, json!(bad)),
            ("base", branch, json!(bad)),
            ("repository", true, json!(bad)),
            ("agent", agent, json!(bad)),
            ("model", model, json!(bad)),
            ("prompt", invisible, json!(bad)),
            ("argv", argv, json!([bad])),
            ("labels", model && !bad.starts_with('-'), json!([bad])),
        ] {
            if !wrong {
                continue;
            }
            let mut body = json!({ "project": fixture.project, "agent": "codex", "prompt": "work" });
            body[field] = value;
            let headers = fixture.olga.headers(fixture.hub.url());
            let reply = send(begin(&fixture.hub, Method::POST, "/api/sessions").headers(headers).json(&body)).await;
            assert_eq!(reply.status, 400, "{field} {bad:?}: {}", reply.text);
            assert_eq!(reply.body["errors"][0]["field"], field, "{bad:?}: {}", reply.text);
            assert!(!reply.text.contains('\u{1b}') && !reply.text.contains('\u{202e}'), "{}", reply.text);
            number += 1;
            let frame = json!({
                "type": "request", "id": 10_000 + number, "call": { "verb": "session.spawn", "input": body }
            });
            socket.text(frame.to_string()).await;
            let answered = |frame: &protocol::FromHub| {
                matches!(frame, protocol::FromHub::Error { id: Some(id), problem }
                    if *id == 10_000 + number && problem.kind == ProblemKind::Invalid)
            };
            socket.until("a refusal", answered).await;
            tried += 2;
        }
        let input = WorkspaceRestore { save: Some(bad.clone()) };
        let verb = Call::WorkspaceRestore { workspace: fixture.session.workspace, input };
        assert_eq!(crate::support::call(&fixture.hub, &fixture.olga, &verb).await.status, 400, "{bad:?}");
    }
    assert!(tried > 3_000, "{tried}");
    assert_eq!(canary.sung(), Vec::<String>::new());
    let heard = fixture.runner.sync().await;
    assert!(heard.is_empty(), "the runner heard nothing of it: {heard:?}");
    // But for the fact by which we know, and that it was counted: that is the ledger's last column.
    let uncounted = |row: String| match row.starts_with("ledger:") {
        true => row.rsplit_once(',').map(|(rest, _)| rest.to_owned()).unwrap_or(row),
        false => row,
    };
    let stored = |rows: Vec<String>| {
        rows.into_iter().filter(|row| !row.starts_with("runners:")).map(uncounted).collect::<Vec<_>>()
    };
    assert_eq!(stored(db::rows(&fixture.hub).await), stored(before));
}

#[tokio::test]
async fn hostile_shapes_are_refused() {
    let fixture = Fixture::new().await;
    let before = db::rows(&fixture.hub).await;
    let base = || json!({ "project": fixture.project, "agent": "codex" });
    let with = |field: &str, value: Value| {
        let mut body = base();
        body[field] = value;
        body
    };
    for body in [
        json!({}),
        json!({ "agent": "codex" }),
        with("surprise", json!(1)),
        with("argv", json!("make test")),
        with("argv", json!(vec!["x"; 501])),
        with("argv", json!(["x".repeat(70_000)])),
        with("prompt", json!("x".repeat(70_000))),
        with("labels", json!(vec!["x"; 21])),
        with("labels", json!(["x".repeat(100)])),
        with("cols", json!(1)),
        with("cols", json!(65_536)),
        with("rows", json!(301)),
        with("mode", json!("Interactive")),
        with("runner", json!("run_1")),
        with("workspace", json!("../x")),
        with("sandbox", json!({ "network": true })),
        with("sandbox", json!({ "network": true, "home": true, "root": true })),
    ] {
        let headers = fixture.olga.headers(fixture.hub.url());
        let reply = send(begin(&fixture.hub, Method::POST, "/api/sessions").headers(headers).json(&body)).await;
        assert_eq!(reply.status, 400, "{body:.200}: {}", reply.text);
    }
    assert_eq!(db::rows(&fixture.hub).await, before);
}
