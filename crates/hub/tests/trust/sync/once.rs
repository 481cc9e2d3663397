//! Every request gets exactly one answer, and a retry with the same key acts once.

use std::collections::BTreeMap;

use domain::Visibility;
use protocol::{Answer, Call, FromHub, MessagePage, MessageText, ProblemKind, ProjectCreate, ToHub, TokenCreate};
use reqwest::Method;
use serde_json::json;
use testkit::TestHub;

use super::project;
use crate::support::socket::Came;
use crate::support::{Socket, ann, begin, join, send, view};

#[tokio::test]
async fn every_request_gets_exactly_one_answer() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let open = project(&hub, &ann, "open", Visibility::Private).await;
    let mut socket = Socket::live(hub.url(), &ann).await;
    // Many at once, more than run together, some of which are refused.
    for id in 0..300_u32 {
        let call = match id % 4 {
            0 => Call::Me {},
            1 => Call::ChatSend { project: open, input: MessageText { content: format!("message {id}") } },
            2 => Call::ProjectShow { project: domain::ProjectId::generate() },
            _ => Call::ChatSend { project: open, input: MessageText { content: String::new() } },
        };
        socket.send(&ToHub::Request { id, key: None, call }).await;
    }
    // One that cannot be read, but says which it is.
    socket.text(r#"{"type":"request","id":300,"call":{"verb":"no.such.verb"}}"#).await;
    let mut answers: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
    while answers.len() < 301 {
        match socket.next().await {
            Came::Frame(frame) => match *frame {
                FromHub::Answer { id, .. } => answers.entry(id).or_insert((0, true)).0 += 1,
                FromHub::Error { id: Some(id), .. } => answers.entry(id).or_insert((0, false)).0 += 1,
                FromHub::Error { id: None, problem } => panic!("an error about nothing: {problem:?}"),
                _ => {}
            },
            Came::Closed(code) => panic!("closed with {code:?}"),
        }
    }
    // A second answer to any of them would have come before this one.
    socket.ask(Call::Me {}).await.expect("still here");
    for frame in socket.early {
        assert!(!matches!(frame, FromHub::Answer { .. } | FromHub::Error { .. }), "{frame:?}");
    }
    for (id, (count, done)) in answers {
        assert_eq!((count, done), (1, id < 300 && id % 4 < 2), "request {id}");
    }
}

#[tokio::test]
async fn a_retry_with_the_same_key_acts_once_on_either_way() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let open = project(&hub, &ann, "open", Visibility::Private).await;
    let send_it = || Call::ChatSend { project: open, input: MessageText { content: "once".into() } };
    let over_http = || async {
        let request = begin(&hub, Method::POST, &format!("/api/projects/{open}/messages"));
        let request = request.headers(ann.headers(hub.url())).header("idempotency-key", "k1");
        send(request.json(&json!({"content": "once"}))).await
    };
    let first = over_http().await;
    let again = over_http().await;
    assert_eq!((first.status, &first.body), (201, &again.body));

    // The same key over a socket is the same request.
    let mut socket = Socket::live(hub.url(), &ann).await;
    let over_socket = socket.ask_with_key(send_it(), Some("k1")).await.expect("answered as the first time");
    assert!(matches!(over_socket, Answer::Message(message) if json!(message) == first.body));
    let other = socket.ask_with_key(send_it(), Some("k2")).await.expect("another key acts again");
    assert!(matches!(other, Answer::Message(message) if message.number == 2));
    let mut second = Socket::live(hub.url(), &ann).await;
    second.ask_with_key(send_it(), Some("k2")).await.expect("a retry on a new connection");

    // A key is for one request, and one person.
    let reused = Call::ChatSend { project: open, input: MessageText { content: "other".into() } };
    let refused = socket.ask_with_key(reused, Some("k1")).await.expect_err("the key was used for something else");
    assert_eq!(refused.kind, ProblemKind::Conflict);
    let bo = join(&hub, "bo").await;
    let mut socket = Socket::live(hub.url(), &bo).await;
    let theirs = Call::ProjectCreate { input: ProjectCreate { content: "theirs".into(), ..Default::default() } };
    socket.ask_with_key(theirs, Some("k1")).await.expect("another person's key is another key");

    let page = MessagePage::default();
    let history = view!(&hub, &ann, Messages, Call::ChatHistory { project: open, page });
    assert_eq!(history.len(), 2, "two keys, two messages");
}

#[tokio::test]
async fn many_retries_at_once_act_once() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let open = project(&hub, &ann, "open", Visibility::Private).await;
    let mut socket = Socket::live(hub.url(), &ann).await;
    for id in 0..20 {
        let call = Call::ChatSend { project: open, input: MessageText { content: "once".into() } };
        socket.send(&ToHub::Request { id, key: Some("k".into()), call }).await;
    }
    let mut numbers = Vec::new();
    while numbers.len() < 20 {
        match socket.next().await {
            Came::Frame(frame) => {
                if let FromHub::Answer { answer: Answer::Message(message), .. } = *frame {
                    numbers.push(message.number);
                }
            }
            Came::Closed(code) => panic!("closed with {code:?}"),
        }
    }
    assert!(numbers.iter().all(|number| *number == 1), "{numbers:?}");
}

#[tokio::test]
async fn a_secret_is_not_kept_for_a_retry() {
    let hub = TestHub::start().await;
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    let make = || Call::TokenCreate { input: TokenCreate { name: "t".into(), expires_at: None } };
    socket.ask_with_key(make(), Some("k")).await.expect("made");
    let again = socket.ask_with_key(make(), Some("k")).await.expect_err("the secret is gone");
    assert_eq!(again.kind, ProblemKind::Conflict);
    for key in ["", " ", "a\nb", &"x".repeat(129)] {
        let refused = socket.ask_with_key(make(), Some(key)).await.expect_err("no key of this form");
        assert_eq!(refused.errors.first().map(|error| error.field.as_str()), Some("key"), "{key:?}");
    }
}
