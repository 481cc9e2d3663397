//! Who watches gets the screen and then every byte; nobody watching is no stream.

use domain::{SessionId, SessionStatus};
use protocol::link::{FromRunner, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{Problem, ProblemKind, ToHub};

use super::super::{Fixture, spawn};
use super::{data, screen, settled, watch};
use crate::support::Socket;
use crate::support::runner::Heard;
use crate::support::socket::Shown;

#[tokio::test]
async fn ten_watchers_share_one_stream_and_without_watchers_there_is_none() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    fixture.runner.at(session, SessionStatus::Working).await;
    let heard = fixture.runner.sync().await;
    assert!(heard.is_empty(), "nobody watches: {heard:?}");
    let mut watchers = Vec::new();
    for number in 0..10 {
        let who = if number % 2 == 0 { &fixture.olga } else { &fixture.pete };
        let mut socket = Socket::live(fixture.hub.url(), who).await;
        socket.watch(number, session, None).await;
        let wanted = Shown::Watching { channel: number, may_type: number % 2 == 0, reachable: true };
        assert_eq!(socket.shown().await, wanted, "it comes first");
        watchers.push(socket);
    }
    let (channel, from) = fixture.runner.watched(session).await;
    assert_eq!(from, None);
    let heard = fixture.runner.sync().await;
    assert!(heard.is_empty(), "one stream for ten: {heard:?}");
    fixture.runner.frame(screen(channel, 100, 80, "the screen")).await;
    fixture.runner.frame(data(channel, 100, "more")).await;
    for (number, socket) in watchers.iter_mut().enumerate() {
        let number = number as u32;
        assert_eq!(socket.terminal().await, screen(number, 100, 80, "the screen"));
        assert_eq!(socket.terminal().await, data(number, 100, "more"));
    }
    // Who comes later gets the screen, and what came after it, without the runner being asked.
    let mut late = watch(&fixture.hub, &fixture.pete, session, None).await;
    assert_eq!(late.terminal().await, screen(7, 100, 80, "the screen"));
    assert_eq!(late.terminal().await, data(7, 100, "more"));
    watchers.push(late);

    let last = watchers.pop().expect("eleven");
    for (number, mut socket) in watchers.into_iter().enumerate() {
        if number % 2 == 0 {
            socket.send(&ToHub::Unwatch { channel: number as u32 }).await;
            socket.ask(protocol::Call::Me {}).await.expect("it is read");
            assert!(socket.shown.is_empty());
        }
    }
    let heard: Vec<Heard> = fixture.runner.sync().await;
    assert!(!heard.iter().any(|heard| matches!(heard, Heard::Told(ToRunner::Unwatch { .. }))), "one still watches");
    drop(last);
    let unwatch = |frame: &ToRunner| matches!(frame, ToRunner::Unwatch { channel: ended } if *ended == channel);
    fixture.runner.told("the last one left", unwatch).await;
    // Frames in flight reach nobody, and the next watcher starts over.
    fixture.runner.frame(data(channel, 104, "late")).await;
    let mut again = watch(&fixture.hub, &fixture.olga, session, None).await;
    let (fresh, from) = fixture.runner.watched(session).await;
    assert!(fresh != channel && from.is_none());
    fixture.runner.frame(screen(fresh, 108, 80, "again")).await;
    assert_eq!(again.terminal().await, screen(7, 108, 80, "again"));
}

