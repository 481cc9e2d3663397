//! Projects: created, changed and deleted; every version is kept.

use domain::limits::MAX_LISTED_CHARACTERS;
use domain::{ProjectId, Visibility};
use protocol::{
    ActivityCreate, Change, DiffRange, MarkRead, ObserverCreate, ProjectCreate, ProjectUpdate, Repository, VersionPage,
    verbs,
};
use store::{EventBody, Secret, StoreError, UseObserverLink};

use crate::fixture::{Fixture, create_project, id};

both!(
    a_project_is_private_to_its_creator_by_default,
    every_setting_is_kept,
    a_location_that_no_runner_accepts_is_refused,
    an_update_changes_only_what_it_names,
    an_update_that_changes_nothing_leaves_no_trace,
    each_text_is_a_version,
    versions_come_in_pages_of_bounded_size,
    a_stale_version_is_a_conflict,
    a_change_of_access_stores_the_earlier_access,
    deleting_a_project_deletes_its_contents,
    deleting_twice_is_not_found,
    a_name_is_unique_among_the_projects_of_its_owner,
    a_name_that_is_taken_does_not_reveal_a_hidden_project,
    a_list_stays_within_the_size_of_an_answer,
);

fn update(project: ProjectId, input: ProjectUpdate) -> verbs::ProjectUpdate {
    verbs::ProjectUpdate { project, input }
}

fn write(project: ProjectId, content: &str, expected_version: Option<u32>) -> verbs::ProjectUpdate {
    update(project, ProjectUpdate { content: Some(content.into()), expected_version, ..ProjectUpdate::default() })
}

async fn a_project_is_private_to_its_creator_by_default(fixture: Fixture) {
    let input = ProjectCreate { content: "# Parser\n\nfast".into(), ..ProjectCreate::default() };
    let made = fixture.done(&fixture.ada, verbs::ProjectCreate { input }).await;
    assert_eq!((made.name.as_str(), made.visibility, made.version), ("Parser", Visibility::Private, 1));
    assert_eq!((made.owner.id, made.owner.name.as_str()), (id(&fixture.ada), "Ada"));
    assert_eq!(fixture.store.project(&fixture.ada, made.id).await.unwrap(), made);
    assert_eq!(fixture.store.projects(&fixture.ada).await.unwrap(), vec![made]);
    assert_eq!(fixture.store.projects(&fixture.bo).await.unwrap(), vec![]);
}

async fn every_setting_is_kept(fixture: Fixture) {
    let repositories = vec![
        Repository {
            location: "https://example.org/a.git".into(),
            base_branch: Some("main".into()),
            ..Repository::default()
        },
        Repository { location: "/srv/b".into(), base_branch: None, ..Repository::default() },
    ];
    let input = ProjectCreate {
        content: "Übung\n\"quotes\" \\ and 🦀".into(),
        visibility: Some(Visibility::ReadOnly),
        share_execution: Some(true),
        archive_recordings: Some(true),
        retention_days: Some(30),
        sandbox_others: Some(true),
        repositories,
        key: Some("cal".into()),
    };
    let made = fixture.done(&fixture.ada, verbs::ProjectCreate { input: input.clone() }).await;
    let read = fixture.store.project(&fixture.bo, made.id).await.unwrap();
    assert_eq!(read, made);
    assert_eq!((read.content, read.repositories), (input.content, input.repositories));
    assert_eq!((read.share_execution, read.archive_recordings, read.retention_days), (true, true, Some(30)));
    assert!(read.sandbox_others);
    assert_eq!(read.key, "CAL");
}

