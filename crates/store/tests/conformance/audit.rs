//! The audit trail: every change with actor, origin and detail, chained so that tampering shows.

use domain::Visibility;
use protocol::{
    ActedBy, ActivityCreate, ActivityUpdate, AuditEntry, AuditPage, MessagePage, ProjectUpdate, TokenCreate, verbs,
};
use store::Caller;

use crate::fixture::{Fixture, create_project, id};

both!(
    every_change_has_actor_origin_and_detail,
    people_see_the_entries_that_concern_them,
    pages_go_back_in_time,
    the_chain_verifies,
    a_changed_entry_is_found,
    a_deleted_entry_is_found,
    a_cut_off_trail_is_found,
    an_agents_actions_are_recorded_as_the_agents,
);

async fn trail(fixture: &Fixture, caller: &store::Caller) -> Vec<AuditEntry> {
    fixture.store.audit(caller, AuditPage::default()).await.unwrap()
}

async fn every_change_has_actor_origin_and_detail(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await;
    let input = ProjectUpdate {
        content: Some("new".into()),
        visibility: Some(Visibility::ReadOnly),
        retention_days: Some(Some(9)),
        ..Default::default()
    };
    fixture.done(&fixture.ada, verbs::ProjectUpdate { project: project.id, input }).await;
    let trail = trail(&fixture, &fixture.ada).await;
    let newest = &trail[0];
    assert_eq!((newest.verb.as_str(), newest.subject.clone()), ("project.update", project.id.to_string()));
    assert_eq!((newest.project, newest.at), (Some(project.id), fixture.store.now()));
    let actor = newest.actor.as_ref().unwrap();
    assert_eq!((actor.id, actor.name.as_str(), newest.origin.as_str()), (id(&fixture.ada), "Ada", "192.0.2.1 test"));
    assert_eq!(
        newest.detail,
        "wrote version 2 of the content; visibility private → read-only; retention_days never → 9"
    );
    assert_eq!((trail[1].verb.as_str(), trail[1].detail.as_str()), ("project.create", "created `Parser`, private"));
    let joined = trail.iter().find(|entry| entry.verb == "invite.accept").unwrap();
    assert_eq!((joined.actor.as_ref(), joined.origin.as_str()), (None, "192.0.2.2"));
}

async fn people_see_the_entries_that_concern_them(fixture: Fixture) {
    let open = fixture.done(&fixture.ada, create_project("open", Visibility::ReadOnly)).await;
    let hidden = fixture.done(&fixture.ada, create_project("hidden", Visibility::Private)).await;
    fixture
        .done(&fixture.ada, verbs::TokenCreate { input: TokenCreate { name: "ada's".into(), expires_at: None } })
        .await;
    fixture.done(&fixture.ada, verbs::UserEnable { user: id(&fixture.bo) }).await;
    let subjects: Vec<_> =
        trail(&fixture, &fixture.bo).await.into_iter().map(|entry| (entry.verb, entry.subject)).collect();
    assert!(subjects.contains(&("project.create".into(), open.id.to_string())));
    assert!(subjects.contains(&("user.enable".into(), id(&fixture.bo).to_string())));
    assert!(!subjects.iter().any(|(verb, subject)| verb == "token.create" || *subject == hidden.id.to_string()));
    fixture.done(&fixture.ada, verbs::ProjectDelete { project: open.id }).await;
    assert!(trail(&fixture, &fixture.bo).await.iter().all(|entry| entry.project != Some(open.id)));
    assert_eq!(trail(&fixture, &fixture.ada).await[0].verb, "project.delete", "people keep seeing their own actions");
    let page = AuditPage { project: Some(hidden.id), ..Default::default() };
    assert_eq!(fixture.store.audit(&fixture.ada, page).await.unwrap().len(), 1);
}

async fn pages_go_back_in_time(fixture: Fixture) {
    let project = fixture.project(Visibility::Private).await.id;
    for _ in 0..5 {
        fixture.say(&fixture.ada, project, "hi").await;
    }
    let all: Vec<u64> = trail(&fixture, &fixture.ada).await.iter().map(|entry| entry.number).collect();
    let mut paged = Vec::new();
    let mut before = None;
    loop {
        let page = AuditPage { before, limit: Some(2), project: None };
        let page = fixture.store.audit(&fixture.ada, page).await.unwrap();
        let Some(last) = page.last() else { break };
        before = Some(last.number);
        paged.extend(page.iter().map(|entry| entry.number));
    }
    assert_eq!(paged, all);
    assert_eq!(all.len() as u64, all[0], "no gap, and Ada sees everything here");
}

/// Creates some entries; returns their number.
async fn some_entries(fixture: &Fixture) -> u64 {
    let project = fixture.project(Visibility::Private).await.id;
    for number in 0..20 {
        fixture.say(&fixture.ada, project, &format!("message {number}")).await;
    }
    fixture.store.verify_audit().await.unwrap().expect("the chain is intact")
}