#[tokio::test]
async fn a_stream_resumes_by_offset_also_for_watchers_of_a_quiet_terminal() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut back = watch(&fixture.hub, &fixture.olga, session, Some(5000)).await;
    let (channel, from) = fixture.runner.watched(session).await;
    assert_eq!(from, Some(5000));
    // Nothing new comes: somebody without a screen makes the hub ask for one.
    let mut fresh = watch(&fixture.hub, &fixture.pete, session, None).await;
    let asked = |frame: &ToRunner| matches!(frame, ToRunner::Snapshot { channel: of } if *of == channel);
    fixture.runner.told("a screen is asked for", asked).await;
    fixture.runner.frame(screen(channel, 5000, 80, "the screen")).await;
    assert_eq!(fresh.terminal().await, screen(7, 5000, 80, "the screen"));
    fixture.runner.frame(data(channel, 5000, "more")).await;
    assert_eq!(fresh.terminal().await, data(7, 5000, "more"));
    let mut got = back.terminal().await;
    if matches!(got, TerminalFrame::Snapshot { .. }) {
        // Its size was not known before: the screen makes sure.
        got = back.terminal().await;
    }
    assert_eq!(got, data(7, 5000, "more"));
    // Within what is remembered, a resume costs the runner nothing.
    let mut resumed = watch(&fixture.hub, &fixture.pete, session, Some(5002)).await;
    assert_eq!(resumed.terminal().await, data(7, 5002, "re"));
    // From a future that never was: the screen.
    let mut astray = watch(&fixture.hub, &fixture.pete, session, Some(u64::MAX)).await;
    assert!(matches!(astray.terminal().await, TerminalFrame::Snapshot { .. }));
}

#[tokio::test]
async fn a_resize_by_the_owner_repaints_everybody() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut owner = watch(&fixture.hub, &fixture.olga, session, Some(10)).await;
    let (channel, _) = fixture.runner.watched(session).await;
    let mut peer = watch(&fixture.hub, &fixture.pete, session, None).await;
    fixture.runner.told("a screen", |frame| matches!(frame, ToRunner::Snapshot { .. })).await;
    fixture.runner.frame(screen(channel, 10, 80, "narrow")).await;
    assert_eq!(peer.terminal().await, screen(7, 10, 80, "narrow"));
    for (cols, rows) in [(90, 30), (1, 30), (501, 30), (80, 301)] {
        // A peer's view has no say, and no terminal is of a mad size.
        let socket = if cols == 90 { &mut peer } else { &mut owner };
        socket.send(&ToHub::Resize { channel: 7, cols, rows, take: true }).await;
        socket.ask(protocol::Call::Me {}).await.expect("it was read");
    }
    owner.send(&ToHub::Resize { channel: 7, cols: 100, rows: 30, take: true }).await;
    let resize = fixture.runner.told("a resize", |frame| matches!(frame, ToRunner::Resize { .. })).await;
    assert_eq!(
        resize,
        ToRunner::Resize { channel, cols: 100, rows: 30, if_fresh: false },
        "a peer's and a mad one's are passed over"
    );
    fixture.runner.frame(screen(channel, 10, 100, "wide")).await;
    assert_eq!(peer.terminal().await, screen(7, 10, 100, "wide"));
    let mut seen = owner.terminal().await;
    if seen == screen(7, 10, 80, "narrow") {
        seen = owner.terminal().await;
    }
    assert_eq!(seen, screen(7, 10, 100, "wide"));
    // Who left before the size changed cannot go on from there.
    let mut back = watch(&fixture.hub, &fixture.pete, session, Some(10)).await;
    assert_eq!(back.terminal().await, screen(7, 10, 100, "wide"));
}

#[tokio::test]
async fn a_view_that_only_watches_does_not_resize_the_terminal() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut window = watch(&fixture.hub, &fixture.olga, session, Some(10)).await;
    let (channel, _) = fixture.runner.watched(session).await;
    let mut phone = watch(&fixture.hub, &fixture.olga, session, Some(10)).await;
    let size = |cols, rows, take| ToHub::Resize { channel: 7, cols, rows, take };
    phone.send(&size(42, 47, false)).await;
    phone.ask(protocol::Call::Me {}).await.expect("it was read");
    window.send(&size(140, 40, false)).await;
    let any = |frame: &ToRunner| matches!(frame, ToRunner::Resize { .. });
    let told = fixture.runner.told("the first size", any).await;
    assert_eq!(told, ToRunner::Resize { channel, cols: 140, rows: 40, if_fresh: true }, "a phone does not size it");
    window.send(&size(140, 40, true)).await;
    let told = fixture.runner.told("the typist's size", any).await;
    assert_eq!(told, ToRunner::Resize { channel, cols: 140, rows: 40, if_fresh: false });
    phone.send(&size(100, 47, false)).await;
    phone.ask(protocol::Call::Me {}).await.expect("it was read");
    window.send(&size(120, 40, false)).await;
    let told = fixture.runner.told("the window's new size", any).await;
    assert_eq!(told, ToRunner::Resize { channel, cols: 120, rows: 40, if_fresh: false }, "the window is followed");
    phone.send(&size(42, 47, true)).await;
    let told = fixture.runner.told("the phone's size", any).await;
    assert_eq!(told, ToRunner::Resize { channel, cols: 42, rows: 47, if_fresh: false }, "now its person types there");
    phone.send(&ToHub::Unwatch { channel: 7 }).await;
    phone.ask(protocol::Call::Me {}).await.expect("it was read");
    window.send(&size(130, 40, true)).await;
    let told = fixture.runner.told("the next typist's size", any).await;
    assert_eq!(told, ToRunner::Resize { channel, cols: 130, rows: 40, if_fresh: false });
}

