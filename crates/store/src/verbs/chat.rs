//! Chat: messages in a project.

use domain::text::{MESSAGE_CONTENT, mentions, references};
use domain::{Action, AuthorKind, MessageId, ProjectId, UserId};
use protocol::{Change, Message, MessagePage, Veil, Verb, verbs};

use super::work::tasks::row::id_or_none;
use super::workspaces::sees;
use super::{projects, unread, users};
use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, EventBody, Store, StoreError};

const COLUMNS: &str = "SELECT m.id, m.project, m.number, m.author, u.name AS author_name, m.author_kind, m.author_session, m.content, \
    m.refs, m.mentions, m.created_at, m.edited_at, m.deleted_at FROM messages m JOIN users u ON u.id = m.author";

/// The default and maximum page size.
const PAGE: (u32, u32) = (50, 200);

fn message(row: &Row) -> Result<Message, StoreError> {
    Ok(Message {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        number: row.count("number")?,
        author: users::reference(row, "author")?,
        author_kind: row.parsed("author_kind")?,
        author_session: id_or_none(row, "author_session")?,
        content: row.text("content")?,
        references: row.json("refs")?,
        mentions: row.json("mentions")?,
        created_at: row.time("created_at")?,
        edited_at: row.time_or_none("edited_at")?,
        deleted_at: row.time_or_none("deleted_at")?,
    })
}

/// The ids of the people that a text mentions.
async fn mentioned(c: &mut Connection<'_>, content: &str) -> Result<Vec<UserId>, StoreError> {
    if !content.contains('@') {
        return Ok(Vec::new());
    }
    let people = users::all(c).await?;
    let names: Vec<&str> = people.iter().map(|user| user.name.as_str()).collect();
    Ok(mentions(content, &names).into_iter().map(|index| people[index].id).collect())
}

/// Announces a message; `key`: of the request that sent it, by which its sender's page recognises it.
fn announce(tx: &mut Tx<'_>, message: Message, key: Option<String>) {
    let project = Some(message.project);
    let body = EventBody::Change { change: Change::Message { message, key } };
    tx.announce(PendingEvent { project, audience: None, facts_before: None, execution_of: None, body });
}

/// Queues the row of a message.
fn store(tx: &mut Tx<'_>, sent: &Message) {
    let head = "INSERT INTO messages (id, project, number, author, author_kind, content, refs, mentions, created_at, author_session)";
    let row = args![
        sent.id.to_string(),
        sent.project.to_string(),
        sent.number,
        sent.author.id.to_string(),
        sent.author_kind.word(),
        &sent.content,
        to_json(&sent.references),
        to_json(&sent.mentions),
        tx.now,
        sent.author_session.map(|id| id.to_string()),
    ];
    tx.later(head, row);
}

/// Tells a project's chat what the hub decided, as the floor manager of the project's owner.
pub(crate) async fn say(tx: &mut Tx<'_>, project: ProjectId, content: &str) -> Result<(), StoreError> {
    let found = projects::find(tx.read(), &Caller::hub("chat"), project, Action::See).await?;
    let sent = Message {
        id: MessageId::generate(),
        project,
        number: tx.next_message(project).await?,
        author: found.owner,
        author_kind: AuthorKind::FloorManager,
        author_session: None,
        content: content.to_owned(),
        references: references(content),
        mentions: mentioned(tx.read(), content).await?,
        created_at: tx.now,
        edited_at: None,
        deleted_at: None,
    };
    store(tx, &sent);
    announce(tx, sent, None);
    Ok(())
}

/// A message of the caller that is not deleted.
async fn own(tx: &mut Tx<'_>, id: MessageId) -> Result<Message, StoreError> {
    let row = tx.read().first(&format!("{COLUMNS} WHERE m.id = $1"), vec![text(id)]).await?;
    let found = message(&row.ok_or(StoreError::NotFound("message"))?)?;
    let caller = tx.caller;
    tx.check(found.project, Action::Write, "message").await?;
    if caller.person()?.id != found.author.id {
        return Err(StoreError::Forbidden("only the author of a message may change it"));
    }
    if found.deleted_at.is_some() {
        return Err(StoreError::Conflict("the message was deleted".into()));
    }
    Ok(found)
}

