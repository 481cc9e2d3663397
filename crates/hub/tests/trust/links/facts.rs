//! What happened is stored once, in order, and acknowledged; a link that breaks loses nothing.

use domain::{JournalId, SessionId, SessionStatus, Timestamp};
use protocol::link::{Fact, FactBody, FromRunner, ToRunner};
use protocol::{Call, Change, FromHub};

use super::Floor;
use crate::support::runner::{Heard, state};
use crate::support::socket::change;
use crate::support::{Credential, FakeRunner, Socket, call, view};

fn fact(number: u64, session: SessionId, status: SessionStatus) -> FromRunner {
    let body = FactBody::SessionState { session, state: state(status) };
    FromRunner::Fact(Fact { number, at: Timestamp::from_millis(i64::MAX / 1_000_000), body })
}

/// The reported states of the session, in order.
fn told(frames: &[FromHub], session: SessionId) -> Vec<SessionStatus> {
    let status = |change: &Change| match change {
        Change::Session { session: told } if told.id == session => Some(told.state.status),
        _ => None,
    };
    frames.iter().filter_map(change).filter_map(status).collect()
}

#[tokio::test]
async fn facts_are_stored_once_and_in_order_over_links_that_break() {
    let mut floor = Floor::new().await;
    let session = floor.session.id;
    let mut watcher = Socket::live(floor.hub.url(), &floor.pete).await;
    watcher.early.clear();
    let next = floor.runner.number + 1;
    use SessionStatus::{Idle, Waiting, Working};
    // A gap, then twice, then all again over another link as if no acknowledgement had come.
    floor.runner.tell(&fact(next + 1, session, Waiting)).await;
    floor.runner.tell(&fact(next, session, Working)).await;
    floor.runner.tell(&fact(next, session, Idle)).await;
    let acked = |wanted: u64| move |frame: &ToRunner| matches!(frame, ToRunner::Ack { number } if *number == wanted);
    floor.runner.told("the first", acked(next)).await;
    assert_eq!(floor.now().await.state.status, Working);
    floor.runner.again(floor.hub.url()).await;
    let hello = FromRunner::Hello {
        protocol: 1,
        journal: floor.runner.journal,
        about: crate::support::runner::about(8),
        name: None,
    };
    floor.runner.tell(&hello).await;
    let welcome = |frame: &ToRunner| matches!(frame, ToRunner::Welcome { acknowledged, .. } if *acknowledged == next);
    floor.runner.told("what is stored", welcome).await;
    for (number, status) in [(next, Working), (next + 1, Waiting), (next + 2, Idle), (next + 1, Working)] {
        floor.runner.tell(&fact(number, session, status)).await;
    }
    floor.runner.told("all", acked(next + 2)).await;
    floor.runner.number = next + 2;
    assert_eq!(floor.now().await.state.status, Idle);

    // Another journal: the runner lost its memory, and counts from 1.
    floor.runner.journal = JournalId::generate();
    floor.runner.number = 0;
    floor.runner.again(floor.hub.url()).await;
    assert_eq!(floor.runner.hello(8).await, 0);
    floor.runner.at(session, SessionStatus::Exited).await;
    floor.runner.at(session, Working).await;
    let over = floor.now().await;
    assert_eq!((over.state.status, over.state.code), (SessionStatus::Exited, Some(0)), "what is over stays over");
    assert!(over.state.since >= over.created_at, "a wrong clock changes no history");

    let ended = |frame: &FromHub| told(std::slice::from_ref(frame), session) == [SessionStatus::Exited];
    let frames = watcher.until("the end", ended).await;
    assert_eq!(told(&frames, session), [Working, Waiting, Idle, SessionStatus::Exited], "each told once, in order");
}

#[tokio::test]
async fn a_runner_tells_about_its_own_only() {
    let mut floor = Floor::new().await;
    let mut petes = FakeRunner::start(&floor.hub, &floor.pete, "pete's").await;
    let before = floor.now().await;
    petes.at(floor.session.id, SessionStatus::Exited).await;
    petes.fact(FactBody::WorkspaceCleaned { workspace: floor.session.workspace }).await;
    assert_eq!(floor.now().await, before);
    petes.tell(&FromRunner::TokenWanted { session: floor.session.id }).await;
    let none = |frame: &ToRunner| matches!(frame, ToRunner::Token { secret: None, .. });
    petes.told("no token", none).await;
    floor.runner.at(floor.session.id, SessionStatus::Working).await;
    assert_eq!(floor.now().await.state.status, SessionStatus::Working);
}

/// The token of the session's agent.
pub(super) async fn agent(floor: &mut Floor) -> Credential {
    let session = floor.session.id;
    floor.runner.tell(&FromRunner::TokenWanted { session }).await;
    let some =
        |frame: &ToRunner| matches!(frame, ToRunner::Token { session: of, secret: Some(_), .. } if *of == session);
    match floor.runner.told("a token", some).await {
        ToRunner::Token { secret: Some(secret), .. } => Credential::Token(secret),
        _ => unreachable!(),
    }
}

#[tokio::test]
async fn an_agents_token_ends_with_its_session_and_its_sockets_with_it() {
    let mut floor = Floor::new().await;
    let first = agent(&mut floor).await;
    let me = view!(&floor.hub, &first, Me, Call::Me {});
    assert_eq!((me.user, me.observes), (None, Some(floor.project)));
    let mut older = Socket::live(floor.hub.url(), &first).await;
    let second = agent(&mut floor).await;
    assert_eq!(call(&floor.hub, &first, &Call::Me {}).await.status, 200, "what is in use is not cut off by the next");
    let mut socket = Socket::live(floor.hub.url(), &second).await;
    floor.runner.at(floor.session.id, SessionStatus::Exited).await;
    assert_eq!(socket.until_closed().await.1, Some(4401));
    assert_eq!(older.until_closed().await.1, Some(4401));
    assert_eq!(call(&floor.hub, &first, &Call::Me {}).await.status, 401);
    assert_eq!(call(&floor.hub, &second, &Call::Me {}).await.status, 401);
    let tokens = view!(&floor.hub, &floor.olga, Tokens, Call::TokenList {});
    assert!(tokens.iter().all(|token| token.kind != domain::TokenKind::Agent));
    assert!(floor.runner.sync().await.iter().all(|heard| !matches!(heard, Heard::Closed(_))));
}
