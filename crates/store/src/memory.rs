//! Rows that a hub remembers between transactions: they stay true until another hub writes.

use std::time::{Duration, Instant};

use crate::known::Known;
use crate::sql::Ledger;
use crate::verbs::work::tasks::Book;
use crate::verbs::work::workers::WorkerBook;

/// The maximum age of the memory, so that the hub notices manual changes in the database.
const TRUSTED: Duration = Duration::from_secs(5);

/// The rows as they were after the last commit.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) book: Book,
    pub(crate) workers: WorkerBook,
    pub(crate) known: Known,
    /// The ledger after that commit; without it the memory is empty.
    pub(crate) ledger: Option<Ledger>,
    began: Option<Instant>,
}

impl Memory {
    /// The memory of a transaction whose oldest row was read at `began`.
    pub(crate) fn new(
        book: Book,
        workers: WorkerBook,
        known: Known,
        ledger: Option<Ledger>,
        began: Option<Instant>,
    ) -> Self {
        Self { book, workers, known, ledger, began: began.or_else(|| Some(Instant::now())) }
    }

    /// Takes the memory out; empty if it is too old.
    pub(crate) fn take(&mut self) -> Self {
        let fresh = self.is_fresh();
        let memory = std::mem::take(self);
        if fresh { memory } else { Self::default() }
    }

    /// Whether the memory has rows that are not too old.
    fn is_fresh(&self) -> bool {
        self.ledger.is_some() && self.began.is_some_and(|began| began.elapsed() <= TRUSTED)
    }

    /// When the oldest row was read.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.began
    }
}
