//! Links: one-time logins, invitations, observers.

use domain::{Actor, Visibility};
use protocol::{InviteCreate, ObserverCreate, verbs};
use store::{AcceptInvite, CreateLoginLink, EventBody, Secret, Spent, StoreError, UseLoginLink, UseObserverLink};

use crate::credentials::{by_cookie, stranger, works};
use crate::fixture::{DAY, Fixture, id};

both!(
    a_login_link_works_once,
    a_login_link_expires,
    a_login_link_of_a_disabled_person_does_not_work,
    an_invitation_works_once,
    an_invitation_expires_or_is_revoked,
    an_observer_link_shows_one_project,
    an_observer_link_expires_or_is_revoked,
);

pub(crate) fn use_link(link: &str) -> UseLoginLink {
    let hash = Secret::presented(link).hash();
    UseLoginLink { hash, client: "Fire\u{7}fox".into(), address: "192.0.2.8".into() }
}

fn accept(link: &str, name: &str) -> AcceptInvite {
    let hash = Secret::presented(link).hash();
    AcceptInvite { hash, name: name.into(), client: "Firefox".into(), address: "192.0.2.8".into() }
}

fn observe(link: &str) -> UseObserverLink {
    let hash = Secret::presented(link).hash();
    UseObserverLink { hash, client: "Firefox".into(), address: "192.0.2.8".into() }
}

async fn a_login_link_works_once(fixture: Fixture) {
    let link = fixture.done(&fixture.bo, CreateLoginLink { user: None }).await.link;
    let fresh = fixture.done(&stranger(), use_link(&link)).await;
    assert_eq!(fresh.user.unwrap().id, id(&fixture.bo));
    let credential = fixture.store.authenticate(&by_cookie(&fresh.cookie)).await.unwrap().unwrap();
    assert!(credential.by_cookie);
    let error = fixture.refused(&stranger(), use_link(&link)).await;
    assert!(matches!(error, StoreError::Spent("login link", Spent::Used)), "{error}");
    let logins = fixture.store.logins(&fixture.bo, Some(&credential.id)).await.unwrap();
    let current = logins.iter().find(|login| login.current).unwrap();
    assert_eq!((current.client.as_str(), current.address.as_str()), ("Firefox", "192.0.2.8"));
}

async fn a_login_link_expires(fixture: Fixture) {
    let made = fixture.done(&fixture.bo, CreateLoginLink { user: None }).await;
    fixture.pass(made.expires_at.as_millis() - fixture.store.now().as_millis());
    let error = fixture.refused(&stranger(), use_link(&made.link)).await;
    assert!(matches!(error, StoreError::Spent("login link", Spent::Expired)), "{error}");
}

async fn a_login_link_of_a_disabled_person_does_not_work(fixture: Fixture) {
    let link = fixture.done(&fixture.bo, CreateLoginLink { user: None }).await.link;
    fixture.done(&fixture.ada, verbs::UserDisable { user: id(&fixture.bo) }).await;
    let error = fixture.refused(&stranger(), use_link(&link)).await;
    assert!(matches!(error, StoreError::NotFound("login link")), "{error}");
    let error = fixture.refused(&fixture.ada, CreateLoginLink { user: Some(id(&fixture.bo)) }).await;
    assert!(matches!(error, StoreError::NotFound("user")), "{error}");
}

async fn an_invitation_works_once(fixture: Fixture) {
    let input = InviteCreate { name: "for Cy".into(), expires_at: None };
    let made = fixture.done(&fixture.bo, verbs::InviteCreate { input }).await;
    let fresh = fixture.done(&stranger(), accept(&made.link, "Cy")).await;
    assert!(works(&fixture, &by_cookie(&fresh.cookie)).await);
    let error = fixture.refused(&stranger(), accept(&made.link, "Di")).await;
    assert!(matches!(error, StoreError::Spent("invitation", Spent::Used)), "{error}");
    let invites = fixture.store.invites(&fixture.bo).await.unwrap();
    assert_eq!(invites[0].accepted_by.as_ref().unwrap().name, "Cy");
    let names: Vec<_> = fixture.store.users(&fixture.bo).await.unwrap().into_iter().map(|user| user.name).collect();
    assert_eq!(names, ["Ada", "Bo", "Cy"]);
}

async fn an_invitation_expires_or_is_revoked(fixture: Fixture) {
    let invite = |days: i64| {
        let expires_at = Some(fixture.store.now().plus_millis(days * DAY));
        verbs::InviteCreate { input: InviteCreate { name: "x".into(), expires_at } }
    };
    let error = fixture.refused(&fixture.ada, invite(91)).await;
    assert!(matches!(error, StoreError::Invalid { field: "expires_at", .. }), "{error}");
    let made = fixture.done(&fixture.ada, invite(1)).await;
    let error = fixture.refused(&fixture.bo, verbs::InviteRevoke { invite: made.invite.id }).await;
    assert!(matches!(error, StoreError::NotFound("invite")), "{error}");
    fixture.done(&fixture.ada, verbs::InviteRevoke { invite: made.invite.id }).await;
    let error = fixture.refused(&stranger(), accept(&made.link, "Cy")).await;
    assert!(matches!(error, StoreError::NotFound("invite")), "{error}");
    let made = fixture.done(&fixture.ada, invite(1)).await;
    fixture.pass(DAY);
    let error = fixture.refused(&stranger(), accept(&made.link, "Cy")).await;
    assert!(matches!(error, StoreError::Spent("invitation", Spent::Expired)), "{error}");
}

async fn an_observer_link_shows_one_project(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await;
    let input = ObserverCreate { name: "boss".into(), expires_at: None };
    let made = fixture.done(&fixture.ada, verbs::ObserverCreate { project: project.id, input }).await;
    for _ in 0..2 {
        let fresh = fixture.done(&stranger(), observe(&made.link)).await;
        assert_eq!((fresh.user, fresh.observes), (None, Some(project.id)));
        let credential = fixture.store.authenticate(&by_cookie(&fresh.cookie)).await.unwrap().unwrap();
        assert_eq!(credential.actor, Actor::Observer { project: project.id });
        assert_eq!(credential.depends_on, made.observer.id.to_string());
    }
    assert_eq!(fixture.store.observers(&fixture.ada, project.id).await.unwrap(), vec![made.observer]);
}

async fn an_observer_link_expires_or_is_revoked(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let link = |expires_at| {
        let input = ObserverCreate { name: "boss".into(), expires_at };
        verbs::ObserverCreate { project: project.id, input }
    };
    let error = fixture.refused(&fixture.bo, link(None)).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let made = fixture.done(&fixture.ada, link(Some(fixture.store.now().plus_millis(DAY)))).await;
    let cookie = by_cookie(&fixture.done(&stranger(), observe(&made.link)).await.cookie);
    fixture.pass(DAY);
    assert!(!works(&fixture, &cookie).await);
    let error = fixture.refused(&stranger(), observe(&made.link)).await;
    assert!(matches!(error, StoreError::Spent("observer link", Spent::Expired)), "{error}");
    let made = fixture.done(&fixture.ada, link(None)).await;
    let cookie = by_cookie(&fixture.done(&stranger(), observe(&made.link)).await.cookie);
    fixture.done(&fixture.ada, verbs::ObserverRevoke { observer: made.observer.id }).await;
    assert!(!works(&fixture, &cookie).await);
    assert_eq!(fixture.heard().last().unwrap().body, EventBody::Revoked { ids: vec![made.observer.id.to_string()] });
}
