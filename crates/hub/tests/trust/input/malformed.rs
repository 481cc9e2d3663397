//! What cannot be read: a clear refusal, a cap, and the hub goes on.

use protocol::{Call, FromHub, MAX_FRAME, Problem, ProblemKind};
use reqwest::Method;
use testkit::TestHub;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use tokio_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use crate::support::socket::Came;
use crate::support::{Reply, Socket, ann, begin, send};

/// Bodies that are no project.
const BODIES: [&str; 22] = [
    "",
    " ",
    "{",
    "}",
    "[]",
    "null",
    "true",
    "1",
    "\"text\"",
    "{}",
    "{\"content\": 1}",
    "{\"content\": null}",
    "{\"content\": [\"x\"]}",
    "{\"content\": \"x\", \"visibility\": \"Private\"}",
    "{\"content\": \"x\", \"visibility\": \"everybody\"}",
    "{\"content\": \"x\", \"share_execution\": \"yes\"}",
    "{\"content\": \"x\", \"retention_days\": -1}",
    "{\"content\": \"x\", \"retention_days\": 1e99}",
    "{\"content\": \"x\", \"surprise\": 1}",
    "{\"content\": \"x\", \"repositories\": {}}",
    "{\"content\": \"\\ud800\"}",
    "{\"content\": \"x\"} trailing",
];

async fn post(hub: &TestHub, body: Vec<u8>, kind: &str) -> Reply {
    let request = begin(hub, Method::POST, "/api/projects").headers(ann(hub).headers(hub.url()));
    send(request.header("content-type", kind).body(body)).await
}

fn is_problem(reply: &Reply) -> bool {
    let problem = serde_json::from_value::<Problem>(reply.body.clone());
    problem.is_ok_and(|problem| problem.status == reply.status && !problem.detail.is_empty())
        && reply.headers["content-type"] == "application/problem+json"
}

#[tokio::test]
async fn unreadable_bodies_are_refused_with_a_reason() {
    let hub = TestHub::start().await;
    for body in BODIES {
        let reply = post(&hub, body.as_bytes().to_vec(), "application/json").await;
        assert!(reply.status == 400 && is_problem(&reply), "{body}: {} {}", reply.status, reply.text);
    }
    for bytes in [b"{\"content\": \"\xff\xfe\"}".to_vec(), b"\x00\x01\x02".to_vec(), b"\xef\xbb\xbf{}".to_vec()] {
        let reply = post(&hub, bytes.clone(), "application/json").await;
        assert!(reply.status == 400 && is_problem(&reply), "{bytes:?}: {} {}", reply.status, reply.text);
    }
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "text/html", "x"] {
        let reply = post(&hub, b"{\"content\": \"x\"}".to_vec(), kind).await;
        assert!(reply.status == 415 && is_problem(&reply), "a form of another site cannot write: {kind}");
    }
    for depth in [100, 1_000, 100_000] {
        let deep = format!("{{\"content\": {}1{}}}", "[".repeat(depth), "]".repeat(depth));
        let reply = post(&hub, deep.into_bytes(), "application/json").await;
        assert!(reply.status == 400 && is_problem(&reply), "depth {depth}");
    }
    let large = format!("{{\"content\": \"{}\"}}", "x".repeat(2 * 1024 * 1024));
    let reply = post(&hub, large.into_bytes(), "application/json").await;
    assert!(reply.status == 413 && is_problem(&reply), "{} {}", reply.status, reply.text);
}

#[tokio::test]
async fn unreadable_paths_and_queries_are_refused_with_a_reason() {
    let hub = TestHub::start().await;
    let id = "01a1e119f7ce75098aed4a97f220a95d";
    for path in [
        "/api/projects/x".to_owned(),
        "/api/projects/prj_".to_owned(),
        format!("/api/projects/act_{id}"),
        format!("/api/projects/prj_{}", id.to_uppercase()),
        "/api/projects/%00".to_owned(),
        "/api/projects/%ff".to_owned(),
        "/api/projects/..%2f..%2fetc%2fpasswd".to_owned(),
        format!("/api/projects/prj_{id}/messages?limit=0"),
        format!("/api/projects/prj_{id}/messages?limit=201"),
        format!("/api/projects/prj_{id}/messages?limit=-1"),
        format!("/api/projects/prj_{id}/messages?before=x"),
        format!("/api/projects/prj_{id}/messages?surprise=1"),
        "/api/audit?limit=99999".to_owned(),
        "/api/audit?before=99999999999999999999".to_owned(),
        "/api/audit?project=x".to_owned(),
        "/api/activities?project=x".to_owned(),
    ] {
        let reply = send(begin(&hub, Method::GET, &path).headers(ann(&hub).headers(hub.url()))).await;
        assert!(reply.status == 400 && is_problem(&reply), "{path}: {} {}", reply.status, reply.text);
    }
    for path in ["/api/nowhere", "/api", "/api/", "/api/projects/x/y/z"] {
        let reply = send(begin(&hub, Method::GET, path)).await;
        assert!(reply.status == 404 && is_problem(&reply), "{path}: {} {}", reply.status, reply.text);
    }
}

