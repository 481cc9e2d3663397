//! Answers of runners' owners, and withdrawal of obsolete requests.

use domain::{Answered, ApprovalKind};
use protocol::{Approval, Verb, verbs};
use serde::Serialize;

use super::{COLUMNS, find, grants, wanted};
use crate::sql::args;
use crate::tx::{AuditScope, Tx};
use crate::{Command, StoreError};

impl Command for verbs::ApprovalAnswer {
    type Output = Approval;
    const VERB: &'static str = verbs::ApprovalAnswer::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Approval, StoreError> {
        let caller = tx.caller;
        let answer = self.input.answer;
        let (open, row) = find(tx.read(), caller, self.approval).await?;
        if !answer.is_choice() {
            return Err(StoreError::invalid("answer", "answer `once`, `text`, `author` or `denied`"));
        }
        match open.answer {
            None => {}
            Some(before) if before == answer => return Ok(open),
            Some(Answered::Withdrawn) => {
                return Err(StoreError::Conflict("this request was withdrawn".into()));
            }
            Some(before) => return Err(StoreError::Conflict(format!("this was answered already: {before}"))),
        }
        if answer == Answered::Text && open.kind == ApprovalKind::Code {
            let message = "code changes with every commit: allow it once, or for its author";
            return Err(StoreError::invalid("answer", message));
        }
        if matches!(answer, Answered::Text | Answered::Author) {
            grants::room(tx, open.runner).await?;
        }
        let owner = row.parsed("runner_owner")?;
        let closed = wanted::close(tx, &row, answer).await?;
        grants::keep(tx, &open, answer).await?;
        wanted::settle(tx, open.runner).await?;
        tx.desire(open.runner).await?;
        let detail = format!(
            "{} `{}` by {} on `{}`: {answer}",
            open.kind,
            domain::text::title(&open.text),
            open.author.user.name,
            open.runner_name
        );
        tx.audit(Self::VERB, self.approval, AuditScope::Private(owner), detail);
        Ok(closed)
    }
}

/// Withdraws requests whose session or check has ended.
#[derive(Debug, Serialize)]
pub struct SweepApprovals {}

impl Command for SweepApprovals {
    type Output = u32;
    const VERB: &'static str = "approval.sweep";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u32, StoreError> {
        let sql = format!(
            "{COLUMNS} WHERE a.answer IS NULL AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = a.session AND \
             s.ended_at IS NULL) AND NOT EXISTS (SELECT 1 FROM reports c WHERE c.id = a.report AND c.verdict = 'pending') \
             LIMIT 200"
        );
        let rows = tx.read().all(&sql, args![]).await?;
        for row in &rows {
            wanted::close(tx, row, Answered::Withdrawn).await?;
        }
        Ok(u32::try_from(rows.len()).unwrap_or(u32::MAX))
    }
}
