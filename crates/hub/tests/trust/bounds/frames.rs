//! Frames, both ways, of clients and of runners. Each is named with what bounds it; a new kind does not compile before it is.

use domain::SessionId;
use protocol::link::{FactBody, FromRunner, MAX_LINK_FRAME, RunnerAnswer, RunnerAsk, RunnerTrouble, ToRunner};
use protocol::terminal::TerminalFrame;
use protocol::{Change, CloseCode, FromHub, MAX_FRAME, Problem, ProblemKind, ToHub};
use tokio_tungstenite::tungstenite::Message;

use super::{OFTEN, strict};
use crate::links::Fixture;
use crate::support::runner::Heard;
use crate::support::socket::change;
use crate::support::{Socket, ann};

/// What bounds a client's frame, besides its size.
fn from_client(frame: &ToHub) -> &'static str {
    match frame {
        ToHub::Hello { .. } => "once, within 5 s",
        ToHub::Request { .. } => "counted with the requests of its credential; 32 at once",
        ToHub::Look { .. } => "counted; one place for each connection",
        ToHub::Watch { .. } => "counted; 100 channels",
        ToHub::Unwatch { .. } => "removes one of 100 channels",
        ToHub::Resize { .. } => "counted; of a size that a terminal may have",
    }
}

/// What bounds the frames to a client.
fn to_client(frame: &FromHub) -> &'static str {
    match frame {
        FromHub::Welcome { .. } | FromHub::Live { .. } => "one for each hello",
        FromHub::Sync { .. } => "parts of bounded size",
        FromHub::Delta(_) => {
            "one change; 8 MiB of them are kept, and a client that does not read is cut off after 10 s"
        }
        FromHub::Answer { .. } | FromHub::Error { .. } => "one for each request; see the verbs",
        FromHub::Presence { .. } => "one entry for each person",
        FromHub::Watching { .. } | FromHub::Unwatched { .. } => "one for each channel and change",
    }
}

/// What bounds a runner's frame, besides its size and the pace at which a link is read.
fn from_runner(frame: &FromRunner) -> &'static str {
    match frame {
        FromRunner::Hello { .. } => "once, within 5 s",
        FromRunner::Fact(_) => "1,024 with 16 MiB wait to be stored; further ones wait in the socket; see the facts",
        FromRunner::About { .. } => "replaces the one before; stored once in a second",
        FromRunner::Heartbeat { .. } => "replaces the one before; a trouble is stored once in a second",
        FromRunner::Told { .. } | FromRunner::Refused { .. } => "only for what was asked",
        FromRunner::TokenWanted { .. } => "two tokens for each session in 5 s, 256 sessions, one after the other",
        FromRunner::Unwatched { .. } => "one look for each terminal at a time",
    }
}

/// What bounds the frames to a runner: besides this, 4,096 frames wait for it, and then its link ends.
fn to_runner(frame: &ToRunner) -> &'static str {
    match frame {
        ToRunner::Welcome { .. } | ToRunner::Ack { .. } => "one for each frame of its own",
        ToRunner::Desired { .. } => "what it should have now; a newer one replaces it",
        ToRunner::Ask { .. } => "one for each request that waits; it answers 6 at once",
        ToRunner::Watch { .. } | ToRunner::Unwatch { .. } | ToRunner::Driver { .. } => "one for each terminal",
        ToRunner::Snapshot { .. } => "one in 100 ms for each terminal",
        ToRunner::Resize { .. } => "counted with the client's requests",
        ToRunner::Token { .. } => "one for each that it asked for",
    }
}

/// What bounds what is stored of a fact; all of it is one frame at most.
fn of_fact(fact: &FactBody) -> &'static str {
    match fact {
        FactBody::SessionState { .. } | FactBody::SessionUsage { .. } => "replaces the one before; words are cut",
        FactBody::Recorded { .. } | FactBody::SessionProgress { .. } => "numbers",
        FactBody::WorkspaceReady { .. } | FactBody::WorkspaceFailed { .. } => "replaces the one before; words are cut",
        FactBody::WorksConflict { .. } => "one question; 100 paths of 1,024 characters",
        FactBody::WorkspaceStats { .. } => "replaces the one before; 100 conflicts of 1,024 characters",
        FactBody::WorkspaceWork { .. } => "replaces the one before; 4,000 files, 40,000 places, 512 KiB of paths",
        FactBody::SessionSaid { .. } => "replaces the one before; cut",
        FactBody::SessionPrinted { .. } => "one for each session, of 1 MiB; within the project's limits for artifacts",
        FactBody::SessionLimited { .. } => "one outage for each runner and agent; words are cut",
        FactBody::Checking { .. } | FactBody::WorkspaceCleaned { .. } => "once",
        FactBody::Checked { .. } => {
            "one result of 4,000 characters for each criterion; 5,000 files, the work as above, 64 KiB of the patch"
        }
        FactBody::CheckFailed { .. } => "4,000 characters",
        FactBody::ApprovalWanted { .. } => "64 for each session or report, of 32 Ki characters",
        FactBody::MergeBegan { .. } => "once",
        FactBody::MergeTested { .. } => "once for each run; 50 levels of 200 paths, and logs, are cut",
        FactBody::MergeLanded { .. } => "once for each run; words are cut",
    }
}

