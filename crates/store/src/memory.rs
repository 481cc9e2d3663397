//! What a hub remembers between transactions: what was true after its last commit is true until somebody writes.

use std::time::{Duration, Instant};

use crate::known::Known;
use crate::sql::Ledger;
use crate::verbs::tasks::Book;
use crate::verbs::workers::Crew;

/// For how long anything is remembered, so that what was changed by hand in the database is noticed, too. Reading it
/// again takes as long as a few transactions.
const TRUSTED: Duration = Duration::from_secs(5);

/// What was true after the last commit.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) book: Book,
    pub(crate) crew: Crew,
    pub(crate) known: Known,
    /// Where the ledger stood then; without it nothing is remembered.
    pub(crate) ledger: Option<Ledger>,
    began: Option<Instant>,
}

impl Memory {
    /// What is remembered from a transaction, and since when.
    pub(crate) fn new(book: Book, crew: Crew, known: Known, ledger: Option<Ledger>, began: Option<Instant>) -> Self {
        Self { book, crew, known, ledger, began: began.or_else(|| Some(Instant::now())) }
    }

    /// Takes out what is remembered, unless it is too old.
    pub(crate) fn take(&mut self) -> Self {
        let fresh = self.is_fresh();
        let memory = std::mem::take(self);
        if fresh { memory } else { Self::default() }
    }

    /// Whether anything is remembered that is not too old.
    pub(crate) fn is_fresh(&self) -> bool {
        self.ledger.is_some() && self.began.is_some_and(|began| began.elapsed() <= TRUSTED)
    }

    /// When it began.
    pub(crate) fn began(&self) -> Option<Instant> {
        self.began
    }
}