impl Command for verbs::ChatSend {
    type Output = Message;
    const VERB: &'static str = verbs::ChatSend::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Message, StoreError> {
        let caller = tx.caller;
        tx.check(self.project, Action::Write, "project").await?;
        let (author, author_kind) = caller.author()?;
        MESSAGE_CONTENT.check(&self.input.content)?;
        let mentions = mentioned(tx.read(), &self.input.content).await?;
        let sent = Message {
            id: MessageId::generate(),
            project: self.project,
            number: tx.next_message(self.project).await?,
            author,
            author_kind,
            author_session: caller.session(),
            content: self.input.content.clone(),
            references: references(&self.input.content),
            mentions,
            created_at: tx.now,
            edited_at: None,
            deleted_at: None,
        };
        store(tx, &sent);
        let key = tx.key.map(str::to_owned);
        announce(tx, sent.clone(), key);
        tx.audit(Self::VERB, sent.id, AuditScope::Project(sent.project), format!("sent message {}", sent.number));
        Ok(sent)
    }
}

impl Command for verbs::ChatEdit {
    type Output = Message;
    const VERB: &'static str = verbs::ChatEdit::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Message, StoreError> {
        let before = own(tx, self.message).await?;
        MESSAGE_CONTENT.check(&self.input.content)?;
        if before.content == self.input.content {
            return Ok(before);
        }
        let after = Message {
            content: self.input.content.clone(),
            references: references(&self.input.content),
            mentions: mentioned(tx.read(), &self.input.content).await?,
            edited_at: Some(tx.now),
            ..before
        };
        let sql = "UPDATE messages SET content = $1, refs = $2, mentions = $3, edited_at = $4 WHERE id = $5";
        let values =
            args![&after.content, to_json(&after.references), to_json(&after.mentions), tx.now, after.id.to_string(),];
        tx.run(sql, values).await?;
        forget(tx, &after).await?;
        announce(tx, after.clone(), None);
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.project), format!("edited message {}", after.number));
        Ok(after)
    }
}

/// Replaces a message in stored events and answers: a deleted text must not survive there.
async fn forget(tx: &mut Tx<'_>, now: &Message) -> Result<(), StoreError> {
    let body = to_json(&EventBody::Change { change: Change::Message { message: now.clone(), key: None } });
    tx.run("UPDATE events SET body = $1 WHERE message = $2", args![body, now.id.to_string()]).await?;
    // Keys of agents are scoped to their sessions.
    let sql = "UPDATE requests SET answer = $1 WHERE (actor = $2 OR actor LIKE 'ses%') AND answer LIKE $3";
    let answer = format!("{{\"id\":\"{}\"%", now.id);
    tx.run(sql, args![to_json(now), now.author.id.to_string(), answer]).await.map(|_| ())
}

impl Command for verbs::ChatDelete {
    type Output = ();
    const VERB: &'static str = verbs::ChatDelete::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let before = own(tx, self.message).await?;
        let after = Message {
            content: String::new(),
            references: Vec::new(),
            mentions: Vec::new(),
            deleted_at: Some(tx.now),
            ..before
        };
        let sql = "UPDATE messages SET content = '', refs = '[]', mentions = '[]', deleted_at = $1 WHERE id = $2";
        tx.run(sql, args![tx.now, after.id.to_string()]).await?;
        forget(tx, &after).await?;
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.project), format!("deleted message {}", after.number));
        announce(tx, after, None);
        Ok(())
    }
}

impl Store {
    /// A page of a project's chat, oldest first.
    pub async fn messages(
        &self,
        caller: &Caller,
        project: ProjectId,
        page: MessagePage,
    ) -> Result<Vec<Message>, StoreError> {
        let limit = page_size(page.limit, PAGE)?;
        let before = page.before.unwrap_or(u32::MAX);
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let facts = projects::check(&mut c, caller, project, Action::See, "project").await?;
        let sql = format!("{COLUMNS} WHERE m.project = $1 AND m.number < $2 ORDER BY m.number DESC LIMIT $3");
        let rows = c.all(&sql, args![project.to_string(), before, limit]).await?;
        let mut messages = rows.iter().rev().map(message).collect::<Result<Vec<_>, _>>()?;
        for message in messages.iter_mut().filter(|message| !sees(caller, Some(&facts), message.author.id)) {
            message.veil();
        }
        Ok(messages)
    }

    /// Unread counts of the caller, for every project that they may see.
    pub async fn unreads(&self, caller: &Caller) -> Result<Vec<protocol::Unread>, StoreError> {
        let me = caller.person()?;
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let mut counts = unread::of(&mut c, me.id, None).await?;
        let visible = projects::visible(&mut c, caller).await?;
        Ok(visible.iter().filter_map(|project| counts.remove(&project.id)).collect())
    }
}

/// The page size; refuses one that is out of range.
pub(crate) fn page_size(asked: Option<u32>, (usual, most): (u32, u32)) -> Result<u32, StoreError> {
    match asked {
        None => Ok(usual),
        Some(limit) if (1..=most).contains(&limit) => Ok(limit),
        Some(_) => Err(StoreError::invalid("limit", format!("`limit` is 1 to {most}"))),
    }
}