async fn a_location_that_no_runner_accepts_is_refused(fixture: Fixture) {
    for (location, why) in [
        ("https://ada:hunter2@example.org/a.git", "password"),
        ("https://ghp_0123@example.org/a.git", "token"),
        ("ssh://ada:hunter2@example.org/a.git", "password"),
        ("ada:hunter2@example.org:a.git", "password"),
        ("https://example.org/a.git?private_token=hunter2", "token"),
        ("file:///srv/a", "the path itself"),
        ("http://example.org/a.git", "not encrypted"),
    ] {
        let repositories = vec![Repository { location: location.into(), ..Repository::default() }];
        let input = ProjectCreate { content: "One".into(), repositories, ..ProjectCreate::default() };
        let refused = fixture.refused(&fixture.ada, verbs::ProjectCreate { input }).await.to_string();
        assert!(refused.contains(why) && !refused.contains("hunter2"), "{refused}");
    }
    for location in ["ssh://git@example.org/a:b.git", "git@example.org:a.git", "~/code/a"] {
        let repositories = vec![Repository { location: location.into(), ..Repository::default() }];
        let input = ProjectCreate { content: location.into(), repositories, ..ProjectCreate::default() };
        fixture.done(&fixture.ada, verbs::ProjectCreate { input }).await;
    }
}

async fn an_update_changes_only_what_it_names(fixture: Fixture) {
    let before = fixture.project(Visibility::ReadWrite).await;
    fixture.pass(1000);
    let retention_days = Some(Some(7));
    let input = ProjectUpdate { retention_days, ..ProjectUpdate::default() };
    let after = fixture.done(&fixture.ada, update(before.id, input)).await;
    let expected = protocol::Project { retention_days: Some(7), updated_at: fixture.store.now(), ..before.clone() };
    assert_eq!(after, expected);
    let never = ProjectUpdate { retention_days: Some(None), ..ProjectUpdate::default() };
    let after = fixture.done(&fixture.ada, update(before.id, never)).await;
    assert_eq!(after.retention_days, None);
    assert_eq!(fixture.store.project(&fixture.ada, before.id).await.unwrap(), after);
}

async fn an_update_that_changes_nothing_leaves_no_trace(fixture: Fixture) {
    let before = fixture.project(Visibility::ReadWrite).await;
    let seq = fixture.store.extent().await.unwrap().newest;
    fixture.pass(1000);
    let after = fixture.done(&fixture.ada, write(before.id, &before.content, None)).await;
    assert_eq!(after, before);
    assert_eq!(fixture.store.extent().await.unwrap().newest, seq);
}

async fn each_text_is_a_version(fixture: Fixture) {
    let made = fixture.project(Visibility::ReadWrite).await;
    fixture.pass(1000);
    let after = fixture.done(&fixture.bo, write(made.id, "Parser 2", None)).await;
    assert_eq!((after.version, after.name.as_str()), (2, "Parser 2"));
    let versions = fixture.store.project_versions(&fixture.ada, made.id, VersionPage::default()).await.unwrap();
    let seen: Vec<_> = versions.iter().map(|v| (v.version, v.author.name.as_str(), v.content.as_str())).collect();
    assert_eq!(seen, vec![(2, "Bo", "Parser 2"), (1, "Ada", "Parser\ngoals")]);
    assert_eq!(versions[0].at, versions[1].at.plus_millis(1000));
}

async fn versions_come_in_pages_of_bounded_size(fixture: Fixture) {
    let made = fixture.project(Visibility::ReadWrite).await;
    for number in 2..=130_u32 {
        // The newest forty have the maximum length.
        let filler = if number > 90 { "x".repeat(60_000) } else { String::new() };
        fixture.done(&fixture.ada, write(made.id, &format!("v{number}\n{filler}"), None)).await;
    }
    let page = async |before, limit| {
        let page = VersionPage { before, limit };
        let versions = fixture.store.project_versions(&fixture.ada, made.id, page).await.unwrap();
        versions.into_iter().map(|version| (version.version, version.content.len())).collect::<Vec<_>>()
    };
    // An answer is limited in bytes, however many versions are requested.
    let newest = page(None, None).await;
    assert!(newest.iter().map(|(_, size)| size).sum::<usize>() <= 1 << 20, "{}", newest.len());
    let (mut seen, mut before) = (Vec::new(), None);
    while before != Some(1) {
        let some = page(before, None).await;
        assert!(!some.is_empty() && some.len() <= 100);
        before = some.last().map(|(version, _)| *version);
        seen.extend(some.into_iter().map(|(version, _)| version));
    }
    assert_eq!(seen, (1..=130).rev().collect::<Vec<_>>());
    assert_eq!(page(Some(4), Some(2)).await.iter().map(|(version, _)| *version).collect::<Vec<_>>(), [3, 2]);
    assert!(page(Some(1), None).await.is_empty());
    let error =
        fixture.store.project_versions(&fixture.ada, made.id, VersionPage { before: None, limit: Some(101) }).await;
    assert!(error.unwrap_err().to_string().contains("1 to 100"));
    // Any two versions can be compared, however old they are.
    let pair = async |from, to| {
        let pair = fixture.store.project_pair(&fixture.ada, made.id, DiffRange { from, to }).await.unwrap();
        pair.into_iter().map(|version| version.version).collect::<Vec<_>>()
    };
    assert_eq!(pair(None, None).await, [130, 129]);
    assert_eq!(pair(Some(1), Some(3)).await, [3, 1]);
    assert!(pair(None, Some(500)).await.is_empty());
}

