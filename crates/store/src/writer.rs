//! The one writer: waiting commands are grouped into one transaction and one commit.
//!
//! A command refuses before it writes. If one of a group fails in the database, or refuses after it wrote, the group is
//! rolled back and its commands are run again, each in a transaction of its own. A group whose commit may have happened
//! is never run again: only the caller can do that, with a key.

use std::sync::Arc;
use std::time::Duration;

use domain::{Action, ProjectFacts, ProjectId, Resource, Timestamp};
use futures_util::future::BoxFuture;
use parking_lot::Mutex;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use tokio::sync::{Notify, mpsc, oneshot};

use crate::batch::{Batch, PendingAudit, PendingEvent, PendingRequest};
use crate::connection::{Owned, Target};
use crate::known::RequestKey;
use crate::sql::{Connection, Value, to_json};
use crate::verbs::projects;
use crate::{Caller, Event, EventBody, StoreError, Who};

/// How many commands share a commit at most.
const GROUP: usize = 128;

/// How long a server may take over one transaction, also waiting for another hub's.
const PATIENCE: Duration = Duration::from_secs(15);

/// A verb: run in one transaction, safe to run again after a rollback.
pub trait Command: Serialize + Send + Sync + 'static {
    /// What the verb answers.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The verb's name in the protocol and the audit trail.
    const VERB: &'static str;

    /// Whether the answer holds a secret, which must not be stored.
    const SECRET: bool = false;

    /// Whether the verb only adds rows by `Tx::later` and reads nothing that such rows would change, so that those of
    /// many commands are inserted together.
    const APPENDS: bool = false;

    /// Does it. Refuse before writing.
    fn run(&self, tx: &mut Tx<'_>) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

/// A change that is already durable, with the events that announce it.
#[derive(Debug)]
pub struct Committed<T> {
    /// What the verb answers.
    pub value: T,
    /// The commit's events; they were given to the listener before this was returned.
    pub events: Arc<[Arc<Event>]>,
}

/// The transaction that a command runs in.
pub struct Tx<'c> {
    connection: Connection<'c>,
    batch: &'c mut Batch,
    wrote: bool,
    /// Who runs the command.
    pub(crate) caller: &'c Caller,
    /// The time of the commit.
    pub(crate) now: Timestamp,
}

impl<'c> Tx<'c> {
    /// Runs a statement that writes; returns how many rows it touched.
    pub(crate) async fn run(&mut self, sql: &str, values: Vec<Value>) -> Result<u64, StoreError> {
        self.wrote = true;
        self.connection.run(sql, values).await
    }

    /// Leaves a row to be inserted with others like it before anything could read it.
    pub(crate) fn later(&mut self, head: &'static str, row: Vec<Value>) {
        self.wrote = true;
        self.batch.later(head, row);
    }

    /// Takes the next number in a project's chat.
    pub(crate) async fn next_message(&mut self, project: ProjectId) -> Result<u32, StoreError> {
        self.wrote = true;
        self.batch.known.next_message(&mut self.connection, project).await
    }

    /// Refuses unless the caller may do this to the project; reads it once in a transaction.
    pub(crate) async fn check(
        &mut self,
        project: ProjectId,
        action: Action,
        noun: &'static str,
    ) -> Result<ProjectFacts, StoreError> {
        if let Some(facts) = self.batch.known.facts.get(&project) {
            return self.caller.may(action, Resource::Project(facts), noun).map(|()| *facts);
        }
        let facts = projects::check(&mut self.connection, self.caller, project, action, noun).await?;
        self.batch.known.facts.insert(project, facts);
        Ok(facts)
    }

    /// Forgets what is known about who may see a project: it has changed.
    pub(crate) fn access_changed(&mut self, project: ProjectId) {
        self.batch.known.facts.remove(&project);
    }

