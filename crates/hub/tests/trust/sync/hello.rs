//! `hello`: a full sync, or only what was missed.

use domain::{HubId, Seq, Visibility};
use protocol::{Change, FromHub, PROTOCOL, ProblemKind};
use testkit::{TestHub, wait_until};

use super::{activity, project, resume, say};
use crate::support::socket::{Came, change};
use crate::support::state::Follower;
use crate::support::{Credential, Socket, ann, join};

#[tokio::test]
async fn a_first_hello_brings_everything_and_a_later_one_what_was_missed() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let open = project(&hub, &ann, "open", Visibility::ReadOnly).await;
    let mut socket = Socket::connect(hub.url(), &ann).await.expect("let in");
    let (resumed, _) = resume(&mut socket, None).await;
    assert!(!resumed);
    let mut follower = Follower::default();
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    assert!(follower.state.projects.contains_key(&open) && follower.state.users.len() == 1);
    drop(socket);

    let made = activity(&hub, &ann, open, "meanwhile").await;
    say(&hub, &ann, open, "meanwhile, too").await;
    let mut socket = Socket::connect(hub.url(), &ann).await.expect("let in");
    let (resumed, live) = resume(&mut socket, follower.seen).await;
    assert!(resumed);
    let changes: Vec<&Change> = socket.early.iter().filter_map(change).collect();
    assert!(
        matches!(changes[..], [Change::Activity { activity }, Change::Message { message, .. }]
            if activity.id == made && message.content == "meanwhile, too"),
        "{changes:?}"
    );
    assert_eq!(live.0, follower.seen.expect("synced").1.0 + 2);
    assert!(!socket.early.iter().any(|frame| matches!(frame, FromHub::Sync { .. })));
}

#[tokio::test]
async fn a_client_that_cannot_resume_gets_a_full_sync() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    project(&hub, &ann, "one", Visibility::Private).await;
    let mut socket = Socket::connect(hub.url(), &ann).await.expect("let in");
    let (_, newest) = resume(&mut socket, None).await;
    let id = socket.early.iter().find_map(|frame| match frame {
        FromHub::Welcome { hub, .. } => Some(*hub),
        _ => None,
    });
    let id = id.expect("welcome names the database");
    for (seen, resumes) in [
        (Some((id, newest)), true),
        (Some((id, Seq(0))), true),
        (Some((HubId::generate(), newest)), false),
        (Some((id, Seq(newest.0 + 1))), false),
        (Some((id, Seq(u64::MAX))), false),
        (None, false),
    ] {
        let mut socket = Socket::connect(hub.url(), &ann).await.expect("let in");
        let (resumed, live) = resume(&mut socket, seen).await;
        assert_eq!((resumed, live), (resumes, newest), "{seen:?}");
        let synced = socket.early.iter().any(|frame| matches!(frame, FromHub::Sync { .. }));
        assert_eq!(synced, !resumes, "{seen:?}");
    }
}

#[tokio::test]
async fn a_client_older_than_the_horizon_is_synced_whole() {
    let folder = tempfile::tempdir().expect("a folder");
    let database = format!("sqlite:{}", folder.path().join("shared.db").display());
    let hub = TestHub::with(|options| options.database = database.clone()).await;
    let person = ann(&hub);
    let mut follower = Follower::default();
    let mut socket = Socket::live(hub.url(), &person).await;
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    let open = project(&hub, &person, "one", Visibility::Private).await;
    for number in 0..20 {
        say(&hub, &person, open, &format!("message {number}")).await;
    }
    drop(socket);
    hub.stop().await;

    // A hub forgets old events when it starts.
    let hub = TestHub::with(|options| {
        options.database = database.clone();
        options.limits.events_kept = 5;
    })
    .await;
    let person = ann(&hub);
    wait_until("old events are forgotten", || async {
        let mut socket = Socket::connect(hub.url(), &person).await.expect("let in");
        let (resumed, _) = resume(&mut socket, follower.seen).await;
        (!resumed).then_some(())
    })
    .await;
    let mut socket = Socket::connect(hub.url(), &person).await.expect("let in");
    resume(&mut socket, follower.seen).await;
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    assert!(follower.state.projects.contains_key(&open), "the state is complete anyway");

    // Those that are young enough still resume.
    let (id, newest) = follower.seen.expect("synced");
    let mut socket = Socket::connect(hub.url(), &person).await.expect("let in");
    assert!(resume(&mut socket, Some((id, Seq(newest.0 - 3)))).await.0);
    assert_eq!(socket.early.iter().filter_map(change).count(), 3);
    hub.stop().await;
}

