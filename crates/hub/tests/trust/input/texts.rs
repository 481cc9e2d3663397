//! Hostile texts through every text field: stored and returned unchanged, or refused with the field's name.

use domain::Visibility;
use domain::text::NAME;
use protocol::{ActivityCreate, Call, MessagePage, MessageText, ProjectCreate, Repository};
use serde_json::{Value, json};
use testkit::TestHub;

use crate::support::{Credential, Reply, Socket, ann, begin, db, fresh, send, view};

/// Texts that some program somewhere takes for something else.
const HOSTILE: [&str; 40] = [
    "$(id)",
    "`id`",
    ";id",
    "| id",
    "&& id",
    "$HOME",
    "%s%n%x",
    "{{7*7}}",
    "${jndi:ldap://x/a}",
    "--upload-pack=touch /tmp/canary",
    "--output=/tmp/canary",
    "-rf",
    "@{-1}",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "C:\\Windows\\System32",
    "\\\\server\\share",
    "file:///etc/passwd",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "\"><script>alert(1)</script>",
    "]]><!--",
    "[x](javascript:alert(1))",
    "' OR '1'='1",
    "'; DROP TABLE users; --",
    "\" OR \"\"=\"",
    "%",
    "_",
    "\\",
    "\\u0000",
    "null",
    "__proto__",
    "constructor",
    "Ａｎｎ",
    "e\u{301}\u{200d}\u{fe0f}",
    "👩‍👩‍👧‍👦",
    "\u{feff}bom",
];

/// Characters that no text may have, and whether lines would be allowed where they stand.
const FORBIDDEN: [&str; 14] = [
    "nul\u{0}",
    "bell\u{7}",
    "back\u{8}space",
    "esc\u{1b}[2J",
    "csi\u{9b}31m",
    "del\u{7f}",
    "nel\u{85}",
    "vt\u{b}",
    "ff\u{c}",
    "rlo\u{202e}txt.exe",
    "lre\u{202a}",
    "pdf\u{202c}",
    "isolate\u{2066}",
    "pdi\u{2069}",
];

/// A field: where it is sent, where it is read in the answer, and what it is called when it is refused.
struct Field {
    name: &'static str,
    refused_as: &'static str,
    /// The request for a text.
    path: String,
    body: fn(&str) -> Value,
    read: fn(&Value) -> &Value,
}

fn fields(project: &str) -> Vec<Field> {
    let field = |name, refused_as, path: String, body, read| Field { name, refused_as, path, body, read };
    vec![
        field("project", "content", "/api/projects".into(), |t| json!({"content": t}), |v| &v["content"]),
        field(
            "repository",
            "repositories.location",
            "/api/projects".into(),
            |t| json!({"content": fresh("x"), "repositories": [{"location": t, "base_branch": null}]}),
            |v| &v["repositories"][0]["location"],
        ),
        field(
            "branch",
            "repositories.base_branch",
            "/api/projects".into(),
            |t| json!({"content": fresh("x"), "repositories": [{"location": "/r", "base_branch": t}]}),
            |v| &v["repositories"][0]["base_branch"],
        ),
        field(
            "activity",
            "content",
            format!("/api/projects/{project}/activities"),
            |t| json!({"content": t}),
            |v| &v["content"],
        ),
        field(
            "link",
            "links.target",
            format!("/api/projects/{project}/activities"),
            |t| json!({"content": "x", "links": [{"kind": "branch", "target": t}]}),
            |v| &v["links"][0]["target"],
        ),
        field(
            "message",
            "content",
            format!("/api/projects/{project}/messages"),
            |t| json!({"content": t}),
            |v| &v["content"],
        ),
        field("token", "name", "/api/tokens".into(), |t| json!({"name": t}), |v| &v["token"]["name"]),
        field("invite", "name", "/api/invites".into(), |t| json!({"name": t}), |v| &v["invite"]["name"]),
        field(
            "observer",
            "name",
            format!("/api/projects/{project}/observers"),
            |t| json!({"name": t}),
            |v| &v["observer"]["name"],
        ),
        field("runner", "name", "/api/runners".into(), |t| json!({"name": t}), |v| &v["runner"]["name"]),
    ]
}

async fn post(hub: &TestHub, by: &Credential, path: &str, body: &Value) -> Reply {
    send(begin(hub, reqwest::Method::POST, path).headers(by.headers(hub.url())).json(body)).await
}

async fn floor() -> (TestHub, Credential, domain::ProjectId) {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let input =
        ProjectCreate { content: "floor".into(), visibility: Some(Visibility::ReadWrite), ..Default::default() };
    let project = view!(&hub, &ann, Project, Call::ProjectCreate { input }).id;
    (hub, ann, project)
}

fn refused_field(reply: &Reply) -> &str {
    reply.body["errors"][0]["field"].as_str().unwrap_or("")
}

