//! A watched terminal survives reconnects, without gaps or repetitions.

use std::time::Duration;

use client::terminal::Event;
use client::{Client, ClientError, Terminal};
use domain::SessionId;
use protocol::terminal::TerminalFrame;
use protocol::{FromHub, Problem, ProblemKind, ToHub};

use crate::fake_socket::{Connection, FakeHub, Heard};

fn hub_frame(frame: ToHub) -> Heard {
    Heard::Hub(Box::new(frame))
}

fn data(channel: u32, offset: u64, text: &str) -> TerminalFrame {
    TerminalFrame::Data { channel, offset, bytes: text.into() }
}

fn screen(channel: u32, offset: u64, text: &str) -> TerminalFrame {
    TerminalFrame::Snapshot { channel, offset, cols: 80, rows: 24, title: String::new(), bytes: text.into() }
}

fn watching(channel: u32, session: SessionId, may_type: bool) -> FromHub {
    FromHub::Watching { channel, session, may_type, reachable: true }
}

async fn expect_watch(connection: &mut Connection, session: SessionId, channel: u32, from: Option<u64>) {
    assert_eq!(connection.hear().await, hub_frame(ToHub::Watch { channel, session, from }));
}

/// An event, in short.
async fn next(terminal: &mut Terminal) -> String {
    match terminal.next().await.unwrap() {
        Event::Watching { may_type, .. } => format!("may type: {may_type}"),
        Event::Snapshot { bytes, end, .. } => format!("screen {} @{end}", String::from_utf8(bytes).unwrap()),
        Event::Data { bytes, end } => format!("{} @{end}", String::from_utf8(bytes).unwrap()),
        Event::Exit { code, signal } => format!("exit {code:?} {signal:?}"),
        Event::State(session) => format!("state {}", session.state.status),
        Event::Lost { .. } => "lost".to_owned(),
    }
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(30), work).await.expect("it takes too long")
}

#[tokio::test]
async fn a_terminal_resumes_where_it_was() {
    let (hub, session) = (FakeHub::start().await, SessionId::generate());
    let mut terminal = Client::new(&hub.url, "t").unwrap().terminal(session);
    terminal.resize(100, 30);
    let script = async {
        let mut first = hub.accept().await;
        expect_watch(&mut first, session, 1, None).await;
        first.send(&[watching(1, session, true)]).await;
        let resize = hub_frame(ToHub::Resize { channel: 1, cols: 100, rows: 30, take: false });
        assert_eq!(first.hear().await, resize, "once the hub knows the owner");
        first.send_terminal(&[screen(1, 10, "S"), data(1, 10, "abc"), data(1, 12, "cde")]).await;
        assert_eq!(first.hear().await, Heard::Terminal(TerminalFrame::Credit { channel: 1, offset: 15 }));
        assert_eq!(first.hear().await, Heard::Terminal(TerminalFrame::Input { channel: 1, bytes: b"x".into() }));
        drop(first);
        let mut second = hub.accept().await;
        expect_watch(&mut second, session, 2, Some(15)).await;
        // Frames of the first connection's channel are ignored.
        second.send_terminal(&[data(1, 15, "no"), data(2, 15, "f")]).await;
        second.send_terminal(&[data(2, 20, "far")]).await;
        assert_eq!(second.hear().await, hub_frame(ToHub::Unwatch { channel: 2 }), "a gap is never silent");
        expect_watch(&mut second, session, 3, None).await;
        let exit = TerminalFrame::Exit { channel: 3, offset: 23, code: Some(7), signal: None };
        second.send_terminal(&[screen(3, 23, "T"), exit]).await;
        second
    };
    let watch = async {
        assert_eq!(next(&mut terminal).await, "may type: true");
        assert_eq!(next(&mut terminal).await, "screen S @10");
        assert_eq!(next(&mut terminal).await, "abc @13");
        assert_eq!(next(&mut terminal).await, "de @15", "repeated output is shown once");
        terminal.took(15);
        terminal.input("x");
        for expected in ["lost", "f @16", "screen T @23", "exit Some(7) None"] {
            assert_eq!(next(&mut terminal).await, expected);
        }
        terminal.next().await.unwrap_err();
    };
    in_time(async { tokio::join!(script, watch) }).await;
}

#[tokio::test]
async fn a_person_without_access_gets_one_error() {
    let (hub, session) = (FakeHub::start().await, SessionId::generate());
    let mut terminal = Client::new(&hub.url, "t").unwrap().terminal(session);
    let script = async {
        let mut connection = hub.accept().await;
        expect_watch(&mut connection, session, 1, None).await;
        let problem = Problem::new(ProblemKind::NotFound, "there is no such session");
        connection.send(&[FromHub::Unwatched { channel: 1, problem }]).await;
        connection
    };
    let (_, error) = in_time(async { tokio::join!(script, terminal.next()) }).await;
    let ClientError::Problem(problem) = error.unwrap_err() else { panic!("not a problem") };
    assert_eq!(problem.kind, ProblemKind::NotFound);
}
