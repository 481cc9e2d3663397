//! A retry with the same key acts once and gets the same answer.

use domain::Visibility;
use protocol::{MessagePage, TokenCreate, verbs};
use store::{Compact, StoreError};

use crate::fixture::{DAY, Fixture, create_project, send};

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

async fn the_same_request_acts_once_and_answers_the_same(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let first = fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap();
    fixture.pass(1000);
    fixture.say(&fixture.bo, project, "between").await;
    let again = fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap();
    assert_eq!(again.value, first.value);
    assert_eq!((first.events.len(), again.events.len()), (1, 0));
    let page = fixture.store.messages(&fixture.ada, project, MessagePage::default()).await.unwrap();
    assert_eq!(page.len(), 2);
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM audit WHERE verb = 'chat.send'").await, 2);
}

async fn an_answer_survives_reopening(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let first = fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap().value;
    let fixture = fixture.reopened().await;
    assert_eq!(fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap().value, first);
}

async fn another_request_with_the_key_is_a_conflict(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap();
    let error = fixture.store.write(&fixture.ada, key(), send(project, "other")).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    let error = fixture.store.write(&fixture.ada, key(), create_project("hi", Visibility::Private)).await.unwrap_err();
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
}

async fn a_key_belongs_to_one_person(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let ada = fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap().value;
    let bo = fixture.store.write(&fixture.bo, key(), send(project, "hi")).await.unwrap().value;
    assert_ne!(ada.id, bo.id);
}

async fn a_refused_request_leaves_its_key_free(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadOnly).await.id;
    fixture.store.write(&fixture.bo, key(), send(project, "hi")).await.unwrap_err();
    fixture.store.write(&fixture.bo, key(), create_project("mine", Visibility::Private)).await.unwrap();
}

async fn a_verb_that_shows_a_secret_is_not_answered_twice(fixture: Fixture) {
    let token = || verbs::TokenCreate { input: TokenCreate { name: "cli".into(), expires_at: None } };
    fixture.store.write(&fixture.ada, key(), token()).await.unwrap();
    let error = fixture.store.write(&fixture.ada, key(), token()).await.unwrap_err();
    assert!(matches!(&error, StoreError::Conflict(why) if why.contains("shown only once")), "{error}");
    assert_eq!(fixture.store.tokens(&fixture.ada).await.unwrap().len(), 1);
}

async fn two_at_once_act_once(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for round in 0..20 {
        let key = || Some(format!("round {round}"));
        let (one, two) = tokio::join!(
            fixture.store.write(&fixture.ada, key(), send(project, "hi")),
            fixture.store.write(&fixture.ada, key(), send(project, "hi")),
        );
        assert_eq!(one.unwrap().value, two.unwrap().value);
    }
    let page = fixture.store.messages(&fixture.ada, project, MessagePage::default()).await.unwrap();
    assert_eq!(page.len(), 20);
}

async fn a_key_is_forgotten_after_a_day(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let first = fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap().value;
    fixture.pass(DAY);
    fixture.done(&store::Caller::hub("upkeep"), Compact { keep: 1000 }).await;
    assert_eq!(fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap().value, first);
    fixture.pass(1);
    fixture.done(&store::Caller::hub("upkeep"), Compact { keep: 1000 }).await;
    assert_ne!(fixture.store.write(&fixture.ada, key(), send(project, "hi")).await.unwrap().value, first);
}

async fn an_empty_answer_is_remembered_too(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    fixture.store.write(&fixture.ada, key(), verbs::ProjectDelete { project }).await.unwrap();
    fixture.store.write(&fixture.ada, key(), verbs::ProjectDelete { project }).await.unwrap();
}
