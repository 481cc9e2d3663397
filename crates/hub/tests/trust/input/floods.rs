//! Floods and half-open connections: somebody with a credential still gets in (T12).

use std::time::Duration;

use protocol::{Call, FromHub, ToHub};
use testkit::TestHub;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::support::raw::connect;
use crate::support::socket::Came;
use crate::support::{Socket, ann, call};

/// How many connections may be open at once, ours and the hub's, in this process.
fn room() -> usize {
    let limits = std::fs::read_to_string("/proc/self/limits").expect("limits");
    let line = limits.lines().find(|line| line.starts_with("Max open files")).expect("open files");
    let soft = line.split_whitespace().nth(3).expect("a number").parse().unwrap_or(1024_usize);
    soft.saturating_sub(200)
}

/// Waits until the hub has closed the connection.
async fn closed(stream: &mut TcpStream) -> bool {
    // What is no HTTP at all gets a refusal first; a connection that is reset is closed, too.
    let mut answer = Vec::new();
    tokio::time::timeout(Duration::from_secs(60), stream.read_to_end(&mut answer)).await.is_ok()
}

#[tokio::test]
async fn half_open_connections_do_not_block_others() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let mut old = Socket::live(hub.url(), &ann).await;
    // As many as this process may hold; those that the hub drops make room on its side.
    let count = room().min(10_000);
    assert!(count > 300, "too few file descriptors to say anything: {count}");
    let mut open = Vec::new();
    for number in 0..count {
        let mut stream = connect(&hub).await;
        // Some send nothing, some begin a request and stop.
        match number % 3 {
            0 => {}
            1 => stream.write_all(b"GET /api/me HTTP/1.1\r\nHost: ").await.expect("sent"),
            _ => stream.write_all(b"\x16\x03\x01").await.expect("sent"),
        }
        open.push(stream);
        if number % 500 == 250 {
            assert_eq!(call(&hub, &ann, &Call::Me {}).await.status, 200, "after {number}");
        }
    }
    Socket::live(hub.url(), &ann).await.ask(Call::Me {}).await.expect("let in");
    old.ask(Call::Me {}).await.expect("an earlier login stays valid");
    // All but the last few were given up for newer ones; not after a time-out, at once.
    for stream in open.iter_mut().take(count - 200) {
        assert!(closed(stream).await);
    }
}

#[tokio::test]
async fn a_head_that_comes_byte_by_byte_does_not_last() {
    let hub = TestHub::start().await;
    let mut stream = connect(&hub).await;
    stream.write_all(b"GET / HTTP/1.1\r\nHost: ").await.expect("sent");
    let (mut read, mut write) = stream.into_split();
    let drip = tokio::spawn(async move {
        // Never finished, always alive.
        while write.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    });
    let mut answer = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(60), read.read_to_end(&mut answer)).await;
    assert!(ended.is_ok(), "the hub ends it");
    drip.abort();
}

#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let hub = TestHub::start().await;
    let host = hub.running().address();
    let many: String = (0..200).map(|number| format!("X-{number}: {}\r\n", "x".repeat(400))).collect();
    let long = format!("X-Long: {}\r\n", "x".repeat(100_000));
    for lines in [many, long, format!("Cookie: {}\r\n", "a=b; ".repeat(20_000))] {
        let head = format!("GET /api/health HTTP/1.1\r\nHost: {host}\r\n{lines}\r\n");
        let (status, _) = crate::support::raw::exchange(&hub, head.as_bytes()).await;
        assert!(matches!(status, Some(431 | 400) | None), "{status:?}");
    }
    assert_eq!(call(&hub, &ann(&hub), &Call::Me {}).await.status, 200);
}

#[tokio::test]
async fn a_flood_of_requests_slows_down_only_its_sender() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let mut flood = Socket::live(hub.url(), &ann).await;
    let (mut sent, mut answered) = (0_u32, 0_u32);
    let mut other = Socket::live(hub.url(), &ann).await;
    while answered < 5000 {
        while sent < 5000 && sent < answered + 500 {
            flood
                .send(&ToHub::Request { id: sent, key: None, call: Call::AuditList { page: Default::default() } })
                .await;
            sent += 1;
        }
        match flood.fresh().await {
            Came::Frame(frame) => answered += u32::from(matches!(*frame, FromHub::Answer { .. })),
            Came::Closed(code) => panic!("closed with {code:?}"),
        }
        if answered % 500 == 250 {
            other.ask(Call::Me {}).await.expect("others are answered meanwhile");
        }
    }
}

#[tokio::test]
async fn many_requests_on_one_connection_are_answered_in_turn() {
    let hub = TestHub::start().await;
    let (host, token) = (hub.running().address(), hub.token());
    let one = format!("GET /api/me HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
    let last = format!("GET /api/me HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
    let (_, text) = crate::support::raw::exchange(&hub, (one.repeat(200) + &last).as_bytes()).await;
    assert_eq!(text.matches("HTTP/1.1 200").count(), 200);
    assert_eq!(text.matches("HTTP/1.1 401").count(), 1, "a credential is each request's own");
}
