//! A command in the writer's queue.

use std::sync::Arc;

use domain::{ProjectId, Timestamp};
use futures_util::future::BoxFuture;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::batch::{Batch, PendingRequest};
use crate::known::RequestKey;
use crate::sql::{Connection, to_json};
use crate::tx::Tx;
use crate::verbs::work::tasks::Wanted;
use crate::{Caller, Command, Committed, Event, StoreError};

/// A queued command of any type.
pub(crate) trait Job: Send {
    /// The scope and key of the request, if it has one.
    fn key(&self) -> Option<RequestKey>;
    /// Adds the rows that the command will read.
    fn foresee(&self, wanted: &mut Wanted);
    /// The project that the command adds tasks to.
    fn fills(&self) -> Option<ProjectId>;
    fn run<'a>(&'a mut self, connection: Connection<'a>, batch: &'a mut Batch, now: Timestamp) -> BoxFuture<'a, Ran>;
    /// Answers the caller with the command's result, or with the commit's error; `Err(None)` means the command's own
    /// error.
    fn finish(self: Box<Self>, commit: Result<&Arc<[Arc<Event>]>, Option<StoreError>>);
}

/// How a command left the transaction.
pub(crate) enum Ran {
    /// It succeeded.
    Done,
    /// It refused and wrote nothing.
    Refused,
    /// The transaction must be rolled back; with the reason, if the database is in trouble.
    Spoiled(Option<StoreError>),
}

/// A command with its caller, its idempotency key and the channel for its answer.
pub(crate) struct Queued<C: Command> {
    pub(crate) command: C,
    pub(crate) caller: Caller,
    pub(crate) key: Option<String>,
    pub(crate) result: Option<Result<C::Output, StoreError>>,
    pub(crate) reply: oneshot::Sender<Result<Committed<C::Output>, StoreError>>,
}

/// Runs a command, or repeats the stored answer if its key is known.
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
    if !C::is_final(&output) {
        return Ok(output);
    }
    let answer = if C::SECRET { String::new() } else { to_json(&output) };
    tx.batch().requests.push(PendingRequest { scope, key: key.to_owned(), fingerprint, answer });
    Ok(output)
}

fn earlier_answer(tx: &mut Tx<'_>, scope: &str, key: &str, fingerprint: &str) -> Result<Option<String>, StoreError> {
    let waiting = tx.batch().requests.iter().find(|request| request.scope == scope && request.key == key);
    let waiting = waiting.map(|request| (request.fingerprint.clone(), request.answer.clone()));
    let Some((known, answer)) = waiting.or_else(|| tx.batch().known.answered(scope, key)) else { return Ok(None) };
    if known != fingerprint {
        return Err(StoreError::Conflict("this idempotency key was used for another request: use a new key".into()));
    }
    Ok(Some(answer))
}

impl<C: Command> Job for Queued<C> {
    fn key(&self) -> Option<RequestKey> {
        self.key.clone().map(|key| (self.caller.key_scope(), key))
    }

    fn fills(&self) -> Option<ProjectId> {
        self.command.fills()
    }

    fn foresee(&self, wanted: &mut Wanted) {
        self.command.foresee(&self.caller, wanted);
    }

    fn run<'a>(&'a mut self, connection: Connection<'a>, batch: &'a mut Batch, now: Timestamp) -> BoxFuture<'a, Ran> {
        Box::pin(async move {
            let marks = (batch.events.len(), batch.audits.len(), batch.requests.len());
            let mut tx = Tx::new(connection, batch, &self.caller, now);
            tx.key = self.key.as_deref();
            let result = execute(&self.command, self.key.as_deref(), &mut tx).await;
            let torn = tx.batch().torn;
            let ran = match &result {
                Err(error) if error.is_trouble() => Ran::Spoiled(Some(error.repeat())),
                _ if torn => Ran::Spoiled(None),
                Ok(_) => Ran::Done,
                Err(error) if tx.wrote() || error.is_of_the_database() => Ran::Spoiled(None),
                Err(_) => Ran::Refused,
            };
            if !matches!(ran, Ran::Done) {
                tx.batch().events.truncate(marks.0);
                tx.batch().audits.truncate(marks.1);
                tx.batch().requests.truncate(marks.2);
            }
            self.result = Some(result);
            ran
        })
    }

    fn finish(self: Box<Self>, commit: Result<&Arc<[Arc<Event>]>, Option<StoreError>>) {
        let result = match (self.result, commit) {
            (Some(Ok(value)), Ok(events)) => Ok(Committed { value, events: events.clone() }),
            (Some(Err(error)), Ok(_) | Err(None)) => Err(error),
            // The result of a command in a failed transaction is void.
            (_, Err(Some(error))) => Err(error),
            (_, Ok(_) | Err(None)) => Err(StoreError::Unavailable("the command was not run".into())),
        };
        // If the caller has left, the change still stands.
        let _ = self.reply.send(result);
    }
}
