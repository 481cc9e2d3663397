//! Chat: messages, their order, references and mentions, and how far people have read.

use domain::{MessageId, ProjectId, Visibility};
use protocol::{Change, MarkRead, MessagePage, MessageText, Unread, verbs};
use store::{EventBody, StoreError};

use crate::floor::{Floor, id, send};

both!(
    messages_are_numbered_from_one,
    references_and_mentions_are_read_out_of_the_text,
    an_edit_replaces_text_references_and_mentions,
    a_deleted_message_leaves_its_place_only,
    a_text_that_was_taken_back_is_nowhere,
    only_the_author_changes_a_message,
    history_comes_in_pages_oldest_first,
    a_page_has_a_size,
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

async fn messages_are_numbered_from_one(floor: Floor) {
    let (one, other) = (floor.project(Visibility::ReadWrite).await, floor.project(Visibility::ReadWrite).await);
    let first = floor.say(&floor.ada, one.id, "hello").await;
    let second = floor.say(&floor.bo, one.id, "hi").await;
    assert_eq!((first.number, second.number), (1, 2));
    assert_eq!(floor.say(&floor.bo, other.id, "elsewhere").await.number, 1);
    assert_eq!((second.author.id, second.author.name.as_str()), (id(&floor.bo), "Bo"));
    let page = floor.store.messages(&floor.bo, one.id, MessagePage::default()).await.unwrap();
    assert_eq!(page, vec![first, second]);
}

async fn references_and_mentions_are_read_out_of_the_text(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let sent = floor.say(&floor.ada, project.id, &format!("@bo see #{} — not @nobody", project.id)).await;
    assert_eq!((sent.references.clone(), sent.mentions.clone()), (vec![project.id.to_string()], vec![id(&floor.bo)]));
    assert_eq!(floor.store.messages(&floor.ada, project.id, MessagePage::default()).await.unwrap(), vec![sent]);
}

async fn an_edit_replaces_text_references_and_mentions(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let sent = floor.say(&floor.ada, project.id, "@bo look").await;
    floor.pass(1000);
    let after = floor.done(&floor.ada, edit(sent.id, "@ada look")).await;
    assert_eq!((after.content.as_str(), after.mentions.clone()), ("@ada look", vec![id(&floor.ada)]));
    assert_eq!((after.edited_at, after.created_at, after.number), (Some(floor.store.now()), sent.created_at, 1));
    assert_eq!(floor.store.messages(&floor.bo, project.id, MessagePage::default()).await.unwrap(), vec![after]);
}

async fn a_deleted_message_leaves_its_place_only(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let sent = floor.say(&floor.ada, project.id, "a plugh secret").await;
    floor.done(&floor.ada, verbs::ChatDelete { message: sent.id }).await;
    let page = floor.store.messages(&floor.bo, project.id, MessagePage::default()).await.unwrap();
    assert_eq!((page[0].content.as_str(), page[0].number, page[0].deleted_at), ("", 1, Some(floor.store.now())));
    let error = floor.refused(&floor.ada, edit(sent.id, "again")).await;
    assert!(matches!(error, StoreError::Conflict(_)), "{error}");
    assert_eq!(floor.raw().await.number("SELECT COUNT(*) FROM messages WHERE content LIKE '%plugh%'").await, 0);
}

async fn a_text_that_was_taken_back_is_nowhere(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await.id;
    for (key, last) in [("k1", None), ("k2", Some("harmless"))] {
        let sent = floor.store.write(&floor.bo, Some(key.into()), send(project, "hunter2")).await.unwrap().value;
        match last {
            Some(content) => drop(floor.done(&floor.bo, edit(sent.id, content)).await),
            None => floor.done(&floor.bo, verbs::ChatDelete { message: sent.id }).await,
        }
    }
    for sql in ["SELECT body FROM events", "SELECT answer FROM requests", "SELECT content FROM messages"] {
        let column = floor.raw().await.column(sql).await;
        assert!(column.len() >= 2 && !column.iter().any(|text| text.contains("hunter2")), "{sql}: {column:?}");
    }
}

async fn only_the_author_changes_a_message(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let sent = floor.say(&floor.bo, project.id, "mine").await;
    let error = floor.refused(&floor.ada, edit(sent.id, "yours")).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
    let error = floor.refused(&floor.ada, verbs::ChatDelete { message: sent.id }).await;
    assert!(matches!(error, StoreError::Forbidden(_)), "{error}");
}

async fn history_comes_in_pages_oldest_first(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    for number in 1..=7 {
        floor.say(&floor.ada, project.id, &format!("message {number}")).await;
    }
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = floor.store.messages(&floor.bo, project.id, MessagePage { before, limit: Some(3) }).await.unwrap();
        let Some(first) = page.first() else { break };
        before = Some(first.number);
        seen.push(page.iter().map(|message| message.number).collect::<Vec<_>>());
    }
    assert_eq!(seen, vec![vec![5, 6, 7], vec![2, 3, 4], vec![1]]);
}

async fn a_page_has_a_size(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    for limit in [0, 201] {
        let page = MessagePage { before: None, limit: Some(limit) };
        let error = floor.store.messages(&floor.ada, project.id, page).await.unwrap_err();
        assert!(matches!(error, StoreError::Invalid { field: "limit", .. }), "{error}");
    }
}

async fn unread_counts_the_messages_of_others(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    for text in ["one @bo", "two", "three @Bo!"] {
        floor.say(&floor.ada, project.id, text).await;
    }
    floor.say(&floor.bo, project.id, "@bo to himself").await;
    let unread = |read, count, mentions| vec![Unread { project: project.id, read, count, mentions }];
    assert_eq!(floor.store.unreads(&floor.bo).await.unwrap(), unread(0, 3, 2));
    assert_eq!(floor.store.unreads(&floor.ada).await.unwrap(), unread(0, 1, 0));
    let answer = floor.done(&floor.bo, read(project.id, 1)).await;
    assert_eq!(vec![answer.clone()], unread(1, 2, 1));
    assert_eq!(floor.store.unreads(&floor.bo).await.unwrap(), unread(1, 2, 1));
    let heard = floor.heard();
    let told = heard.last().unwrap();
    assert_eq!(told.audience, Some(id(&floor.bo)));
    assert_eq!(told.body, EventBody::Change { change: Change::Unread { unread: answer } });
}

async fn reading_never_goes_back_nor_beyond_the_end(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    floor.say(&floor.ada, project.id, "one").await;
    floor.say(&floor.ada, project.id, "two").await;
    assert_eq!(floor.done(&floor.bo, read(project.id, 99)).await.read, 2);
    let seq = floor.store.extent().await.unwrap().newest;
    assert_eq!(floor.done(&floor.bo, read(project.id, 1)).await.read, 2);
    assert_eq!(floor.store.extent().await.unwrap().newest, seq, "nothing changed, nothing is told");
}

async fn an_edit_or_deletion_changes_the_counts(floor: Floor) {
    let project = floor.project(Visibility::ReadWrite).await;
    let one = floor.say(&floor.ada, project.id, "@bo one").await;
    let two = floor.say(&floor.ada, project.id, "@bo two").await;
    floor.done(&floor.ada, edit(one.id, "one")).await;
    floor.done(&floor.ada, verbs::ChatDelete { message: two.id }).await;
    let unread = floor.store.unreads(&floor.bo).await.unwrap();
    assert_eq!((unread[0].count, unread[0].mentions), (1, 0));
}
