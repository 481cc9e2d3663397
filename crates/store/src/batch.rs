//! What the commands of one transaction leave to be written at its end: events, audit entries, answered requests.
//!
//! The ledger's row is locked from the transaction's begin to its commit: on PostgreSQL, too, positions become visible in
//! order and without a gap.

use std::time::Instant;

use domain::{ProjectFacts, ProjectId, Seq, Timestamp, UserId};
use sha2::{Digest, Sha256};

use crate::bulk::{self, Part, Update, Whole};
use crate::event::FactsColumn;
use crate::known::Known;
use crate::memory::Memory;
use crate::sql::{Connection, Ledger, Value, args, to_json};
use crate::verbs::tasks::{Book, EDGES};
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
    /// The session or runner that acted for the person.
    pub(crate) via: Option<String>,
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

/// What a transaction came to.
pub(crate) enum Outcome {
    /// There was nothing to write.
    Nothing,
    /// Everything was written, and must be committed.
    Written(Vec<Event>),
    /// A whole transaction, to be sent.
    Whole(Vec<Event>, Whole),
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
    /// Whether the database is in a transaction. Before that it is only read, and what was read and remembered is true
    /// if the ledger is found as it was when it is written.
    begun: bool,
    /// Whether anything was written other than from what is remembered.
    by_hand: bool,
    /// Whether something was written only in part, or not as it must be: nothing of it may be committed, whatever the
    /// command that it was written for makes of that.
    pub(crate) torn: bool,
    /// Whether somebody else wrote since what is remembered was true.
    moved: bool,
    began: Option<Instant>,
}

impl Batch {
    /// What a transaction that found the ledger so has to write: nothing yet. What is remembered counts if nobody wrote
    /// since.
    pub(crate) fn begun(ledger: Option<Ledger>, memory: Memory) -> Self {
        let memory = if ledger.is_some() && memory.ledger == ledger { memory } else { Memory::default() };
        Self { ledger, begun: true, ..Self::ahead(memory) }
    }

    /// The same for a transaction that begins when it writes.
    pub(crate) fn ahead(memory: Memory) -> Self {
        let began = memory.began();
        let Memory { book, crew, known, ledger, .. } = memory;
        Self { book, crew, known, ledger, began, ..Self::default() }
    }

    /// What the next transaction may remember of this one, which is committed.
    pub(crate) fn remember(mut self) -> Memory {
        if self.by_hand {
            return Memory::default();
        }
        self.book.settle_down();
        self.crew.settle_down();
        self.known.settle_down();
        Memory::new(self.book, self.crew, self.known, self.ledger, self.began)
    }

    /// Whether the transaction must be committed.
    pub(crate) fn is_begun(&self) -> bool {
        self.begun
    }

    /// Leaves a row to be inserted with others like it; `head` names table and columns.
    pub(crate) fn later(&mut self, head: &'static str, row: Vec<Value>) {
        match self.rows.iter_mut().find(|(known, _)| *known == head) {
            Some((_, rows)) => rows.push(row),
            None => self.rows.push((head, vec![row])),
        }
    }

    /// Whether rows of this kind were left to be inserted.
    pub(crate) fn is_waiting(&self, head: &str) -> bool {
        self.rows.iter().any(|(known, _)| *known == head)
    }

    /// Notes that rows were written by a statement that what is remembered knows nothing of.
    pub(crate) fn wrote_by_hand(&mut self) {
        self.by_hand = true;
    }

    /// Begins the transaction, if it has not begun; refuses if somebody wrote meanwhile.
    pub(crate) async fn begin(&mut self, c: &mut Connection<'_>) -> Result<(), StoreError> {
        if self.begun {
            return Ok(());
        }
        // Also if it fails half-way: then there is something to roll back.
        self.begun = true;
        let ledger = c.begin_write().await?;
        self.still(ledger == self.ledger)
    }

    /// What is remembered counts only if nobody else wrote since. Nobody may take this for a refusal: it is run again.
    fn still(&mut self, same: bool) -> Result<(), StoreError> {
        self.moved |= !same;
        match same {
            true => Ok(()),
            false => Err(StoreError::Unavailable("another hub wrote meanwhile".into())),
        }
    }

    /// Whether somebody else wrote since what is remembered was true.
    pub(crate) fn has_moved(&self) -> bool {
        self.moved
    }

    /// Writes what was left for later, and forgets what was read: what follows may write it by hand.
    pub(crate) async fn flush(&mut self, c: &mut Connection<'_>) -> Result<(), StoreError> {
        let (inserts, updates) = self.parts();
        if inserts.iter().chain(&updates).any(|part| !part.is_empty()) {
            self.by_hand = true;
            self.torn = true;
            self.begin(c).await?;
            write(c, inserts, updates).await?;
            self.torn = false;
        }
        self.book.forget_all();
        self.crew.forget_all();
        Ok(())
    }