#[tokio::test]
async fn hostile_texts_come_back_unchanged_or_are_refused_by_name() {
    let (hub, ann, project) = floor().await;
    let canary = std::path::Path::new("/tmp/canary");
    assert!(!canary.exists(), "a canary of an earlier run is in the way");
    for field in fields(&project.to_string()) {
        let mut kept = 0;
        for text in HOSTILE {
            let reply = post(&hub, &ann, &field.path, &(field.body)(text)).await;
            if reply.status == 201 {
                // Names have one form.
                let form =
                    if field.refused_as == "name" { NAME.name(text).expect("it was taken") } else { text.into() };
                assert_eq!((field.read)(&reply.body), form.as_str(), "{}", field.name);
                kept += 1;
            } else {
                assert_eq!((reply.status, refused_field(&reply)), (400, field.refused_as), "{} {text}", field.name);
            }
        }
        match field.name {
            // What git could take for an option or a revision is no branch.
            "branch" => assert!(kept <= 6, "{kept} hostile branches were taken"),
            "repository" => assert_eq!(kept, HOSTILE.len() - 4, "only what starts with `-`, and `file://`, is refused"),
            "project" => {
                assert_eq!(kept, HOSTILE.len() - 3, "only what has invisible characters in its name is refused")
            }
            _ if field.refused_as == "name" => {
                assert_eq!(kept, HOSTILE.len() - 3, "{}: only invisible characters are refused", field.name);
            }
            _ => assert_eq!(kept, HOSTILE.len(), "{}", field.name),
        }
        for text in FORBIDDEN {
            let reply = post(&hub, &ann, &field.path, &(field.body)(text)).await;
            assert_eq!((reply.status, refused_field(&reply)), (400, field.refused_as), "{} {text:?}", field.name);
        }
        for text in ["", " ", "\u{a0}"] {
            let reply = post(&hub, &ann, &field.path, &(field.body)(text)).await;
            assert_eq!((reply.status, refused_field(&reply)), (400, field.refused_as), "{} {text:?}", field.name);
        }
        let long = post(&hub, &ann, &field.path, &(field.body)(&"x".repeat(70_000))).await;
        assert_eq!((long.status, refused_field(&long)), (400, field.refused_as), "{}", field.name);
        assert!(long.body["detail"].as_str().is_some_and(|detail| detail.contains("limit")), "{}", long.text);
    }
    assert!(!canary.exists(), "a text was run");
}

#[tokio::test]
async fn names_must_not_contain_line_breaks() {
    let (hub, ann, project) = floor().await;
    for field in fields(&project.to_string()) {
        for text in ["one\ntwo", "two\tthree", "three\r\nfour"] {
            let reply = post(&hub, &ann, &field.path, &(field.body)(text)).await;
            if ["project", "activity", "message"].contains(&field.name) {
                assert_eq!(reply.status, 201, "{}", field.name);
                assert_eq!((field.read)(&reply.body), text);
            } else {
                assert_eq!((reply.status, refused_field(&reply)), (400, field.refused_as), "{}", field.name);
            }
        }
    }
}

#[tokio::test]
async fn hostile_texts_reach_every_reader_unchanged() {
    let (hub, ann, project) = floor().await;
    for text in HOSTILE {
        let input = MessageText { content: text.into() };
        view!(&hub, &ann, Message, Call::ChatSend { project, input });
    }
    let page = MessagePage { before: None, limit: Some(200) };
    let history = view!(&hub, &ann, Messages, Call::ChatHistory { project, page });
    let texts: Vec<&str> = history.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(texts, HOSTILE);
    let links = HOSTILE.map(|text| protocol::Link { kind: domain::LinkKind::Branch, target: text.into() }).to_vec();
    let input = ActivityCreate { content: HOSTILE.join("\n"), links, ..Default::default() };
    let made = view!(&hub, &ann, Activity, Call::ActivityCreate { project, input });
    let mut socket = Socket::live(hub.url(), &ann).await;
    let synced = socket.early.make_contiguous().iter().any(|frame| match frame {
        protocol::FromHub::Sync { changes, .. } => {
            changes.iter().any(|change| matches!(change, protocol::Change::Activity { activity } if *activity == made))
        }
        _ => false,
    });
    assert!(synced, "the same over a socket");
    let repositories =
        vec![Repository { location: "git@host:x".into(), base_branch: Some("main".into()), ..Repository::default() }];
    let input = ProjectCreate { content: "code".into(), repositories: repositories.clone(), ..Default::default() };
    assert_eq!(view!(&hub, &ann, Project, Call::ProjectCreate { input }).repositories, repositories);
    assert!(db::rows(&hub).await.iter().any(|row| row.contains("DROP TABLE users")), "a text, not a statement");
    view!(&hub, &ann, Users, Call::UserList {});
}
