//! People: who they are, their names, and closing the hub to one.

use protocol::{Change, InviteCreate, Rename, verbs};
use store::{AcceptInvite, Bearer, Caller, EnterByGithub, EnterHubOwner, EventBody, Secret, StoreError};

use crate::floor::{Floor, id};

both!(
    the_hub_owner_is_made_once,
    github_knows_a_person_again_by_number,
    a_new_name_is_told,
    names_are_unique_ignoring_case,
    names_that_could_be_taken_for_another_are_refused,
    a_disabled_person_is_out_at_once,
    an_enabled_person_can_come_in_again,
    only_the_hub_owner_disables,
);

fn rename(name: &str) -> verbs::MeRename {
    verbs::MeRename { input: Rename { name: name.into() } }
}

fn by_github(github_id: i64, login: &str) -> EnterByGithub {
    EnterByGithub { github_id, login: login.into(), client: "Firefox".into(), address: "192.0.2.7".into() }
}

async fn the_hub_owner_is_made_once(floor: Floor) {
    let again = floor.done(&Caller::hub("start"), EnterHubOwner { name: "Someone".into() }).await;
    assert_eq!((again.id, again.name.as_str(), again.hub_owner), (id(&floor.ada), "Ada", true));
    assert_eq!(floor.store.users(&floor.bo).await.unwrap().len(), 2);
    assert_eq!(floor.store.user(&floor.bo, again.id).await.unwrap(), again);
}

async fn github_knows_a_person_again_by_number(floor: Floor) {
    let hub = Caller::hub("192.0.2.7");
    let first = floor.done(&hub, by_github(7, "octo")).await;
    let cookie = Bearer::Cookie(Secret::presented(&first.cookie));
    let user = first.user.unwrap();
    assert_eq!((user.name.as_str(), user.hub_owner), ("octo", false));
    assert_eq!(floor.store.authenticate(&cookie).await.unwrap().unwrap().name, "octo");
    let renamed = floor.done(&hub, by_github(7, "kraken")).await.user.unwrap();
    assert_eq!((renamed.id, renamed.name.as_str()), (user.id, "octo"));
    let other = floor.done(&hub, by_github(8, "OCTO")).await.user.unwrap();
    assert_eq!(other.name, "OCTO (8)");
    floor.done(&floor.ada, verbs::UserDisable { user: user.id }).await;
    let error = floor.refused(&hub, by_github(7, "octo")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
}

async fn a_new_name_is_told(floor: Floor) {
    let after = floor.done(&floor.bo, rename("  Bob ")).await;
    assert_eq!(after.name, "Bob");
    assert_eq!(floor.store.user(&floor.ada, after.id).await.unwrap(), after);
    assert_eq!(floor.heard().last().unwrap().body, EventBody::Change { change: Change::User { user: after } });
}

async fn names_are_unique_ignoring_case(floor: Floor) {
    floor.join("Élodie").await;
    for taken in ["ada", " ADA ", "éLODIE"] {
        let error = floor.refused(&floor.bo, rename(taken)).await;
        assert!(matches!(&error, StoreError::Conflict(why) if why.contains("taken")), "{taken}: {error}");
    }
    floor.done(&floor.bo, rename("BO")).await;
    let input = InviteCreate { name: "x".into(), expires_at: None };
    let link = floor.done(&floor.ada, verbs::InviteCreate { input }).await.link;
    let hash = Secret::presented(&link).hash();
    let accept = |name: &str| AcceptInvite {
        hash: hash.clone(),
        name: name.into(),
        client: "Firefox".into(),
        address: "192.0.2.7".into(),
    };
    let error = floor.refused(&Caller::hub("x"), accept("bo")).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    floor.done(&Caller::hub("x"), accept("Cy")).await;
}

async fn a_disabled_person_is_out_at_once(floor: Floor) {
    let input = protocol::TokenCreate { name: "cli".into(), expires_at: None };
    let token = Bearer::Token(Secret::presented(&floor.done(&floor.bo, verbs::TokenCreate { input }).await.secret));
    assert!(floor.store.authenticate(&token).await.unwrap().is_some());
    assert_eq!(floor.store.logins(&floor.bo, None).await.unwrap().len(), 1);
    let after = floor.done(&floor.ada, verbs::UserDisable { user: id(&floor.bo) }).await;
    assert!(after.disabled);
    assert_eq!(floor.store.authenticate(&token).await.unwrap(), None);
    assert_eq!(floor.store.logins(&floor.bo, None).await.unwrap(), vec![]);
    let revoked = EventBody::Revoked { ids: vec![id(&floor.bo).to_string()] };
    assert_eq!(floor.heard().last().unwrap().body, revoked);
}

async fn an_enabled_person_can_come_in_again(floor: Floor) {
    let input = protocol::TokenCreate { name: "cli".into(), expires_at: None };
    let token = Bearer::Token(Secret::presented(&floor.done(&floor.bo, verbs::TokenCreate { input }).await.secret));
    let user = id(&floor.bo);
    floor.done(&floor.ada, verbs::UserDisable { user }).await;
    floor.done(&floor.ada, verbs::UserEnable { user }).await;
    assert!(floor.store.authenticate(&token).await.unwrap().is_some());
}

async fn only_the_hub_owner_disables(floor: Floor) {
    let error = floor.refused(&floor.bo, verbs::UserDisable { user: id(&floor.ada) }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let error = floor.refused(&floor.ada, verbs::UserDisable { user: id(&floor.ada) }).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    let error = floor.refused(&floor.ada, verbs::UserDisable { user: domain::UserId::generate() }).await;
    assert!(matches!(error, StoreError::NotFound("user")), "{error}");
}

async fn names_that_could_be_taken_for_another_are_refused(floor: Floor) {
    for (name, why) in [
        ("\u{0410}d\u{0430}", "mixes"),
        ("A\u{200B}da", "cannot be seen"),
        ("\u{FF21}\u{FF44}\u{FF41}", "taken"),
        ("Ad\u{0251}", "could be taken for `Ada`"),
    ] {
        let error = floor.refused(&floor.bo, rename(name)).await.to_string();
        assert!(error.contains(why), "{name:?}: {error}");
    }
    for name in ["\u{0410}\u{0434}\u{0430}", "王小明", "Łukasz"] {
        assert_eq!(floor.done(&floor.bo, rename(name)).await.name, name);
    }
    let hub = Caller::hub("192.0.2.7");
    assert_eq!(floor.done(&hub, by_github(9, "ad\u{0251}")).await.user.unwrap().name, "ad\u{0251} (9)");
}