/// What bounds what a runner is asked: each is one request of a client, which is counted, and waits for one answer.
fn of_ask(ask: &RunnerAsk) -> &'static str {
    match ask {
        RunnerAsk::Send { .. } => "one frame of a client",
        RunnerAsk::Screen { .. } => "one in two seconds for each session",
        RunnerAsk::Log { .. } | RunnerAsk::RecordingPart { .. } | RunnerAsk::RecordingSearch { .. } => "one page",
        RunnerAsk::RecordingShow { .. } | RunnerAsk::Diff { .. } | RunnerAsk::Saves { .. } => "an id",
        RunnerAsk::Restore { .. } | RunnerAsk::Clean { .. } | RunnerAsk::Discard { .. } => "an id",
        RunnerAsk::PackWork { .. } | RunnerAsk::DiffKept { .. } => "an id and the name of a repository",
        RunnerAsk::Publish { .. } => "ids and the names of a repository and a branch",
        RunnerAsk::PullRequest { .. } => "one title and one summary",
        RunnerAsk::Tips { .. } => "the name of a repository, once in 15 seconds",
        RunnerAsk::KeepAll { .. } => "two ids and one document",
        RunnerAsk::Question { .. } => "one question of 4,096 characters for each session",
        RunnerAsk::Look { .. } => "one path",
        RunnerAsk::Search { .. } => "the words of one search, and the projects that the person sees",
        RunnerAsk::Bundle { .. } | RunnerAsk::BundlePart { .. } => "an id and a place",
        RunnerAsk::BundleTake { .. } => "a part of bounded size",
    }
}

/// What bounds an answer: what was not asked for is dropped, and each is one frame at most.
fn of_answer(answer: &RunnerAnswer) -> &'static str {
    match answer {
        RunnerAnswer::Done => "a word",
        RunnerAnswer::Screen(_) => "300 lines of 500 characters",
        RunnerAnswer::Log(_) | RunnerAnswer::Recording(_) | RunnerAnswer::Part(_) | RunnerAnswer::Hits(_) => "a frame",
        RunnerAnswer::Diff(_) | RunnerAnswer::Saves(_) | RunnerAnswer::Bundle(_) => "a frame",
        RunnerAnswer::BundlePart(_) => "a part of bounded size",
        RunnerAnswer::Published(_) | RunnerAnswer::PullRequest(_) => "one commit and one name, or one address",
        RunnerAnswer::Tips(_) => "2,000 branches with names of 200 characters",
        RunnerAnswer::KeptAll(_) => "ids and 200 paths; stored paths are cut",
        RunnerAnswer::Seen(_) => "50 folders and 100 branches",
        RunnerAnswer::Said(_) => "a frame; what is stored is cut",
        RunnerAnswer::Lines(_) => "as many lines as were asked for",
    }
}

/// What bounds the frames of terminals, besides their size.
fn of_terminal(frame: &TerminalFrame) -> &'static str {
    match frame {
        TerminalFrame::Snapshot { .. } => "replaces the one before",
        TerminalFrame::Data { .. } => "a ring of bounded size for each terminal that somebody watches",
        TerminalFrame::Exit { .. } => "once",
        TerminalFrame::Input { .. } | TerminalFrame::Credit { .. } => "counted with the client's requests",
    }
}

#[test]
fn each_kind_of_frame_has_its_bound() {
    // The functions above are exhaustive: that they compile is the test; here they are only used.
    assert!(!of_fact(&FactBody::SessionProgress { session: SessionId::generate() }).is_empty());
    assert!(!of_ask(&RunnerAsk::RecordingShow { session: SessionId::generate() }).is_empty());
    assert!(!of_answer(&RunnerAnswer::Done).is_empty());
    assert!(!of_terminal(&TerminalFrame::Credit { channel: 1, offset: 1 }).is_empty());
    assert!(!from_client(&ToHub::Unwatch { channel: 1 }).is_empty());
    assert!(!to_client(&FromHub::Live { seq: domain::Seq(0) }).is_empty());
    assert!(!from_runner(&FromRunner::TokenWanted { session: SessionId::generate() }).is_empty());
    assert!(!to_runner(&ToRunner::Ack { number: 1 }).is_empty());
}

