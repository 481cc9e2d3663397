//! Answers, access facts and the last numbers of messages and tasks that a transaction has read. No other transaction writes meanwhile, so
//! they stay true until the commit.

use std::collections::HashMap;

use domain::{ProjectFacts, ProjectId, Short};

use crate::StoreError;
use crate::bulk::{Part, Update};
use crate::search::Indexed;
use crate::sql::{Connection, args};

/// The maximum number of keys in one query.
const KEYS: usize = 64;

/// One update for both numbers: PostgreSQL does not update a row twice in one statement.
const NUMBERS: Update =
    Update { table: "projects", keys: &["id"], columns: &["last_message", "last_task"], only: "", every: None };

/// A request's scope and key.
pub(crate) type RequestKey = (String, String);

/// The last numbers that a project gave out.
#[derive(Debug, Clone)]
pub(crate) struct Numbers {
    /// The number of the last message.
    pub(crate) message: u32,
    /// The short name of the last task.
    pub(crate) task: Short,
}

/// Rows that a transaction has read.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Fingerprints and answers of requests that were answered before.
    answered: HashMap<RequestKey, (String, String)>,
    /// The facts that access to a project depends on.
    pub(crate) facts: HashMap<ProjectId, ProjectFacts>,
    /// Whether a project names a repository.
    pub(crate) has_repository: HashMap<ProjectId, bool>,
    /// The last numbers, where the table does not have them yet.
    pub(crate) numbers: HashMap<ProjectId, Numbers>,
    /// What the search index has.
    pub(crate) indexed: Indexed,
}

impl Known {
    /// Looks up the keys of all commands at once. Powers of two keep the number of prepared statements small.
    pub(crate) async fn look_up(
        &mut self,
        c: &mut Connection<'_>,
        mut keys: Vec<RequestKey>,
    ) -> Result<(), StoreError> {
        while let Some(last) = keys.last().cloned() {
            let mut some = keys.split_off(keys.len().saturating_sub(KEYS));
            some.resize(some.len().next_power_of_two(), last);
            let places = (0..some.len()).map(|index| format!("(${}, ${})", 2 * index + 1, 2 * index + 2));
            let sql = format!(
                "SELECT actor, request_key, fingerprint, answer FROM requests WHERE (actor, request_key) IN (VALUES {})",
                places.collect::<Vec<_>>().join(", ")
            );
            let values = some.into_iter().flat_map(|(scope, key)| args![scope, key]).collect();
            for row in c.all(&sql, values).await? {
                let answer = (row.text("fingerprint")?, row.text("answer")?);
                self.answered.insert((row.text("actor")?, row.text("request_key")?), answer);
            }
        }
        Ok(())
    }

    /// The fingerprint and answer of a request that was answered before this transaction.
    pub(crate) fn answered(&self, scope: &str, key: &str) -> Option<(String, String)> {
        self.answered.get(&(scope.to_owned(), key.to_owned())).cloned()
    }

    /// Forgets the projects: a statement may have changed them.
    pub(crate) fn forget_all(&mut self) {
        self.facts.clear();
        self.has_repository.clear();
    }

    /// Drops rows that the next transaction does not need.
    pub(crate) fn settle_down(&mut self) {
        self.answered.clear();
    }

    /// The tables with pending changes.
    pub(crate) fn changed_tables(&self) -> Option<&'static str> {
        (!self.numbers.is_empty()).then_some("projects")
    }

    /// Adds the new numbers to the updates.
    pub(crate) fn write(&mut self, updates: &mut Vec<Part>) {
        let taken = self.numbers.drain();
        let taken = taken.map(|(project, last)| args![project.to_string(), last.message, last.task.number]);
        updates.push(Part::update(NUMBERS, taken.collect()));
    }
}
