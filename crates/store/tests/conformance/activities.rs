//! Activities: started, changed, with every version kept.

use domain::limits::MAX_LISTED_CHARACTERS;
use domain::{ActivityStatus, LinkKind, ProjectId, Visibility};
use protocol::{Activity, ActivityCreate, ActivityUpdate, Link, VersionPage, verbs};
use store::StoreError;

use crate::floor::{Floor, create_project, id};

both!(
    an_activity_is_active_and_its_makers,
    status_and_links_change_without_a_new_version,
    each_text_is_a_version,
    a_stale_version_is_a_conflict,
    lists_are_by_project_and_by_what_one_sees,
    a_list_ends_before_its_answer_is_too_long,
);

async fn start(floor: &Floor, project: ProjectId, content: &str) -> Activity {
    let input = ActivityCreate { content: content.into(), ..ActivityCreate::default() };
    floor.done(&floor.bo, verbs::ActivityCreate { project, input }).await
}

fn write(activity: &Activity, content: &str, expected_version: Option<u32>) -> verbs::ActivityUpdate {
    let content = Some(content.to_owned());
    let input = ActivityUpdate { content, expected_version, ..ActivityUpdate::default() };
    verbs::ActivityUpdate { activity: activity.id, input }
}

async fn an_activity_is_active_and_its_makers(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let made = start(&floor, project.id, "Lexer\nplan").await;
    assert_eq!((made.name.as_str(), made.status, made.version), ("Lexer", ActivityStatus::Active, 1));
    assert_eq!((made.owner.id, made.project), (id(&floor.bo), project.id));
    assert_eq!(floor.store.activity(&floor.ada, made.id).await.unwrap(), made);
}

async fn status_and_links_change_without_a_new_version(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let made = start(&floor, project.id, "Lexer").await;
    floor.pass(1000);
    let links = vec![Link { kind: LinkKind::Branch, target: "lexer".into() }];
    let input = ActivityUpdate {
        status: Some(ActivityStatus::Blocked),
        links: Some(links.clone()),
        ..ActivityUpdate::default()
    };
    let after = floor.done(&floor.ada, verbs::ActivityUpdate { activity: made.id, input }).await;
    let expected = Activity { status: ActivityStatus::Blocked, links, updated_at: floor.store.now(), ..made };
    assert_eq!(after, expected);
    assert_eq!(floor.store.activity(&floor.bo, after.id).await.unwrap(), after);
}

async fn each_text_is_a_version(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let made = start(&floor, project.id, "Lexer").await;
    assert_eq!(floor.done(&floor.ada, write(&made, "Lexer 2", None)).await.version, 2);
    let versions = floor.store.activity_versions(&floor.bo, made.id, VersionPage::default()).await.unwrap();
    let seen: Vec<_> = versions.iter().map(|v| (v.version, v.author.name.as_str(), v.content.as_str())).collect();
    assert_eq!(seen, vec![(2, "Ada", "Lexer 2"), (1, "Bo", "Lexer")]);
}

async fn a_stale_version_is_a_conflict(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let made = start(&floor, project.id, "Lexer").await;
    floor.done(&floor.ada, write(&made, "Ada's", Some(1))).await;
    let error = floor.refused(&floor.bo, write(&made, "Bo's", Some(1))).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    assert_eq!(floor.store.activity(&floor.bo, made.id).await.unwrap().content, "Ada's");
}

async fn lists_are_by_project_and_by_what_one_sees(floor: Floor) {
    let open = floor.project(Visibility::ReadWrite).await;
    let own = floor.done(&floor.bo, create_project("Bo's", Visibility::Private)).await;
    let (first, second) = (start(&floor, open.id, "first").await, start(&floor, open.id, "second").await);
    let hidden = start(&floor, own.id, "hidden").await;
    let list = floor.store.activities(&floor.ada, Some(open.id)).await.unwrap();
    assert_eq!(list, vec![first.clone(), second.clone()]);
    assert_eq!(floor.store.activities(&floor.ada, None).await.unwrap(), vec![first.clone(), second.clone()]);
    assert_eq!(floor.store.activities(&floor.bo, None).await.unwrap(), vec![first, second, hidden]);
}

async fn a_list_ends_before_its_answer_is_too_long(floor: Floor) {
    let (project, long) = (floor.project(Visibility::ReadWrite).await, "x".repeat(60_000));
    let many = MAX_LISTED_CHARACTERS / long.len() + 2;
    for number in 0..many {
        floor.pass(1);
        start(&floor, project.id, &format!("{number}\n{long}")).await;
    }
    for only in [Some(project.id), None] {
        let listed = floor.store.activities(&floor.ada, only).await.unwrap();
        assert!(listed.iter().map(|one| one.content.len()).sum::<usize>() <= MAX_LISTED_CHARACTERS);
        assert_eq!(listed.last().unwrap().name, (many - 1).to_string(), "the newest are there");
        assert!(listed.len() + 5 > many && listed[0].name != "0", "{} of {many}", listed.len());
    }
}
