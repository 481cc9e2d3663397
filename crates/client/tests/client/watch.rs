//! A watch survives reconnects.

use std::time::Duration;

use client::watch::{Event, Watch};
use client::{Client, ClientError, Socket, Token};
use domain::Seq;
use protocol::{Change, CloseCode, FromHub, Problem, ProblemKind};

use crate::fake_socket::{FakeHub, delta, live, sync};

/// A watch's event, in short: positions of deltas, and words for the rest.
async fn next(watch: &mut Watch) -> String {
    match watch.next().await.unwrap() {
        Event::Frame(FromHub::Delta(delta)) => delta.seq.to_string(),
        Event::Frame(FromHub::Welcome { resumed, .. }) => format!("welcome resumed={resumed}"),
        Event::Frame(FromHub::Live { .. }) => "live".to_owned(),
        Event::Frame(FromHub::Sync { .. }) => "sync".to_owned(),
        Event::Frame(other) => panic!("{other:?}"),
        Event::Lost { .. } => "lost".to_owned(),
    }
}

async fn expect(watch: &mut Watch, expected: &[&str]) {
    for expected in expected {
        assert_eq!(next(watch).await, *expected);
    }
}

#[tokio::test]
async fn a_lost_connection_is_resumed_and_nothing_comes_twice() {
    let hub = FakeHub::start().await;
    let mut watch = Watch::new(&hub.url, "t").unwrap();
    let sixth = delta(6);
    let script = async {
        let mut first = hub.accept().await;
        assert_eq!((first.hub, first.since), (None, None));
        first.send(&[hub.welcome(false), sync(5), live(5), sixth.clone()]).await;
        drop(first);
        let mut second = hub.accept().await;
        // The sixth may be incomplete, so it is requested again.
        assert_eq!((second.hub, second.since), (Some(hub.id), Some(Seq(5))));
        second.send(&[hub.welcome(true), sixth.clone(), delta(7), live(9)]).await;
        drop(second);
        let mut third = hub.accept().await;
        assert_eq!(third.since, Some(Seq(9)), "complete, as `live` said");
        third.send(&[hub.welcome(true)]).await;
        third
    };
    let watching = async {
        expect(&mut watch, &["welcome resumed=false", "sync", "live", "6", "lost"]).await;
        expect(&mut watch, &["welcome resumed=true", "7", "live", "lost"]).await;
        assert_eq!(watch.position(), Some(Seq(9)));
        expect(&mut watch, &["welcome resumed=true"]).await;
    };
    tokio::select! {
        ((), third) = async { tokio::join!(watching, script) } => drop(third),
        () = tokio::time::sleep(Duration::from_secs(30)) => panic!("took too long"),
    }
}

