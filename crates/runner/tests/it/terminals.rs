//! Terminals: no traffic without watchers, the screen at once, and the owner's input.

use domain::{SessionId, SessionStatus, UserId};
use protocol::ProblemKind;
use protocol::link::ToRunner;
use protocol::terminal::TerminalFrame;
use terminal::Screen;

use crate::hub::FakeHub;
use crate::support::{TestRunner, shell};

fn watch(hub: &FakeHub, channel: u32, session: SessionId, from: Option<u64>) {
    hub.send(&ToRunner::Watch { channel, session, from });
}

fn typed(hub: &FakeHub, channel: u32, keys: &str) {
    hub.send_terminal(&TerminalFrame::Input { channel, bytes: keys.as_bytes().to_vec() });
}

/// What a watcher of `channel` sees; checks that no byte is missing.
fn screen(frames: &[TerminalFrame], channel: u32) -> (Screen, u64, Option<Option<i32>>) {
    let (mut screen, mut at, mut exit) = (Screen::new(80, 24, 0), 0, None);
    for frame in frames {
        match frame {
            TerminalFrame::Snapshot { channel: of, offset, cols, rows, bytes, .. } if *of == channel => {
                screen = Screen::new(*cols, *rows, 0);
                screen.feed(bytes);
                at = *offset;
            }
            TerminalFrame::Data { channel: of, offset, bytes } if *of == channel => {
                assert_eq!(*offset, at, "a gap");
                screen.feed(bytes);
                at += bytes.len() as u64;
            }
            TerminalFrame::Exit { channel: of, offset, code, .. } if *of == channel => {
                assert_eq!(*offset, at, "the end is where the output ends");
                exit = Some(*code);
            }
            _ => {}
        }
    }
    (screen, at, exit)
}

async fn shows(hub: &FakeHub, channel: u32, text: &str) {
    hub.shown(&format!("{text:?} on channel {channel}"), |frames| {
        screen(frames, channel).0.text().contains(text).then_some(())
    })
    .await;
}

/// Lets the hub send more, as fast as it takes it in.
async fn until_exit(hub: &FakeHub, channel: u32) -> Option<i32> {
    let mut credited = 0;
    loop {
        let (exit, at) = hub
            .shown("more output", |frames| {
                let (_, at, exit) = screen(frames, channel);
                (exit.is_some() || at > credited).then_some((exit, at))
            })
            .await;
        if let Some(code) = exit {
            return code;
        }
        credited = at;
        hub.send_terminal(&TerminalFrame::Credit { channel, offset: at });
    }
}

#[tokio::test]
async fn nothing_is_sent_without_watchers_and_the_screen_comes_at_once() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("printf '\\033[31mred\\033[0m and more\\r\\n'; cat");
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "and more").await;
    assert_eq!(hub.frames(), []);
    watch(&hub, 7, session.session, None);
    shows(&hub, 7, "red and more").await;
    assert!(matches!(hub.frames()[0], TerminalFrame::Snapshot { channel: 7, .. }), "{:?}", hub.frames());
    // The same again changes nothing.
    watch(&hub, 7, session.session, None);
    hub.send(&ToRunner::Driver { channel: 7, user: hub.owner, lent_to: None });
    typed(&hub, 7, "typed\r");
    shows(&hub, 7, "typed\ntyped").await;
    let snapshots = hub.frames().iter().filter(|frame| matches!(frame, TerminalFrame::Snapshot { .. })).count();
    assert_eq!(snapshots, 1);
    hub.send(&ToRunner::Unwatch { channel: 7 });
    hub.log_has(session.session, "typed").await;
    hub.forget_frames();
    // Something to show, that nobody looks at.
    let text = "unseen".to_owned();
    let ask = protocol::link::RunnerAsk::Send { session: session.session, text, submit: true };
    hub.ask(ask).await.unwrap();
    hub.log_has(session.session, "unseen").await;
    assert_eq!(hub.frames(), []);
}

#[tokio::test]
async fn only_the_owner_types() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo ready; cat");
    hub.desire(vec![session.clone()]);
    hub.log_has(session.session, "ready").await;
    watch(&hub, 1, session.session, None);
    shows(&hub, 1, "ready").await;
    typed(&hub, 1, "nobody said who\r");
    hub.send(&ToRunner::Driver { channel: 1, user: UserId::generate(), lent_to: None });
    typed(&hub, 1, "somebody else\r");
    hub.send(&ToRunner::Driver { channel: 1, user: hub.owner, lent_to: None });
    typed(&hub, 1, "the owner\r");
    shows(&hub, 1, "the owner").await;
    hub.send(&ToRunner::Driver { channel: 1, user: UserId::generate(), lent_to: Some("Bo".to_owned()) });
    typed(&hub, 1, "the guest\r");
    shows(&hub, 1, "the guest").await;
    hub.send(&ToRunner::Driver { channel: 1, user: UserId::generate(), lent_to: None });
    typed(&hub, 1, "somebody later\r");
    hub.send(&ToRunner::Driver { channel: 1, user: hub.owner, lent_to: None });
    typed(&hub, 1, "the owner again\r");
    shows(&hub, 1, "the owner again").await;
    let shown = screen(&hub.frames(), 1).0.text();
    assert!(!shown.contains("nobody") && !shown.contains("somebody"), "{shown}");
}

