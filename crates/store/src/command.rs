//! A verb as the store runs it.

use std::sync::Arc;

use domain::ProjectId;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::tx::Tx;
use crate::{Caller, Event, StoreError, Wanted};

/// A verb: run in one transaction, safe to run again after a rollback.
pub trait Command: Serialize + Send + Sync + 'static {
    /// What the verb answers.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The verb's name in the protocol and the audit trail.
    const VERB: &'static str;

    /// Whether the answer holds a secret, which must not be stored.
    const SECRET: bool = false;

    /// Whether a request that was answered so may be answered otherwise when it is made again with the same key.
    fn is_final(_output: &Self::Output) -> bool {
        true
    }

    /// The project whose queue it makes longer: who waits there for a task may come along in the same transaction.
    fn fills(&self) -> Option<ProjectId> {
        None
    }

    /// Says what it will read, so that many commands read together.
    fn foresee(&self, _caller: &Caller, _wanted: &mut Wanted) {}

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
