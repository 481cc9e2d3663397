//! Every text has a limit, and the refusal names the field.

use domain::Visibility;
use protocol::{
    ActivityCreate, ActivityUpdate, InviteCreate, Link, ObserverCreate, ProjectCreate, ProjectUpdate, Rename,
    Repository, RunnerCreate, TokenCreate, verbs,
};
use store::{Command, StoreError};

use crate::floor::{Floor, send};

both!(every_text_has_a_limit, a_setting_has_a_range, a_refusal_leaves_no_trace, the_largest_texts_fit);

async fn refuses<C: Command>(floor: &Floor, field: &str, command: C) {
    let error = floor.refused(&floor.ada, command).await;
    assert!(matches!(error, StoreError::Invalid { field: named, .. } if named == field), "{}: {error}", C::VERB);
}

async fn every_text_has_a_limit(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    let input = ActivityCreate { content: "Lexer".into(), ..ActivityCreate::default() };
    let activity = floor.done(&floor.ada, verbs::ActivityCreate { project, input }).await.id;
    let message = floor.say(&floor.ada, project, "hello").await.id;
    for bad in [String::new(), " \n ".into(), "x".repeat(70_000), "a\u{0}b".into(), "a\u{202e}b".into()] {
        let some = || Some(bad.clone());
        refuses(
            &floor,
            "content",
            verbs::ProjectCreate { input: ProjectCreate { content: bad.clone(), ..Default::default() } },
        )
        .await;
        let input = ProjectUpdate { content: some(), ..Default::default() };
        refuses(&floor, "content", verbs::ProjectUpdate { project, input }).await;
        let input = ActivityCreate { content: bad.clone(), ..Default::default() };
        refuses(&floor, "content", verbs::ActivityCreate { project, input }).await;
        let input = ActivityUpdate { content: some(), ..Default::default() };
        refuses(&floor, "content", verbs::ActivityUpdate { activity, input }).await;
        refuses(&floor, "content", send(project, &bad)).await;
        refuses(&floor, "content", verbs::ChatEdit { message, input: protocol::MessageText { content: bad.clone() } })
            .await;
        refuses(&floor, "name", verbs::MeRename { input: Rename { name: bad.clone() } }).await;
        let (name, expires_at) = (bad.clone(), None);
        refuses(&floor, "name", verbs::TokenCreate { input: TokenCreate { name: name.clone(), expires_at } }).await;
        refuses(&floor, "name", verbs::InviteCreate { input: InviteCreate { name: name.clone(), expires_at } }).await;
        refuses(&floor, "name", verbs::RunnerCreate { input: RunnerCreate { name: name.clone() } }).await;
        refuses(&floor, "name", verbs::ObserverCreate { project, input: ObserverCreate { name, expires_at } }).await;
    }
}

async fn a_setting_has_a_range(floor: Floor) {
    let create = |input: ProjectCreate| verbs::ProjectCreate { input: ProjectCreate { content: "x".into(), ..input } };
    for days in [0, 3651] {
        let input = ProjectCreate { retention_days: Some(days), ..Default::default() };
        refuses(&floor, "retention_days", create(input)).await;
    }
    let at = |location: &str, branch: Option<&str>| {
        let base_branch = branch.map(str::to_owned);
        let repositories = vec![Repository { location: location.into(), base_branch, ..Repository::default() }];
        create(ProjectCreate { repositories, ..Default::default() })
    };
    refuses(&floor, "repositories.location", at("", None)).await;
    refuses(&floor, "repositories.location", at("--upload-pack=x", None)).await;
    for branch in ["-x", "a..b", "a b", "é"] {
        refuses(&floor, "repositories.base_branch", at("/srv/a", Some(branch))).await;
    }
    let code = || Repository { location: "/srv/a".into(), ..Repository::default() };
    let bad = || Some("make\u{7}".to_owned());
    let (setup, teardown) = (Repository { setup: bad(), ..code() }, Repository { teardown: bad(), ..code() });
    for (field, repository) in [("repositories.setup", setup), ("repositories.teardown", teardown)] {
        refuses(&floor, field, create(ProjectCreate { repositories: vec![repository], ..Default::default() })).await;
    }
    let copying = |location: &str| {
        vec![Repository { location: location.into(), copy: vec![".env".into()], ..Repository::default() }]
    };
    let project = floor.done(&floor.ada, at("/srv/a", None)).await.id;
    for location in ["https://example.org/a.git", "ssh://git@example.org/a", "git@example.org:a.git"] {
        let repositories = copying(location);
        let input = ProjectCreate { repositories: repositories.clone(), ..Default::default() };
        refuses(&floor, "repositories.copy", create(input)).await;
        let input = ProjectUpdate { repositories: Some(repositories), ..Default::default() };
        refuses(&floor, "repositories.copy", verbs::ProjectUpdate { project, input }).await;
    }
    floor.done(&floor.ada, create(ProjectCreate { repositories: copying("/srv/a"), ..Default::default() })).await;
    let repositories = vec![Repository { location: "/a".into(), base_branch: None, ..Repository::default() }; 51];
    refuses(&floor, "repositories", create(ProjectCreate { repositories, ..Default::default() })).await;
    let project = floor.project(Visibility::ReadWrite).await.id;
    let links = vec![Link { kind: domain::LinkKind::Branch, target: "x".into() }; 101];
    let input = ActivityCreate { content: "x".into(), links, ..Default::default() };
    refuses(&floor, "links", verbs::ActivityCreate { project, input }).await;
    let links = vec![Link { kind: domain::LinkKind::Branch, target: "x".repeat(513) }];
    let input = ActivityCreate { content: "x".into(), links, ..Default::default() };
    refuses(&floor, "links.target", verbs::ActivityCreate { project, input }).await;
}

async fn a_refusal_leaves_no_trace(floor: Floor) {
    let mut raw = floor.raw().await;
    let before = raw.rows("SELECT seq, audit, audit_hash FROM ledger").await;
    let project = verbs::ProjectCreate { input: ProjectCreate::default() };
    let refused = floor.store.write(&floor.ada, Some("key".into()), project).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
    assert_eq!(raw.rows("SELECT seq, audit, audit_hash FROM ledger").await, before);
    assert_eq!(raw.number("SELECT COUNT(*) FROM requests").await, 0);
    let key = Some("k".repeat(129));
    let refused = floor.store.write(&floor.ada, key, send(domain::ProjectId::generate(), "hi")).await;
    assert!(matches!(refused, Err(StoreError::Invalid { field: "key", .. })));
}

async fn the_largest_texts_fit(floor: Floor) {
    let input = ProjectCreate { content: "é".repeat(32 * 1024), ..Default::default() };
    let made = floor.done(&floor.ada, verbs::ProjectCreate { input }).await;
    assert_eq!(floor.store.project(&floor.ada, made.id).await.unwrap(), made);
    floor.say(&floor.ada, made.id, &"x".repeat(16 * 1024)).await;
}
