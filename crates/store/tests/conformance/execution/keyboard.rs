//! Keyboards: who may hand them over, and what ends that.

use domain::{SessionStatus, UserId, Visibility};
use protocol::{KeyboardGive, ProjectUpdate, Session, verbs};
use store::{LeaveKeyboard, StoreError};

use super::{Memory, in_project, project, runner, show, spawn};
use crate::fixture::{Fixture, id};

both!(
    a_keyboard_goes_to_one_person_and_back,
    only_a_person_hands_their_own_keyboard_over,
    a_keyboard_ends_with_its_right_its_session_and_its_person,
);

/// A session of Ada's, shared or not.
async fn session(fixture: &Fixture, shared: bool) -> (Session, Memory) {
    let on = runner(fixture, &fixture.ada, "box", 9).await;
    let project = project(fixture, Visibility::ReadOnly, shared).await;
    (fixture.done(&fixture.ada, spawn(in_project(&project, "go"), &[on])).await, Memory::new(on))
}

fn give(session: &Session, to: UserId) -> verbs::SessionKeyboardGive {
    verbs::SessionKeyboardGive { session: session.id, input: KeyboardGive { to: Some(to) } }
}

async fn holder(fixture: &Fixture, session: &Session) -> Option<UserId> {
    show(fixture, &fixture.ada, session.id).await.keyboard.holder.map(|holder| holder.id)
}

async fn a_keyboard_goes_to_one_person_and_back(fixture: Fixture) {
    let (session, memory) = session(&fixture, true).await;
    let (bo, cy) = (id(&fixture.bo), fixture.join("cy").await);
    for caller in [&fixture.bo, &cy, &fixture.bo] {
        fixture.done(caller, verbs::SessionKeyboardRequest { session: session.id }).await;
    }
    let asked = show(&fixture, &cy, session.id).await.keyboard;
    assert_eq!(asked.requests.iter().map(|one| one.id).collect::<Vec<_>>(), [bo, id(&cy)], "each once, in order");
    let next = verbs::SessionKeyboardGive { session: session.id, input: KeyboardGive { to: None } };
    let given = fixture.done(&fixture.ada, next).await.keyboard;
    assert_eq!((given.holder.map(|one| one.id), given.requests.len()), (Some(bo), 1));
    assert_eq!(fixture.store.keyboards().await.unwrap(), [(session.id, bo, memory.runner)]);
    fixture.done(&store::Caller::hub("test"), LeaveKeyboard { session: session.id, holder: id(&cy) }).await;
    assert_eq!(holder(&fixture, &session).await, Some(bo), "another person left");
    fixture.done(&store::Caller::hub("test"), LeaveKeyboard { session: session.id, holder: bo }).await;
    assert_eq!(holder(&fixture, &session).await, None);
    fixture.done(&fixture.ada, give(&session, bo)).await;
    let taken = fixture.done(&fixture.ada, verbs::SessionKeyboardTake { session: session.id }).await.keyboard;
    assert_eq!(taken, protocol::Keyboard::default(), "requests are dismissed, too");
    assert_eq!(fixture.store.keyboards().await.unwrap(), []);
}

async fn only_a_person_hands_their_own_keyboard_over(fixture: Fixture) {
    let (open, _) = session(&fixture, true).await;
    let bo = id(&fixture.bo);
    let agent = fixture.ada.clone().with_agent(true);
    for (caller, to) in [(&fixture.bo, bo), (&agent, bo)] {
        let error = fixture.refused(caller, give(&open, to)).await;
        assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    }
    let error = fixture.refused(&agent, verbs::SessionKeyboardTake { session: open.id }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error:?}");
    let error = fixture.refused(&fixture.ada, give(&open, UserId::generate())).await;
    assert!(matches!(error, StoreError::NotFound(_)), "{error:?}");
    assert_eq!(holder(&fixture, &open).await, None);
}

async fn a_keyboard_ends_with_its_right_its_session_and_its_person(fixture: Fixture) {
    let (session, mut memory) = session(&fixture, true).await;
    let bo = id(&fixture.bo);
    let share = |share| verbs::ProjectUpdate {
        project: session.project,
        input: ProjectUpdate { share_execution: Some(share), ..Default::default() },
    };
    fixture.done(&fixture.ada, give(&session, bo)).await;
    fixture.done(&fixture.ada, share(false)).await;
    assert_eq!(holder(&fixture, &session).await, None);
    let error = fixture.refused(&fixture.ada, give(&session, bo)).await;
    assert!(matches!(error, StoreError::Conflict(_)), "he may not watch: {error:?}");
    let error = fixture.refused(&fixture.bo, verbs::SessionKeyboardRequest { session: session.id }).await;
    assert!(matches!(error, StoreError::NotFound(_)), "{error:?}");
    fixture.done(&fixture.ada, share(true)).await;
    fixture.done(&fixture.ada, give(&session, bo)).await;
    fixture.done(&fixture.ada, verbs::UserDisable { user: bo }).await;
    assert_eq!(holder(&fixture, &session).await, None);
    fixture.done(&fixture.ada, verbs::UserEnable { user: bo }).await;
    fixture.done(&fixture.ada, give(&session, bo)).await;
    memory.at(&fixture, session.id, SessionStatus::Exited).await;
    assert_eq!(holder(&fixture, &session).await, None);
    let error = fixture.refused(&fixture.ada, give(&session, bo)).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error:?}");
}
