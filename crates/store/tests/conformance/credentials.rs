//! Tokens, logins and runners: credentials expire, can be revoked at once, and are stored only as hashes.

use domain::{Actor, TokenKind, Visibility};
use protocol::{ObserverCreate, RunnerCreate, TokenCreate, verbs};
use store::{Bearer, Caller, CreateLoginLink, EndLogin, EventBody, Secret, SeeRunner, StoreError, Touch};

use crate::fixture::{DAY, Fixture, id};
use crate::links::use_link;

both!(
    a_token_authenticates_its_owner,
    a_token_stops_working_when_it_expires,
    a_revoked_token_stops_working_at_once,
    only_hashes_are_stored,
    a_login_expires_when_idle_and_by_age,
    logging_out_ends_one_login_or_all,
    a_runner_has_a_token_until_it_is_removed,
    the_last_use_of_a_credential_is_stored,
    a_runner_gets_the_name_of_its_start_unless_it_is_taken,
    a_runner_that_connects_or_disconnects_creates_an_event,
);

fn token(name: &str, expires_at: Option<domain::Timestamp>) -> verbs::TokenCreate {
    verbs::TokenCreate { input: TokenCreate { name: name.into(), expires_at } }
}

fn by_token(secret: &str) -> Bearer {
    Bearer::Token(Secret::presented(secret))
}

pub(crate) fn by_cookie(cookie: &str) -> Bearer {
    Bearer::Cookie(Secret::presented(cookie))
}

pub(crate) fn stranger() -> Caller {
    Caller::hub("192.0.2.8")
}

async fn login(fixture: &Fixture, caller: &Caller) -> String {
    let link = fixture.done(caller, CreateLoginLink { user: None }).await.link;
    fixture.done(&stranger(), use_link(&link)).await.cookie
}

pub(crate) async fn works(fixture: &Fixture, bearer: &Bearer) -> bool {
    fixture.store.authenticate(bearer).await.unwrap().is_some()
}

async fn a_token_authenticates_its_owner(fixture: Fixture) {
    let made = fixture.done(&fixture.bo, token("cli", None)).await;
    assert!(made.secret.starts_with("sf_"));
    let credential = fixture.store.authenticate(&by_token(&made.secret)).await.unwrap().unwrap();
    assert_eq!(credential.actor, Actor::User { id: id(&fixture.bo), hub_owner: false });
    assert_eq!((credential.name.as_str(), credential.id), ("Bo", made.token.id.to_string()));
    assert_eq!(credential.depends_on, id(&fixture.bo).to_string());
    assert_eq!(fixture.store.tokens(&fixture.bo).await.unwrap(), vec![made.token]);
    assert_eq!(fixture.store.tokens(&fixture.ada).await.unwrap(), vec![]);
    assert!(!works(&fixture, &by_cookie(&made.secret)).await, "a token is no cookie");
    assert!(!works(&fixture, &by_token("sf_guess")).await);
}

async fn a_token_stops_working_when_it_expires(fixture: Fixture) {
    let end = fixture.store.now().plus_millis(5000);
    let bearer = by_token(&fixture.done(&fixture.bo, token("cli", Some(end))).await.secret);
    fixture.pass(4999);
    assert!(works(&fixture, &bearer).await);
    fixture.pass(1);
    assert!(!works(&fixture, &bearer).await);
    let error = fixture.refused(&fixture.bo, token("cli", Some(end))).await;
    assert!(matches!(error, StoreError::Invalid { field: "expires_at", .. }), "{error}");
}

async fn a_revoked_token_stops_working_at_once(fixture: Fixture) {
    let made = fixture.done(&fixture.bo, token("cli", None)).await;
    let error = fixture.refused(&fixture.ada, verbs::TokenRevoke { token: made.token.id }).await;
    assert!(matches!(error, StoreError::NotFound("token")), "{error}");
    fixture.done(&fixture.bo, verbs::TokenRevoke { token: made.token.id }).await;
    assert!(!works(&fixture, &by_token(&made.secret)).await);
    let ids = vec![made.token.id.to_string()];
    assert_eq!(fixture.heard().last().unwrap().body, EventBody::Revoked { ids });
}

async fn only_hashes_are_stored(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await;
    let key = || Some("some key".to_owned());
    let token = fixture.store.write(&fixture.ada, key(), token("cli", None)).await.unwrap().value.secret;
    let link = fixture.done(&fixture.ada, CreateLoginLink { user: None }).await.link;
    let cookie = fixture.done(&stranger(), use_link(&link)).await.cookie;
    let input = ObserverCreate { name: "boss".into(), expires_at: None };
    let observer = fixture.done(&fixture.ada, verbs::ObserverCreate { project: project.id, input }).await.link;
    let mut archive = Vec::new();
    store::transfer::export(&fixture.url, &mut archive).await.unwrap();
    let archive = String::from_utf8(archive).unwrap();
    for secret in [token, link, cookie, observer] {
        assert!(!archive.contains(&secret));
    }
}