async fn a_stale_version_is_a_conflict(fixture: Fixture) {
    let made = fixture.project(Visibility::ReadWrite).await;
    fixture.done(&fixture.bo, write(made.id, "second", Some(1))).await;
    let error = fixture.refused(&fixture.ada, write(made.id, "third", Some(1))).await;
    assert!(matches!(&error, StoreError::Conflict(why) if why.contains("version 2")), "{error}");
    assert_eq!(fixture.store.project(&fixture.ada, made.id).await.unwrap().content, "second");
    fixture.done(&fixture.ada, write(made.id, "third", Some(2))).await;
}

async fn a_change_of_access_stores_the_earlier_access(fixture: Fixture) {
    let made = fixture.project(Visibility::ReadWrite).await;
    fixture.done(&fixture.ada, write(made.id, "other", None)).await;
    let visibility = Some(Visibility::Private);
    fixture.done(&fixture.ada, update(made.id, ProjectUpdate { visibility, ..ProjectUpdate::default() })).await;
    let heard = fixture.heard();
    let [text, access] = &heard[heard.len() - 2..] else { panic!("two events") };
    assert_eq!(text.facts_before, None);
    assert_eq!(access.facts_before.unwrap().visibility, Visibility::ReadWrite);
    assert!(matches!(&access.body, EventBody::Change { change: Change::Project { project } }
        if project.visibility == Visibility::Private));
}

async fn deleting_a_project_deletes_its_contents(fixture: Fixture) {
    let keep = fixture.done(&fixture.ada, create_project("kept", Visibility::ReadWrite)).await;
    let gone = fixture.done(&fixture.ada, create_project("xyzzy project", Visibility::ReadWrite)).await;
    let input = ActivityCreate { content: "xyzzy activity".into(), ..ActivityCreate::default() };
    fixture.done(&fixture.bo, verbs::ActivityCreate { project: gone.id, input }).await;
    let key = Some("the key".to_owned());
    fixture.store.write(&fixture.bo, key, crate::fixture::send(gone.id, "xyzzy message")).await.unwrap();
    fixture.done(&fixture.ada, verbs::ChatRead { project: gone.id, input: MarkRead { number: 1 } }).await;
    let input = ObserverCreate { name: "boss".into(), expires_at: None };
    let link = fixture.done(&fixture.ada, verbs::ObserverCreate { project: gone.id, input }).await.link;
    let hash = Secret::presented(&link).hash();
    let look = UseObserverLink { hash, client: "Firefox".into(), address: "192.0.2.9".into() };
    fixture.done(&store::Caller::hub("192.0.2.9"), look).await;
    fixture.done(&fixture.ada, verbs::ProjectDelete { project: gone.id }).await;

    let mut raw = fixture.raw().await;
    for table in ["activities", "messages", "reads", "observers"] {
        assert_eq!(raw.number(&format!("SELECT COUNT(*) FROM {table}")).await, 0, "{table}");
    }
    assert_eq!(raw.column("SELECT id FROM projects").await, vec![keep.id.to_string()]);
    assert_eq!(raw.column("SELECT subject FROM versions").await, vec![keep.id.to_string()]);
    assert_eq!(raw.number("SELECT COUNT(*) FROM logins WHERE observer IS NOT NULL").await, 0);
    for (table, column) in [("events", "body"), ("requests", "answer")] {
        let left = format!("SELECT {column} FROM {table} WHERE {column} LIKE '%xyzzy%'");
        assert_eq!(raw.column(&left).await, Vec::<String>::new(), "{table}");
    }
    let heard = fixture.heard();
    let [deleted, revoked] = &heard[heard.len() - 2..] else { panic!("two events") };
    assert_eq!(deleted.body, EventBody::Change { change: Change::ProjectGone { project: gone.id } });
    assert_eq!(deleted.facts_before.unwrap().visibility, Visibility::ReadWrite);
    assert!(matches!(&revoked.body, EventBody::Revoked { ids } if ids.len() == 1));
}

