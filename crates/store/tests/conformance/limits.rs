//! Every text has a limit, and the refusal names the field.

use domain::Visibility;
use protocol::{
    ActivityCreate, ActivityUpdate, InviteCreate, Link, ObserverCreate, ProjectCreate, ProjectUpdate, Rename,
    Repository, RunnerCreate, TokenCreate, verbs,
};
use store::{Command, StoreError};

use crate::fixture::{Fixture, send};

both!(every_text_has_a_limit, a_setting_has_a_range, a_refusal_leaves_no_trace, the_largest_texts_fit);

async fn refuses<C: Command>(fixture: &Fixture, field: &str, command: C) {
    let error = fixture.refused(&fixture.ada, command).await;
    assert!(matches!(error, StoreError::Invalid { field: named, .. } if named == field), "{}: {error}", C::VERB);
}

async fn every_text_has_a_limit(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let input = ActivityCreate { content: "Lexer".into(), ..ActivityCreate::default() };
    let activity = fixture.done(&fixture.ada, verbs::ActivityCreate { project, input }).await.id;
    let message = fixture.say(&fixture.ada, project, "hello").await.id;
    for bad in [String::new(), " \n ".into(), "x".repeat(70_000), "a\u{0}b".into(), "a\u{202e}b".into()] {
        let some = || Some(bad.clone());
        refuses(
            &fixture,
            "content",
            verbs::ProjectCreate { input: ProjectCreate { content: bad.clone(), ..Default::default() } },
        )
        .await;
        let input = ProjectUpdate { content: some(), ..Default::default() };
        refuses(&fixture, "content", verbs::ProjectUpdate { project, input }).await;
        let input = ActivityCreate { content: bad.clone(), ..Default::default() };
        refuses(&fixture, "content", verbs::ActivityCreate { project, input }).await;
        let input = ActivityUpdate { content: some(), ..Default::default() };
        refuses(&fixture, "content", verbs::ActivityUpdate { activity, input }).await;
        refuses(&fixture, "content", send(project, &bad)).await;
        refuses(
            &fixture,
            "content",
            verbs::ChatEdit { message, input: protocol::MessageText { content: bad.clone() } },
        )
        .await;
        refuses(&fixture, "name", verbs::MeRename { input: Rename { name: bad.clone() } }).await;
        let (name, expires_at) = (bad.clone(), None);
        refuses(&fixture, "name", verbs::TokenCreate { input: TokenCreate { name: name.clone(), expires_at } }).await;
        refuses(&fixture, "name", verbs::InviteCreate { input: InviteCreate { name: name.clone(), expires_at } }).await;
        refuses(&fixture, "name", verbs::RunnerCreate { input: RunnerCreate { name: name.clone() } }).await;
        refuses(&fixture, "name", verbs::ObserverCreate { project, input: ObserverCreate { name, expires_at } }).await;
    }
}

async fn a_setting_has_a_range(fixture: Fixture) {
    let create = |input: ProjectCreate| verbs::ProjectCreate { input: ProjectCreate { content: "x".into(), ..input } };
    for days in [0, 3651] {
        let input = ProjectCreate { retention_days: Some(days), ..Default::default() };
        refuses(&fixture, "retention_days", create(input)).await;
    }
    let at = |location: &str, branch: Option<&str>| {
        let base_branch = branch.map(str::to_owned);
        let repositories = vec![Repository { location: location.into(), base_branch, ..Repository::default() }];
        create(ProjectCreate { repositories, ..Default::default() })
    };
    refuses(&fixture, "repositories.location", at("", None)).await;
    refuses(&fixture, "repositories.location", at("--upload-pack=x", None)).await;
    for branch in ["-x", "a..b", "a b", "é"] {
        refuses(&fixture, "repositories.base_branch", at("/srv/a", Some(branch))).await;
    }
    let code = || Repository { location: "/srv/a".into(), ..Repository::default() };
    let bad = || Some("make\u{7}".to_owned());
    let (setup, teardown) = (Repository { setup: bad(), ..code() }, Repository { teardown: bad(), ..code() });
    for (field, repository) in [("repositories.setup", setup), ("repositories.teardown", teardown)] {
        refuses(&fixture, field, create(ProjectCreate { repositories: vec![repository], ..Default::default() })).await;
    }
    let copying = |location: &str| {
        vec![Repository { location: location.into(), copy: vec![".env".into()], ..Repository::default() }]
    };
    let project = fixture.done(&fixture.ada, at("/srv/a", None)).await.id;
    for location in ["https://example.org/a.git", "ssh://git@example.org/a", "git@example.org:a.git"] {
        let repositories = copying(location);
        let input = ProjectCreate { repositories: repositories.clone(), ..Default::default() };
        refuses(&fixture, "repositories.copy", create(input)).await;
        let input = ProjectUpdate { repositories: Some(repositories), ..Default::default() };
        refuses(&fixture, "repositories.copy", verbs::ProjectUpdate { project, input }).await;
    }
    let input = ProjectCreate { content: "y".into(), repositories: copying("/srv/a"), ..Default::default() };
    fixture.done(&fixture.ada, verbs::ProjectCreate { input }).await;
    let repositories = vec![Repository { location: "/a".into(), base_branch: None, ..Repository::default() }; 51];
    refuses(&fixture, "repositories", create(ProjectCreate { repositories, ..Default::default() })).await;
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let links = vec![Link { kind: domain::LinkKind::Branch, target: "x".into() }; 101];
    let input = ActivityCreate { content: "x".into(), links, ..Default::default() };
    refuses(&fixture, "links", verbs::ActivityCreate { project, input }).await;
    let links = vec![Link { kind: domain::LinkKind::Branch, target: "x".repeat(513) }];
    let input = ActivityCreate { content: "x".into(), links, ..Default::default() };
    refuses(&fixture, "links.target", verbs::ActivityCreate { project, input }).await;
}

async fn a_refusal_leaves_no_trace(fixture: Fixture) {
    let mut raw = fixture.raw().await;
    let before = raw.rows("SELECT seq, audit, audit_hash FROM ledger").await;
    let project = verbs::ProjectCreate { input: ProjectCreate::default() };
    let refused = fixture.store.write(&fixture.ada, Some("key".into()), project).await;
    assert!(matches!(refused, Err(StoreError::Invalid { .. })));
    assert_eq!(raw.rows("SELECT seq, audit, audit_hash FROM ledger").await, before);
    assert_eq!(raw.number("SELECT COUNT(*) FROM requests").await, 0);
    let key = Some("k".repeat(129));
    let refused = fixture.store.write(&fixture.ada, key, send(domain::ProjectId::generate(), "hi")).await;
    assert!(matches!(refused, Err(StoreError::Invalid { field: "key", .. })));
}

async fn the_largest_texts_fit(fixture: Fixture) {
    let input = ProjectCreate { content: "é".repeat(32 * 1024), ..Default::default() };
    let made = fixture.done(&fixture.ada, verbs::ProjectCreate { input }).await;
    assert_eq!(fixture.store.project(&fixture.ada, made.id).await.unwrap(), made);
    fixture.say(&fixture.ada, made.id, &"x".repeat(16 * 1024)).await;
}
