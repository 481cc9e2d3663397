//! Tokens, logins and runners: valid for a time, ended at once, stored as hashes only.

use domain::{Actor, TokenKind, Visibility};
use protocol::{ObserverCreate, RunnerCreate, TokenCreate, verbs};
use store::{Bearer, Caller, CreateLoginLink, EndLogin, EventBody, Secret, SeeRunner, StoreError, Touch};

use crate::floor::{DAY, Floor, id};
use crate::links::use_link;

both!(
    a_token_is_its_owner,
    a_token_ends_when_it_expires,
    a_revoked_token_ends_at_once,
    only_hashes_are_stored,
    a_login_ends_by_idling_and_by_age,
    logging_out_ends_one_login_or_all,
    a_runner_has_a_token_until_it_is_removed,
    what_was_seen_is_remembered,
    a_runner_is_called_what_it_is_started_with_unless_that_is_taken,
    a_runner_that_comes_or_goes_is_told,
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

async fn login(floor: &Floor, caller: &Caller) -> String {
    let link = floor.done(caller, CreateLoginLink { user: None }).await.link;
    floor.done(&stranger(), use_link(&link)).await.cookie
}

pub(crate) async fn works(floor: &Floor, bearer: &Bearer) -> bool {
    floor.store.authenticate(bearer).await.unwrap().is_some()
}

async fn a_token_is_its_owner(floor: Floor) {
    let made = floor.done(&floor.bo, token("cli", None)).await;
    assert!(made.secret.starts_with("sf_"));
    let credential = floor.store.authenticate(&by_token(&made.secret)).await.unwrap().unwrap();
    assert_eq!(credential.actor, Actor::User { id: id(&floor.bo), hub_owner: false });
    assert_eq!((credential.name.as_str(), credential.id), ("Bo", made.token.id.to_string()));
    assert_eq!(credential.depends_on, id(&floor.bo).to_string());
    assert_eq!(floor.store.tokens(&floor.bo).await.unwrap(), vec![made.token]);
    assert_eq!(floor.store.tokens(&floor.ada).await.unwrap(), vec![]);
    assert!(!works(&floor, &by_cookie(&made.secret)).await, "a token is no cookie");
    assert!(!works(&floor, &by_token("sf_guess")).await);
}

async fn a_token_ends_when_it_expires(floor: Floor) {
    let end = floor.store.now().plus_millis(5000);
    let bearer = by_token(&floor.done(&floor.bo, token("cli", Some(end))).await.secret);
    floor.pass(4999);
    assert!(works(&floor, &bearer).await);
    floor.pass(1);
    assert!(!works(&floor, &bearer).await);
    let error = floor.refused(&floor.bo, token("cli", Some(end))).await;
    assert!(matches!(error, StoreError::Invalid { field: "expires_at", .. }), "{error}");
}

async fn a_revoked_token_ends_at_once(floor: Floor) {
    let made = floor.done(&floor.bo, token("cli", None)).await;
    let error = floor.refused(&floor.ada, verbs::TokenRevoke { token: made.token.id }).await;
    assert!(matches!(error, StoreError::NotFound("token")), "{error}");
    floor.done(&floor.bo, verbs::TokenRevoke { token: made.token.id }).await;
    assert!(!works(&floor, &by_token(&made.secret)).await);
    let ids = vec![made.token.id.to_string()];
    assert_eq!(floor.heard().last().unwrap().body, EventBody::Revoked { ids });
}

async fn only_hashes_are_stored(floor: Floor) {
    let project = floor.project(Visibility::Private).await;
    let key = || Some("some key".to_owned());
    let token = floor.store.write(&floor.ada, key(), token("cli", None)).await.unwrap().value.secret;
    let link = floor.done(&floor.ada, CreateLoginLink { user: None }).await.link;
    let cookie = floor.done(&stranger(), use_link(&link)).await.cookie;
    let input = ObserverCreate { name: "boss".into(), expires_at: None };
    let observer = floor.done(&floor.ada, verbs::ObserverCreate { project: project.id, input }).await.link;
    let mut archive = Vec::new();
    store::transfer::export(&floor.url, &mut archive).await.unwrap();
    let archive = String::from_utf8(archive).unwrap();
    for secret in [token, link, cookie, observer] {
        assert!(!archive.contains(&secret));
    }
}

async fn a_login_ends_by_idling_and_by_age(floor: Floor) {
    let cookie = by_cookie(&login(&floor, &floor.ada).await);
    let credential = floor.store.authenticate(&cookie).await.unwrap().unwrap();
    for _ in 0..4 {
        floor.pass(7 * DAY - 1);
        assert!(works(&floor, &cookie).await);
        let seen = vec![(credential.id.clone(), floor.store.now())];
        floor.done(&Caller::hub("upkeep"), Touch { seen }).await;
    }
    floor.pass(2 * DAY + 4);
    assert!(!works(&floor, &cookie).await, "30 days old");
    let cookie = by_cookie(&login(&floor, &floor.ada).await);
    floor.pass(7 * DAY);
    assert!(!works(&floor, &cookie).await, "idle for 7 days");
}

async fn logging_out_ends_one_login_or_all(floor: Floor) {
    let cookies = [login(&floor, &floor.ada).await, login(&floor, &floor.ada).await, login(&floor, &floor.ada).await];
    let [one, two, three] = cookies.map(|cookie| by_cookie(&cookie));
    let first = floor.store.authenticate(&one).await.unwrap().unwrap().id;
    floor.done(&floor.ada, EndLogin { login: first }).await;
    assert!(!works(&floor, &one).await && works(&floor, &two).await);
    let second = floor.store.authenticate(&two).await.unwrap().unwrap().id.parse().unwrap();
    let error = floor.refused(&floor.bo, verbs::LoginRevoke { login: second }).await;
    assert!(matches!(error, StoreError::NotFound("login")), "{error}");
    floor.done(&floor.ada, verbs::LoginRevoke { login: second }).await;
    assert!(!works(&floor, &two).await && works(&floor, &three).await);
    floor.done(&floor.ada, verbs::LoginRevokeAll {}).await;
    assert!(!works(&floor, &three).await);
    assert_eq!(floor.store.logins(&floor.bo, None).await.unwrap().len(), 1, "others stay");
}

async fn a_runner_has_a_token_until_it_is_removed(floor: Floor) {
    let runner = |name: &str| verbs::RunnerCreate { input: RunnerCreate { name: name.into() } };
    let made = floor.done(&floor.bo, runner("laptop")).await;
    let error = floor.refused(&floor.bo, runner(" laptop ")).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    floor.done(&floor.ada, runner("laptop")).await;
    let credential = floor.store.authenticate(&by_token(&made.secret)).await.unwrap().unwrap();
    let wanted = domain::Actor::Runner { user: crate::floor::id(&floor.bo), runner: made.runner.id };
    assert_eq!((credential.actor, credential.name.as_str()), (wanted, "Bo"));
    assert_eq!(floor.store.tokens(&floor.bo).await.unwrap()[0].kind, TokenKind::Runner);
    let error = floor.refused(&floor.ada, verbs::RunnerRemove { runner: made.runner.id }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    floor.done(&floor.bo, verbs::RunnerRemove { runner: made.runner.id }).await;
    assert!(!works(&floor, &by_token(&made.secret)).await);
    assert_eq!(floor.store.runners(&floor.bo).await.unwrap().len(), 1);
}

async fn what_was_seen_is_remembered(floor: Floor) {
    let made = floor.done(&floor.bo, token("cli", None)).await;
    let runner =
        floor.done(&floor.bo, verbs::RunnerCreate { input: RunnerCreate { name: "laptop".into() } }).await.runner;
    floor.pass(60_000);
    let now = floor.store.now();
    let seen = [made.token.id.to_string(), id(&floor.bo).to_string(), runner.id.to_string(), "prj_x".into()];
    floor.done(&Caller::hub("upkeep"), Touch { seen: seen.map(|id| (id, now)).to_vec() }).await;
    assert_eq!(floor.store.tokens(&floor.bo).await.unwrap()[0].last_used_at, Some(now));
    assert_eq!(floor.store.user(&floor.ada, id(&floor.bo)).await.unwrap().last_seen_at, Some(now));
    assert_eq!(floor.store.runners(&floor.ada).await.unwrap()[0].last_seen_at, Some(now));
}

async fn a_runner_is_called_what_it_is_started_with_unless_that_is_taken(floor: Floor) {
    let make = async |caller, name: &str| {
        floor.done(caller, verbs::RunnerCreate { input: RunnerCreate { name: name.into() } }).await.runner
    };
    let (laptop, other, ada) =
        (make(&floor.bo, "laptop").await, make(&floor.bo, "other").await, make(&floor.ada, "desk").await);
    let hub = Caller::hub("socket");
    let call = async |runner, name: &str| floor.done(&hub, store::NameRunner { runner, name: name.into() }).await;
    let named = call(laptop.id, " desk ").await.unwrap();
    assert_eq!((named.name.as_str(), named.before.as_deref(), named.refused), ("desk", Some("laptop"), None));
    let seen = protocol::Runner { name: "desk".into(), ..laptop.clone() };
    let told = EventBody::Change { change: protocol::Change::Runner { runner: seen.clone() } };
    assert_eq!(floor.heard().last().unwrap().body, told);
    let before = floor.store.extent().await.unwrap();
    assert_eq!(call(laptop.id, "desk").await.unwrap().before, None, "again");
    for (bad, why) in [("desk", "another runner `desk`"), (" ", "empty"), ("a\u{7}", "U+0007")] {
        let named = call(other.id, bad).await.unwrap();
        assert_eq!(named.name, "other");
        assert!(named.refused.as_ref().is_some_and(|said| said.contains(why)), "{named:?}");
    }
    assert_eq!(call(domain::RunnerId::generate(), "x").await, None, "removed meanwhile");
    assert_eq!(floor.store.extent().await.unwrap(), before, "nothing of it was written");
    assert_eq!(floor.store.runners(&floor.ada).await.unwrap(), [ada, seen, other]);
}

async fn a_runner_that_comes_or_goes_is_told(floor: Floor) {
    let about = crate::execution::about(2);
    let runner =
        floor.done(&floor.bo, verbs::RunnerCreate { input: RunnerCreate { name: "laptop".into() } }).await.runner;
    floor.pass(60_000);
    floor
        .done(&Caller::hub("socket"), SeeRunner { runner: runner.id, link: "one".into(), about: Some(about.clone()) })
        .await;
    let seen = protocol::Runner {
        connected: true,
        last_seen_at: Some(floor.store.now()),
        about: Some(about.clone()),
        ..runner.clone()
    };
    assert_eq!(floor.store.runners(&floor.ada).await.unwrap(), vec![seen.clone()]);
    let told = EventBody::Change { change: protocol::Change::Runner { runner: seen.clone() } };
    assert_eq!(floor.heard().last().unwrap().body, told);
    // A newer link, perhaps at another hub: the end of the older one is no news.
    let hub = Caller::hub("socket");
    floor.done(&hub, SeeRunner { runner: runner.id, link: "two".into(), about: Some(about) }).await;
    let before = floor.store.extent().await.unwrap();
    floor.done(&hub, SeeRunner { runner: runner.id, link: "one".into(), about: None }).await;
    let unknown = domain::RunnerId::generate();
    floor.done(&hub, SeeRunner { runner: unknown, link: "x".into(), about: None }).await;
    assert_eq!(floor.store.extent().await.unwrap(), before, "an older link, and a runner that was removed meanwhile");
    assert!(floor.store.runners(&floor.ada).await.unwrap()[0].connected);
    // A hub that died cannot say that its runners are gone.
    floor.pass(170_000);
    let heard = floor.store.now();
    floor.pass(30_000);
    assert!(!floor.store.runners(&floor.ada).await.unwrap()[0].connected);
    // It was silent before its link ended.
    let touch = |at| Touch { seen: vec![(runner.id.to_string(), at)] };
    floor.done(&hub, touch(heard)).await;
    floor.done(&hub, touch(heard.plus_millis(-60_000))).await;
    floor.done(&hub, SeeRunner { runner: runner.id, link: "two".into(), about: None }).await;
    let gone = floor.store.runners(&floor.ada).await.unwrap().remove(0);
    assert_eq!((gone.connected, gone.last_seen_at), (false, Some(heard)), "when it was last heard from");
    assert_eq!(gone.about, seen.about, "what it was is still known");
    let told = EventBody::Change { change: protocol::Change::Runner { runner: gone } };
    assert_eq!(floor.heard().last().unwrap().body, told);
}