#[tokio::test]
async fn an_unreadable_frame_is_answered_and_the_socket_stays_open() {
    let hub = TestHub::start().await;
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    socket.until("presence", |frame| matches!(frame, FromHub::Presence { reset: true, .. })).await;
    let deep = format!("{{\"type\":\"request\",\"id\":5,\"call\":{}{}}}", "[".repeat(5000), "]".repeat(5000));
    let many = format!("{{\"type\":\"look\",\"at\":{}}}", "1".repeat(100_000));
    for (text, id) in [
        ("", None),
        ("{", None),
        ("null", None),
        ("[]", None),
        ("\"x\"", None),
        ("{}", None),
        ("{\"type\":\"nothing\"}", None),
        ("{\"type\":1}", None),
        ("{\"type\":\"welcome\"}", None),
        ("{\"type\":\"request\"}", None),
        ("{\"type\":\"request\",\"id\":\"7\",\"call\":{\"verb\":\"me\"}}", None),
        ("{\"type\":\"request\",\"id\":-1,\"call\":{\"verb\":\"me\"}}", None),
        ("{\"type\":\"request\",\"id\":4294967296,\"call\":{\"verb\":\"me\"}}", None),
        ("{\"type\":\"request\",\"id\":1}", Some(1)),
        ("{\"type\":\"request\",\"id\":2,\"call\":{\"verb\":\"no.such\"}}", Some(2)),
        ("{\"type\":\"request\",\"id\":3,\"call\":{\"verb\":\"me\",\"surprise\":1}}", Some(3)),
        ("{\"type\":\"request\",\"id\":4,\"call\":{\"verb\":\"project.show\",\"project\":\"x\"}}", Some(4)),
        ("{\"type\":\"request\",\"id\":6,\"surprise\":1,\"call\":{\"verb\":\"me\"}}", Some(6)),
        ("{\"type\":\"request\",\"id\":7,\"key\":7,\"call\":{\"verb\":\"me\"}}", Some(7)),
        ("{\"type\":\"look\",\"at\":{\"project\":1}}", None),
        (deep.as_str(), None),
        (many.as_str(), None),
    ] {
        socket.text(text).await;
        let answer = socket.next().await;
        let Came::Frame(frame) = answer else { panic!("{text:.80} ended the socket: {answer:?}") };
        let FromHub::Error { id: told, problem } = *frame else { panic!("{text:.80} was taken: {frame:?}") };
        assert_eq!((told, problem.kind), (id, ProblemKind::Invalid), "{text:.80}");
        assert!(problem.detail.len() > 20 && problem.detail.len() < 2000, "{}", problem.detail);
    }
    socket.raw(Message::binary(b"{\"type\":\"look\"}".to_vec())).await;
    socket.until("a refusal", |frame| matches!(frame, FromHub::Error { id: None, .. })).await;
    socket.raw(Message::Ping(vec![1, 2, 3].into())).await;
    socket.ask(Call::Me {}).await.expect("the socket goes on");
}

#[tokio::test]
async fn a_frame_that_breaks_the_protocol_closes_the_socket() {
    let hub = TestHub::start().await;
    let text = |payload: Vec<u8>| Frame::message(payload, OpCode::Data(Data::Text), true);
    let reserved = {
        let header = FrameHeader { rsv1: true, opcode: OpCode::Data(Data::Text), ..Default::default() };
        Frame::from_payload(header, b"{}".to_vec().into())
    };
    for (what, frame, code) in [
        ("broken UTF-8", text(b"{\"type\":\"look\xff\"}".to_vec()), 1002),
        ("cut UTF-8", text(b"\xf0\x9f\x98".to_vec()), 1002),
        ("reserved bits", reserved, 1002),
        ("too large", text(vec![b' '; 2 * MAX_FRAME]), 1009),
    ] {
        let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
        socket.raw(Message::Frame(frame)).await;
        assert_eq!(socket.until_closed().await.1, Some(code), "{what}");
    }
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    for part in 0..40 {
        // A message in parts is as large as all of them.
        let opcode = if part == 0 { Data::Text } else { Data::Continue };
        socket.raw(Message::Frame(Frame::message(vec![b' '; MAX_FRAME / 16], OpCode::Data(opcode), false))).await;
    }
    assert_eq!(socket.until_closed().await.1, Some(1009));
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    let request = br#"{"type":"request","id":77,"call":{"verb":"me"}}"#;
    for (index, byte) in request.iter().enumerate() {
        let opcode = if index == 0 { Data::Text } else { Data::Continue };
        let last = index + 1 == request.len();
        socket.raw(Message::Frame(Frame::message(vec![*byte], OpCode::Data(opcode), last))).await;
    }
    socket
        .until("an answer to a frame in parts of a byte", |frame| matches!(frame, FromHub::Answer { id: 77, .. }))
        .await;
    socket.text(format!("{{\"type\":\"look\"{}}}", " ".repeat(MAX_FRAME - 100))).await;
    socket.ask(Call::Me {}).await.expect("just small enough");
}

#[tokio::test]
async fn a_client_that_sends_only_garbage_is_cut_off() {
    let hub = TestHub::start().await;
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    for number in 0..1000 {
        socket.text(format!("garbage {number}")).await;
    }
    let (frames, code) = socket.until_closed().await;
    let errors = frames.iter().filter(|frame| matches!(frame, FromHub::Error { .. })).count();
    assert!(errors <= 100, "{errors} answers");
    // The rest of the garbage may have been on its way: then the connection is reset.
    assert!(matches!(code, Some(1002) | None), "{code:?}");
    Socket::live(hub.url(), &ann(&hub)).await.ask(Call::Me {}).await.expect("others go on");
}
