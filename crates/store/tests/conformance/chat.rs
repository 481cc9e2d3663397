//! Chat: messages, their order, references and mentions, and how far people have read.

use domain::{MessageId, ProjectId, Visibility};
use protocol::{Change, MarkRead, MessagePage, MessageText, Unread, verbs};
use store::{EventBody, StoreError};

use crate::fixture::{Fixture, id, send};

both!(
    messages_are_numbered_from_one,
    references_and_mentions_are_parsed_from_the_text,
    an_edit_replaces_text_references_and_mentions,
    a_deleted_message_leaves_only_its_number,
    a_deleted_or_replaced_text_is_stored_nowhere,
    only_the_author_changes_a_message,
    history_comes_in_pages_oldest_first,
    a_page_is_limited_in_size,
    unread_counts_the_messages_of_others,
    reading_never_goes_back_nor_beyond_the_end,
    an_edit_or_deletion_changes_the_counts,
);

fn edit(message: MessageId, content: &str) -> verbs::ChatEdit {
    verbs::ChatEdit { message, input: MessageText { content: content.into() } }
}

fn read(project: ProjectId, number: u32) -> verbs::ChatRead {
    verbs::ChatRead { project, input: MarkRead { number } }
}

async fn messages_are_numbered_from_one(fixture: Fixture) {
    let (one, other) = (fixture.project(Visibility::ReadWrite).await, fixture.project(Visibility::ReadWrite).await);
    let first = fixture.say(&fixture.ada, one.id, "hello").await;
    let second = fixture.say(&fixture.bo, one.id, "hi").await;
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!(fixture.say(&fixture.bo, other.id, "elsewhere").await.number, 1);
    assert_eq!((second.author.id, second.author.name.as_str()), (id(&fixture.bo), "Bo"));
    let page = fixture.store.messages(&fixture.bo, one.id, MessagePage::default()).await.unwrap();
    assert_eq!(page, vec![first, second]);
}

async fn references_and_mentions_are_parsed_from_the_text(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let sent = fixture.say(&fixture.ada, project.id, &format!("@bo see #{} — not @nobody", project.id)).await;
    assert_eq!((sent.references.clone(), sent.mentions.clone()), (vec![project.id.to_string()], vec![id(&fixture.bo)]));
    assert_eq!(fixture.store.messages(&fixture.ada, project.id, MessagePage::default()).await.unwrap(), vec![sent]);
}

async fn an_edit_replaces_text_references_and_mentions(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let sent = fixture.say(&fixture.ada, project.id, "@bo look").await;
    fixture.pass(1000);
    let after = fixture.done(&fixture.ada, edit(sent.id, "@ada look")).await;
    assert_eq!((after.content.as_str(), after.mentions.clone()), ("@ada look", vec![id(&fixture.ada)]));
    assert_eq!((after.edited_at, after.created_at, after.number), (Some(fixture.store.now()), sent.created_at, 1));
    assert_eq!(fixture.store.messages(&fixture.bo, project.id, MessagePage::default()).await.unwrap(), vec![after]);
}

async fn a_deleted_message_leaves_only_its_number(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let sent = fixture.say(&fixture.ada, project.id, "a plugh secret").await;
    fixture.done(&fixture.ada, verbs::ChatDelete { message: sent.id }).await;
    let page = fixture.store.messages(&fixture.bo, project.id, MessagePage::default()).await.unwrap();
    assert_eq!((page[0].content.as_str(), page[0].number, page[0].deleted_at), ("", 1, Some(fixture.store.now())));
    let error = fixture.refused(&fixture.ada, edit(sent.id, "again")).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    assert_eq!(fixture.raw().await.number("SELECT COUNT(*) FROM messages WHERE content LIKE '%plugh%'").await, 0);
}

