//! The transaction that a command runs in: reads, writes, events and audit entries.

use domain::{Action, Actor, ProjectFacts, ProjectId, Resource, RunnerId, Seq, Short, Timestamp, UserId};
use protocol::Change;

use crate::batch::{Batch, PendingAudit, PendingEvent};
use crate::known::Numbers;
use crate::sql::{Connection, Value, text};
use crate::verbs::projects;
use crate::verbs::work::tasks::Book;
use crate::verbs::work::workers::{Say, WorkerBook};
use crate::{Caller, EventBody, StoreError, Who};

/// The transaction that a command runs in.
///
/// Pending rows are written together, but always before a query on their tables and before a direct write.
pub struct Tx<'c> {
    connection: Connection<'c>,
    wrote: bool,
    said: Vec<Say>,
    /// Who runs the command.
    pub(crate) caller: &'c Caller,
    /// The idempotency key of the request, if it has one.
    pub(crate) key: Option<&'c str>,
    /// The time of the commit.
    pub(crate) now: Timestamp,
}

impl<'c> Tx<'c> {
    /// The part of a shared transaction that one command runs in.
    pub(crate) fn new(connection: Connection<'c>, batch: &'c mut Batch, caller: &'c Caller, now: Timestamp) -> Self {
        Self { connection: connection.within(batch), wrote: false, said: Vec::new(), caller, key: None, now }
    }

    /// Whether the command wrote anything: then it may no longer refuse.
    pub(crate) fn wrote(&self) -> bool {
        self.wrote
    }

    /// Adds a message for a live session, which the command passes on with [`Tx::take_said`].
    pub(crate) fn say(&mut self, say: Option<Say>) {
        self.said.extend(say);
    }

    /// Takes the messages for live sessions.
    pub(crate) fn take_said(&mut self) -> Vec<Say> {
        std::mem::take(&mut self.said)
    }

    /// The changes that the transaction still has to write.
    pub(crate) fn batch(&mut self) -> &mut Batch {
        self.connection.pending().expect("a transaction has a batch")
    }

    /// Writes all pending rows, then runs a writing statement; returns the number of affected rows.
    pub(crate) async fn run(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        self.wrote = true;
        self.connection.settle().await?;
        let rows = self.connection.run(sql, values).await?;
        if rows > 0 {
            self.batch().wrote(sql);
        }
        Ok(rows)
    }

    /// Adds a row to insert; `head` is the statement up to its columns.
    pub(crate) fn later(&mut self, head: &'static str, row: Vec<Value>) {
        self.wrote = true;
        self.batch().later(head, row);
    }

    /// The tasks that were read, without changing them.
    pub(crate) fn book(&mut self) -> &mut Book {
        &mut self.batch().book
    }

    /// The tasks that were read, to change them: the command may no longer refuse.
    pub(crate) fn change(&mut self) -> &mut Book {
        self.wrote = true;
        &mut self.batch().book
    }

    /// The workers that were read, without changing them.
    pub(crate) fn worker_book(&mut self) -> &mut WorkerBook {
        &mut self.batch().workers
    }

    /// The workers that were read, to change them: the command may no longer refuse.
    pub(crate) fn change_workers(&mut self) -> &mut WorkerBook {
        self.wrote = true;
        &mut self.batch().workers
    }

    /// The same transaction for another caller.
    pub(crate) fn acting<'a>(&'a mut self, caller: &'a Caller) -> Tx<'a> {
        // The other caller's rights are already checked, so nothing can be refused halfway.
        self.wrote = true;
        Tx { connection: self.connection.again(), wrote: true, said: Vec::new(), caller, key: None, now: self.now }
    }

    /// Takes the next number in a project's chat.
    pub(crate) async fn next_message(&mut self, project: ProjectId) -> Result<u32, StoreError> {
        let last = self.numbers(project).await?;
        last.message += 1;
        Ok(last.message)
    }

    /// Takes the short name of a new task in a project.
    pub(crate) async fn next_task(&mut self, project: ProjectId) -> Result<Short, StoreError> {
        let last = self.numbers(project).await?;
        last.task.number += 1;
        Ok(last.task.clone())
    }

