//! What the tests share: credentials, plain HTTP, raw sockets.

#[path = "../../../../protocol/tests/support/calls.rs"]
pub(crate) mod calls;
pub(crate) mod db;
pub(crate) mod operations;
pub(crate) mod raw;
pub(crate) mod runner;
pub(crate) mod socket;
pub(crate) mod state;

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};

use client::{HttpRequest, request};
use protocol::{Answer, Call, ObserverCreate};
use reqwest::header::HeaderMap;
use reqwest::{Method, RequestBuilder};
use serde_json::Value;
use testkit::TestHub;

pub(crate) use runner::FakeRunner;
pub(crate) use socket::Socket;

/// One pool of connections for all requests of a test.
static HTTP: LazyLock<reqwest::Client> = LazyLock::new(|| {
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy();
    // Each test has a runtime of its own: a pooled connection would outlive it.
    builder.pool_max_idle_per_host(0).build().expect("an HTTP client can be made")
});

/// What somebody shows to come in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    /// `Authorization: Bearer …`.
    Token(String),
    /// The login cookie as `name=value`.
    Cookie(String),
    /// Nothing.
    None,
}

impl Credential {
    /// The token of a client.
    pub(crate) fn of(client: &client::Client) -> Self {
        Self::Token(client.token().expect("a client of a test has a token").to_owned())
    }

    /// The headers that show it; a cookie comes from the hub's own page.
    pub(crate) fn headers(&self, hub: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let value = |text: &str| text.parse().expect("a header value is plain text");
        match self {
            Self::Token(token) => {
                headers.insert("authorization", value(&format!("Bearer {token}")));
            }
            Self::Cookie(cookie) => {
                headers.insert("cookie", value(cookie));
                headers.insert("origin", value(hub));
            }
            Self::None => {}
        }
        headers
    }
}

/// A response: status, headers, and the body as far as it is JSON.
#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
}

/// Begins a request to a path of the hub.
pub(crate) fn begin(hub: &TestHub, method: Method, path: &str) -> RequestBuilder {
    HTTP.request(method, format!("{}{path}", hub.url()))
}

/// A name that nothing else in this process has.
pub(crate) fn fresh(word: &str) -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("{word} {}", COUNT.fetch_add(1, Ordering::Relaxed))
}

/// Sends a request.
pub(crate) async fn send(request: RequestBuilder) -> Reply {
    let answer = request.send().await.expect("the hub answers");
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    let text = answer.text().await.expect("the body comes");
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    Reply { status, headers, body, text }
}

/// A verb over HTTP.
pub(crate) async fn call(hub: &TestHub, credential: &Credential, call: &Call) -> Reply {
    let HttpRequest { method, path, query, body, .. } = request(call);
    let mut request = begin(hub, method, &path).query(&query).headers(credential.headers(hub.url()));
    if let Some(body) = body {
        request = request.json(&body);
    }
    send(request).await
}

/// A verb over HTTP that must succeed.
pub(crate) async fn ask(hub: &TestHub, credential: &Credential, verb: Call) -> Answer {
    let reply = call(hub, credential, &verb).await;
    assert!(reply.status < 300, "{} is allowed: {} {}", verb.verb(), reply.status, reply.text);
    request(&verb).decode(reply.text.as_bytes()).expect("the answer is readable")
}

/// A verb whose view is wanted.
macro_rules! view {
    ($hub:expr, $credential:expr, $variant:ident, $call:expr) => {
        match $crate::support::ask($hub, $credential, $call).await {
            protocol::Answer::$variant(view) => view,
            other => panic!("another kind of answer: {other:?}"),
        }
    };
}
pub(crate) use view;

/// The secret of a link.
pub(crate) fn secret(link: &str) -> String {
    link.split('#').nth(1).expect("a link has a secret").to_owned()
}

/// A new person with a token.
pub(crate) async fn join(hub: &TestHub, name: &str) -> Credential {
    Credential::of(&hub.join(name).await)
}

/// The hub's owner, `ann`.
pub(crate) fn ann(hub: &TestHub) -> Credential {
    Credential::Token(hub.token())
}

/// A browser that looks at a project by a fresh observer link; the link's id comes with it.
pub(crate) async fn observe(
    hub: &TestHub,
    owner: &Credential,
    project: domain::ProjectId,
) -> (Credential, domain::ObserverId) {
    let input = ObserverCreate { name: "a visitor".into(), expires_at: None };
    let made = view!(hub, owner, NewObserver, Call::ObserverCreate { project, input });
    let secret = protocol::LinkSecret { secret: secret(&made.link) };
    (Credential::Cookie(hub.enter("/api/observe", &secret).await), made.observer.id)
}

/// A browser logged in with the credential's identity.
pub(crate) async fn browser(hub: &TestHub, person: &Credential) -> Credential {
    let link = view!(hub, person, LoginLink, Call::LoginLink {});
    let secret = protocol::LinkSecret { secret: secret(&link.link) };
    Credential::Cookie(hub.enter("/api/login", &secret).await)
}