#[tokio::test]
async fn unknown_changes_are_skipped_with_their_positions() {
    let hub = FakeHub::start().await;
    let mut watch = Watch::new(&hub.url, "t").unwrap();
    let script = async {
        let mut first = hub.accept().await;
        first.send(&[hub.welcome(false)]).await;
        let known = r#"{"kind":"worker_gone","worker":"wrk_00000000000000000000000000000001"}"#;
        let later = r#"{"kind":"weather","weather":{"rain":true}}"#;
        first
            .send_text(&format!(r#"{{"type":"sync","seq":5,"part":0,"last":true,"changes":[{later},{known}]}}"#))
            .await;
        first.send(&[live(5), delta(6)]).await;
        first
            .send_text(&format!(r#"{{"type":"delta","seq":7,"at":"2026-11-15T21:26:02.113Z","change":{later}}}"#))
            .await;
        drop(first);
        let mut second = hub.accept().await;
        // The seventh may be incomplete, like any other.
        assert_eq!(second.since, Some(Seq(6)));
        second.send(&[hub.welcome(true), delta(8)]).await;
        second
    };
    let watching = async {
        expect(&mut watch, &["welcome resumed=false"]).await;
        let Event::Frame(FromHub::Sync { changes, .. }) = watch.next().await.unwrap() else { panic!("no sync") };
        assert!(matches!(changes.as_slice(), [Change::WorkerGone { .. }]), "{changes:?}");
        expect(&mut watch, &["live", "6", "lost"]).await;
        assert_eq!(watch.position(), Some(Seq(7)));
        expect(&mut watch, &["welcome resumed=true", "8"]).await;
    };
    tokio::select! {
        ((), second) = async { tokio::join!(watching, script) } => drop(second),
        () = tokio::time::sleep(Duration::from_secs(30)) => panic!("took too long"),
    }
}

#[tokio::test]
async fn a_full_sync_starts_over() {
    let hub = FakeHub::start().await;
    let mut watch = Watch::new(&hub.url, "t").unwrap().resume(hub.id, Seq(500));
    let script = async {
        let mut connection = hub.accept().await;
        assert_eq!(connection.since, Some(Seq(500)));
        // The hub's database was replaced by an older one.
        connection.send(&[hub.welcome(false), sync(3), live(3), delta(4)]).await;
        connection
    };
    let (_connection, ()) = tokio::join!(script, expect(&mut watch, &["welcome resumed=false", "sync", "live", "4"]));
}

#[tokio::test]
async fn a_silent_hub_is_left_and_a_pinging_one_is_not() {
    let hub = FakeHub::start().await;
    let mut watch = Watch::new(&hub.url, "t").unwrap().silence_limit(Duration::from_secs(1));
    let script = async {
        let mut pinging = hub.accept().await;
        pinging.send(&[hub.welcome(false)]).await;
        let mut beat = tokio::time::interval(Duration::from_millis(100));
        for _ in 0..15 {
            beat.tick().await;
            pinging.ping().await;
        }
        pinging.send(&[live(1)]).await;
        // From here on it is silent, although its socket stays open.
        let mut again = hub.accept().await;
        again.send(&[hub.welcome(true)]).await;
        (pinging, again)
    };
    let expected = ["welcome resumed=false", "live", "lost", "welcome resumed=true"];
    let (_connections, ()) = tokio::join!(script, expect(&mut watch, &expected));
}

#[tokio::test]
async fn a_revoked_token_ends_the_watch() {
    let hub = FakeHub::start().await;
    let mut watch = Watch::new(&hub.url, "t").unwrap();
    let script = async { hub.accept().await.close(CloseCode::Unauthenticated.code()).await };
    let (error, ()) = tokio::join!(watch.next(), script);
    assert_eq!(kind(error.map(|_| ())), ProblemKind::Unauthenticated);
}

#[tokio::test]
async fn a_renewed_token_resumes_where_the_last_one_ended() {
    let hub = FakeHub::start().await;
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("watch-of-{}", std::process::id()));
    std::fs::write(&path, "sf_one").unwrap();
    let mut watch = Client::with(&hub.url, Token::File(path.clone())).unwrap().watch();
    let script = async {
        let mut first = hub.accept().await;
        assert_eq!(first.token.as_deref(), Some("sf_one"));
        first.send(&[hub.welcome(false), sync(5), live(5)]).await;
        std::fs::write(&path, "sf_two").unwrap();
        first.close(CloseCode::Unauthenticated.code()).await;
        let mut second = hub.accept().await;
        assert_eq!((second.token.as_deref(), second.since), (Some("sf_two"), Some(Seq(5))));
        second.send(&[hub.welcome(true), delta(6)]).await;
        second
    };
    let expected = ["welcome resumed=false", "sync", "live", "lost", "welcome resumed=true", "6"];
    let (_connection, ()) = tokio::join!(script, expect(&mut watch, &expected));
    std::fs::remove_file(path).unwrap();
}

#[tokio::test]
async fn a_refused_handshake_says_why() {
    let hub = FakeHub::start().await;
    let body = serde_json::to_string(&Problem::new(ProblemKind::Unauthenticated, "no such token")).unwrap();
    let length = body.len();
    let response = format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {length}\r\n\r\n{body}");
    let (socket, ()) = tokio::join!(Socket::connect(&hub.url, "t"), hub.refuse(&response));
    let error = socket.map(|_| ());
    assert!(error.as_ref().unwrap_err().to_string().contains("no such token"), "{error:?}");
    assert_eq!(kind(error), ProblemKind::Unauthenticated);
}

#[tokio::test]
async fn an_absent_hub_is_waited_for() {
    let hub = FakeHub::start().await;
    let url = hub.url.clone();
    drop(hub);
    let mut watch = Watch::new(&url, "t").unwrap();
    for _ in 0..3 {
        let Event::Lost { retry_in, .. } = watch.next().await.unwrap() else { panic!("connected to nothing") };
        assert!(retry_in <= Duration::from_secs(15));
    }
}

#[tokio::test]
async fn an_invalid_token_is_refused_before_it_is_sent() {
    let hub = FakeHub::start().await;
    assert_eq!(kind(Socket::connect(&hub.url, "a\nb").await.map(|_| ())), ProblemKind::Unauthenticated);
}

fn kind(result: Result<(), ClientError>) -> ProblemKind {
    result.unwrap_err().problem().unwrap().kind
}