    /// The last numbers of a project, to count on from.
    async fn numbers(&mut self, project: ProjectId) -> Result<&mut Numbers, StoreError> {
        self.wrote = true;
        if !self.batch().known.numbers.contains_key(&project) {
            let sql = "SELECT last_message, task_key, last_task FROM projects WHERE id = $1";
            let row = self.stored().first(sql, vec![text(project)]).await?.ok_or(StoreError::NotFound("project"))?;
            let task = Short { key: row.text("task_key")?, number: row.count("last_task")? };
            let last = Numbers { message: row.count("last_message")?, task };
            self.batch().known.numbers.insert(project, last);
        }
        self.batch().known.numbers.get_mut(&project).ok_or(StoreError::NotFound("project"))
    }

    /// The position of the last event before what the command announces next.
    pub(crate) fn position(&mut self) -> Result<Seq, StoreError> {
        self.batch().position()
    }

    /// Refuses unless the caller may do this to the project; reads the project once per transaction.
    pub(crate) async fn check(
        &mut self,
        project: ProjectId,
        action: Action,
        noun: &'static str,
    ) -> Result<ProjectFacts, StoreError> {
        if let Some(facts) = self.batch().known.facts.get(&project).copied() {
            return self.caller.may(action, Resource::Project(&facts), noun).map(|()| facts);
        }
        let caller = self.caller;
        let facts = projects::check(&mut self.stored(), caller, project, action, noun).await?;
        self.batch().known.facts.insert(project, facts);
        Ok(facts)
    }

    /// The connection, for reading: a query sees all changes of this transaction.
    pub(crate) fn read(&mut self) -> &mut Connection<'c> {
        &mut self.connection
    }

    /// The connection for reading tables without the pending rows: only for code that adds those rows itself, as
    /// [`Book`] and [`WorkerBook`] do.
    pub(crate) fn stored(&mut self) -> Connection<'_> {
        self.connection.stored()
    }

    /// Announces a change.
    pub(crate) fn announce(&mut self, event: PendingEvent) {
        self.batch().events.push(event);
    }

    /// Drops pending changes of earlier commands to a deleted project.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        self.batch().forget(project);
    }

    /// Closes connections that were made with these credentials.
    pub(crate) fn revoke(&mut self, ids: Vec<String>) {
        let body = EventBody::Revoked { ids };
        self.batch().events.push(PendingEvent {
            project: None,
            audience: None,
            facts_before: None,
            execution_of: None,
            body,
        });
    }

    /// Announces a change to people who may see what `owner` runs in the project.
    pub(crate) fn announce_execution(&mut self, project: ProjectId, owner: UserId, change: Change) {
        let body = EventBody::Change { change };
        let project = Some(project);
        self.announce(PendingEvent { project, audience: None, facts_before: None, execution_of: Some(owner), body });
    }

    /// Announces that the desired state of a runner changed.
    pub(crate) async fn desire(&mut self, runner: RunnerId) -> Result<(), StoreError> {
        self.run("UPDATE runners SET generation = generation + 1 WHERE id = $1", vec![text(runner)]).await?;
        let body = EventBody::Desired { runner };
        self.announce(PendingEvent { project: None, audience: None, facts_before: None, execution_of: None, body });
        Ok(())
    }

    /// Records an action in the audit trail; `scope` says who may read the entry.
    pub(crate) fn audit(
        &mut self,
        verb: &'static str,
        subject: impl ToString,
        scope: AuditScope,
        detail: impl Into<String>,
    ) {
        let (actor, actor_name) = match &self.caller.who {
            Who::Actor {
                actor: Actor::User { id, .. } | Actor::Agent { user: id, .. } | Actor::Runner { user: id, .. },
                name,
            } => (Some(*id), Some(name.clone())),
            _ => (None, None),
        };
        let (project, private_to) = match scope {
            AuditScope::Hub => (None, None),
            AuditScope::Project(project) => (Some(project), None),
            AuditScope::Private(user) => (None, Some(user)),
        };
        let entry = PendingAudit {
            actor,
            actor_name,
            via: self.caller.via(),
            origin: self.caller.origin.clone(),
            verb,
            subject: subject.to_string(),
            project,
            private_to,
            detail: one_line(&detail.into()),
        };
        self.batch().audits.push(entry);
    }
}

/// Escapes control characters, so that no text can imitate another entry or control a terminal.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_control() {
            true => line.extend(c.escape_default()),
            false => line.push(c),
        }
    }
    line
}

/// Who may read an audit entry.
pub(crate) enum AuditScope {
    /// All users of this hub.
    Hub,
    /// People who may see the project.
    Project(ProjectId),
    /// One person.
    Private(domain::UserId),
}