async fn a_login_expires_when_idle_and_by_age(fixture: Fixture) {
    let cookie = by_cookie(&login(&fixture, &fixture.ada).await);
    let credential = fixture.store.authenticate(&cookie).await.unwrap().unwrap();
    for _ in 0..4 {
        fixture.pass(7 * DAY - 1);
        assert!(works(&fixture, &cookie).await);
        let seen = vec![(credential.id.clone(), fixture.store.now())];
        fixture.done(&Caller::hub("upkeep"), Touch { seen }).await;
    }
    fixture.pass(2 * DAY + 4);
    assert!(!works(&fixture, &cookie).await, "30 days old");
    let cookie = by_cookie(&login(&fixture, &fixture.ada).await);
    fixture.pass(7 * DAY);
    assert!(!works(&fixture, &cookie).await, "idle for 7 days");
}

async fn logging_out_ends_one_login_or_all(fixture: Fixture) {
    let cookies =
        [login(&fixture, &fixture.ada).await, login(&fixture, &fixture.ada).await, login(&fixture, &fixture.ada).await];
    let [one, two, three] = cookies.map(|cookie| by_cookie(&cookie));
    let first = fixture.store.authenticate(&one).await.unwrap().unwrap().id;
    fixture.done(&fixture.ada, EndLogin { login: first }).await;
    assert!(!works(&fixture, &one).await && works(&fixture, &two).await);
    let second = fixture.store.authenticate(&two).await.unwrap().unwrap().id.parse().unwrap();
    let error = fixture.refused(&fixture.bo, verbs::LoginRevoke { login: second }).await;
    assert!(matches!(error, StoreError::NotFound("login")), "{error}");
    fixture.done(&fixture.ada, verbs::LoginRevoke { login: second }).await;
    assert!(!works(&fixture, &two).await && works(&fixture, &three).await);
    fixture.done(&fixture.ada, verbs::LoginRevokeAll {}).await;
    assert!(!works(&fixture, &three).await);
    assert_eq!(fixture.store.logins(&fixture.bo, None).await.unwrap().len(), 1, "others stay");
}

