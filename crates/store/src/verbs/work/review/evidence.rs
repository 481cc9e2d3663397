//! Evidence for an escalation, a session's screen and patch, and who may see it.

use domain::{EscalationId, RunnerId, SessionId, UserId, WorkspaceId};
use protocol::{Change, Escalation, EscalationContext, Veil};
use serde::Serialize;

use super::ask::{COLUMNS, escalation};
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::projects;
use crate::verbs::sight::Sight;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::work::workers::rows::{get, tell};
use crate::{Command, Store, StoreError};

/// The maximum length of a screen and of a patch in an escalation, in characters.
const SCREEN: usize = 8_000;
const PATCH: usize = 20_000;

/// The text without control characters; blanks replace tabs, so that columns stay aligned.
fn harmless(text: &str) -> String {
    domain::text::plain(&text.replace('\t', "    "), usize::MAX)
}

/// The last `limit` characters.
fn last(text: &str, limit: usize) -> String {
    text.chars().skip(text.chars().count().saturating_sub(limit)).collect()
}

/// An escalation as a caller may see it: without the worker's screen and patch, or the patch of a conflicting output,
/// unless the caller may see the session that made them.
pub(crate) fn seen_by(row: &Row, sight: &Sight<'_>) -> Result<Escalation, StoreError> {
    let mut found = escalation(row)?;
    if !sight.of(found.project, id_or_none(row, "execution_of")?) {
        found.veil();
    }
    if !sight.of(found.project, id_or_none(row, "other_owner")?) {
        found.veil_other();
    }
    Ok(found)
}

/// Hides the same evidence in an escalation that was just written.
pub(crate) async fn veiled(tx: &mut Tx<'_>, written: Escalation) -> Result<Escalation, StoreError> {
    let caller = tx.caller;
    let Some(facts) = projects::facts_of(tx.read(), written.project).await? else { return Ok(written.veiled()) };
    let sight = Sight::on(tx.read(), caller, facts).await?;
    let row = tx.read().first(&format!("{COLUMNS} WHERE e.id = $1"), vec![text(written.id)]).await?;
    row.map_or_else(|| Ok(written.veiled()), |row| seen_by(&row, &sight))
}

/// The owner of the session, or else of the worker, that an escalation is about.
async fn owner(tx: &mut Tx<'_>, about: &Escalation) -> Result<Option<UserId>, StoreError> {
    if let Some(session) = about.session
        && let Some(row) = tx.read().first("SELECT owner FROM sessions WHERE id = $1", vec![text(session)]).await?
    {
        return row.parsed("owner").map(Some);
    }
    Ok(match about.worker {
        Some(worker) => get(tx, worker).await?.map(|slot| slot.owner.id),
        None => None,
    })
}

/// Announces an escalation in up to three versions: without evidence to everybody who sees the project, with the
/// worker's evidence to its owner, and with the conflicting output's patch to those who may see all evidence.
pub(crate) async fn announce(tx: &mut Tx<'_>, news: &Escalation) -> Result<(), StoreError> {
    let mut own = news.clone();
    own.veil_other();
    let plain = own.clone().veiled();
    let owner = owner(tx, news).await?;
    let told = owner.filter(|_| own != plain);
    let last = if told.is_some() { &own } else { &plain };
    let rest = (last != news).then(|| Change::Escalation { escalation: news.clone() });
    tell(tx, news.project, Change::Escalation { escalation: plain.clone() });
    if let Some(owner) = told {
        tx.announce_execution(news.project, owner, Change::Escalation { escalation: own.clone() });
    }
    if let Some(rest) = rest
        && let Some(facts) = projects::facts_of(tx.read(), news.project).await?
    {
        tx.announce_execution(news.project, facts.owner, rest);
    }
    Ok(())
}

/// An open escalation without a screen yet.
#[derive(Debug, Clone)]
pub struct Unseen {
    /// The escalation.
    pub escalation: EscalationId,
    /// The session in question.
    pub session: SessionId,
    /// The session's workspace.
    pub workspace: WorkspaceId,
    /// The session's runner.
    pub runner: RunnerId,
}

impl Store {
    /// The open escalations without a screen yet.
    pub async fn unseen_escalations(&self) -> Result<Vec<Unseen>, StoreError> {
        let mut reader = self.readers.get().await?;
        let sql = "SELECT e.id, e.session, e.context, s.workspace, s.runner FROM escalations e JOIN sessions s ON \
                   s.id = e.session WHERE e.answered_at IS NULL ORDER BY e.created_at, e.id";
        let mut unseen = Vec::new();
        for row in reader.borrow().all(sql, args![]).await? {
            if row.json::<EscalationContext>("context")?.screen.is_none() {
                unseen.push(Unseen {
                    escalation: row.parsed("id")?,
                    session: row.parsed("session")?,
                    workspace: row.parsed("workspace")?,
                    runner: row.parsed("runner")?,
                });
            }
        }
        Ok(unseen)
    }
}

/// Adds a session's screen and patch to an open escalation, or why they are missing.
#[derive(Debug, Serialize)]
pub struct ShowEvidence {
    /// The escalation.
    pub escalation: EscalationId,
    /// The last lines of the terminal.
    pub screen: Option<String>,
    /// The changes, as a patch.
    pub diff: Option<String>,
    /// Why the screen or the patch is missing.
    pub missing: Option<String>,
}

impl Command for ShowEvidence {
    type Output = ();
    const VERB: &'static str = "escalation.evidence";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = format!("{COLUMNS} WHERE e.id = $1 AND e.answered_at IS NULL");
        let Some(row) = tx.read().first(&sql, vec![text(self.escalation)]).await? else { return Ok(()) };
        let before = escalation(&row)?;
        let mut after = before.clone();
        let screen = self.screen.as_deref().map(|text| last(&harmless(text), SCREEN));
        let diff = self.diff.as_deref().map(|text| harmless(text).chars().take(PATCH).collect());
        after.context.screen = before.context.screen.clone().or(screen);
        after.context.diff = before.context.diff.clone().or(diff);
        after.context.missing = self.missing.clone();
        if after == before {
            return Ok(());
        }
        let sql = "UPDATE escalations SET context = $1 WHERE id = $2";
        tx.run(sql, args![to_json(&after.context), self.escalation.to_string()]).await?;
        announce(tx, &after).await
    }
}