    /// The connection, for reading.
    pub(crate) fn read(&mut self) -> &mut Connection<'c> {
        &mut self.connection
    }

    /// Announces a change to whom it concerns.
    pub(crate) fn announce(&mut self, event: PendingEvent) {
        self.batch.events.push(event);
    }

    /// Takes back what earlier commands of the same transaction still have to write about a project.
    pub(crate) fn forget(&mut self, project: ProjectId) {
        self.batch.forget(project);
    }

    /// Ends connections made with these credentials.
    pub(crate) fn revoke(&mut self, ids: Vec<String>) {
        let body = EventBody::Revoked { ids };
        self.batch.events.push(PendingEvent { project: None, audience: None, facts_before: None, body });
    }

    /// Records what was done; `scope` says who may read the entry.
    pub(crate) fn audit(
        &mut self,
        verb: &'static str,
        subject: impl ToString,
        scope: AuditScope,
        detail: impl Into<String>,
    ) {
        let (actor, actor_name) = match &self.caller.who {
            Who::Actor { actor: domain::Actor::User { id, .. }, name } => (Some(*id), Some(name.clone())),
            _ => (None, None),
        };
        let (project, private_to) = match scope {
            AuditScope::Hub => (None, None),
            AuditScope::Project(project) => (Some(project), None),
            AuditScope::Private(user) => (None, Some(user)),
        };
        self.batch.audits.push(PendingAudit {
            actor,
            actor_name,
            origin: self.caller.origin.clone(),
            verb,
            subject: subject.to_string(),
            project,
            private_to,
            detail: one_line(&detail.into()),
        });
    }
}

/// Control characters written out: no text can look like another entry, or reach a terminal.
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
    /// Everybody of this hub.
    Hub,
    /// Whoever may see the project.
    Project(ProjectId),
    /// One person.
    Private(domain::UserId),
}

/// A command on its way through the writer, whatever its type.
trait Job: Send {
    /// The scope and key of the request, if it has one.
    fn key(&self) -> Option<RequestKey>;
    fn run<'a>(&'a mut self, connection: Connection<'a>, batch: &'a mut Batch, now: Timestamp) -> BoxFuture<'a, Ran>;
    /// Answers the waiter: with what the run left, or with the error of the commit; `Err(None)`: with its own error.
    fn finish(self: Box<Self>, commit: Result<&Arc<[Arc<Event>]>, Option<StoreError>>);
}

/// How a command left the transaction.
enum Ran {
    /// It did what it does.
    Done,
    /// It refused and wrote nothing.
    Refused,
    /// The transaction cannot go on; with the reason, if the database is in trouble.
    Spoiled(Option<StoreError>),
}

/// Why a transaction is not known to be durable.
enum Failure {
    /// The database takes no transaction now: nothing was run.
    Away(StoreError),
    /// A command failed, and holds its own error; with the reason, if the database is in trouble.
    Spoiled(Option<StoreError>),
    /// What the commands left to be written could not be.
    Undone(StoreError),
    /// The answer to the commit was lost.
    Unknown(StoreError),
}

impl Failure {
    /// What ails the database, if it is not the command.
    fn trouble(&self) -> Option<&StoreError> {
        match self {
            Self::Away(error) | Self::Undone(error) | Self::Unknown(error) => Some(error),
            Self::Spoiled(error) => error.as_ref(),
        }
    }
}

struct Queued<C: Command> {
    command: C,
    caller: Caller,
    key: Option<String>,
    result: Option<Result<C::Output, StoreError>>,
    reply: oneshot::Sender<Result<Committed<C::Output>, StoreError>>,
}

/// Runs a command, or answers as the first time when its key is known.
async fn execute<C: Command>(command: &C, key: Option<&str>, tx: &mut Tx<'_>) -> Result<C::Output, StoreError> {
    let Some(key) = key else { return command.run(tx).await };
    let scope = tx.caller.key_scope();
    let fingerprint = hex::encode(Sha256::digest(format!("{} {}", C::VERB, to_json(command))));
    if let Some(answer) = earlier_answer(tx, &scope, key, &fingerprint)? {
        if C::SECRET {
            return Err(StoreError::Conflict(format!(
                "{} was done already with this key, and its secret is shown only once: revoke it and make another",
                C::VERB
            )));
        }
        return serde_json::from_str(&answer).map_err(|error| StoreError::Corrupt(format!("answer: {error}")));
    }
    let output = command.run(tx).await?;
    let answer = if C::SECRET { String::new() } else { to_json(&output) };
    tx.batch.requests.push(PendingRequest { scope, key: key.to_owned(), fingerprint, answer });
    Ok(output)
}

fn earlier_answer(tx: &Tx<'_>, scope: &str, key: &str, fingerprint: &str) -> Result<Option<String>, StoreError> {
    let waiting = tx.batch.requests.iter().find(|request| request.scope == scope && request.key == key);
    let waiting = waiting.map(|request| (request.fingerprint.clone(), request.answer.clone()));
    let Some((known, answer)) = waiting.or_else(|| tx.batch.known.answered(scope, key)) else { return Ok(None) };
    if known != fingerprint {
        return Err(StoreError::Conflict("this idempotency key was used for another request: take a new key".into()));
    }
    Ok(Some(answer))
}