#[tokio::test]
async fn a_resize_is_sent_and_a_returning_watcher_resumes() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo ready; while read line; do stty size; done");
    hub.desire(vec![session.clone()]);
    watch(&hub, 1, session.session, None);
    shows(&hub, 1, "ready").await;
    hub.send(&ToRunner::Driver { channel: 1, user: hub.owner, lent_to: None });
    hub.send(&ToRunner::Resize { channel: 1, cols: 99, rows: 33, if_fresh: false });
    typed(&hub, 1, "\r");
    shows(&hub, 1, "33 99").await;
    let (_, at, _) = screen(&hub.frames(), 1);
    runner.kill().await;
    runner.spawn();
    hub.connected(2).await;
    hub.forget_frames();
    watch(&hub, 5, session.session, Some(at));
    hub.send(&ToRunner::Driver { channel: 5, user: hub.owner, lent_to: None });
    typed(&hub, 5, "\r");
    let first = hub.shown("output", |frames| frames.first().cloned()).await;
    assert!(matches!(&first, TerminalFrame::Data { channel: 5, offset, .. } if *offset == at), "{first:?}");
    hub.send(&ToRunner::Snapshot { channel: 5 });
    hub.shown("a screen", |frames| {
        frames.iter().any(|frame| matches!(frame, TerminalFrame::Snapshot { cols: 99, rows: 33, .. })).then_some(())
    })
    .await;
}

#[tokio::test]
async fn a_flood_is_bounded_by_credit_and_can_be_interrupted() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session =
        shell("echo ready; read go; trap 'echo; echo interrupted; exit 5' INT; yes abcdefghijklmnopqrstuvwxyz");
    hub.desire(vec![session.clone()]);
    watch(&hub, 1, session.session, None);
    shows(&hub, 1, "ready").await;
    hub.send(&ToRunner::Driver { channel: 1, user: hub.owner, lent_to: None });
    typed(&hub, 1, "\r");
    // Nothing is acknowledged: what is sent is bounded, and a keystroke still gets in.
    hub.shown("a window full of output", |frames| (screen(frames, 1).1 > 300 * 1024).then_some(())).await;
    typed(&hub, 1, "\x03");
    let end = hub.over(session.session).await;
    assert_eq!((end.status, end.code), (SessionStatus::Exited, Some(5)), "{end:?}");
    let sent: usize = hub.frames().iter().map(|frame| frame.encode().len()).sum();
    assert!(sent < 700 * 1024, "{sent} bytes for a watcher who acknowledged none");
    assert_eq!(until_exit(&hub, 1).await, Some(5));
}

#[tokio::test]
async fn exited_sessions_are_shown_from_files_and_missing_ones_refused() {
    let hub = FakeHub::start().await;
    let mut runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo goodbye; exit 9");
    hub.desire(vec![session.clone()]);
    hub.over(session.session).await;
    runner.kill().await;
    runner.spawn();
    hub.connected(2).await;
    watch(&hub, 3, session.session, None);
    shows(&hub, 3, "goodbye").await;
    assert_eq!(until_exit(&hub, 3).await, Some(9));
    watch(&hub, 4, SessionId::generate(), None);
    assert_eq!(hub.unwatched(4).await.kind, ProblemKind::NotFound);
}

#[tokio::test]
async fn a_slow_watcher_gets_the_final_screen_after_the_end() {
    let hub = FakeHub::start().await;
    let _runner = TestRunner::start(&hub);
    hub.connected(1).await;
    let session = shell("echo ready; read line; echo last words");
    hub.desire(vec![session.clone()]);
    watch(&hub, 7, session.session, None);
    shows(&hub, 7, "ready").await;
    hub.send(&ToRunner::Driver { channel: 7, user: hub.owner, lent_to: None });
    typed(&hub, 7, "go\r");
    assert_eq!(until_exit(&hub, 7).await, Some(0));
    for _ in 0..2 {
        hub.forget_frames();
        hub.send(&ToRunner::Snapshot { channel: 7 });
        assert_eq!(until_exit(&hub, 7).await, Some(0));
        assert!(screen(&hub.frames(), 7).0.text().contains("last words"));
    }
}
