//! What people do to a handoff: edit, retry, skip, cancel.

use domain::text::Field;
use domain::{Action, HandoffId, HandoffStatus, HandoffStep, HandoffWriter};
use engine::handoff::Event;
use protocol::{Handoff, HandoffFirst, Verb, verbs};

use super::document::sealed;
use super::find;
use super::rows::HandoffRow;
use crate::tx::{AuditScope, Tx};
use crate::{Command, StoreError};

/// The limit of the edited prose.
const TEXT: Field = Field { name: "text", limit: 40 * 1024, lines: true, optional: true };

async fn own(tx: &mut Tx<'_>, id: HandoffId) -> Result<HandoffRow, StoreError> {
    let caller = tx.caller;
    find(tx.read(), caller, id, Action::Drive).await
}

fn audit(tx: &mut Tx<'_>, verb: &'static str, row: &HandoffRow, what: &str) {
    let detail = format!("{what} the handoff of `{}`", row.view.title);
    tx.audit(verb, row.view.id, AuditScope::Project(row.view.project), detail);
}

impl Command for verbs::HandoffEdit {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffEdit::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let mut row = own(tx, self.handoff).await?;
        if row.view.status != HandoffStatus::Editing {
            let message = format!(
                "the document can be changed while the handoff is `editing` (`--edit`), and it is {} at `{}`",
                row.view.status, row.view.step
            );
            return Err(StoreError::Conflict(message));
        }
        if let Some(text) = &self.input.text {
            TEXT.check(text)?;
            if row.first.is_none() {
                let written_by = row.written_by;
                row.first = row.body.take().map(|body| HandoffFirst { body, written_by });
            }
            row.body = Some(text.clone());
            row.written_by = Some(HandoffWriter::Person);
        }
        if !self.input.start || !row.apply(tx, Event::Released, None).await? {
            row.save(tx).await?;
        }
        audit(tx, Self::VERB, &row, "edited the document of");
        Ok(row.view)
    }
}

impl Command for verbs::HandoffRetry {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffRetry::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let mut row = own(tx, self.handoff).await?;
        row.apply(tx, Event::Retry, None).await?;
        audit(tx, Self::VERB, &row, "retried a step of");
        Ok(row.view)
    }
}

impl Command for verbs::HandoffSkip {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffSkip::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let mut row = own(tx, self.handoff).await?;
        let step = row.view.step;
        if row.view.status.is_over() || !step.can_be_skipped() {
            return Err(StoreError::Conflict(format!(
                "the step `{step}` of a handoff that is {} cannot be skipped: retry it or cancel the handoff",
                row.view.status
            )));
        }
        // Whatever is known is sealed: the fresh session gets a document in any case.
        if step == HandoffStep::Save {
            sealed(tx, &mut row).await?;
        }
        row.apply(tx, Event::Skip, None).await?;
        audit(tx, Self::VERB, &row, &format!("skipped `{step}` in"));
        Ok(row.view)
    }
}

impl Command for verbs::HandoffCancel {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffCancel::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let mut row = own(tx, self.handoff).await?;
        row.apply(tx, Event::Cancel, None).await?;
        audit(tx, Self::VERB, &row, "cancelled");
        Ok(row.view)
    }
}
