//! What every answer says to browsers (T11).

use reqwest::Method;
use testkit::TestHub;

use crate::support::operations;
use crate::support::{Credential, Reply, ann, begin, send};

fn check(what: &str, reply: &Reply) {
    let header = |name: &str| reply.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or("");
    let policy = header("content-security-policy");
    let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
    for wanted in [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
    ] {
        assert!(directives.contains(&wanted), "{what}: {wanted} in {policy}");
    }
    assert!(!policy.contains("unsafe"), "{what}: {policy}");
    assert_eq!(header("x-content-type-options"), "nosniff", "{what}");
    assert_eq!(header("x-frame-options"), "DENY", "{what}");
    assert_eq!(header("referrer-policy"), "no-referrer", "{what}");
    assert_eq!(header("cross-origin-opener-policy"), "same-origin", "{what}");
    assert_eq!(header("cross-origin-resource-policy"), "same-origin", "{what}");
    assert_eq!(header("server"), "", "{what}");
    let kind = header("content-type");
    let reads = what.starts_with("GET /") || what.starts_with("HEAD /");
    assert!(!kind.starts_with("text/html") || reads, "{what}: {kind}");
}

#[tokio::test]
async fn every_answer_limits_what_a_page_may_do() {
    let hub = TestHub::start().await;
    for operation in operations::all() {
        for credential in [ann(&hub), Credential::None] {
            let request = begin(&hub, operation.method.clone(), &operation.path);
            let reply = send(request.headers(credential.headers(hub.url()))).await;
            check(&format!("{} {}", operation.method, operation.template), &reply);
            if reply.status < 300 && operation.template != "/api/health" && operation.template != "/api/sign-in" {
                let caching = reply.headers.get("cache-control").map(|value| value.to_str().expect("text"));
                let empty = reply.text.is_empty();
                assert!(empty || caching == Some("no-store"), "{}: {caching:?}", operation.template);
            }
        }
    }
    for (method, path) in [
        (Method::GET, "/"),
        (Method::GET, "/nowhere.js"),
        (Method::GET, "/assets/nothing"),
        (Method::POST, "/"),
        (Method::GET, "/api/nowhere"),
        (Method::PUT, "/api/me"),
        (Method::GET, "/api/ws"),
        (Method::GET, "/api/openapi.json"),
        (Method::GET, "/api/recipe.schema.json"),
        (Method::HEAD, "/"),
    ] {
        check(&format!("{method} {path}"), &send(begin(&hub, method.clone(), path)).await);
    }
    let foreign = begin(&hub, Method::GET, "/").header("origin", "http://evil");
    check("a foreign origin", &send(foreign).await);
    let misdirected = begin(&hub, Method::GET, "/").header("host", "evil.test");
    check("a foreign host", &send(misdirected).await);
    let huge = begin(&hub, Method::POST, "/api/projects").headers(ann(&hub).headers(hub.url()));
    let huge = huge.header("content-type", "application/json").body(vec![b' '; 2 << 20]);
    check("a huge body", &send(huge).await);
}

#[tokio::test]
async fn a_browser_that_used_tls_must_use_tls_again() {
    const HSTS: &str = "strict-transport-security";
    let asked = async |hub: &TestHub, host: &str| {
        let url = format!("http://{}/api/health", hub.running().address());
        let reply = reqwest::Client::new().get(url).header("host", host).send().await.expect("an answer");
        reply.headers().get(HSTS).map(|value| value.to_str().expect("text").to_owned())
    };
    // People come through a proxy; this test comes to the port itself, in the proxy's place.
    let hub = TestHub::with(|options| {
        options.public_url = Some("https://floor.example.com".into());
        options.behind_proxy = true;
    })
    .await;
    assert_eq!(asked(&hub, "floor.example.com").await.as_deref(), Some("max-age=31536000"));
    assert!(asked(&hub, "evil.test").await.is_some(), "also with a refusal");
    let port = hub.running().address().port();
    // Other programs answer to this name, too, and not all of them by TLS.
    assert_eq!(asked(&hub, &format!("localhost:{port}")).await, None);
    let hub = TestHub::start().await;
    let port = hub.running().address().port();
    assert_eq!(asked(&hub, &format!("127.0.0.1:{port}")).await, None, "not without TLS");
}