#[tokio::test]
async fn every_frame_of_a_client_that_does_something_is_counted() {
    let hub = strict().await;
    let session = SessionId::generate();
    let frames: [(&str, Message); 5] = [
        ("look", text(&ToHub::Look { at: None, visible: false })),
        ("watch", text(&ToHub::Watch { channel: 1, session, from: None })),
        ("resize", text(&ToHub::Resize { channel: 1, cols: 80, rows: 24, take: true })),
        ("input", Message::binary(TerminalFrame::Input { channel: 1, bytes: b"x".to_vec() }.encode())),
        ("credit", Message::binary(TerminalFrame::Credit { channel: 1, offset: 1 }.encode())),
    ];
    let mut socket = Socket::live(hub.url(), &ann(&hub)).await;
    for (what, frame) in frames {
        for _ in 0..3 {
            socket.raw(frame.clone()).await;
        }
        let refused = |frame: &FromHub| match frame {
            FromHub::Error { problem, .. } | FromHub::Unwatched { problem, .. } => problem.kind == OFTEN,
            _ => false,
        };
        socket.until(&format!("{what} is refused"), refused).await;
    }
}

fn text(frame: &ToHub) -> Message {
    Message::text(serde_json::to_string(frame).expect("JSON"))
}

#[tokio::test]
async fn a_frame_that_is_too_large_ends_its_connection() {
    let fixture = Fixture::new().await;
    let mut socket = Socket::live(fixture.hub.url(), &fixture.olga).await;
    socket.raw(Message::text(" ".repeat(MAX_FRAME + 1))).await;
    assert_eq!(socket.until_closed().await.1, Some(CloseCode::TooLarge.code()));
    let Fixture { mut runner, .. } = fixture;
    use futures_util::SinkExt;
    let _ = runner.stream.send(Message::text(" ".repeat(MAX_LINK_FRAME + 1))).await;
    runner.until_closed().await;
}

#[tokio::test]
async fn a_flood_of_wishes_for_tokens_makes_a_few() {
    let mut fixture = Fixture::new().await;
    let own = fixture.session.id;
    // Many times the same, and many that are nobody's.
    for number in 0..6000 {
        let session = if number % 2 == 0 { own } else { SessionId::generate() };
        fixture.runner.tell(&FromRunner::TokenWanted { session }).await;
    }
    // What was said before it is heard before it.
    let heard = fixture.runner.sync().await;
    let tokens = |of: &dyn Fn(&SessionId, bool) -> bool| {
        let told = heard.iter().filter(|heard| {
            matches!(heard, Heard::Told(ToRunner::Token { session, secret, .. }) if of(session, secret.is_some()))
        });
        told.count()
    };
    assert!(tokens(&|session, some| *session == own && some) <= 2);
    assert!(tokens(&|_, _| true) <= 257, "{}", tokens(&|_, _| true));
    // The hub and its other people go on.
    assert_eq!(fixture.now().await.id, own);
}

#[tokio::test]
async fn a_flood_of_troubles_is_thinned_out_and_keeps_the_last() {
    let mut fixture = Fixture::new().await;
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.pete).await;
    let trouble = |why: String| {
        let trouble = RunnerTrouble { why, lasts_ms: 1_000 };
        FromRunner::Heartbeat { silent: Vec::new(), trouble: Some(trouble) }
    };
    const FLOOD: usize = 6000;
    for number in 0..FLOOD {
        fixture.runner.tell(&trouble(format!("trouble {number}"))).await;
    }
    fixture.runner.tell(&trouble("the last".to_owned())).await;
    let why = |frame: &FromHub| match change(frame) {
        Some(Change::Runner { runner }) => runner.trouble.clone(),
        _ => None,
    };
    let frames = watcher.until("the last", |frame| why(frame).as_deref() == Some("the last")).await;
    let told = frames.iter().filter(|frame| why(frame).is_some()).count();
    assert!(told < FLOOD / 10, "{told} of {FLOOD} were told to everybody");
    // The hub and its other people go on.
    assert_eq!(fixture.now().await.id, fixture.session.id);
}

#[tokio::test]
async fn unrequested_output_is_dropped() {
    let mut fixture = Fixture::new().await;
    let problem = Problem::new(ProblemKind::NotFound, "x".repeat(1000));
    for number in 0..2000 {
        fixture.runner.tell(&FromRunner::Told { id: number, answer: RunnerAnswer::Done }).await;
        fixture.runner.tell(&FromRunner::Refused { id: number, problem: problem.clone() }).await;
        fixture.runner.tell(&FromRunner::Unwatched { channel: number, problem: problem.clone() }).await;
        fixture.runner.frame(TerminalFrame::Data { channel: number, offset: 0, bytes: vec![b'x'; 100] }).await;
    }
    let silent: Vec<(SessionId, u64)> = (0..10_000).map(|_| (SessionId::generate(), 1)).collect();
    fixture.runner.beats(&silent).await;
    fixture.runner.beats(&[]).await;
    fixture.runner.sync().await;
    assert_eq!(fixture.now().await.id, fixture.session.id);
}
