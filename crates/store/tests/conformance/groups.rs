//! Waiting commands share a commit, but each succeeds or fails separately.
//!
//! In one thread the writer runs only when every command of a `join!` is in its queue: they are one group.

use domain::Visibility;
use protocol::{Change, MessagePage, ProjectUpdate, Rename, verbs};
use store::{Caller, EventBody, GraceLeases, StoreError};

use crate::fixture::{Fixture, send};
use crate::tasks;

both_in_one_thread!(
    waiting_commands_share_a_commit,
    a_refused_command_does_not_harm_its_group,
    a_failing_command_does_not_harm_its_group,
    a_command_sees_those_before_it,
    rights_that_were_withdrawn_in_the_same_commit_do_not_count,
    a_statement_sees_the_pending_rows_of_earlier_commands,
    a_message_to_a_project_deleted_in_the_same_commit_leaves_no_trace,
);

async fn waiting_commands_share_a_commit(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let (one, two) = tokio::join!(
        fixture.store.write(&fixture.ada, None, send(project, "one")),
        fixture.store.write(&fixture.ada, None, send(project, "two")),
    );
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one.events.len(), 2);
    assert_eq!(one.events, two.events);
    assert_eq!((one.value.number, two.value.number), (1, 2));
}

async fn a_refused_command_does_not_harm_its_group(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let missing = domain::ProjectId::generate();
    let (one, bad, two) = tokio::join!(
        fixture.store.write(&fixture.ada, None, send(project, "one")),
        fixture.store.write(&fixture.ada, None, send(missing, "lost")),
        fixture.store.write(&fixture.ada, None, send(project, "two")),
    );
    assert!(matches!(bad, Err(StoreError::NotFound("project"))));
    assert_eq!(one.unwrap().events.len(), 2, "still one commit");
    assert_eq!(two.unwrap().value.number, 2);
}

async fn a_failing_command_does_not_harm_its_group(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    // The next version already exists: writing it violates the table's key.
    fixture.raw().await.run("INSERT INTO versions (subject, version, author, at, content) SELECT subject, 2, author, at, content FROM versions").await;
    let write = ProjectUpdate { content: Some("other".into()), ..Default::default() };
    let (one, bad, two) = tokio::join!(
        fixture.store.write(&fixture.ada, None, send(project, "one")),
        fixture.store.write(&fixture.ada, None, verbs::ProjectUpdate { project, input: write }),
        fixture.store.write(&fixture.ada, None, send(project, "two")),
    );
    assert!(matches!(bad, Err(StoreError::Database(_))));
    assert_eq!((one.unwrap().value.number, two.unwrap().value.number), (1, 2));
    assert_eq!(fixture.store.project(&fixture.ada, project).await.unwrap().content, "Parser\ngoals");
    let page = fixture.store.messages(&fixture.bo, project, MessagePage::default()).await.unwrap();
    assert_eq!(page.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["one", "two"]);
    assert!(fixture.store.verify_audit().await.unwrap().is_ok());
    let seen: Vec<u64> = fixture.heard().iter().map(|event| event.seq.0).collect();
    assert_eq!(seen, (1..=seen.len() as u64).collect::<Vec<_>>());
}

async fn a_command_sees_those_before_it(fixture: Fixture) {
    let rename = || verbs::MeRename { input: Rename { name: "Zoe".into() } };
    let (ada, bo) = tokio::join!(
        fixture.store.write(&fixture.ada, None, rename()),
        fixture.store.write(&fixture.bo, None, rename()),
    );
    assert_eq!(ada.unwrap().value.name, "Zoe");
    assert!(matches!(bo, Err(StoreError::Conflict(_))));
}

async fn rights_that_were_withdrawn_in_the_same_commit_do_not_count(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let input = ProjectUpdate { visibility: Some(Visibility::Private), ..Default::default() };
    let (before, changed, after) = tokio::join!(
        fixture.store.write(&fixture.bo, None, send(project, "before")),
        fixture.store.write(&fixture.ada, None, verbs::ProjectUpdate { project, input }),
        fixture.store.write(&fixture.bo, None, send(project, "after")),
    );
    assert_eq!(before.unwrap().events, changed.unwrap().events, "one commit");
    assert!(matches!(after, Err(StoreError::NotFound("project"))));
}

async fn a_statement_sees_the_pending_rows_of_earlier_commands(fixture: Fixture) {
    let project = tasks::shared(&fixture).await;
    let id = tasks::add_one(&fixture, project, tasks::task("one")).await;
    let hub = Caller::hub("foreman");
    let seconds = 1_000_000;
    // The second command changes by SQL the rows that the first one left pending, and the third one reads them.
    let (taken, graced, beat) = tokio::join!(
        fixture.store.write(&fixture.ada, None, tasks::takes(project, "w")),
        fixture.store.write(&hub, None, GraceLeases { seconds }),
        fixture.store.write(&fixture.ada, None, tasks::beat(id, 1)),
    );
    let taken = taken.unwrap();
    let beat = beat.unwrap();
    assert_eq!(taken.events, graced.unwrap().events, "one commit");
    assert_eq!(taken.events, beat.events, "one commit");
    assert_eq!(taken.value.taken.unwrap().task.id, id);
    assert_eq!(beat.value.expires_at, fixture.store.now().plus_millis(i64::from(seconds) * 1000));
}

async fn a_message_to_a_project_deleted_in_the_same_commit_leaves_no_trace(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    let (sent, deleted) = tokio::join!(
        fixture.store.write(&fixture.ada, Some("key".into()), send(project, "xyzzy")),
        fixture.store.write(&fixture.ada, None, verbs::ProjectDelete { project }),
    );
    assert_eq!(sent.unwrap().events, deleted.unwrap().events, "one commit");
    let mut raw = fixture.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM events WHERE body LIKE '%xyzzy%'").await, 0);
    assert_eq!(raw.number("SELECT COUNT(*) FROM requests WHERE answer LIKE '%xyzzy%'").await, 0);
    let gone = EventBody::Change { change: Change::ProjectGone { project } };
    assert_eq!(fixture.heard().iter().filter(|event| event.body == gone).count(), 2);
}