async fn deleting_twice_is_not_found(fixture: Fixture) {
    let made = fixture.project(Visibility::ReadWrite).await;
    fixture.done(&fixture.ada, verbs::ProjectDelete { project: made.id }).await;
    let error = fixture.refused(&fixture.ada, verbs::ProjectDelete { project: made.id }).await;
    assert!(matches!(error, StoreError::NotFound("project")), "{error}");
}

async fn a_list_stays_within_the_size_of_an_answer(fixture: Fixture) {
    let long = "x".repeat(60_000);
    let many = MAX_LISTED_CHARACTERS / long.len() + 2;
    for number in 0..many {
        fixture.pass(1);
        fixture.done(&fixture.bo, create_project(&format!("{number}\n{long}"), Visibility::Private)).await;
    }
    let listed = fixture.store.projects(&fixture.bo).await.unwrap();
    assert!(listed.iter().map(|one| one.content.len()).sum::<usize>() <= MAX_LISTED_CHARACTERS);
    assert_eq!(listed.last().unwrap().name, (many - 1).to_string(), "the newest are there");
    assert!(listed.len() + 5 > many && listed[0].name != "0", "{} of {many}", listed.len());
    // Projects that do not fit can still be found.
    assert_eq!(fixture.store.projects(&fixture.ada).await.unwrap(), []);
}

fn named(content: &str) -> verbs::ProjectCreate {
    create_project(content, Visibility::Private)
}

async fn a_name_is_unique_among_the_projects_of_its_owner(fixture: Fixture) {
    let first = fixture.done(&fixture.ada, named("# Über Parser\n\nfast")).await;
    for taken in ["Über Parser", "  über PARSER \nother goals", "## ÜBER parser"] {
        let refused = fixture.refused(&fixture.ada, named(taken)).await;
        assert!(matches!(refused, StoreError::Taken { field: "content", .. }), "{taken}: {refused:?}");
        let said = refused.to_string();
        assert!(
            said.contains("you already have a project `Über Parser`") && said.contains(&first.id.to_string()),
            "{said}"
        );
    }
    fixture.done(&fixture.bo, named("Über Parser")).await;
    let other = fixture.done(&fixture.ada, named("Lexer")).await;
    let refused = fixture.refused(&fixture.ada, write(other.id, "über parser", None)).await;
    assert!(matches!(refused, StoreError::Taken { field: "content", .. }), "{refused:?}");
    fixture.done(&fixture.ada, write(first.id, "über parser\n\nslower", None)).await;
    fixture.done(&fixture.ada, write(first.id, "Grammar", None)).await;
    fixture.done(&fixture.ada, write(other.id, "Über Parser", None)).await;
    fixture.done(&fixture.ada, verbs::ProjectDelete { project: other.id }).await;
    fixture.done(&fixture.ada, named("Über Parser")).await;
}

async fn a_name_that_is_taken_does_not_reveal_a_hidden_project(fixture: Fixture) {
    fixture.done(&fixture.ada, named("Secret")).await;
    let shared = fixture.done(&fixture.ada, create_project("Shared", Visibility::ReadWrite)).await;
    fixture.done(&fixture.bo, write(shared.id, "Secret", None)).await;
}
