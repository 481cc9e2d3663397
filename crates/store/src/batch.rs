//! Pending rows of a transaction, written together: changes, events, audit entries, answers.
//!
//! The transaction locks the ledger's row from begin to commit, so that positions become visible in order and without
//! gaps, on PostgreSQL too.

use std::time::Instant;

use domain::{ProjectFacts, ProjectId, Seq, Timestamp, UserId};
use sha2::{Digest, Sha256};

use crate::bulk::{Part, Update};
use crate::event::FactsColumn;
use crate::known::Known;
use crate::memory::Memory;
use crate::search::Pending;
use crate::sql::{Connection, Ledger, Value, args, to_json};
use crate::verbs::work::tasks::Book;
use crate::verbs::work::workers::WorkerBook;
use crate::{Event, EventBody, StoreError};

/// An event without a position yet.
#[derive(Debug)]
pub(crate) struct PendingEvent {
    pub(crate) project: Option<ProjectId>,
    pub(crate) audience: Option<UserId>,
    pub(crate) facts_before: Option<ProjectFacts>,
    pub(crate) execution_of: Option<UserId>,
    pub(crate) body: EventBody,
}

/// An audit entry without a position yet.
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

/// A request whose answer will be stored.
#[derive(Debug)]
pub(crate) struct PendingRequest {
    pub(crate) scope: String,
    pub(crate) key: String,
    pub(crate) fingerprint: String,
    pub(crate) answer: String,
}

/// The changes that a transaction still has to write.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) events: Vec<PendingEvent>,
    pub(crate) audits: Vec<PendingAudit>,
    pub(crate) requests: Vec<PendingRequest>,
    pub(crate) known: Known,
    pub(crate) workers: WorkerBook,
    pub(crate) book: Book,
    /// Changes of the search index.
    index: Pending,
    rows: Vec<(&'static str, Vec<Vec<Value>>)>,
    ledger: Option<Ledger>,
    /// Whether anything was written before the end of the transaction.
    written: bool,
    /// Whether a write failed halfway: then nothing may be committed, even if the command ignores the error.
    pub(crate) torn: bool,
    began: Option<Instant>,
}

/// The tables whose rows are cached in [`Book`], [`WorkerBook`] and [`Known`].
const CACHED: &[&str] =
    &["users", "projects", "tasks", "task_queue", "task_deps", "task_gists", "workers", "work_settings", "freezes"];

/// Whether a statement names one of these tables.
fn names(sql: &str, tables: &[&str]) -> bool {
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !tables.is_empty() && sql.split(|c| !word(c)).any(|name| tables.contains(&name))
}

impl Batch {
    /// A new transaction with the current ledger. Uses the memory if no other hub wrote since.
    pub(crate) fn new(ledger: Option<Ledger>, memory: Memory) -> Self {
        let memory = if ledger.is_some() && memory.ledger == ledger { memory } else { Memory::default() };
        let began = memory.began();
        let Memory { book, workers, known, .. } = memory;
        Self { book, workers, known, ledger, began, ..Self::default() }
    }

    /// The memory for the next transaction, once this one is committed.
    pub(crate) fn remember(mut self) -> Memory {
        self.book.settle_down();
        self.workers.settle_down();
        self.known.settle_down();
        Memory::new(self.book, self.workers, self.known, self.ledger, self.began)
    }

    /// Adds a row to insert; `head` is the statement up to its columns.
    pub(crate) fn later(&mut self, head: &'static str, row: Vec<Value>) {
        match self.rows.iter_mut().find(|(known, _)| *known == head) {
            Some((_, rows)) => rows.push(row),
            None => self.rows.push((head, vec![row])),
        }
    }

    /// Whether rows with this `head` are pending.
    pub(crate) fn is_waiting(&self, head: &str) -> bool {
        self.rows.iter().any(|(known, _)| *known == head)
    }

    /// Whether a query could miss pending rows: it names one of their tables.
    pub(crate) fn holds_rows_of(&self, sql: &str) -> bool {
        names(sql, &self.pending_tables())
    }

    /// The tables with pending rows.
    fn pending_tables(&self) -> Vec<&str> {
        let mut tables: Vec<&str> = self.rows.iter().map(|(head, _)| Part::table(head)).collect();
        tables.extend(self.book.changed_tables());
        tables.extend(self.workers.changed_tables());
        tables.extend(self.known.changed_tables());
        tables
    }

    /// Records that a statement wrote directly, and forgets cached rows that it may have changed.
    pub(crate) fn wrote(&mut self, sql: &str) {
        self.written = true;
        if names(sql, CACHED) {
            self.book.forget_all();
            self.workers.forget_all();
            self.known.forget_all();
        }
    }

    /// Writes the pending rows, but not the events.
    pub(crate) async fn flush(&mut self, c: &mut Connection<'_>) -> Result<(), StoreError> {
        if self.pending_tables().is_empty() {
            return Ok(());
        }
        let (inserts, updates) = self.parts();
        self.written = true;
        self.torn = true;
        write(c, inserts, updates).await?;
        self.torn = false;
        Ok(())
    }

