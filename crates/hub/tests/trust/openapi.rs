//! The OpenAPI document is the one that is checked in, served, and true.

use std::collections::BTreeSet;
use std::path::Path;

use client::request;
use reqwest::Method;
use testkit::TestHub;

use crate::support::{begin, operations, send};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");

#[test]
fn the_checked_in_document_is_current() {
    let now = serde_json::to_string_pretty(&hub::openapi_document()).expect("JSON") + "\n";
    if std::env::var_os("UPDATE_OPENAPI").is_some() {
        std::fs::write(FILE, &now).expect("docs/openapi.json is written");
    }
    let kept = std::fs::read_to_string(Path::new(FILE)).unwrap_or_default();
    assert!(
        kept == now,
        "docs/openapi.json is not up to date: UPDATE_OPENAPI=1 cargo nextest run -p hub the_document_is_the_one"
    );
}

#[tokio::test]
async fn the_document_is_served_to_everybody() {
    let hub = TestHub::start().await;
    let reply = send(begin(&hub, Method::GET, "/api/openapi.json")).await;
    assert_eq!((reply.status, reply.headers["content-type"].to_str().ok()), (200, Some("application/json")));
    assert_eq!(reply.body, serde_json::to_value(hub::openapi_document()).expect("JSON"));
    assert_eq!(reply.body["openapi"], "3.1.0");
}

#[test]
fn every_verb_is_an_operation_and_the_client_knows_its_path() {
    let documented: BTreeSet<String> =
        operations::all().into_iter().map(|one| format!("{} {}", one.method, shape(&one.template))).collect();
    for call in crate::support::calls::one_of_each() {
        let asked = request(&call);
        let line = format!("{} {}", asked.method, shape(&asked.path));
        assert!(documented.contains(&line), "{}: {line}", call.verb());
    }
}

/// A path with its parameters and ids replaced by a star.
fn shape(path: &str) -> String {
    let part = |part: &str| match part.starts_with('{') || (part.len() == 36 && part.contains('_')) {
        true => "*".to_owned(),
        false => part.to_owned(),
    };
    path.split('/').map(part).collect::<Vec<_>>().join("/")
}
