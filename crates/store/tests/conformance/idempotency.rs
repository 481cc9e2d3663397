//! A retry with the same key acts once and answers the same.

use domain::Visibility;
use protocol::{MessagePage, TokenCreate, verbs};
use store::{Compact, StoreError};

use crate::floor::{DAY, Floor, create_project, send};

both!(
    the_same_request_acts_once_and_answers_the_same,
    an_answer_survives_reopening,
    another_request_with_the_key_is_a_conflict,
    a_key_belongs_to_one_person,
    a_refused_request_leaves_its_key_free,
    a_verb_that_shows_a_secret_is_not_answered_twice,
    two_at_once_act_once,
    a_key_is_forgotten_after_a_day,
    an_empty_answer_is_remembered_too,
);

fn key() -> Option<String> {
    Some("key 1".to_owned())
}

async fn the_same_request_acts_once_and_answers_the_same(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    let first = floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap();
    floor.pass(1000);
    floor.say(&floor.bo, project, "between").await;
    let again = floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap();
    assert_eq!(again.value, first.value);
    assert_eq!((first.events.len(), again.events.len()), (1, 0));
    let page = floor.store.messages(&floor.ada, project, MessagePage::default()).await.unwrap();
    assert_eq!(page.len(), 2);
    let mut raw = floor.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM audit WHERE verb = 'chat.send'").await, 2);
}

async fn an_answer_survives_reopening(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    let first = floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap().value;
    let floor = floor.reopened().await;
    assert_eq!(floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap().value, first);
}

async fn another_request_with_the_key_is_a_conflict(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap();
    let error = floor.store.write(&floor.ada, key(), send(project, "other")).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    let error = floor.store.write(&floor.ada, key(), create_project("hi", Visibility::Private)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
}

async fn a_key_belongs_to_one_person(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    let ada = floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap().value;
    let bo = floor.store.write(&floor.bo, key(), send(project, "hi")).await.unwrap().value;
    assert_ne!(ada.id, bo.id);
}

async fn a_refused_request_leaves_its_key_free(floor: Floor) {
    let project = floor.project(Visibility::ReadOnly).await.id;
    floor.store.write(&floor.bo, key(), send(project, "hi")).await.unwrap_err();
    floor.store.write(&floor.bo, key(), create_project("mine", Visibility::Private)).await.unwrap();
}

async fn a_verb_that_shows_a_secret_is_not_answered_twice(floor: Floor) {
    let token = || verbs::TokenCreate { input: TokenCreate { name: "cli".into(), expires_at: None } };
    floor.store.write(&floor.ada, key(), token()).await.unwrap();
    let error = floor.store.write(&floor.ada, key(), token()).await.unwrap_err();
    assert!(matches!(&error, StoreError::Conflict(why) if why.contains("shown only once")), "{error}");
    assert_eq!(floor.store.tokens(&floor.ada).await.unwrap().len(), 1);
}

async fn two_at_once_act_once(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    for round in 0..20 {
        let key = || Some(format!("round {round}"));
        let (one, two) = tokio::join!(
            floor.store.write(&floor.ada, key(), send(project, "hi")),
            floor.store.write(&floor.ada, key(), send(project, "hi")),
        );
        assert_eq!(one.unwrap().value, two.unwrap().value);
    }
    let page = floor.store.messages(&floor.ada, project, MessagePage::default()).await.unwrap();
    assert_eq!(page.len(), 20);
}

async fn a_key_is_forgotten_after_a_day(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    let first = floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap().value;
    floor.pass(DAY);
    floor.done(&store::Caller::hub("upkeep"), Compact { keep: 1000 }).await;
    assert_eq!(floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap().value, first);
    floor.pass(1);
    floor.done(&store::Caller::hub("upkeep"), Compact { keep: 1000 }).await;
    assert_ne!(floor.store.write(&floor.ada, key(), send(project, "hi")).await.unwrap().value, first);
}

async fn an_empty_answer_is_remembered_too(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    floor.store.write(&floor.ada, key(), verbs::ProjectDelete { project }).await.unwrap();
    floor.store.write(&floor.ada, key(), verbs::ProjectDelete { project }).await.unwrap();
}
