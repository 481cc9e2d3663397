//! Nothing but the public operations answers without a valid credential, on loopback as anywhere.

use protocol::{Call, TokenCreate};
use serde_json::json;
use testkit::TestHub;

use super::PUBLIC;
use crate::support::operations::{self, Operation};
use crate::support::{Credential, Reply, ann, ask, begin, browser, db, join, observe, send, view};

fn is_public(operation: &Operation) -> bool {
    PUBLIC.contains(&(operation.method.as_str(), operation.template.as_str()))
}

async fn try_it(hub: &TestHub, operation: &Operation, credential: &Credential) -> Reply {
    let mut request = begin(hub, operation.method.clone(), &operation.path).headers(credential.headers(hub.url()));
    if operation.has_body {
        request = request.json(&json!({}));
    }
    send(request).await
}

#[tokio::test]
async fn every_operation_needs_a_credential_except_the_public_ones() {
    let hub = TestHub::start().await;
    let operations = operations::all();
    let public = operations.iter().filter(|operation| is_public(operation)).count();
    assert_eq!(public, PUBLIC.len(), "every public operation is documented");
    for operation in &operations {
        let reply = try_it(&hub, operation, &Credential::None).await;
        if is_public(operation) {
            assert_ne!(reply.status, 401, "{operation:?}");
            assert!(reply.status < 500, "{operation:?}: {}", reply.text);
        } else {
            assert_eq!(reply.status, 401, "{operation:?}: {}", reply.text);
            assert_eq!(reply.headers["content-type"], "application/problem+json");
            assert_eq!(reply.headers["www-authenticate"], "Bearer");
            assert_eq!(reply.body["kind"], "unauthenticated");
        }
    }
}

/// Credentials that are not, or not any more.
async fn useless(hub: &TestHub) -> Vec<(&'static str, Credential)> {
    let person = join(hub, "olga").await;
    let cookie_name = match browser(hub, &person).await {
        Credential::Cookie(cookie) => cookie.split('=').next().expect("a name").to_owned(),
        other => panic!("{other:?}"),
    };
    let make = |name: &str| Call::TokenCreate { input: TokenCreate { name: name.into(), expires_at: None } };
    let revoked = view!(hub, &person, NewToken, make("revoked"));
    ask(hub, &person, Call::TokenRevoke { token: revoked.token.id }).await;
    let expired = view!(hub, &person, NewToken, make("expired"));
    db::run(hub, &format!("UPDATE tokens SET expires_at = 1000 WHERE id = '{}'", expired.token.id)).await;
    let (logged_out, idle, old) =
        (browser(hub, &person).await, browser(hub, &person).await, browser(hub, &person).await);
    // The order in which they came is the order of their ids.
    let logins = "(SELECT id FROM logins ORDER BY id DESC LIMIT 1";
    db::run(hub, &format!("UPDATE logins SET created_at = created_at - 2678400000 WHERE id = {logins})")).await;
    let week = "UPDATE logins SET last_used_at = last_used_at - 691200000 WHERE id =";
    db::run(hub, &format!("{week} {logins} OFFSET 1)")).await;
    assert_eq!(
        send(begin(hub, reqwest::Method::POST, "/api/logout").headers(logged_out.headers(hub.url()))).await.status,
        204
    );
    let disabled = join(hub, "dora").await;
    let disabled_browser = browser(hub, &disabled).await;
    let id = view!(hub, &disabled, Me, Call::Me {}).user.expect("a person").id;
    ask(hub, &ann(hub), Call::UserDisable { user: id }).await;
    let input = protocol::ProjectCreate { content: "shown".into(), ..Default::default() };
    let project = view!(hub, &person, Project, Call::ProjectCreate { input }).id;
    let (visitor, observer) = observe(hub, &person, project).await;
    ask(hub, &person, Call::ObserverRevoke { observer }).await;
    let (late_visitor, observer) = observe(hub, &person, project).await;
    db::run(hub, &format!("UPDATE observers SET expires_at = 1000 WHERE id = '{observer}'")).await;
    let token = |text: &str| Credential::Token(text.to_owned());
    vec![
        ("empty", token("")),
        ("garbage", token("sf_garbage")),
        ("long", token(&"x".repeat(4000))),
        ("quote", token("' OR 1=1 --")),
        ("revoked token", token(&revoked.secret)),
        ("expired token", token(&expired.secret)),
        ("a cookie as a token", token(&hub_secret(&person_cookie(hub, &person).await))),
        ("garbage cookie", Credential::Cookie(format!("{cookie_name}=garbage"))),
        ("empty cookie", Credential::Cookie(format!("{cookie_name}="))),
        ("a token as a cookie", Credential::Cookie(format!("{cookie_name}={}", hub.token()))),
        ("another name's cookie", Credential::Cookie(format!("session={}", hub.token()))),
        ("logged out", logged_out),
        ("idle for a week", idle),
        ("older than a month", old),
        ("disabled person's token", disabled),
        ("disabled person's browser", disabled_browser),
        ("revoked observer", visitor),
        ("expired observer", late_visitor),
    ]
}

async fn person_cookie(hub: &TestHub, person: &Credential) -> String {
    match browser(hub, person).await {
        Credential::Cookie(cookie) => cookie,
        other => panic!("{other:?}"),
    }
}

fn hub_secret(cookie: &str) -> String {
    cookie.split('=').nth(1).expect("a value").to_owned()
}

#[tokio::test]
async fn a_credential_that_is_not_valid_opens_nothing() {
    let hub = TestHub::start().await;
    let operations: Vec<Operation> = operations::all().into_iter().filter(|one| !is_public(one)).collect();
    for (what, credential) in useless(&hub).await {
        for operation in &operations {
            let reply = try_it(&hub, operation, &credential).await;
            assert_eq!(reply.status, 401, "{what}: {operation:?} {}", reply.text);
        }
        let socket = crate::support::Socket::connect(hub.url(), &credential).await;
        assert_eq!(socket.err(), Some(401), "{what}");
    }
    for scheme in ["Basic YW5uOmFubg==", "bearer x", "Bearer", "Token x", ""] {
        let request = begin(&hub, reqwest::Method::GET, "/api/me").header("authorization", scheme);
        assert_eq!(send(request).await.status, 401, "{scheme}");
    }
}