#[tokio::test]
async fn the_first_resize_after_a_resume_is_sent() {
    let mut fixture = Fixture::new().await;
    let mut owner = watch(&fixture.hub, &fixture.olga, fixture.session.id, Some(10)).await;
    let (channel, _) = fixture.runner.watched(fixture.session.id).await;
    owner.send(&ToHub::Resize { channel: 7, cols: 100, rows: 24, take: false }).await;
    fixture.runner.told("a resize", |frame| matches!(frame, ToRunner::Resize { .. })).await;
    fixture.runner.frame(screen(channel, 10, 100, "wide")).await;
    assert_eq!(owner.terminal().await, screen(7, 10, 100, "wide"));
}

#[tokio::test]
async fn a_lost_runner_link_is_shown_and_the_stream_resumes_at_its_offset() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut owner = watch(&fixture.hub, &fixture.olga, session, None).await;
    let mut peer = watch(&fixture.hub, &fixture.pete, session, None).await;
    let (channel, _) = fixture.runner.watched(session).await;
    fixture.runner.frame(screen(channel, 0, 80, "")).await;
    fixture.runner.frame(data(channel, 0, "before")).await;
    for socket in [&mut owner, &mut peer] {
        assert_eq!(socket.terminal().await, screen(7, 0, 80, ""));
        assert_eq!(socket.terminal().await, data(7, 0, "before"));
    }
    // A screen is asked for, and the link breaks before it comes.
    drop(fixture.runner.stream.close(None).await);
    for (socket, may_type) in [(&mut owner, true), (&mut peer, false)] {
        assert_eq!(socket.shown().await, Shown::Watching { channel: 7, may_type, reachable: false });
    }
    // A new watcher learns that the runner is away, and gets what is known.
    let mut late = Socket::live(fixture.hub.url(), &fixture.pete).await;
    late.watch(7, session, None).await;
    assert_eq!(late.shown().await, Shown::Watching { channel: 7, may_type: false, reachable: false });
    assert_eq!(late.terminal().await, screen(7, 0, 80, ""));
    assert_eq!(late.terminal().await, data(7, 0, "before"));

    fixture.runner.again(fixture.hub.url()).await;
    fixture.runner.hello(8).await;
    assert_eq!(fixture.runner.watched(session).await, (channel, Some(6)));
    for (socket, may_type) in [(&mut owner, true), (&mut peer, false), (&mut late, false)] {
        assert_eq!(socket.shown().await, Shown::Watching { channel: 7, may_type, reachable: true });
    }
    // Some of it comes twice: nobody gets it twice.
    fixture.runner.frame(data(channel, 0, "before and after")).await;
    for socket in [&mut owner, &mut peer, &mut late] {
        assert_eq!(socket.terminal().await, data(7, 6, " and after"));
    }
    // What was lost meanwhile is a gap: everybody gets the screen.
    fixture.runner.frame(screen(channel, 9000, 80, "far on")).await;
    for socket in [&mut owner, &mut peer, &mut late] {
        assert_eq!(socket.terminal().await, screen(7, 9000, 80, "far on"));
    }
}

