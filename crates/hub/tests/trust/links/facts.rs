//! What happened is stored once, in order, and acknowledged; a link that breaks loses nothing.

use domain::{JournalId, SessionId, SessionStatus, Timestamp};
use protocol::link::{Fact, FactBody, FromRunner, ToRunner};
use protocol::{Call, Change, FromHub};

use super::Fixture;
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
    let mut fixture = Fixture::new().await;
    let session = fixture.session.id;
    let mut watcher = Socket::live(fixture.hub.url(), &fixture.pete).await;
    watcher.early.clear();
    let next = fixture.runner.number + 1;
    use SessionStatus::{Idle, Waiting, Working};
    // A gap, then twice, then all again over another link as if no acknowledgement had come.
    fixture.runner.tell(&fact(next + 1, session, Waiting)).await;
    fixture.runner.tell(&fact(next, session, Working)).await;
    fixture.runner.tell(&fact(next, session, Idle)).await;
    let acked = |wanted: u64| move |frame: &ToRunner| matches!(frame, ToRunner::Ack { number } if *number == wanted);
    fixture.runner.told("the first", acked(next)).await;
    assert_eq!(fixture.now().await.state.status, Working);
    fixture.runner.again(fixture.hub.url()).await;
    let hello = FromRunner::Hello {
        protocol: 1,
        journal: fixture.runner.journal,
        about: crate::support::runner::about(8),
        name: None,
    };
    fixture.runner.tell(&hello).await;
    let welcome = |frame: &ToRunner| matches!(frame, ToRunner::Welcome { acknowledged, .. } if *acknowledged == next);
    fixture.runner.told("what is stored", welcome).await;
    for (number, status) in [(next, Working), (next + 1, Waiting), (next + 2, Idle), (next + 1, Working)] {
        fixture.runner.tell(&fact(number, session, status)).await;
    }
    fixture.runner.told("all", acked(next + 2)).await;
    fixture.runner.number = next + 2;
    assert_eq!(fixture.now().await.state.status, Idle);

    // Another journal: the runner lost its memory, and counts from 1.
    fixture.runner.journal = JournalId::generate();
    fixture.runner.number = 0;
    fixture.runner.again(fixture.hub.url()).await;
    assert_eq!(fixture.runner.hello(8).await, 0);
    fixture.runner.at(session, SessionStatus::Exited).await;
    fixture.runner.at(session, Working).await;
    let over = fixture.now().await;
    assert_eq!((over.state.status, over.state.code), (SessionStatus::Exited, Some(0)), "what is over stays over");
    assert!(over.state.since >= over.created_at, "a wrong clock changes no history");

    let ended = |frame: &FromHub| told(std::slice::from_ref(frame), session) == [SessionStatus::Exited];
    let frames = watcher.until("the end", ended).await;
    assert_eq!(told(&frames, session), [Working, Waiting, Idle, SessionStatus::Exited], "each told once, in order");
}

#[tokio::test]
async fn a_runner_reports_only_about_its_own_sessions() {
    let mut fixture = Fixture::new().await;
    let mut petes = FakeRunner::start(&fixture.hub, &fixture.pete, "pete's").await;
    let before = fixture.now().await;
    petes.at(fixture.session.id, SessionStatus::Exited).await;
    petes.fact(FactBody::WorkspaceCleaned { workspace: fixture.session.workspace }).await;
    assert_eq!(fixture.now().await, before);
    petes.tell(&FromRunner::TokenWanted { session: fixture.session.id }).await;
    let none = |frame: &ToRunner| matches!(frame, ToRunner::Token { secret: None, .. });
    petes.told("no token", none).await;
    fixture.runner.at(fixture.session.id, SessionStatus::Working).await;
    assert_eq!(fixture.now().await.state.status, SessionStatus::Working);
}

/// The token of the session's agent.
pub(super) async fn agent(fixture: &mut Fixture) -> Credential {
    let session = fixture.session.id;
    fixture.runner.tell(&FromRunner::TokenWanted { session }).await;
    let some =
        |frame: &ToRunner| matches!(frame, ToRunner::Token { session: of, secret: Some(_), .. } if *of == session);
    match fixture.runner.told("a token", some).await {
        ToRunner::Token { secret: Some(secret), .. } => Credential::Token(secret),
        _ => unreachable!(),
    }
}

#[tokio::test]
async fn an_agents_token_ends_with_its_session_and_its_sockets_with_it() {
    let mut fixture = Fixture::new().await;
    let first = agent(&mut fixture).await;
    let me = view!(&fixture.hub, &first, Me, Call::Me {});
    assert_eq!((me.user, me.observes), (None, Some(fixture.project)));
    let mut older = Socket::live(fixture.hub.url(), &first).await;
    let second = agent(&mut fixture).await;
    assert_eq!(call(&fixture.hub, &first, &Call::Me {}).await.status, 200, "what is in use is not cut off by the next");
    let mut socket = Socket::live(fixture.hub.url(), &second).await;
    fixture.runner.at(fixture.session.id, SessionStatus::Exited).await;
    assert_eq!(socket.until_closed().await.1, Some(4401));
    assert_eq!(older.until_closed().await.1, Some(4401));
    assert_eq!(call(&fixture.hub, &first, &Call::Me {}).await.status, 401);
    assert_eq!(call(&fixture.hub, &second, &Call::Me {}).await.status, 401);
    let tokens = view!(&fixture.hub, &fixture.olga, Tokens, Call::TokenList {});
    assert!(tokens.iter().all(|token| token.kind != domain::TokenKind::Agent));
    assert!(fixture.runner.sync().await.iter().all(|heard| !matches!(heard, Heard::Closed(_))));
}
