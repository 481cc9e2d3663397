//! People: their identity, their names, and disabling them.

use protocol::{Change, InviteCreate, Rename, verbs};
use store::{AcceptInvite, Bearer, Caller, EnterByGithub, EnterHubOwner, EventBody, Secret, StoreError};

use crate::fixture::{Fixture, id};

both!(
    the_hub_owner_is_created_once,
    a_github_login_is_matched_by_its_number,
    a_new_name_creates_an_event,
    names_are_unique_ignoring_case,
    confusable_names_are_refused,
    a_disabled_person_is_logged_out_at_once,
    an_enabled_person_can_log_in_again,
    only_the_hub_owner_disables,
    only_a_disabled_person_without_work_is_removed,
);

fn rename(name: &str) -> verbs::MeRename {
    verbs::MeRename { input: Rename { name: name.into() } }
}

fn by_github(github_id: i64, login: &str) -> EnterByGithub {
    EnterByGithub { github_id, login: login.into(), client: "Firefox".into(), address: "192.0.2.7".into() }
}

async fn the_hub_owner_is_created_once(fixture: Fixture) {
    let again = fixture.done(&Caller::hub("start"), EnterHubOwner { name: "Someone".into() }).await;
    assert_eq!((again.id, again.name.as_str(), again.hub_owner), (id(&fixture.ada), "Ada", true));
    assert_eq!(fixture.store.users(&fixture.bo).await.unwrap().len(), 2);
    assert_eq!(fixture.store.user(&fixture.bo, again.id).await.unwrap(), again);
}

