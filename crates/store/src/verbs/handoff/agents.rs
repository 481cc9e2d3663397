//! What the two agents of a handoff say: the prose, and the hash.

use domain::text::Field;
use domain::{Action, HandoffId, HandoffStatus, HandoffStep, HandoffWriter, SessionId};
use engine::handoff::{Event, Prose, body};
use protocol::{Handoff, HandoffProse, Verb, verbs};

use super::find;
use super::rows::HandoffRow;
use crate::tx::{AuditScope, Tx};
use crate::{Command, StoreError};

/// The limit of each part of the prose.
const PART: Field = Field { name: "done", limit: 8 * 1024, lines: true, optional: true };

/// A handoff that the caller may speak in: as the agent of this session, or as the owner of the handoff.
async fn spoken(
    tx: &mut Tx<'_>,
    id: HandoffId,
    session: impl Fn(&Handoff) -> Option<SessionId>,
    refusal: &'static str,
) -> Result<HandoffRow, StoreError> {
    let caller = tx.caller;
    let found = find(tx.read(), caller, id, Action::SeeExecution).await?;
    match caller.session() {
        Some(agent) if session(&found.view) == Some(agent) => Ok(found),
        Some(_) => Err(StoreError::Forbidden(refusal)),
        None if caller.person().is_ok_and(|me| me.id == found.view.to.id) => Ok(found),
        None => find(tx.read(), caller, id, Action::Drive).await,
    }
}

impl Command for verbs::HandoffWrite {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffWrite::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let refusal = "only the agent of the session that hands off writes the document";
        let mut row = spoken(tx, self.handoff, |handoff| Some(handoff.session), refusal).await?;
        let HandoffProse { done, remaining, tried, questions, next, sections } = self.input.clone();
        let parts =
            [("done", &done), ("remaining", &remaining), ("tried", &tried), ("questions", &questions), ("next", &next)];
        for (name, part) in parts {
            Field { name, ..PART }.check(part)?;
        }
        sections.iter().try_for_each(|section| Field { name: "sections", ..PART }.check(&section.text))?;
        let mut parts = Prose { done, remaining, tried, questions, next }.parts();
        parts.retain(|(_, text)| !text.trim().is_empty());
        parts.extend(sections.into_iter().map(|section| (section.title, section.text)));
        let wanted = row.sections(tx).await?;
        let body = body(&wanted, &parts).map_err(|why| StoreError::invalid("sections", why))?;
        if body.is_empty() {
            let message = "say what is done, what remains, what failed, open questions or the next step";
            return Err(StoreError::invalid("done", message));
        }
        let open = row.view.step == HandoffStep::Write && !row.view.status.is_over();
        if !open || row.written_by == Some(HandoffWriter::Person) {
            let message = "the document of this handoff is finished: nothing can be written into it now";
            return Err(StoreError::Conflict(message.into()));
        }
        row.body = Some(body);
        row.written_by = Some(HandoffWriter::Agent);
        if !row.apply(tx, Event::Written, Some("by the agent".into())).await? {
            row.save(tx).await?;
        }
        tx.audit(Self::VERB, row.view.id, AuditScope::Project(row.view.project), "wrote the handoff document");
        Ok(row.view)
    }
}

impl Command for verbs::HandoffAck {
    type Output = Handoff;
    const VERB: &'static str = verbs::HandoffAck::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Handoff, StoreError> {
        let refusal = "only the fresh session acknowledges the document";
        let mut row = spoken(tx, self.handoff, |handoff| handoff.successor, refusal).await?;
        let hash = self.input.hash.trim().to_ascii_lowercase();
        let same = row.view.hash.as_deref() == Some(hash.as_str());
        // A repeated acknowledgement changes nothing.
        if row.view.status == HandoffStatus::Done && same {
            return Ok(row.view);
        }
        let waits = row.view.status == HandoffStatus::Running && row.view.step == HandoffStep::Acknowledge;
        let Some(by) = row.view.successor.filter(|_| waits) else {
            let message = format!("the handoff is {} at `{}`: nothing to acknowledge", row.view.status, row.view.step);
            return Err(StoreError::Conflict(message));
        };
        if !same {
            let message = "this is not the hash of the document: read its front matter, and quote the line `hash`";
            return Err(StoreError::invalid("hash", message));
        }
        row.apply(tx, Event::Acknowledged { by }, None).await?;
        tx.audit(Self::VERB, row.view.id, AuditScope::Project(row.view.project), "acknowledged the handoff document");
        Ok(row.view)
    }
}