    /// What was left for later: rows to insert, and rows to update.
    fn parts(&mut self) -> (Vec<Part>, Vec<Part>) {
        let runs = !self.begun;
        self.book.edges_aloft = self.is_waiting(EDGES);
        let mut inserts: Vec<Part> = self.rows.drain(..).map(|(head, rows)| Part::insert(head, rows)).collect();
        let mut updates = Vec::new();
        self.book.write(&mut inserts, &mut updates, runs);
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

    /// Writes everything, and gives the events their positions. Of a transaction that has not begun nothing is written
    /// yet: it is sent whole.
    pub(crate) async fn write(&mut self, c: &mut Connection<'_>, now: Timestamp) -> Result<Outcome, StoreError> {
        let (inserts, mut rest) = self.parts();
        let told = self.book.events();
        self.events.extend(told);
        let told = self.crew.events();
        self.events.extend(told);
        let requests = self.requests.drain(..).map(|r| args![r.scope, r.key, r.fingerprint, r.answer, now]);
        let head = "INSERT INTO requests (actor, request_key, fingerprint, answer, at)";
        rest.push(Part::insert(head, requests.collect()));
        let nothing = self.events.is_empty() && self.audits.is_empty() && !self.by_hand;
        if nothing && inserts.iter().chain(&rest).all(Part::is_empty) {
            // What has begun must end.
            return match self.begun {
                true => Ok(Outcome::Written(Vec::new())),
                false => self.look_again(c).await.map(|()| Outcome::Nothing),
            };
        }
        let rows = [self.events.len(), self.audits.len()].into_iter();
        let mut rows = rows.chain(inserts.iter().chain(&rest).map(Part::len));
        if rows.any(|rows| rows > bulk::ROWS) || rest.iter().any(|part| part.follows(&inserts)) {
            self.begin(c).await?;
        }
        let events = self.enter(&mut rest, now)?;
        if self.begun {
            write(c, inserts, rest).await?;
            return Ok(Outcome::Written(events));
        }
        // The ledger comes first: whoever has it locked is waited for before anything else is.
        rest.rotate_right(1);
        rest.extend(inserts);
        Ok(Outcome::Whole(events, Whole::of(rest)?))
    }

    /// What was answered from what is remembered counts only if that is still true.
    async fn look_again(&mut self, c: &mut Connection<'_>) -> Result<(), StoreError> {
        let writes = c.writes().await?;
        self.still(writes == self.ledger.as_ref().map(|ledger| ledger.writes))
    }

    /// Gives events and audit entries their positions, to be written; the ledger is the last part.
    fn enter(&mut self, parts: &mut Vec<Part>, now: Timestamp) -> Result<Vec<Event>, StoreError> {
        let ledger = self.ledger.as_mut().ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let pending = std::mem::take(&mut self.events);
        let events: Vec<Event> =
            (ledger.seq + 1..).zip(pending).map(|(seq, event)| positioned(seq, now, event)).collect();
        let head = "INSERT INTO events (seq, at, project, audience, facts_before, execution_of, message, body)";
        parts.push(Part::insert(head, events.iter().map(event_row).collect()));
        let mut rows = Vec::new();
        let before = ledger.writes;
        ledger.seq += events.len() as u64;
        ledger.writes += 1;
        for entry in self.audits.drain(..) {
            ledger.audit += 1;
            ledger.hash = chain(&ledger.hash, &audit_text(ledger.audit, now, &entry));
            rows.push(audit_row(ledger.audit, now, entry, &ledger.hash));
        }
        let head = "INSERT INTO audit (number, at, actor, actor_name, origin, verb, subject, project, private_to, \
                    detail, hash, via)";
        parts.push(Part::insert(head, rows));
        let Ledger { seq, audit, hash, writes } = ledger;
        parts.push(Part::update(LEDGER, vec![args![1_i64, before, *seq, *audit, &*hash, *writes]]));
        Ok(events)
    }
}

const LEDGER: Update = Update {
    table: "ledger",
    keys: &["one", "writes"],
    columns: &["seq", "audit", "audit_hash", "writes"],
    only: "",
    every: Some("the ledger is not as it was"),
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
        entry.via,
    ]
}

/// What an entry's hash covers: JSON, so that no content can imitate a boundary between fields.
fn audit_text(number: u64, at: Timestamp, entry: &PendingAudit) -> String {
    let text = to_json(&(
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
    ));
    with_via(text, entry.via.as_deref())
}

/// Entries that a person made by their own hand are covered as they were before there was another way.
pub(crate) fn with_via(text: String, via: Option<&str>) -> String {
    match via {
        Some(via) => to_json(&(text, via)),
        None => text,
    }
}

/// The hash of an entry's text after the hash of the entry before it.
pub(crate) fn chain(before: &str, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before.as_bytes());
    digest.update(text.as_bytes());
    hex::encode(digest.finalize())
}
