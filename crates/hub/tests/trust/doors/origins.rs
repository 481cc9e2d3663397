//! Pages of other origins reach neither socket nor verbs (T1).

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::json;
use testkit::TestHub;

use crate::support::{Credential, Socket, ann, begin, browser, fresh, send};

/// What a request says about where it comes from, and whether that is the hub's own page.
fn origins(hub: &str) -> Vec<(Option<String>, bool)> {
    let port = hub.rsplit(':').next().expect("a port");
    let foreign = [
        "null".to_owned(),
        "http://evil".to_owned(),
        format!("http://evil:{port}"),
        format!("http://localhost.evil.com:{port}"),
        "http://localhost.evil.com".to_owned(),
        "http://localhost".to_owned(),
        "http://127.0.0.1".to_owned(),
        "http://127.0.0.1:1".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("HTTP://127.0.0.1:{port}"),
        format!("http://LOCALHOST:{port}"),
        format!("http://localhost.:{port}"),
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port}.evil.com"),
        format!("http://user@127.0.0.1:{port}"),
        format!("http://127.0.0.1:{port} http://evil"),
        format!("ws://127.0.0.1:{port}"),
        "file://".to_owned(),
        String::new(),
    ];
    let own = [hub.to_owned(), format!("http://localhost:{port}"), format!("http://[::1]:{port}")];
    let foreign = foreign.into_iter().map(|origin| (Some(origin), false));
    std::iter::once((None, false)).chain(foreign).chain(own.into_iter().map(|origin| (Some(origin), true))).collect()
}

fn headers(credential: &Credential, origin: Option<&str>) -> HeaderMap {
    let mut headers = credential.headers("http://unused");
    headers.remove("origin");
    if let Some(origin) = origin {
        headers.insert("origin", HeaderValue::from_str(origin).expect("a header"));
    }
    headers
}

/// The status of the table: a foreign page gets nothing; a cookie needs our own page; a token needs none.
fn wanted(origin: Option<&str>, own: bool, credential: &Credential, success: u16) -> u16 {
    match (origin, own, credential) {
        (Some(_), false, _) => 403,
        (_, _, Credential::None) => 401,
        (None, _, Credential::Cookie(_)) => 403,
        _ => success,
    }
}

#[tokio::test]
async fn a_socket_opens_only_for_our_own_page_or_a_token() {
    let hub = TestHub::start().await;
    let token = ann(&hub);
    let cookie = browser(&hub, &token).await;
    for (origin, own) in origins(hub.url()) {
        for credential in [&token, &cookie, &Credential::None] {
            let opened = Socket::with_headers(hub.url(), headers(credential, origin.as_deref())).await;
            let status = opened.err().unwrap_or(101);
            assert_eq!(status, wanted(origin.as_deref(), own, credential, 101), "{origin:?} {credential:?}");
        }
    }
}

#[tokio::test]
async fn a_change_is_made_only_by_our_own_page_or_a_token() {
    let hub = TestHub::start().await;
    let token = ann(&hub);
    let cookie = browser(&hub, &token).await;
    for (origin, own) in origins(hub.url()) {
        for credential in [&token, &cookie, &Credential::None] {
            let request = begin(&hub, Method::POST, "/api/projects").headers(headers(credential, origin.as_deref()));
            let status = send(request.json(&json!({"content": fresh("new")}))).await.status;
            assert_eq!(status, wanted(origin.as_deref(), own, credential, 201), "{origin:?} {credential:?}");
        }
    }
}

#[tokio::test]
async fn every_change_by_cookie_needs_an_origin() {
    let hub = TestHub::start().await;
    let cookie = browser(&hub, &ann(&hub)).await;
    let mut checked = 0;
    for operation in crate::support::operations::all() {
        let unsafe_one = operation.method != Method::GET;
        let public = super::PUBLIC.contains(&(operation.method.as_str(), operation.template.as_str()));
        if unsafe_one && !public {
            let mut request = begin(&hub, operation.method.clone(), &operation.path).headers(headers(&cookie, None));
            if operation.has_body {
                request = request.json(&json!({}));
            }
            // A webhook is signed, and looks at no cookie.
            let wanted = if operation.template.starts_with("/api/hooks/{hook}/deliveries") { 401 } else { 403 };
            assert_eq!(send(request).await.status, wanted, "{operation:?}");
            checked += 1;
        }
    }
    assert!(checked > 20);
}

#[tokio::test]
async fn browsers_that_say_cross_site_are_believed() {
    let hub = TestHub::start().await;
    let token = ann(&hub);
    let cookie = browser(&hub, &token).await;
    let ask = async |method: Method, path: &str, site: &str, mode: &str, credential: &Credential| {
        let request = begin(&hub, method, path).headers(credential.headers(hub.url()));
        send(request.header("sec-fetch-site", site).header("sec-fetch-mode", mode)).await.status
    };
    for site in ["cross-site", "same-site"] {
        for credential in [&token, &cookie] {
            for mode in ["cors", "no-cors", "navigate", "websocket"] {
                assert_eq!(ask(Method::GET, "/api/me", site, mode, credential).await, 403, "{site} {mode}");
                assert_eq!(ask(Method::GET, "/api/ws", site, mode, credential).await, 403, "{site} {mode}");
                assert_eq!(ask(Method::POST, "/api/logout", site, mode, credential).await, 403, "{site} {mode}");
                assert_eq!(ask(Method::POST, "/", site, mode, credential).await, 403, "{site} {mode}");
            }
        }
        assert_ne!(ask(Method::GET, "/", site, "navigate", &Credential::None).await, 403, "a link to us is no attack");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(ask(Method::GET, "/api/me", site, "cors", &cookie).await, 200, "{site}");
    }
}

#[tokio::test]
async fn other_origins_get_no_cors_headers() {
    let hub = TestHub::start().await;
    let request = begin(&hub, Method::OPTIONS, "/api/projects")
        .header("origin", "http://evil")
        .header("access-control-request-method", "POST");
    let reply = send(request).await;
    assert_eq!(reply.status, 403);
    let own = send(begin(&hub, Method::GET, "/api/health").header("origin", hub.url())).await;
    for headers in [&reply.headers, &own.headers] {
        assert!(!headers.keys().any(|name| name.as_str().starts_with("access-control")), "{headers:?}");
    }
}