async fn a_deleted_or_replaced_text_is_stored_nowhere(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await.id;
    for (key, last) in [("k1", None), ("k2", Some("harmless"))] {
        let sent = fixture.store.write(&fixture.bo, Some(key.into()), send(project, "hunter2")).await.unwrap().value;
        match last {
            Some(content) => drop(fixture.done(&fixture.bo, edit(sent.id, content)).await),
            None => fixture.done(&fixture.bo, verbs::ChatDelete { message: sent.id }).await,
        }
    }
    for sql in ["SELECT body FROM events", "SELECT answer FROM requests", "SELECT content FROM messages"] {
        let column = fixture.raw().await.column(sql).await;
        assert!(column.len() >= 2 && !column.iter().any(|text| text.contains("hunter2")), "{sql}: {column:?}");
    }
}

async fn only_the_author_changes_a_message(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let sent = fixture.say(&fixture.bo, project.id, "mine").await;
    let error = fixture.refused(&fixture.ada, edit(sent.id, "yours")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let error = fixture.refused(&fixture.ada, verbs::ChatDelete { message: sent.id }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
}

async fn history_comes_in_pages_oldest_first(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    for number in 1..=7 {
        fixture.say(&fixture.ada, project.id, &format!("message {number}")).await;
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page =
            fixture.store.messages(&fixture.bo, project.id, MessagePage { before, limit: Some(3) }).await.unwrap();
        let Some(first) = page.first() else { break };
        before = Some(first.number);
        seen.push(page.iter().map(|message| message.number).collect::<Vec<_>>());
    }
    assert_eq!(seen, vec![vec![5, 6, 7], vec![2, 3, 4], vec![1]]);
}

async fn a_page_is_limited_in_size(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    for limit in [0, 201] {
        let page = MessagePage { before: None, limit: Some(limit) };
        let error = fixture.store.messages(&fixture.ada, project.id, page).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { field: "limit", .. }), "{error}");
    }
}

async fn unread_counts_the_messages_of_others(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    for text in ["one @bo", "two", "three @Bo!"] {
        fixture.say(&fixture.ada, project.id, text).await;
    }
    fixture.say(&fixture.bo, project.id, "@bo to himself").await;
    let unread = |read, count, mentions| vec![Unread { project: project.id, read, count, mentions }];
    assert_eq!(fixture.store.unreads(&fixture.bo).await.unwrap(), unread(0, 3, 2));
    assert_eq!(fixture.store.unreads(&fixture.ada).await.unwrap(), unread(0, 1, 0));
    let answer = fixture.done(&fixture.bo, read(project.id, 1)).await;
    assert_eq!(vec![answer.clone()], unread(1, 2, 1));
    assert_eq!(fixture.store.unreads(&fixture.bo).await.unwrap(), unread(1, 2, 1));
    let heard = fixture.heard();
    let told = heard.last().unwrap();
    assert_eq!(told.audience, Some(id(&fixture.bo)));
    assert_eq!(told.body, EventBody::Change { change: Change::Unread { unread: answer } });
}

async fn reading_never_goes_back_nor_beyond_the_end(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    fixture.say(&fixture.ada, project.id, "one").await;
    fixture.say(&fixture.ada, project.id, "two").await;
    assert_eq!(fixture.done(&fixture.bo, read(project.id, 99)).await.read, 2);
    let seq = fixture.store.extent().await.unwrap().newest;
    assert_eq!(fixture.done(&fixture.bo, read(project.id, 1)).await.read, 2);
    assert_eq!(fixture.store.extent().await.unwrap().newest, seq, "without a change there is no event");
}

async fn an_edit_or_deletion_changes_the_counts(fixture: Fixture) {
    let project = fixture.project(Visibility::ReadWrite).await;
    let one = fixture.say(&fixture.ada, project.id, "@bo one").await;
    let two = fixture.say(&fixture.ada, project.id, "@bo two").await;
    fixture.done(&fixture.ada, edit(one.id, "one")).await;
    fixture.done(&fixture.ada, verbs::ChatDelete { message: two.id }).await;
    let unread = fixture.store.unreads(&fixture.bo).await.unwrap();
    assert_eq!((unread[0].count, unread[0].mentions), (1, 0));
}