#[tokio::test]
async fn a_large_floor_comes_in_parts() {
    let hub = TestHub::start().await;
    let ann = ann(&hub);
    let text = "x".repeat(60_000);
    for number in 0..12 {
        project(&hub, &ann, &format!("{number} {text}"), Visibility::Private).await;
    }
    let mut socket = Socket::live(hub.url(), &ann).await;
    let parts: Vec<(u32, bool)> = socket
        .early
        .iter()
        .filter_map(|frame| match frame {
            FromHub::Sync { part, last, .. } => Some((*part, *last)),
            _ => None,
        })
        .collect();
    assert!(parts.len() > 2, "{parts:?}");
    for (index, (part, last)) in parts.iter().enumerate() {
        assert_eq!((*part as usize, *last), (index, index + 1 == parts.len()));
    }
    let mut follower = Follower::default();
    socket.early.drain(..).for_each(|frame| follower.apply(&frame));
    assert_eq!(follower.state.projects.len(), 12);
}

async fn closed(hub: &TestHub, credential: &Credential, first: &str) -> (Vec<FromHub>, Option<u16>) {
    let mut socket = Socket::connect(hub.url(), credential).await.expect("let in");
    socket.text(first).await;
    socket.until_closed().await
}

#[tokio::test]
async fn the_first_frame_is_a_hello_of_our_version_once() {
    let hub = TestHub::start().await;
    let bo = join(&hub, "bo").await;
    for first in [
        r#"{"type":"request","id":7,"call":{"verb":"project.list"}}"#,
        r#"{"type":"look"}"#,
        "nonsense",
        "",
        r#"{"type":"hello"}"#,
        r#"{"type":"hello","protocol":1,"surprise":true}"#,
    ] {
        let (frames, code) = closed(&hub, &bo, first).await;
        assert_eq!(code, Some(1002), "{first}");
        let served = frames.iter().any(|frame| !matches!(frame, FromHub::Error { .. }));
        assert!(!served, "{first} was served: {frames:?}");
    }
    let other = format!(r#"{{"type":"hello","protocol":{}}}"#, PROTOCOL + 1);
    let (frames, code) = closed(&hub, &bo, &other).await;
    assert_eq!(code, Some(1002));
    assert!(
        matches!(&frames[..], [FromHub::Error { problem, .. }] if problem.kind == ProblemKind::Protocol),
        "{frames:?}"
    );

    let mut socket = Socket::live(hub.url(), &bo).await;
    socket.hello(None).await;
    assert_eq!(socket.until_closed().await.1, Some(1002), "hello comes once");
}

#[tokio::test]
async fn a_binary_first_frame_is_no_hello() {
    let hub = TestHub::start().await;
    let mut socket = Socket::connect(hub.url(), &ann(&hub)).await.expect("let in");
    socket.raw(tokio_tungstenite::tungstenite::Message::binary(br#"{"type":"hello","protocol":1}"#.to_vec())).await;
    assert_eq!(socket.next().await, Came::Closed(Some(1002)));
}

#[tokio::test]
async fn a_client_that_never_says_hello_is_cut_off() {
    let hub = TestHub::start().await;
    let mut socket = Socket::connect(hub.url(), &ann(&hub)).await.expect("let in");
    assert_eq!(socket.next().await, Came::Closed(Some(1002)));
}