#[tokio::test]
async fn a_screen_request_is_repeated_after_the_link_broke() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut first = watch(&fixture.hub, &fixture.olga, session, Some(10)).await;
    fixture.runner.watched(session).await;
    let mut second = watch(&fixture.hub, &fixture.pete, session, None).await;
    let asked = |frame: &ToRunner| matches!(frame, ToRunner::Snapshot { .. });
    fixture.runner.told("a screen is asked for", asked).await;
    drop(fixture.runner.stream.close(None).await);
    assert!(matches!(first.shown().await, Shown::Watching { reachable: false, .. }));
    fixture.runner.again(fixture.hub.url()).await;
    fixture.runner.hello(8).await;
    let (channel, from) = fixture.runner.watched(session).await;
    assert_eq!(from, Some(10));
    // The runner continues with data, as requested; the screen is still missing.
    fixture.runner.frame(data(channel, 10, "x")).await;
    fixture.runner.told("a screen is asked for again", asked).await;
    fixture.runner.frame(screen(channel, 11, 80, "here")).await;
    loop {
        if let Shown::Frame(frame) = second.shown().await {
            assert_eq!(frame, screen(7, 11, 80, "here"));
            break;
        }
    }
}

#[tokio::test]
async fn an_exit_ends_the_stream_for_everybody_once() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut owner = watch(&fixture.hub, &fixture.olga, session, None).await;
    let (channel, _) = fixture.runner.watched(session).await;
    fixture.runner.frame(screen(channel, 4, 80, "last")).await;
    fixture.runner.frame(data(channel, 4, "bye")).await;
    let exit = |channel| TerminalFrame::Exit { channel, offset: 7, code: Some(3), signal: None };
    fixture.runner.frame(exit(channel)).await;
    fixture.runner.frame(exit(channel)).await;
    let mut late = watch(&fixture.hub, &fixture.pete, session, None).await;
    for socket in [&mut owner, &mut late] {
        assert_eq!(socket.terminal().await, screen(7, 4, 80, "last"));
        assert_eq!(socket.terminal().await, data(7, 4, "bye"));
        assert_eq!(socket.terminal().await, exit(7));
    }
    settled(&mut fixture.runner).await;
    owner.ask(protocol::Call::Me {}).await.expect("it goes on");
    assert!(owner.shown.is_empty(), "once: {:?}", owner.shown);
}

#[tokio::test]
async fn a_runner_that_cannot_show_a_session_that_is_over_says_why() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    fixture.runner.at(session, SessionStatus::Lost).await;
    let mut owner = watch(&fixture.hub, &fixture.olga, session, None).await;
    let (channel, _) = fixture.runner.watched(session).await;
    let problem = Problem::new(ProblemKind::NotFound, "its files are gone");
    fixture.runner.tell(&FromRunner::Unwatched { channel, problem }).await;
    assert_eq!(owner.shown().await, Shown::Unwatched(7, ProblemKind::NotFound));
}

#[tokio::test]
async fn a_client_opens_at_most_a_hundred_terminals() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut socket = Socket::live(fixture.hub.url(), &fixture.olga).await;
    for channel in 0..100 {
        socket.watch(channel, session, None).await;
        assert!(matches!(socket.shown().await, Shown::Watching { .. }));
    }
    socket.watch(100, session, None).await;
    assert_eq!(socket.shown().await, Shown::Unwatched(100, ProblemKind::Conflict));
    // The same channel again is another terminal in its place.
    let other = spawn(&fixture.hub, &fixture.olga, fixture.project, "other").await.id;
    socket.watch(99, other, None).await;
    assert!(matches!(socket.shown().await, Shown::Watching { channel: 99, .. }));
    socket.send(&ToHub::Unwatch { channel: 5 }).await;
    socket.watch(100, session, None).await;
    assert!(matches!(socket.shown().await, Shown::Watching { channel: 100, .. }));
    socket.watch(5, SessionId::generate(), None).await;
    assert_eq!(socket.shown().await, Shown::Unwatched(5, ProblemKind::Conflict), "full again");
    let (channel, _) = fixture.runner.watched(other).await;
    fixture.runner.frame(screen(channel, 0, 80, "other")).await;
    assert_eq!(socket.terminal().await, screen(99, 0, 80, "other"));
    let watches = |heard: &&Heard| matches!(heard, Heard::Told(ToRunner::Watch { .. }));
    assert_eq!(fixture.runner.sync().await.iter().filter(watches).count(), 1, "the hundred are one stream");
}
