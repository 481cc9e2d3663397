//! A name that was rebound to our address reaches nothing (T3).

use testkit::TestHub;

use crate::support::operations;
use crate::support::raw::exchange;

/// Routes that are in no document.
const OTHERS: [&str; 7] = ["/", "/index.html", "/assets/x.js", "/p/x", "/api/ws", "/api/openapi.json", "/api/nowhere"];

#[tokio::test]
async fn a_foreign_host_is_misdirected_on_every_route() {
    let hub = TestHub::start().await;
    let token = hub.token();
    let port = hub.url().rsplit(':').next().expect("a port").to_owned();
    let mut routes: Vec<(String, String)> =
        operations::all().into_iter().map(|one| (one.method.to_string(), one.path)).collect();
    routes.extend(OTHERS.map(|path| ("GET".to_owned(), path.to_owned())));
    for (method, path) in routes {
        for (host, origin) in [
            (format!("attacker.test:{port}"), format!("http://attacker.test:{port}")),
            ("attacker.test".to_owned(), "http://attacker.test".to_owned()),
            (format!("127.0.0.1.attacker.test:{port}"), hub.url().to_owned()),
        ] {
            for origin in [format!("Origin: {origin}\r\n"), String::new()] {
                let head = format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{origin}");
                let head =
                    format!("{head}Authorization: Bearer {token}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
                let (status, text) = exchange(&hub, head.as_bytes()).await;
                assert!(matches!(status, Some(421 | 403)), "{head}{text}");
            }
        }
    }
}

#[tokio::test]
async fn hosts_are_compared_as_names_not_as_texts() {
    let hub = TestHub::start().await;
    let port = hub.url().rsplit(':').next().expect("a port").to_owned();
    let ask = async |lines: String| {
        let head = format!("GET /api/health HTTP/1.1\r\n{lines}Connection: close\r\n\r\n");
        exchange(&hub, head.as_bytes()).await.0
    };
    for good in ["127.0.0.1", "localhost", "LocalHost", "localhost.", "[::1]"] {
        assert_eq!(ask(format!("Host: {good}:{port}\r\n")).await, Some(200), "{good}");
    }
    let ours = format!("127.0.0.1:{port}");
    for bad in [
        "Host: localhost\r\n".to_owned(),
        "Host: localhost:1\r\n".to_owned(),
        "Host: \r\n".to_owned(),
        format!("Host: localhost..evil:{port}\r\n"),
        format!("Host: 0.0.0.0:{port}\r\n"),
        format!("Host: 127.1:{port}\r\n"),
        format!("Host: 2130706433:{port}\r\n"),
        format!("Host: user@{ours}\r\n"),
        format!("Host: {ours}/x\r\n"),
        format!("Host: \u{7f}{ours}\r\n"),
        format!("Host: evil.test\r\nHost: {ours}\r\n"),
        format!("Host: {ours}\r\nHost: evil.test\r\n"),
        format!("X-Forwarded-Host: {ours}\r\nHost: evil.test\r\n"),
        String::new(),
    ] {
        let status = ask(bad.clone()).await;
        assert!(matches!(status, Some(400 | 421)), "{bad:?}: {status:?}");
    }
    // In absolute form both names count.
    let head = format!("GET http://evil.test/api/health HTTP/1.1\r\nHost: {ours}\r\nConnection: close\r\n\r\n");
    assert_eq!(exchange(&hub, head.as_bytes()).await.0, Some(421));
    let (status, text) = exchange(&hub, b"GET /api/health HTTP/1.0\r\n\r\n").await;
    assert!(!text.contains("200 OK"), "{status:?} {text}");
}

#[tokio::test]
async fn only_named_hosts_are_allowed_besides_our_own() {
    let hub = TestHub::with(|options| {
        options.public_url = Some("https://floor.example.com".into());
        options.allow_hosts = vec!["inside.example.com:8080".into()];
    })
    .await;
    let ask = async |host: &str| {
        let request = reqwest::Client::new().get(format!("http://{}/api/health", hub.running().address()));
        request.header("host", host).send().await.expect("an answer").status().as_u16()
    };
    for host in ["floor.example.com", "FLOOR.example.com.", "inside.example.com:8080"] {
        assert_eq!(ask(host).await, 200, "{host}");
    }
    for host in ["inside.example.com", "example.com", "x.floor.example.com", "floor.example.com:1"] {
        assert_eq!(ask(host).await, 421, "{host}");
    }
}
