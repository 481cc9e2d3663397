//! Access is checked inside the transaction: private is not found, read-only is forbidden, an observer only reads.

use domain::{Visibility, Visibility::*};
use protocol::{
    ActivityCreate, ActivityUpdate, AuditPage, MarkRead, MessagePage, MessageText, ObserverCreate, ProjectUpdate,
    VersionPage, verbs,
};
use store::{Caller, CreateLoginLink, StoreError};

use crate::fixture::{Fixture, create_project, send};

both!(
    a_private_project_is_not_found_by_peers,
    a_read_only_project_is_seen_but_not_written_by_peers,
    a_read_write_project_is_written_but_not_governed_by_peers,
    an_observer_only_looks_at_one_project,
    a_withdrawn_right_ends_at_once,
);

/// How each verb in a project answers: `+` done, `-` forbidden, `.` not found.
async fn verbs(fixture: &Fixture, caller: &Caller, visibility: Visibility) -> String {
    let project = fixture.project(visibility).await.id;
    let input = ActivityCreate { content: "Lexer".into(), ..ActivityCreate::default() };
    let activity = fixture.done(&fixture.ada, verbs::ActivityCreate { project, input: input.clone() }).await.id;
    let message = fixture.say(&fixture.ada, project, "hello").await.id;
    let observer = ObserverCreate { name: "boss".into(), expires_at: None };
    let observer_id =
        fixture.done(&fixture.ada, verbs::ObserverCreate { project, input: observer.clone() }).await.observer.id;
    let text = ProjectUpdate { content: Some("other".into()), ..ProjectUpdate::default() };
    let share = ProjectUpdate { share_execution: Some(true), ..ProjectUpdate::default() };
    let edit = ActivityUpdate { content: Some("other".into()), ..ActivityUpdate::default() };
    let words = MessageText { content: "edited".into() };
    let store = &fixture.store;
    let page = AuditPage { project: Some(project), ..AuditPage::default() };
    let answers = [
        sign(store.project(caller, project).await),
        sign(store.activity(caller, activity).await),
        sign(store.activities(caller, Some(project)).await),
        sign(store.project_versions(caller, project, VersionPage::default()).await),
        sign(store.activity_versions(caller, activity, VersionPage::default()).await),
        sign(store.messages(caller, project, MessagePage::default()).await),
        sign(store.audit(caller, page).await),
        ' ',
        sign(store.write(caller, None, verbs::ChatRead { project, input: MarkRead { number: 1 } }).await),
        ' ',
        sign(store.write(caller, None, verbs::ProjectUpdate { project, input: text }).await),
        sign(store.write(caller, None, verbs::ActivityCreate { project, input }).await),
        sign(store.write(caller, None, verbs::ActivityUpdate { activity, input: edit }).await),
        sign(store.write(caller, None, send(project, "hi")).await),
        ' ',
        sign(store.write(caller, None, verbs::ChatEdit { message, input: words }).await),
        sign(store.write(caller, None, verbs::ChatDelete { message }).await),
        ' ',
        sign(store.observers(caller, project).await),
        sign(store.write(caller, None, verbs::ProjectUpdate { project, input: share }).await),
        sign(store.write(caller, None, verbs::ObserverCreate { project, input: observer }).await),
        sign(store.write(caller, None, verbs::ObserverRevoke { observer: observer_id }).await),
        sign(store.write(caller, None, verbs::ProjectDelete { project }).await),
    ];
    answers.into_iter().collect()
}

fn sign<T>(answer: Result<T, StoreError>) -> char {
    match answer {
        Ok(_) => '+',
        Err(StoreError::Forbidden(_)) => '-',
        Err(StoreError::NotFound(_)) => '.',
        Err(other) => panic!("{other:?}"),
    }
}

/// The groups of `expected`: see, read, write, change Ada's message, administer.
async fn check(fixture: &Fixture, caller: &Caller, visibility: Visibility, expected: &str) {
    assert_eq!(verbs(fixture, caller, visibility).await, expected, "{caller:?} {visibility}");
}

async fn a_private_project_is_not_found_by_peers(fixture: Fixture) {
    check(&fixture, &fixture.ada, Private, "+++++++ + ++++ ++ +++++").await;
    check(&fixture, &fixture.bo, Private, "....... . .... .. .....").await;
    let missing = fixture.store.project(&fixture.bo, domain::ProjectId::generate()).await.unwrap_err();
    let hidden = fixture.project(Private).await;
    let hidden = fixture.store.project(&fixture.bo, hidden.id).await.unwrap_err();
    assert_eq!(missing.to_string(), hidden.to_string());
}

async fn a_read_only_project_is_seen_but_not_written_by_peers(fixture: Fixture) {
    check(&fixture, &fixture.bo, ReadOnly, "+++++++ + ---- -- -----").await;
}

async fn a_read_write_project_is_written_but_not_governed_by_peers(fixture: Fixture) {
    check(&fixture, &fixture.bo, ReadWrite, "+++++++ + ++++ -- -----").await;
}

async fn an_observer_only_looks_at_one_project(fixture: Fixture) {
    let project = fixture.done(&fixture.ada, create_project("shown", Private)).await;
    let observer = Fixture::observer(project.id);
    check(&fixture, &observer, ReadWrite, "......- . .... .. .....").await;
    assert_eq!(fixture.store.projects(&observer).await.unwrap(), vec![project.clone()]);
    let store = &fixture.store;
    let input = ActivityCreate { content: "Lexer".into(), ..ActivityCreate::default() };
    let page = AuditPage { project: Some(project.id), ..AuditPage::default() };
    let seen = [
        sign(store.project(&observer, project.id).await),
        sign(store.audit(&observer, page).await),
        sign(store.write(&observer, None, send(project.id, "hi")).await),
        sign(store.write(&observer, None, verbs::ActivityCreate { project: project.id, input }).await),
        sign(
            store.write(&observer, None, verbs::ChatRead { project: project.id, input: MarkRead { number: 1 } }).await,
        ),
        sign(store.users(&observer).await),
        sign(store.unreads(&observer).await),
        sign(store.tokens(&observer).await),
        sign(store.invites(&observer).await),
        sign(store.runners(&observer).await),
        sign(store.write(&observer, None, create_project("mine", Private)).await),
        sign(store.write(&observer, None, verbs::TokenCreate { input: Default::default() }).await),
        sign(store.write(&observer, None, verbs::InviteCreate { input: Default::default() }).await),
        sign(store.write(&observer, None, verbs::RunnerCreate { input: Default::default() }).await),
        sign(store.write(&observer, None, CreateLoginLink { user: None }).await),
        sign(store.write(&observer, None, verbs::MeRename { input: Default::default() }).await),
    ];
    assert_eq!(seen.into_iter().collect::<String>(), "+---------------");
}

async fn a_withdrawn_right_ends_at_once(fixture: Fixture) {
    let project = fixture.project(ReadWrite).await;
    fixture.say(&fixture.bo, project.id, "hi").await;
    let input = ProjectUpdate { visibility: Some(Private), ..ProjectUpdate::default() };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    let error = fixture.refused(&fixture.bo, send(project.id, "hi")).await;
    assert!(matches!(error, StoreError::NotFound("project")), "{error}");
    assert!(fixture.store.state_of(&fixture.bo, project.id).await.unwrap().is_empty());
    assert!(fixture.store.unreads(&fixture.bo).await.unwrap().is_empty());
    let own = fixture.store.audit(&fixture.bo, AuditPage::default()).await.unwrap();
    assert!(own.iter().all(|entry| entry.verb != "project.create"), "an action of another person in a hidden project");
}