impl<C: Command> Job for Queued<C> {
    fn key(&self) -> Option<RequestKey> {
        self.key.clone().map(|key| (self.caller.key_scope(), key))
    }

    fn run<'a>(
        &'a mut self,
        mut connection: Connection<'a>,
        batch: &'a mut Batch,
        now: Timestamp,
    ) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            if !C::APPENDS
                && let Err(error) = batch.flush(&mut connection).await
            {
                return Ran::Spoiled(error.is_trouble().then_some(error));
            }
            let marks = (batch.events.len(), batch.audits.len(), batch.requests.len());
            let mut tx = Tx { connection, batch, wrote: false, caller: &self.caller, now };
            let result = execute(&self.command, self.key.as_deref(), &mut tx).await;
            let ran = match &result {
                Ok(_) => Ran::Done,
                Err(error) if error.is_trouble() => Ran::Spoiled(Some(error.repeat())),
                Err(error) if tx.wrote || error.is_of_the_database() => Ran::Spoiled(None),
                Err(_) => Ran::Refused,
            };
            if !matches!(ran, Ran::Done) {
                tx.batch.events.truncate(marks.0);
                tx.batch.audits.truncate(marks.1);
                tx.batch.requests.truncate(marks.2);
            }
            self.result = Some(result);
            ran
        })
    }

    fn finish(self: Box<Self>, commit: Result<&Arc<[Arc<Event>]>, Option<StoreError>>) {
        let result = match (self.result, commit) {
            (Some(Ok(value)), Ok(events)) => Ok(Committed { value, events: events.clone() }),
            (Some(Err(error)), Ok(_) | Err(None)) => Err(error),
            // What a command found in a transaction that is gone says nothing.
            (_, Err(Some(error))) => Err(error),
            (_, Ok(_) | Err(None)) => Err(StoreError::Unavailable("the command was not run".into())),
        };
        // A waiter that went away has lost its interest, not its change.
        let _ = self.reply.send(result);
    }
}

/// Told about every commit's events, in order, before the waiters are answered.
pub(crate) type Listener = Arc<dyn Fn(&[Arc<Event>]) + Send + Sync>;

/// Tells the time.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A cheap handle to the writer task.
#[derive(Clone)]
pub(crate) struct Writer {
    queue: mpsc::Sender<Box<dyn Job>>,
    stop: Arc<Notify>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Writer {
    /// Starts the writer task; it ends when it is told to, closing `connection`.
    pub(crate) fn start(
        target: Target,
        connection: Owned,
        listener: Listener,
        clock: Clock,
    ) -> (Self, oneshot::Receiver<()>) {
        let (queue, jobs) = mpsc::channel(1024);
        let (ended, end) = oneshot::channel();
        let trouble = Arc::new(Mutex::new(None));
        let stop = Arc::new(Notify::new());
        let task = Task { target, connection: Some(connection), listener, clock, trouble: trouble.clone() };
        let told = stop.clone();
        tokio::spawn(async move {
            task.serve(jobs, &told).await;
            let _ = ended.send(());
        });
        (Self { queue, stop, trouble }, end)
    }

    /// Runs a command and waits until it is durable.
    pub(crate) async fn write<C: Command>(
        &self,
        caller: Caller,
        key: Option<String>,
        command: C,
    ) -> Result<Committed<C::Output>, StoreError> {
        if let Some(key) = &key {
            domain::text::IDEMPOTENCY_KEY.check(key)?;
        }
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Queued { command, caller, key, result: None, reply });
        let stopped = || StoreError::Unavailable("the hub is stopping".into());
        self.queue.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    /// Takes no more commands; those that wait are still run.
    pub(crate) fn stop(&self) {
        self.stop.notify_one();
    }

    /// Why the last write failed, while writes fail.
    pub(crate) fn trouble(&self) -> Option<String> {
        self.trouble.lock().clone()
    }
}

struct Task {
    target: Target,
    connection: Option<Owned>,
    listener: Listener,
    clock: Clock,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Task {
    async fn serve(mut self, mut jobs: mpsc::Receiver<Box<dyn Job>>, stop: &Notify) {
        let mut group = Vec::with_capacity(GROUP);
        loop {
            let count = tokio::select! {
                count = jobs.recv_many(&mut group, GROUP) => count,
                () = stop.notified() => {
                    jobs.close();
                    continue;
                }
            };
            if count == 0 {
                break;
            }
            if let Err(rest) = self.commit(std::mem::take(&mut group)).await {
                for job in rest {
                    // Alone, a spoiled command answers for itself.
                    let _ = self.commit(vec![job]).await;
                }
            }
        }
        if let Some(connection) = self.connection.take() {
            connection.close().await;
        }
    }

    /// Runs and commits the jobs together. `Err` gives them back, rolled back, to be run one by one.
    async fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) -> Result<(), Vec<Box<dyn Job>>> {
        let now = (self.clock)();
        let failure = match self.attempt_in_time(&mut jobs, now).await {
            Ok(events) => {
                *self.trouble.lock() = None;
                let events: Arc<[Arc<Event>]> = events.into_iter().map(Arc::new).collect();
                if !events.is_empty() {
                    (self.listener)(&events);
                }
                jobs.into_iter().for_each(|job| job.finish(Ok(&events)));
                return Ok(());
            }
            Err(failure) => failure,
        };
        self.recover(&failure).await;
        let error = match failure {
            Failure::Spoiled(_) | Failure::Undone(_) if jobs.len() > 1 => return Err(jobs),
            Failure::Spoiled(_) => None,
            Failure::Away(error) | Failure::Undone(error) | Failure::Unknown(error) => Some(error),
        };
        let last = jobs.pop();
        jobs.into_iter().for_each(|job| job.finish(Err(error.as_ref().map(StoreError::repeat))));
        if let Some(last) = last {
            last.finish(Err(error));
        }
        Ok(())
    }