async fn a_github_login_is_matched_by_its_number(fixture: Fixture) {
    let hub = Caller::hub("192.0.2.7");
    let first = fixture.done(&hub, by_github(7, "octo")).await;
    let cookie = Bearer::Cookie(Secret::presented(&first.cookie));
    let user = first.user.unwrap();
    assert_eq!((user.name.as_str(), user.hub_owner), ("octo", false));
    assert_eq!(fixture.store.authenticate(&cookie).await.unwrap().unwrap().name, "octo");
    let renamed = fixture.done(&hub, by_github(7, "kraken")).await.user.unwrap();
    assert_eq!((renamed.id, renamed.name.as_str()), (user.id, "octo"));
    let other = fixture.done(&hub, by_github(8, "OCTO")).await.user.unwrap();
    assert_eq!(other.name, "OCTO (8)");
    fixture.done(&fixture.ada, verbs::UserDisable { user: user.id }).await;
    let error = fixture.refused(&hub, by_github(7, "octo")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
}

async fn a_new_name_creates_an_event(fixture: Fixture) {
    let after = fixture.done(&fixture.bo, rename("  Bob ")).await;
    assert_eq!(after.name, "Bob");
    assert_eq!(fixture.store.user(&fixture.ada, after.id).await.unwrap(), after);
    assert_eq!(fixture.heard().last().unwrap().body, EventBody::Change { change: Change::User { user: after } });
}

async fn names_are_unique_ignoring_case(fixture: Fixture) {
    fixture.join("Élodie").await;
    for taken in ["ada", " ADA ", "éLODIE"] {
        let error = fixture.refused(&fixture.bo, rename(taken)).await;
        assert!(matches!(&error, StoreError::Conflict(why) if why.contains("taken")), "{taken}: {error}");
    }
    fixture.done(&fixture.bo, rename("BO")).await;
    let input = InviteCreate { name: "x".into(), expires_at: None };
    let link = fixture.done(&fixture.ada, verbs::InviteCreate { input }).await.link;
    let hash = Secret::presented(&link).hash();
    let accept = |name: &str| AcceptInvite {
        hash: hash.clone(),
        name: name.into(),
        client: "Firefox".into(),
        address: "192.0.2.7".into(),
    };
    let error = fixture.refused(&Caller::hub("x"), accept("bo")).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    fixture.done(&Caller::hub("x"), accept("Cy")).await;
}

async fn a_disabled_person_is_logged_out_at_once(fixture: Fixture) {
    let input = protocol::TokenCreate { name: "cli".into(), expires_at: None };
    let token = Bearer::Token(Secret::presented(&fixture.done(&fixture.bo, verbs::TokenCreate { input }).await.secret));
    assert!(fixture.store.authenticate(&token).await.unwrap().is_some());
    assert_eq!(fixture.store.logins(&fixture.bo, None).await.unwrap().len(), 1);
    let after = fixture.done(&fixture.ada, verbs::UserDisable { user: id(&fixture.bo) }).await;
    assert!(after.disabled);
    assert_eq!(fixture.store.authenticate(&token).await.unwrap(), None);
    assert_eq!(fixture.store.logins(&fixture.bo, None).await.unwrap(), vec![]);
    let revoked = EventBody::Revoked { ids: vec![id(&fixture.bo).to_string()] };
    assert_eq!(fixture.heard().last().unwrap().body, revoked);
}

async fn an_enabled_person_can_log_in_again(fixture: Fixture) {
    let input = protocol::TokenCreate { name: "cli".into(), expires_at: None };
    let token = Bearer::Token(Secret::presented(&fixture.done(&fixture.bo, verbs::TokenCreate { input }).await.secret));
    let user = id(&fixture.bo);
    fixture.done(&fixture.ada, verbs::UserDisable { user }).await;
    fixture.done(&fixture.ada, verbs::UserEnable { user }).await;
    assert!(fixture.store.authenticate(&token).await.unwrap().is_some());
}

async fn only_a_disabled_person_without_work_is_removed(fixture: Fixture) {
    let input = InviteCreate { name: "Cy".into(), expires_at: None };
    let link = fixture.done(&fixture.ada, verbs::InviteCreate { input }).await.link;
    let accept = AcceptInvite {
        hash: Secret::presented(&link).hash(),
        name: "Cy".into(),
        client: "Firefox".into(),
        address: "192.0.2.7".into(),
    };
    let cy = fixture.done(&Caller::hub("x"), accept).await.user.unwrap();
    let remove = |user| verbs::UserRemove { user };
    let error = fixture.refused(&fixture.bo, remove(cy.id)).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let error = fixture.refused(&fixture.ada, remove(cy.id)).await;
    assert!(matches!(&error, StoreError::Conflict(why) if why.contains("disable")), "{error}");
    fixture.done(&fixture.ada, verbs::UserDisable { user: cy.id }).await;
    fixture.done(&fixture.ada, remove(cy.id)).await;
    let names: Vec<String> = fixture.store.users(&fixture.ada).await.unwrap().into_iter().map(|u| u.name).collect();
    assert!(!names.contains(&"Cy".to_owned()), "{names:?}");
    let error = fixture.refused(&fixture.ada, remove(cy.id)).await;
    assert!(matches!(error, StoreError::NotFound("user")), "{error}");
    let input = protocol::RunnerCreate { name: "laptop".into() };
    fixture.done(&fixture.bo, verbs::RunnerCreate { input }).await;
    fixture.done(&fixture.ada, verbs::UserDisable { user: id(&fixture.bo) }).await;
    let error = fixture.refused(&fixture.ada, remove(id(&fixture.bo))).await;
    assert!(matches!(&error, StoreError::Conflict(why) if why.contains("a runner")), "{error}");
}

async fn only_the_hub_owner_disables(fixture: Fixture) {
    let error = fixture.refused(&fixture.bo, verbs::UserDisable { user: id(&fixture.ada) }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let error = fixture.refused(&fixture.ada, verbs::UserDisable { user: id(&fixture.ada) }).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    let error = fixture.refused(&fixture.ada, verbs::UserDisable { user: domain::UserId::generate() }).await;
    assert!(matches!(error, StoreError::NotFound("user")), "{error}");
}

async fn confusable_names_are_refused(fixture: Fixture) {
    for (name, why) in [
        ("\u{0410}d\u{0430}", "mixes"),
        ("A\u{200B}da", "cannot be seen"),
        ("\u{FF21}\u{FF44}\u{FF41}", "taken"),
        ("Ad\u{0251}", "could be taken for `Ada`"),
    ] {
        let error = fixture.refused(&fixture.bo, rename(name)).await.to_string();
        assert!(error.contains(why), "{name:?}: {error}");
    }
    for name in ["\u{0410}\u{0434}\u{0430}", "王小明", "Łukasz"] {
        assert_eq!(fixture.done(&fixture.bo, rename(name)).await.name, name);
    }
    let hub = Caller::hub("192.0.2.7");
    assert_eq!(fixture.done(&hub, by_github(9, "ad\u{0251}")).await.user.unwrap().name, "ad\u{0251} (9)");
}