    /// Takes the pending rows: those to insert, and those to update or delete.
    fn parts(&mut self) -> (Vec<Part>, Vec<Part>) {
        let mut inserts: Vec<Part> = self.rows.drain(..).map(|(head, rows)| Part::insert(head, rows)).collect();
        let mut updates = Vec::new();
        self.book.index(&mut self.index);
        self.book.write(&mut inserts, &mut updates);
        self.workers.write(&mut inserts, &mut updates);
        self.known.write(&mut updates);
        (inserts, updates)
    }

    /// Drops pending changes of a deleted project; its events keep their positions.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        let id = project.to_string();
        self.book.forget(project);
        self.workers.forget(project);
        self.index.forget(project);
        for event in self.events.iter_mut().filter(|event| event.project == Some(project)) {
            event.body = EventBody::gone(project);
        }
        self.requests.retain(|request| !request.answer.contains(&id));
    }

    /// Writes all pending rows and events; returns the events with their positions.
    pub(crate) async fn write(&mut self, c: &mut Connection<'_>, now: Timestamp) -> Result<Vec<Event>, StoreError> {
        let (inserts, mut rest) = self.parts();
        let told = self.book.events();
        self.events.extend(told);
        let told = self.workers.events();
        self.events.extend(told);
        let requests = self.requests.drain(..).map(|r| args![r.scope, r.key, r.fingerprint, r.answer, now]);
        let head = "INSERT INTO requests (actor, request_key, fingerprint, answer, at)";
        rest.push(Part::insert(head, requests.collect()));
        let nothing = self.events.is_empty() && self.audits.is_empty() && !self.written;
        if nothing && inserts.iter().chain(&rest).all(Part::is_empty) {
            return Ok(Vec::new());
        }
        self.events.iter().for_each(|event| self.index.note(event));
        rest.extend(std::mem::take(&mut self.index).parts(&mut self.known.indexed));
        let events = self.enter(&mut rest, now)?;
        write(c, inserts, rest).await?;
        Ok(events)
    }

    /// The position of the last event so far.
    pub(crate) fn position(&self) -> Result<Seq, StoreError> {
        let ledger = self.ledger.as_ref().ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        Ok(Seq(ledger.seq + self.events.len() as u64))
    }

    /// Gives events and audit entries their positions, to be written with the ledger.
    fn enter(&mut self, parts: &mut Vec<Part>, now: Timestamp) -> Result<Vec<Event>, StoreError> {
        let ledger = self.ledger.as_mut().ok_or_else(|| StoreError::Corrupt("the ledger has no row".into()))?;
        let pending = std::mem::take(&mut self.events);
        let events: Vec<Event> =
            (ledger.seq + 1..).zip(pending).map(|(seq, event)| positioned(seq, now, event)).collect();
        let head = "INSERT INTO events (seq, at, project, audience, facts_before, execution_of, message, body)";
        parts.push(Part::insert(head, events.iter().map(event_row).collect()));
        let mut rows = Vec::new();
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
        parts.push(Part::update(LEDGER, vec![args![1_i64, *seq, *audit, &*hash, *writes]]));
        Ok(events)
    }
}

const LEDGER: Update = Update {
    table: "ledger",
    keys: &["one"],
    columns: &["seq", "audit", "audit_hash", "writes"],
    only: "",
    every: None,
};

/// Writes all parts in one step, unless a row is inserted and then updated.
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

/// The text that an entry's hash covers: JSON, so that no content can imitate a boundary between fields.
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

/// Adds `via` to the covered text. Entries without it keep the format from before the column existed.
pub(crate) fn with_via(text: String, via: Option<&str>) -> String {
    match via {
        Some(via) => to_json(&(text, via)),
        None => text,
    }
}

/// The hash of an entry's text, chained to the previous entry's hash.
pub(crate) fn chain(before: &str, text: &str) -> String {
    let mut digest = Sha256::new();
    digest.update(before.as_bytes());
    digest.update(text.as_bytes());
    hex::encode(digest.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_names_a_table_by_its_whole_name() {
        for sql in
            ["SELECT id FROM tasks", "SELECT 1 FROM users u JOIN tasks t ON t.id = u.id", "UPDATE tasks SET x = 1"]
        {
            assert!(names(sql, &["tasks"]), "{sql}");
        }
        for sql in ["SELECT tasks_done FROM users", "SELECT id FROM task_deps", ""] {
            assert!(!names(sql, &["tasks"]), "{sql}");
        }
    }

    #[test]
    fn a_query_could_miss_rows_of_the_tables_that_are_pending() {
        let mut batch = Batch::default();
        assert!(!batch.holds_rows_of("SELECT id FROM messages"));
        batch.later("INSERT INTO messages (id, project)", args!["m", "p"]);
        assert!(batch.holds_rows_of("SELECT id FROM messages WHERE id = $1"));
        assert!(!batch.holds_rows_of("SELECT id FROM users"));
    }
}