    /// A server that does not answer is given up: its connection is in nobody knows what state.
    async fn attempt_in_time(&mut self, jobs: &mut [Box<dyn Job>], now: Timestamp) -> Result<Vec<Event>, Failure> {
        if let Target::Sqlite(_) = self.target {
            return self.attempt(jobs, now).await;
        }
        if let Ok(outcome) = tokio::time::timeout(PATIENCE, self.attempt(jobs, now)).await {
            return outcome;
        }
        self.connection = None;
        Err(Failure::Unknown(StoreError::Unavailable(format!("no answer for {PATIENCE:?}"))))
    }

    async fn attempt(&mut self, jobs: &mut [Box<dyn Job>], now: Timestamp) -> Result<Vec<Event>, Failure> {
        let connection = self.begin().await.map_err(Failure::Away)?;
        let mut batch = Batch::default();
        let keys = jobs.iter().filter_map(|job| job.key()).collect();
        batch.known.look_up(&mut connection.borrow(), keys).await.map_err(Failure::Undone)?;
        for job in jobs.iter_mut() {
            if let Ran::Spoiled(trouble) = job.run(connection.borrow(), &mut batch, now).await {
                return Err(Failure::Spoiled(trouble));
            }
        }
        let events = batch.write(&mut connection.borrow(), now).await.map_err(Failure::Undone)?;
        match connection.borrow().script("COMMIT").await {
            Ok(()) => Ok(events),
            Err(error @ StoreError::Unavailable(_)) => Err(Failure::Unknown(error)),
            Err(error) => Err(Failure::Undone(error)),
        }
    }

    /// A connection in a fresh transaction; made again if the old one broke while nothing was going on.
    async fn begin(&mut self) -> Result<&mut Owned, StoreError> {
        if let Some(connection) = &mut self.connection {
            match connection.borrow().begin_write().await {
                Err(StoreError::Unavailable(error)) => {
                    tracing::info!(error, "the database connection broke; connecting again");
                    self.connection = None;
                }
                Err(error) => return Err(error),
                Ok(()) => return Ok(self.connection.as_mut().expect("it has just begun")),
            }
        }
        let mut fresh = Owned::connect(&self.target).await?;
        fresh.borrow().begin_write().await?;
        Ok(self.connection.insert(fresh))
    }

    /// Rolls back; drops a connection that may be no good any more.
    async fn recover(&mut self, failure: &Failure) {
        if let Some(error) = failure.trouble() {
            tracing::warn!(%error, "a transaction failed");
            *self.trouble.lock() = Some(error.to_string());
        }
        let Some(connection) = &mut self.connection else {
            // The database cannot be reached: do not spin while it is away.
            tokio::time::sleep(Duration::from_millis(100)).await;
            return;
        };
        // SQLite rolls back by itself on some errors; "no transaction is active" is then no trouble.
        let rolled_back = connection.borrow().script("ROLLBACK").await;
        let lost = matches!(failure.trouble(), Some(StoreError::Unavailable(_)))
            || matches!(rolled_back, Err(StoreError::Unavailable(_)));
        // Whether a session of PostgreSQL may write is decided when it begins, or by the server that it is on.
        let stale = failure.trouble().is_some() && matches!(self.target, Target::Postgres(_));
        if lost || stale {
            self.connection = None;
        }
    }
}
