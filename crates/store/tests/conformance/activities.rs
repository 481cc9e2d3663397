//! Activities: created and changed; every version is kept.

use domain::limits::MAX_LISTED_CHARACTERS;
use domain::{ActivityStatus, LinkKind, ProjectId, Visibility};
use protocol::{Activity, ActivityCreate, ActivityUpdate, Link, VersionPage, verbs};
use store::StoreError;

use crate::fixture::{Fixture, create_project, id};

both!(
    a_new_activity_is_active_and_belongs_to_its_creator,
    status_and_links_change_without_a_new_version,
    each_text_is_a_version,
    a_stale_version_is_a_conflict,
    lists_are_filtered_by_project_and_visibility,
    a_list_stays_within_the_size_of_an_answer,
);

async fn start(fixture: &Fixture, project: ProjectId, content: &str) -> Activity {
    let input = ActivityCreate { content: content.into(), ..ActivityCreate::default() };
    fixture.done(&fixture.bo, verbs::ActivityCreate { project, input }).await
}

fn write(activity: &Activity, content: &str, expected_version: Option<u32>) -> verbs::ActivityUpdate {
    let content = Some(content.to_owned());
    let input = ActivityUpdate { content, expected_version, ..ActivityUpdate::default() };
    verbs::ActivityUpdate { activity: activity.id, input }
}

async fn a_new_activity_is_active_and_belongs_to_its_creator(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let made = start(&fixture, project.id, "Lexer\nplan").await;
    assert_eq!((made.name.as_str(), made.status, made.version), ("Lexer", ActivityStatus::Active, 1));
    assert_eq!((made.owner.id, made.project), (id(&fixture.bo), project.id));
    assert_eq!(fixture.store.activity(&fixture.ada, made.id).await.unwrap(), made);
}

async fn status_and_links_change_without_a_new_version(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let made = start(&fixture, project.id, "Lexer").await;
    fixture.pass(1000);
    let links = vec![Link { kind: LinkKind::Branch, target: "lexer".into() }];
    let input = ActivityUpdate {
        status: Some(ActivityStatus::Blocked),
        links: Some(links.clone()),
        ..ActivityUpdate::default()
    };
    let after = fixture.done(&fixture.ada, verbs::ActivityUpdate { activity: made.id, input }).await;
    let expected = Activity { status: ActivityStatus::Blocked, links, updated_at: fixture.store.now(), ..made };
    assert_eq!(after, expected);
    assert_eq!(fixture.store.activity(&fixture.bo, after.id).await.unwrap(), after);
}

async fn each_text_is_a_version(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let made = start(&fixture, project.id, "Lexer").await;
    assert_eq!(fixture.done(&fixture.ada, write(&made, "Lexer 2", None)).await.version, 2);
    let versions = fixture.store.activity_versions(&fixture.bo, made.id, VersionPage::default()).await.unwrap();
    let seen: Vec<_> = versions.iter().map(|v| (v.version, v.author.name.as_str(), v.content.as_str())).collect();
    assert_eq!(seen, vec![(2, "Ada", "Lexer 2"), (1, "Bo", "Lexer")]);
}

async fn a_stale_version_is_a_conflict(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let made = start(&fixture, project.id, "Lexer").await;
    fixture.done(&fixture.ada, write(&made, "Ada's", Some(1))).await;
    let error = fixture.refused(&fixture.bo, write(&made, "Bo's", Some(1))).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    assert_eq!(fixture.store.activity(&fixture.bo, made.id).await.unwrap().content, "Ada's");
}

async fn lists_are_filtered_by_project_and_visibility(fixture: Fixture) {
    let open = fixture.project(Visibility::ReadWrite).await;
    let own = fixture.done(&fixture.bo, create_project("Bo's", Visibility::Private)).await;
    let (first, second) = (start(&fixture, open.id, "first").await, start(&fixture, open.id, "second").await);
    let hidden = start(&fixture, own.id, "hidden").await;
    let list = fixture.store.activities(&fixture.ada, Some(open.id)).await.unwrap();
    assert_eq!(list, vec![first.clone(), second.clone()]);
    assert_eq!(fixture.store.activities(&fixture.ada, None).await.unwrap(), vec![first.clone(), second.clone()]);
    assert_eq!(fixture.store.activities(&fixture.bo, None).await.unwrap(), vec![first, second, hidden]);
}

async fn a_list_stays_within_the_size_of_an_answer(fixture: Fixture) {
    let (project, long) = (fixture.project(Visibility::ReadWrite).await, "x".repeat(60_000));
    let many = MAX_LISTED_CHARACTERS / long.len() + 2;
    for number in 0..many {
        fixture.pass(1);
        start(&fixture, project.id, &format!("{number}\n{long}")).await;
    }
    for only in [Some(project.id), None] {
        let listed = fixture.store.activities(&fixture.ada, only).await.unwrap();
        assert!(listed.iter().map(|one| one.content.len()).sum::<usize>() <= MAX_LISTED_CHARACTERS);
        assert_eq!(listed.last().unwrap().name, (many - 1).to_string(), "the newest are there");
        assert!(listed.len() + 5 > many && listed[0].name != "0", "{} of {many}", listed.len());
    }
}
