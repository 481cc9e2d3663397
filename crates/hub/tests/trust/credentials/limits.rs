//! How much is taken from whom (T20).

use protocol::{Call, FromHub, ProblemKind, ToHub};
use reqwest::Method;
use serde_json::json;
use testkit::TestHub;

use crate::support::socket::Came;
use crate::support::{Credential, Socket, ann, begin, call, send};

#[tokio::test]
async fn guessing_is_slowed_down_and_valid_credentials_are_not() {
    let hub = TestHub::with(|options| options.limits.entries_per_minute = 5).await;
    for (path, body) in [
        ("/api/login", json!({"secret": "guess"})),
        ("/api/observe", json!({"secret": "guess"})),
        ("/api/invites/accept", json!({"secret": "guess", "name": "eve"})),
    ] {
        let mut refused = None;
        for _ in 0..12 {
            let reply = send(begin(&hub, Method::POST, path).header("origin", hub.url()).json(&body)).await;
            if reply.status == 429 {
                refused = Some(reply);
                break;
            }
            assert_eq!(reply.status, 404, "{path}");
        }
        let refused = refused.expect("guessing is slowed down");
        let wait: u32 = refused.headers["retry-after"].to_str().expect("text").parse().expect("seconds");
        assert!((1..=60).contains(&wait), "{wait}");
        assert_eq!(refused.body["kind"], "rate_limited");
        assert_eq!(refused.body["retry_after_seconds"], wait);
    }
    let guess = Credential::Token("sf_guess".into());
    assert_eq!(call(&hub, &guess, &Call::Me {}).await.status, 429, "guessing tokens counts as well");
    assert_eq!(Socket::connect(hub.url(), &guess).await.err(), Some(429));
    for _ in 0..20 {
        assert_eq!(call(&hub, &ann(&hub), &Call::Me {}).await.status, 200, "an earlier login stays valid");
    }
}

#[tokio::test]
async fn requests_are_limited_by_credential_over_http() {
    let hub = TestHub::with(|options| options.limits.requests_per_second = 3).await;
    let ann = ann(&hub);
    let replies = futures_util::future::join_all((0..40).map(|_| call(&hub, &ann, &Call::Me {}))).await;
    let refused: Vec<_> = replies.iter().filter(|reply| reply.status == 429).collect();
    assert!(!refused.is_empty());
    assert!(refused.iter().all(|reply| reply.headers["retry-after"] == "1" && reply.body["kind"] == "rate_limited"));
    assert!(replies.iter().any(|reply| reply.status == 200));
    assert!(replies.iter().all(|reply| matches!(reply.status, 200 | 429)));
}

#[tokio::test]
async fn requests_are_limited_by_credential_over_sockets() {
    let hub = TestHub::with(|options| options.limits.requests_per_second = 3).await;
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    for id in 0..40 {
        socket.send(&ToHub::Request { id, key: None, call: Call::Me {} }).await;
    }
    let (mut answered, mut refused) = (0, 0);
    while answered + refused < 40 {
        match socket.next().await {
            Came::Frame(frame) => match *frame {
                FromHub::Answer { .. } => answered += 1,
                FromHub::Error { id: Some(_), problem } => {
                    assert_eq!(problem.kind, ProblemKind::RateLimited);
                    assert!(problem.retry_after_seconds.is_some());
                    refused += 1;
                }
                _ => {}
            },
            Came::Closed(code) => panic!("closed with {code:?}"),
        }
    }
    assert!(refused > 0, "a flood is answered, each with a refusal");
    // Presence is sent to everybody: it counts as well.
    for _ in 0..40 {
        socket.send(&ToHub::Look { at: None, visible: false }).await;
    }
    socket
        .until("a refusal of looks", |frame| match frame {
            FromHub::Error { id: None, problem } => problem.kind == ProblemKind::RateLimited,
            _ => false,
        })
        .await;
}
