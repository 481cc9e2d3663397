//! The open comments on a workspace go to the session in it.

use domain::text::counted;
use domain::{Action, ThreadStatus};
use protocol::{Review, ReviewOf, ReviewThread, Verb, verbs};
use serde::{Deserialize, Serialize};

use super::send_back::{TEXT, sent};
use super::{announce_workspace, letter, rows, subject};
use crate::tx::{AuditScope, Tx};
use crate::verbs::work::workers::Say;
use crate::verbs::workspaces;
use crate::{Command, StoreError};

/// A review whose open comments go to a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentToSession {
    /// The review.
    pub review: Review,
    /// The message for the session.
    pub say: Say,
}

impl Command for verbs::WorkspaceSendBack {
    type Output = SentToSession;
    const VERB: &'static str = verbs::WorkspaceSendBack::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<SentToSession, StoreError> {
        let caller = tx.caller;
        let found = workspaces::find(tx.read(), caller, self.workspace, Action::Drive).await?;
        let by = caller.person()?;
        let words = self.input.text.as_deref().unwrap_or_default().trim();
        TEXT.check(words)?;
        let of = ReviewOf::Workspace { workspace: found.id };
        let open: Vec<ReviewThread> =
            rows::on(tx.read(), of, Some(ThreadStatus::Open)).await?.into_iter().map(|found| found.view).collect();
        if words.is_empty() && open.is_empty() {
            return Err(StoreError::invalid("text", "say what to change (`text`), or comment on lines first"));
        }
        let session = subject::newest_session(tx.read(), &found).await?;
        let say = subject::say(&found, session, letter::on_workspace(&by.name, words, &open))?;
        sent(tx, of).await?;
        announce_workspace(tx, &found).await?;
        let detail = format!("sent {} to its session", counted(open.len(), "comment", "comments"));
        tx.audit(Self::VERB, found.id, AuditScope::Project(found.project), detail);
        let threads = rows::on(tx.read(), of, None).await?.into_iter().map(|found| found.view).collect();
        Ok(SentToSession { review: Review { of, threads, approval: None, report: None, tree: None }, say })
    }
}
