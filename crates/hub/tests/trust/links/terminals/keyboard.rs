//! Handing the keyboard over: who may, whose input arrives, and when that ends.

use domain::{SessionStatus, UserId, Visibility};
use protocol::link::ToRunner;
use protocol::terminal::TerminalFrame;
use protocol::{Call, KeyboardGive, ProjectUpdate, Session, ToHub};

use super::super::facts::agent;
use super::super::{Fixture, id, share};
use super::watch;
use crate::support::socket::Shown;
use crate::support::{Credential, Socket, ask, call, join, observe, view};

fn give(session: &Session, to: UserId) -> Call {
    Call::SessionKeyboardGive { session: session.id, input: KeyboardGive { to: Some(to) } }
}

fn input(bytes: &str) -> TerminalFrame {
    TerminalFrame::Input { channel: 7, bytes: bytes.as_bytes().to_vec() }
}

/// Waits until the client learns whether it may type.
async fn may_type(socket: &mut Socket, expected: bool) {
    loop {
        match socket.shown().await {
            Shown::Watching { may_type, .. } if may_type == expected => return,
            Shown::Unwatched(_, problem) => panic!("{problem:?}"),
            _ => {}
        }
    }
}

/// The next input that reaches the runner.
async fn typed(fixture: &mut Fixture) -> String {
    match fixture.runner.sent("keys", |frame| matches!(frame, TerminalFrame::Input { .. })).await {
        TerminalFrame::Input { bytes, .. } => String::from_utf8(bytes).expect("text"),
        _ => unreachable!(),
    }
}

/// Everything that was sent before was handled.
async fn settle(socket: &mut Socket) {
    socket.ask(Call::Me {}).await.expect("it goes on");
}

async fn holder_of(fixture: &Fixture) -> Option<String> {
    fixture.now().await.keyboard.holder.map(|holder| holder.name)
}

async fn returned(fixture: &Fixture) {
    testkit::wait_until("the keyboard is the owner's", async || holder_of(fixture).await.is_none().then_some(())).await;
}

#[tokio::test]
async fn a_keyboard_is_requested_handed_over_and_taken_back() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.clone();
    let petes_id = id(&fixture.hub, &fixture.pete).await;
    let mut olga = watch(&fixture.hub, &fixture.olga, session.id, None).await;
    let mut pete = watch(&fixture.hub, &fixture.pete, session.id, None).await;
    let (channel, _) = fixture.runner.watched(session.id).await;
    let asked = view!(&fixture.hub, &fixture.pete, Session, Call::SessionKeyboardRequest { session: session.id });
    assert_eq!(asked.keyboard.requests.iter().map(|one| one.name.as_str()).collect::<Vec<_>>(), ["pete"]);
    pete.frame(&input("too early")).await;
    settle(&mut pete).await;
    let next = Call::SessionKeyboardGive { session: session.id, input: KeyboardGive { to: None } };
    let given = view!(&fixture.hub, &fixture.olga, Session, next);
    assert_eq!(given.keyboard.holder.map(|holder| holder.name).as_deref(), Some("pete"));
    assert!(given.keyboard.requests.is_empty());
    may_type(&mut pete, true).await;
    pete.frame(&input("from pete")).await;
    assert_eq!(typed(&mut fixture).await, "from pete");
    let lent = ToRunner::Driver { channel, user: petes_id, lent_to: Some("pete".to_owned()) };
    fixture.runner.told("who types", |frame| *frame == lent).await;
    pete.send(&ToHub::Resize { channel: 7, cols: 90, rows: 30, take: true }).await;
    let sized = ToRunner::Resize { channel, cols: 90, rows: 30, if_fresh: false };
    fixture.runner.told("the typist's size", |frame| *frame == sized).await;
    olga.frame(&input("from olga")).await;
    assert_eq!(typed(&mut fixture).await, "from olga", "the owner always types");
    ask(&fixture.hub, &fixture.olga, Call::SessionKeyboardTake { session: session.id }).await;
    // The owner was answered: from now on nothing of his arrives.
    pete.frame(&input("too late")).await;
    settle(&mut pete).await;
    may_type(&mut pete, false).await;
    olga.frame(&input("alone")).await;
    assert_eq!(typed(&mut fixture).await, "alone");
    view!(&fixture.hub, &fixture.pete, Session, Call::SessionKeyboardRequest { session: session.id });
    view!(&fixture.hub, &fixture.pete, Session, Call::SessionKeyboardReturn { session: session.id });
    let trail = view!(&fixture.hub, &fixture.olga, Audit, Call::AuditList { page: Default::default() });
    for spec in Call::SPECS.iter().filter(|spec| spec.name.starts_with("session.keyboard_")) {
        assert_eq!(trail.iter().any(|entry| entry.verb == spec.name), spec.audited, "{}", spec.name);
    }
}