async fn a_runner_has_a_token_until_it_is_removed(fixture: Fixture) {
    let runner = |name: &str| verbs::RunnerCreate { input: RunnerCreate { name: name.into() } };
    let made = fixture.done(&fixture.bo, runner("laptop")).await;
    let error = fixture.refused(&fixture.bo, runner(" laptop ")).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    fixture.done(&fixture.ada, runner("laptop")).await;
    let credential = fixture.store.authenticate(&by_token(&made.secret)).await.unwrap().unwrap();
    let wanted = domain::Actor::Runner { user: crate::fixture::id(&fixture.bo), runner: made.runner.id };
    assert_eq!((credential.actor, credential.name.as_str()), (wanted, "Bo"));
    assert_eq!(fixture.store.tokens(&fixture.bo).await.unwrap()[0].kind, TokenKind::Runner);
    let error = fixture.refused(&fixture.ada, verbs::RunnerRemove { runner: made.runner.id }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    fixture.done(&fixture.bo, verbs::RunnerRemove { runner: made.runner.id }).await;
    assert!(!works(&fixture, &by_token(&made.secret)).await);
    assert_eq!(fixture.store.runners(&fixture.bo).await.unwrap().len(), 1);
}

async fn the_last_use_of_a_credential_is_stored(fixture: Fixture) {
    let made = fixture.done(&fixture.bo, token("cli", None)).await;
    let runner =
        fixture.done(&fixture.bo, verbs::RunnerCreate { input: RunnerCreate { name: "laptop".into() } }).await.runner;
    fixture.pass(60_000);
    let now = fixture.store.now();
    let seen = [made.token.id.to_string(), id(&fixture.bo).to_string(), runner.id.to_string(), "prj_x".into()];
    fixture.done(&Caller::hub("upkeep"), Touch { seen: seen.map(|id| (id, now)).to_vec() }).await;
    assert_eq!(fixture.store.tokens(&fixture.bo).await.unwrap()[0].last_used_at, Some(now));
    assert_eq!(fixture.store.user(&fixture.ada, id(&fixture.bo)).await.unwrap().last_seen_at, Some(now));
    assert_eq!(fixture.store.runners(&fixture.ada).await.unwrap()[0].last_seen_at, Some(now));
}

async fn a_runner_gets_the_name_of_its_start_unless_it_is_taken(fixture: Fixture) {
    let make = async |caller, name: &str| {
        fixture.done(caller, verbs::RunnerCreate { input: RunnerCreate { name: name.into() } }).await.runner
    };
    let (laptop, other, ada) =
        (make(&fixture.bo, "laptop").await, make(&fixture.bo, "other").await, make(&fixture.ada, "desk").await);
    let hub = Caller::hub("socket");
    let call = async |runner, name: &str| fixture.done(&hub, store::NameRunner { runner, name: name.into() }).await;
    let named = call(laptop.id, " desk ").await.unwrap();
    assert_eq!((named.name.as_str(), named.before.as_deref(), named.refused), ("desk", Some("laptop"), None));
    let seen = protocol::Runner { name: "desk".into(), ..laptop.clone() };
    let told = EventBody::Change { change: protocol::Change::Runner { runner: seen.clone() } };
    assert_eq!(fixture.heard().last().unwrap().body, told);
    let before = fixture.store.extent().await.unwrap();
    assert_eq!(call(laptop.id, "desk").await.unwrap().before, None, "again");
    for (bad, why) in [("desk", "another runner `desk`"), (" ", "empty"), ("a\u{7}", "U+0007")] {
        let named = call(other.id, bad).await.unwrap();
        assert_eq!(named.name, "other");
        assert!(named.refused.as_ref().is_some_and(|said| said.contains(why)), "{named:?}");
    }
    assert_eq!(call(domain::RunnerId::generate(), "x").await, None, "removed meanwhile");
    assert_eq!(fixture.store.extent().await.unwrap(), before, "nothing was written");
    assert_eq!(fixture.store.runners(&fixture.ada).await.unwrap(), [ada, seen, other]);
}

async fn a_runner_that_connects_or_disconnects_creates_an_event(fixture: Fixture) {
    let about = crate::execution::about(2);
    let runner =
        fixture.done(&fixture.bo, verbs::RunnerCreate { input: RunnerCreate { name: "laptop".into() } }).await.runner;
    fixture.pass(60_000);
    fixture
        .done(&Caller::hub("socket"), SeeRunner { runner: runner.id, link: "one".into(), about: Some(about.clone()) })
        .await;
    let seen = protocol::Runner {
        connected: true,
        last_seen_at: Some(fixture.store.now()),
        about: Some(about.clone()),
        ..runner.clone()
    };
    assert_eq!(fixture.store.runners(&fixture.ada).await.unwrap(), vec![seen.clone()]);
    let told = EventBody::Change { change: protocol::Change::Runner { runner: seen.clone() } };
    assert_eq!(fixture.heard().last().unwrap().body, told);
    // There is a newer link, perhaps at another hub: the end of the older one is no news.
    let hub = Caller::hub("socket");
    fixture.done(&hub, SeeRunner { runner: runner.id, link: "two".into(), about: Some(about) }).await;
    let before = fixture.store.extent().await.unwrap();
    fixture.done(&hub, SeeRunner { runner: runner.id, link: "one".into(), about: None }).await;
    let unknown = domain::RunnerId::generate();
    fixture.done(&hub, SeeRunner { runner: unknown, link: "x".into(), about: None }).await;
    assert_eq!(fixture.store.extent().await.unwrap(), before, "an older link, and a runner that was removed meanwhile");
    assert!(fixture.store.runners(&fixture.ada).await.unwrap()[0].connected);
    // A crashed hub cannot report that its runners are gone.
    fixture.pass(170_000);
    let heard = fixture.store.now();
    fixture.pass(30_000);
    assert!(!fixture.store.runners(&fixture.ada).await.unwrap()[0].connected);
    // It was silent before its link ended.
    let touch = |at| Touch { seen: vec![(runner.id.to_string(), at)] };
    fixture.done(&hub, touch(heard)).await;
    fixture.done(&hub, touch(heard.plus_millis(-60_000))).await;
    fixture.done(&hub, SeeRunner { runner: runner.id, link: "two".into(), about: None }).await;
    let gone = fixture.store.runners(&fixture.ada).await.unwrap().remove(0);
    assert_eq!((gone.connected, gone.last_seen_at), (false, Some(heard)), "when it was last heard from");
    assert_eq!(gone.about, seen.about, "its description is kept");
    let told = EventBody::Change { change: protocol::Change::Runner { runner: gone } };
    assert_eq!(fixture.heard().last().unwrap().body, told);
}
