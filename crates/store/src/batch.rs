//! What the commands of one transaction leave to be written at its end: events, audit entries, answered requests.
//!
//! The ledger's row is locked from the transaction's begin to its commit: on PostgreSQL, too, positions become visible in
//! order and without a gap.

use domain::{ProjectFacts, ProjectId, Seq, Timestamp, UserId};
use sha2::{Digest, Sha256};

use crate::bulk::{Part, Update};
use crate::event::FactsColumn;
use crate::known::Known;
use crate::sql::{Connection, Ledger, Value, args, to_json};
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
    ledger: Option<Ledger>,
}

impl Batch {
    /// What a transaction that found the ledger so has to write: nothing yet.
    pub(crate) fn new(ledger: Option<Ledger>) -> Self {
        Self { ledger, ..Self::default() }
    }

    /// Leaves a row to be inserted with others like it; `head` names table and columns.
    pub(crate) fn later(&mut self, head: &'static str, row: Vec<Value>) {
        match self.rows.iter_mut().find(|(known, _)| *known == head) {
            Some((_, rows)) => rows.push(row),
            None => self.rows.push((head, vec![row])),
        }
    }

    /// Writes what was left for later.
    pub(crate) async fn flush(&mut self, c: &mut Connection<'_>) -> Result<(), StoreError> {
        let (inserts, updates) = self.parts();
        write(c, inserts, updates).await
    }

    /// What was left for later: rows to insert, and rows to update. What was read is forgotten.
    fn parts(&mut self) -> (Vec<Part>, Vec<Part>) {
        let mut inserts: Vec<Part> = self.rows.drain(..).map(|(head, rows)| Part::insert(head, rows)).collect();
        let mut updates = Vec::new();
        self.book.write(&mut inserts, &mut updates);
        self.crew.write(&mut inserts, &mut updates);
        self.known.write(&mut updates);
        (inserts, updates)
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
        let (inserts, mut rest) = self.parts();
        let told = self.book.events();
        self.events.extend(told);
        let told = self.crew.events();
        self.events.extend(told);
        let requests = self.requests.into_iter().map(|r| args![r.scope, r.key, r.fingerprint, r.answer, now]);
        let head = "INSERT INTO requests (actor, request_key, fingerprint, answer, at)";
        rest.push(Part::insert(head, requests.collect()));
        if self.events.is_empty() && self.audits.is_empty() {
            write(c, inserts, rest).await?;
            return Ok(Vec::new());
        }
        let ledger = self.ledger.ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let (seq, audit) = (ledger.seq + self.events.len() as u64, ledger.audit + self.audits.len() as u64);
        let events: Vec<Event> =
            (ledger.seq + 1..).zip(self.events).map(|(seq, event)| positioned(seq, now, event)).collect();
        let head = "INSERT INTO events (seq, at, project, audience, facts_before, execution_of, message, body)";
        rest.push(Part::insert(head, events.iter().map(event_row).collect()));
        let mut hash = ledger.hash;
        let mut rows = Vec::new();
        for (number, entry) in (ledger.audit + 1..).zip(self.audits) {
            hash = chain(&hash, &audit_text(number, now, &entry));
            rows.push(audit_row(number, now, entry, &hash));
        }
        let head = "INSERT INTO audit (number, at, actor, actor_name, origin, verb, subject, project, private_to, \
                    detail, hash)";
        rest.push(Part::insert(head, rows));
        rest.push(Part::update(LEDGER, vec![args![1_i64, seq, audit, hash]]));
        write(c, inserts, rest).await?;
        Ok(events)
    }
}

const LEDGER: Update = Update {
    table: "ledger",
    keys: &["one"],
    columns: &["seq", "audit", "audit_hash"],
    only: "",
    every: Some("the ledger has no row"),
};

/// Writes all of it: together, unless a row is inserted and then updated.
async fn write(c: &mut Connection<'_>, mut inserts: Vec<Part>, rest: Vec<Part>) -> Result<(), StoreError> {
    if rest.iter().any(|part| part.follows(&inserts)) {
        c.write(std::mem::take(&mut inserts)).await?;
    }
    inserts.extend(rest);
    c.write(inserts).await
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
