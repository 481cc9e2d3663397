//! Links: one-time logins, invitations, observers.

use domain::{Actor, Visibility};
use protocol::{InviteCreate, ObserverCreate, verbs};
use store::{AcceptInvite, CreateLoginLink, EventBody, Secret, StoreError, UseLoginLink, UseObserverLink};

use crate::credentials::{by_cookie, stranger, works};
use crate::floor::{DAY, Floor, id};

both!(
    a_login_link_works_once,
    a_login_link_expires,
    a_login_link_of_a_disabled_person_is_dead,
    an_invitation_works_once,
    an_invitation_expires_or_is_taken_back,
    an_observer_link_shows_one_project,
    an_observer_link_expires_or_is_taken_back,
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

async fn a_login_link_works_once(floor: Floor) {
    let link = floor.done(&floor.bo, CreateLoginLink { user: None }).await.link;
    let fresh = floor.done(&stranger(), use_link(&link)).await;
    assert_eq!(fresh.user.unwrap().id, id(&floor.bo));
    let credential = floor.store.authenticate(&by_cookie(&fresh.cookie)).await.unwrap().unwrap();
    assert!(credential.by_cookie);
    let error = floor.refused(&stranger(), use_link(&link)).await;
    assert!(matches!(error, StoreError::NotFound("login link")), "{error}");
    let logins = floor.store.logins(&floor.bo, Some(&credential.id)).await.unwrap();
    let current = logins.iter().find(|login| login.current).unwrap();
    assert_eq!((current.client.as_str(), current.address.as_str()), ("Firefox", "192.0.2.8"));
}

async fn a_login_link_expires(floor: Floor) {
    let made = floor.done(&floor.bo, CreateLoginLink { user: None }).await;
    floor.pass(made.expires_at.as_millis() - floor.store.now().as_millis());
    let error = floor.refused(&stranger(), use_link(&made.link)).await;
    assert!(matches!(error, StoreError::NotFound("login link")), "{error}");
}

async fn a_login_link_of_a_disabled_person_is_dead(floor: Floor) {
    let link = floor.done(&floor.bo, CreateLoginLink { user: None }).await.link;
    floor.done(&floor.ada, verbs::UserDisable { user: id(&floor.bo) }).await;
    let error = floor.refused(&stranger(), use_link(&link)).await;
    assert!(matches!(error, StoreError::NotFound("login link")), "{error}");
    let error = floor.refused(&floor.ada, CreateLoginLink { user: Some(id(&floor.bo)) }).await;
    assert!(matches!(error, StoreError::NotFound("user")), "{error}");
}

async fn an_invitation_works_once(floor: Floor) {
    let input = InviteCreate { name: "for Cy".into(), expires_at: None };
    let made = floor.done(&floor.bo, verbs::InviteCreate { input }).await;
    let fresh = floor.done(&stranger(), accept(&made.link, "Cy")).await;
    assert!(works(&floor, &by_cookie(&fresh.cookie)).await);
    let error = floor.refused(&stranger(), accept(&made.link, "Di")).await;
    assert!(matches!(error, StoreError::NotFound("invite")), "{error}");
    let invites = floor.store.invites(&floor.bo).await.unwrap();
    assert_eq!(invites[0].accepted_by.as_ref().unwrap().name, "Cy");
    let names: Vec<_> = floor.store.users(&floor.bo).await.unwrap().into_iter().map(|user| user.name).collect();
    assert_eq!(names, ["Ada", "Bo", "Cy"]);
}

async fn an_invitation_expires_or_is_taken_back(floor: Floor) {
    let invite = |days: i64| {
        let expires_at = Some(floor.store.now().plus_millis(days * DAY));
        verbs::InviteCreate { input: InviteCreate { name: "x".into(), expires_at } }
    };
    let error = floor.refused(&floor.ada, invite(91)).await;
    assert!(matches!(error, StoreError::Invalid { field: "expires_at", .. }), "{error}");
    let made = floor.done(&floor.ada, invite(1)).await;
    let error = floor.refused(&floor.bo, verbs::InviteRevoke { invite: made.invite.id }).await;
    assert!(matches!(error, StoreError::NotFound("invite")), "{error}");
    floor.done(&floor.ada, verbs::InviteRevoke { invite: made.invite.id }).await;
    let error = floor.refused(&stranger(), accept(&made.link, "Cy")).await;
    assert!(matches!(error, StoreError::NotFound("invite")), "{error}");
    let made = floor.done(&floor.ada, invite(1)).await;
    floor.pass(DAY);
    let error = floor.refused(&stranger(), accept(&made.link, "Cy")).await;
    assert!(matches!(error, StoreError::NotFound("invite")), "{error}");
}

async fn an_observer_link_shows_one_project(floor: Floor) {
    let project = floor.project(Visibility::Private).await;
    let input = ObserverCreate { name: "boss".into(), expires_at: None };
    let made = floor.done(&floor.ada, verbs::ObserverCreate { project: project.id, input }).await;
    for _ in 0..2 {
        let fresh = floor.done(&stranger(), observe(&made.link)).await;
        assert_eq!((fresh.user, fresh.observes), (None, Some(project.id)));
        let credential = floor.store.authenticate(&by_cookie(&fresh.cookie)).await.unwrap().unwrap();
        assert_eq!(credential.actor, Actor::Observer { project: project.id });
        assert_eq!(credential.depends_on, made.observer.id.to_string());
    }
    assert_eq!(floor.store.observers(&floor.ada, project.id).await.unwrap(), vec![made.observer]);
}

async fn an_observer_link_expires_or_is_taken_back(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let link = |expires_at| {
        let input = ObserverCreate { name: "boss".into(), expires_at };
        verbs::ObserverCreate { project: project.id, input }
    };
    let error = floor.refused(&floor.bo, link(None)).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let made = floor.done(&floor.ada, link(Some(floor.store.now().plus_millis(DAY)))).await;
    let cookie = by_cookie(&floor.done(&stranger(), observe(&made.link)).await.cookie);
    floor.pass(DAY);
    assert!(!works(&floor, &cookie).await);
    let error = floor.refused(&stranger(), observe(&made.link)).await;
    assert!(matches!(error, StoreError::NotFound("observer link")), "{error}");
    let made = floor.done(&floor.ada, link(None)).await;
    let cookie = by_cookie(&floor.done(&stranger(), observe(&made.link)).await.cookie);
    floor.done(&floor.ada, verbs::ObserverRevoke { observer: made.observer.id }).await;
    assert!(!works(&floor, &cookie).await);
    assert_eq!(floor.heard().last().unwrap().body, EventBody::Revoked { ids: vec![made.observer.id.to_string()] });
}