#[tokio::test]
async fn only_the_owner_in_person_hands_a_keyboard_over() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.clone();
    let quin = join(&fixture.hub, "quin").await;
    let quins_id = id(&fixture.hub, &quin).await;
    let petes_id = id(&fixture.hub, &fixture.pete).await;
    let agent = agent(&mut fixture).await;
    let (visitor, _) = observe(&fixture.hub, &fixture.olga, fixture.project).await;
    let refused = async |who: &Credential, call: Call| {
        let status = crate::support::call(&fixture.hub, who, &call).await.status;
        assert_eq!(status, 403, "{call:?}");
    };
    for who in [&fixture.pete, &agent, &visitor] {
        refused(who, give(&session, petes_id)).await;
        refused(who, Call::SessionKeyboardTake { session: session.id }).await;
    }
    for who in [&agent, &visitor] {
        refused(who, Call::SessionKeyboardRequest { session: session.id }).await;
        refused(who, Call::SessionKeyboardReturn { session: session.id }).await;
    }
    view!(&fixture.hub, &fixture.olga, Session, give(&session, petes_id));
    // The holder cannot pass it on, nor keep others from returning what is not theirs.
    refused(&fixture.pete, give(&session, quins_id)).await;
    view!(&fixture.hub, &quin, Session, Call::SessionKeyboardReturn { session: session.id });
    assert_eq!(holder_of(&fixture).await.as_deref(), Some("pete"));
    let mut quins = watch(&fixture.hub, &quin, session.id, None).await;
    let mut agents = watch(&fixture.hub, &agent, session.id, None).await;
    for socket in [&mut quins, &mut agents] {
        socket.frame(&input("not mine")).await;
        settle(socket).await;
    }
    let mut pete = watch(&fixture.hub, &fixture.pete, session.id, None).await;
    pete.frame(&input("mine")).await;
    assert_eq!(typed(&mut fixture).await, "mine");
}

#[tokio::test]
async fn a_keyboard_returns_when_its_holder_leaves_or_may_no_longer_watch() {
    let mut fixture = Fixture::new().await;
    let session = fixture.session.clone();
    let petes_id = id(&fixture.hub, &fixture.pete).await;
    let mut olga = watch(&fixture.hub, &fixture.olga, session.id, None).await;
    // He leaves the terminal.
    let mut pete = watch(&fixture.hub, &fixture.pete, session.id, None).await;
    view!(&fixture.hub, &fixture.olga, Session, give(&session, petes_id));
    pete.send(&ToHub::Unwatch { channel: 7 }).await;
    settle(&mut pete).await;
    returned(&fixture).await;
    // He disconnects.
    let gone = watch(&fixture.hub, &fixture.pete, session.id, None).await;
    view!(&fixture.hub, &fixture.olga, Session, give(&session, petes_id));
    drop(gone);
    returned(&fixture).await;
    // He gives it back.
    let mut pete = watch(&fixture.hub, &fixture.pete, session.id, None).await;
    view!(&fixture.hub, &fixture.olga, Session, give(&session, petes_id));
    view!(&fixture.hub, &fixture.pete, Session, Call::SessionKeyboardReturn { session: session.id });
    assert_eq!(holder_of(&fixture).await, None);
    // The project shares no longer: at once, and for good.
    view!(&fixture.hub, &fixture.olga, Session, give(&session, petes_id));
    share(&fixture.hub, &fixture.olga, fixture.project, false).await;
    assert_eq!(holder_of(&fixture).await, None);
    pete.frame(&input("too late")).await;
    settle(&mut pete).await;
    assert_eq!(call(&fixture.hub, &fixture.olga, &give(&session, petes_id)).await.status, 409, "he cannot watch");
    share(&fixture.hub, &fixture.olga, fixture.project, true).await;
    assert_eq!(holder_of(&fixture).await, None);
    view!(&fixture.hub, &fixture.olga, Session, give(&session, petes_id));
    let input_of = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    view!(&fixture.hub, &fixture.olga, Project, Call::ProjectUpdate { project: fixture.project, input: input_of });
    assert_eq!(holder_of(&fixture).await, None);
    olga.frame(&input("mine")).await;
    assert_eq!(typed(&mut fixture).await, "mine");
    fixture.runner.at(session.id, SessionStatus::Exited).await;
    assert_eq!(call(&fixture.hub, &fixture.olga, &give(&session, petes_id)).await.status, 409, "it is over");
}
