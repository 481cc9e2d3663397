//! A verb as the store runs it.

use std::sync::Arc;

use domain::{ProjectId, RunnerId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::tx::Tx;
use crate::{Caller, Event, StoreError, Wanted};

/// A verb: run in one transaction, safe to run again after a rollback.
pub trait Command: Serialize + Send + Sync + 'static {
    /// The verb's answer.
    type Output: Serialize + DeserializeOwned + Send + 'static;

    /// The verb's name in the protocol and the audit trail.
    const VERB: &'static str;

    /// Whether the answer holds a secret, which must not be stored.
    const SECRET: bool = false;

    /// Whether a retry with the same key repeats this answer.
    fn is_final(_output: &Self::Output) -> bool {
        true
    }

    /// The project that the verb adds tasks to: a waiting worker may take one in the same transaction.
    fn fills(&self) -> Option<ProjectId> {
        None
    }

    /// Adds the rows that the verb will read, so that a group reads them together.
    fn foresee(&self, _caller: &Caller, _wanted: &mut Wanted) {}

    /// Runs the verb. Refuse before writing.
    fn run(&self, tx: &mut Tx<'_>) -> impl Future<Output = Result<Self::Output, StoreError>> + Send;
}

/// A verb that needs a runner, with the connected runners; a retry may find other runners.
#[derive(Debug, Clone, Serialize)]
pub struct Placed<V> {
    /// The verb.
    pub verb: V,
    /// The connected runners that the caller knows.
    #[serde(skip)]
    pub connected: Vec<RunnerId>,
}

/// A change that is already durable, with the events that announce it.
#[derive(Debug)]
pub struct Committed<T> {
    /// The verb's answer.
    pub value: T,
    /// The events of the commit; the listener got them before this was returned.
    pub events: Arc<[Arc<Event>]>,
}