async fn the_chain_verifies(fixture: Fixture) {
    let total = some_entries(&fixture).await;
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM audit").await.cast_unsigned(), total);
    let fixture = fixture.reopened().await;
    assert_eq!(fixture.store.verify_audit().await.unwrap(), Ok(total));
}

async fn a_changed_entry_is_found(fixture: Fixture) {
    some_entries(&fixture).await;
    let mut raw = fixture.raw().await;
    for column in ["at", "actor", "actor_name", "origin", "verb", "subject", "project", "private_to", "detail", "via"] {
        let before = raw.rows(&format!("SELECT {column} FROM audit WHERE number = 9")).await[0][0].clone();
        let forged = if column == "at" { "1" } else { "'forged'" };
        raw.run(&format!("UPDATE audit SET {column} = {forged} WHERE number = 9")).await;
        assert_eq!(fixture.store.verify_audit().await.unwrap(), Err(9), "{column}");
        let restored = if column == "at" || before == "null" { before } else { format!("'{before}'") };
        raw.run(&format!("UPDATE audit SET {column} = {restored} WHERE number = 9")).await;
        assert!(fixture.store.verify_audit().await.unwrap().is_ok(), "{column}");
    }
}

async fn a_deleted_entry_is_found(fixture: Fixture) {
    some_entries(&fixture).await;
    let mut raw = fixture.raw().await;
    raw.run("DELETE FROM audit WHERE number = 7").await;
    assert_eq!(fixture.store.verify_audit().await.unwrap(), Err(7));
    raw.run("UPDATE audit SET number = number - 1 WHERE number > 7 AND number < 9").await;
    assert_eq!(fixture.store.verify_audit().await.unwrap(), Err(7));
}

async fn a_cut_off_trail_is_found(fixture: Fixture) {
    let total = some_entries(&fixture).await;
    fixture.raw().await.run(&format!("DELETE FROM audit WHERE number = {total}")).await;
    assert_eq!(fixture.store.verify_audit().await.unwrap(), Err(total));
}

async fn an_agents_actions_are_recorded_as_the_agents(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let input = ActivityCreate { content: "plan".into(), ..Default::default() };
    let activity = fixture.done(&fixture.ada, verbs::ActivityCreate { project, input }).await.id;
    let session = domain::SessionId::generate();
    let actor = domain::Actor::Agent { user: id(&fixture.ada), project, session };
    let agent = Caller::bearer(actor, "Ada", "192.0.2.9");
    let sent = fixture.say(&agent, project, "hello").await;
    assert_eq!((sent.author_kind, sent.author_session), (domain::AuthorKind::Agent, Some(session)));
    let input = ActivityUpdate { content: Some("another plan".into()), ..Default::default() };
    fixture.done(&agent, verbs::ActivityUpdate { activity, input }).await;

    let newest = &trail(&fixture, &fixture.ada).await[0];
    assert_eq!(
        (newest.verb.as_str(), newest.via),
        ("activity.update", Some(ActedBy::Agent { session: Some(session) }))
    );
    assert_eq!(newest.actor.as_ref().map(|actor| actor.id), Some(id(&fixture.ada)), "on behalf of its person");
    let versions =
        fixture.store.activity_versions(&fixture.ada, activity, protocol::VersionPage::default()).await.unwrap();
    let by = |at: usize| (versions[at].author_kind, versions[at].author_session);
    assert_eq!(by(0), (domain::AuthorKind::Agent, Some(session)));
    assert_eq!(by(1), (domain::AuthorKind::User, None));

    // A colleague reads that an agent did it, but not in which session.
    let theirs = &trail(&fixture, &fixture.bo).await[0];
    assert_eq!((theirs.number, theirs.via), (newest.number, Some(ActedBy::Agent { session: None })));
    assert_eq!((theirs.origin.as_str(), newest.origin.as_str()), ("", "192.0.2.9"));
    let page = MessagePage { before: None, limit: None };
    let read = fixture.store.messages(&fixture.bo, project, page).await.unwrap();
    assert_eq!((read[0].author_kind, read[0].author_session), (domain::AuthorKind::Agent, None));
    let versions =
        fixture.store.activity_versions(&fixture.bo, activity, protocol::VersionPage::default()).await.unwrap();
    assert_eq!((versions[0].author_kind, versions[0].author_session), (domain::AuthorKind::Agent, None));

    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
    fixture.raw().await.run(&format!("UPDATE audit SET via = NULL WHERE number = {}", newest.number)).await;
    assert_eq!(fixture.store.verify_audit().await.unwrap(), Err(newest.number), "it cannot be changed to the person's");
}
