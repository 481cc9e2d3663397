//! What the commands of one transaction leave to be written at its end: events, audit entries, answered requests.
//!
//! The ledger's row is locked from the transaction's begin to its commit: on PostgreSQL, too, positions become visible in
//! order and without a gap.

use domain::{ProjectFacts, ProjectId, Seq, Timestamp, UserId};
use sha2::{Digest, Sha256};

use crate::event::FactsColumn;
use crate::known::Known;
use crate::sql::{Connection, Value, args, to_json};
use crate::verbs::tasks::Book;
use crate::verbs::workers::Crew;
use crate::{Event, EventBody, StoreError};

/// An event that has no position yet.
#[derive(Debug)]
pub(crate) struct PendingEvent {
    pub(crate) project: Option<ProjectId>,
    pub(crate) audience: Option<UserId>,
    pub(crate) facts_before: Option<ProjectFacts>,
    pub(crate) execution_of: Option<UserId>,
    pub(crate) body: EventBody,
}

/// An audit entry that has no place yet.
#[derive(Debug)]
pub(crate) struct PendingAudit {
    pub(crate) actor: Option<UserId>,
    pub(crate) actor_name: Option<String>,
    pub(crate) origin: String,
    pub(crate) verb: &'static str,
    pub(crate) subject: String,
    pub(crate) project: Option<ProjectId>,
    pub(crate) private_to: Option<UserId>,
    pub(crate) detail: String,
}

/// A request whose answer is remembered.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) scope: String,
    pub(crate) key: String,
    pub(crate) fingerprint: String,
    pub(crate) answer: String,
}

/// What one transaction still has to write.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<PendingEvent>,
    pub(crate) audits: Vec<PendingAudit>,
    pub(crate) requests: Vec<PendingRequest>,
    pub(crate) known: Known,
    pub(crate) crew: Crew,
    pub(crate) book: Book,
    rows: Vec<(&'static str, Vec<Vec<Value>>)>,
}

impl Batch {
    /// Leaves a row to be inserted with others like it; `head` names table and columns.
    pub(crate) fn later(&mut self, head: &'static str, row: Vec<Value>) {
        match self.rows.iter_mut().find(|(known, _)| *known == head) {
            Some((_, rows)) => rows.push(row),
            None => self.rows.push((head, vec![row])),
        }
    }

    /// Inserts the rows that were left for later.
    pub(crate) async fn flush(&mut self, c: &mut Connection<'_>) -> Result<(), StoreError> {
        for (head, rows) in self.rows.drain(..) {
            insert(c, head, rows).await?;
        }
        self.book.flush(c).await?;
        self.crew.flush(c).await?;
        self.known.flush(c).await
    }

    /// Takes back what is still to be written about a project that is deleted; the places of its events remain.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        let id = project.to_string();
        self.book.forget(project);
        self.crew.forget(project);
        for event in self.events.iter_mut().filter(|event| event.project == Some(project)) {
            event.body = EventBody::gone(project);
        }
        self.requests.retain(|request| !request.answer.contains(&id));
    }

    /// Writes everything and returns the events with their positions.
    pub(crate) async fn write(mut self, c: &mut Connection<'_>, now: Timestamp) -> Result<Vec<Event>, StoreError> {
        self.flush(c).await?;
        let told = self.book.events();
        self.events.extend(told);
        let told = self.crew.events();
        self.events.extend(told);
        insert(
            c,
            "INSERT INTO requests (actor, request_key, fingerprint, answer, at)",
            self.requests.into_iter().map(|r| args![r.scope, r.key, r.fingerprint, r.answer, now]).collect(),
        )
        .await?;
        if self.events.is_empty() && self.audits.is_empty() {
            return Ok(Vec::new());
        }
        let taken = args![self.events.len() as u64, self.audits.len() as u64];
        let sql = "UPDATE ledger SET seq = seq + $1, audit = audit + $2 WHERE one = 1 RETURNING seq, audit, audit_hash";
        let row = c.first(sql, taken).await?.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let first_seq = row.integer("seq")?.cast_unsigned() + 1 - self.events.len() as u64;
        let first_audit = row.integer("audit")?.cast_unsigned() + 1 - self.audits.len() as u64;

        let events: Vec<Event> =
            (first_seq..).zip(self.events).map(|(seq, event)| positioned(seq, now, event)).collect();
        let rows = events.iter().map(event_row).collect();
        insert(c, "INSERT INTO events (seq, at, project, audience, facts_before, execution_of, message, body)", rows)
            .await?;

        let mut hash = row.text("audit_hash")?;
        let mut rows = Vec::new();
        for (number, entry) in (first_audit..).zip(self.audits) {
            hash = chain(&hash, &audit_text(number, now, &entry));
            rows.push(audit_row(number, now, entry, &hash));
        }
        if !rows.is_empty() {
            c.run("UPDATE ledger SET audit_hash = $1 WHERE one = 1", args![hash]).await?;
        }
        let columns = "number, at, actor, actor_name, origin, verb, subject, project, private_to, detail, hash";
        insert(c, &format!("INSERT INTO audit ({columns})"), rows).await?;
        Ok(events)
    }
}

fn positioned(seq: u64, at: Timestamp, event: PendingEvent) -> Event {
    let PendingEvent { project, audience, facts_before, execution_of, body } = event;
    Event { seq: Seq(seq), at, project, audience, facts_before, execution_of, body }
}

fn event_row(event: &Event) -> Vec<Value> {
    args![
        event.seq.0,
        event.at,
        event.project.map(|id| id.to_string()),
        event.audience.map(|id| id.to_string()),
        event.facts_before.map(|facts| to_json(&FactsColumn::from(facts))),
        event.execution_of.map(|id| id.to_string()),
        event.message().map(|id| id.to_string()),
        to_json(&event.body),
    ]
}

fn audit_row(number: u64, at: Timestamp, entry: PendingAudit, hash: &str) -> Vec<Value> {
    args![
        number,
        at,
        entry.actor.map(|id| id.to_string()),
        entry.actor_name,
        entry.origin,
        entry.verb,
        entry.subject,
        entry.project.map(|id| id.to_string()),
        entry.private_to.map(|id| id.to_string()),
        entry.detail,
        hash,
    ]
}

/// What an entry's hash covers: JSON, so that no content can imitate a boundary between fields.
fn audit_text(number: u64, at: Timestamp, entry: &PendingAudit) -> String {
    to_json(&(
        number,
        at.as_millis(),
        entry.actor,
        &entry.actor_name,
        &entry.origin,
        entry.verb,
        &entry.subject,
        entry.project,
        entry.private_to,
        &entry.detail,
    ))
}

/// The hash of an entry's text after the hash of the entry before it.
pub(crate) fn chain(before: &str, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before.as_bytes());
    digest.update(text.as_bytes());
    hex::encode(digest.finalize())
}

/// Inserts rows many at a time.
pub(crate) async fn insert(c: &mut Connection<'_>, head: &str, rows: Vec<Vec<Value>>) -> Result<(), StoreError> {
    c.insert(head, rows).await
}
