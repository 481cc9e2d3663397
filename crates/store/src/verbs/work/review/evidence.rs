//! What a session showed and changed, for whoever must decide; and who may see it.

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

/// How much of a screen and of a patch a person is shown, in characters.
const SCREEN: usize = 8_000;
const PATCH: usize = 20_000;

/// Without what a terminal would act on; tabs as blanks, so that columns stay.
fn harmless(text: &str) -> String {
    domain::text::plain(&text.replace('\t', "    "), usize::MAX)
}

/// The last so many characters.
fn last(text: &str, limit: usize) -> String {
    text.chars().skip(text.chars().count().saturating_sub(limit)).collect()
}

/// An escalation as a caller may see it: what its worker showed and changed is for those who may look into that, and
/// what the other one of two outputs changed for those who may look into the other's.
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

/// The same, for an escalation that was just written.
pub(crate) async fn veiled(tx: &mut Tx<'_>, written: Escalation) -> Result<Escalation, StoreError> {
    let caller = tx.caller;
    let Some(facts) = projects::facts_of(tx.read(), written.project).await? else { return Ok(written.veiled()) };
    let sight = Sight::on(tx.read(), caller, facts).await?;
    let row = tx.read().first(&format!("{COLUMNS} WHERE e.id = $1"), vec![text(written.id)]).await?;
    row.map_or_else(|| Ok(written.veiled()), |row| seen_by(&row, &sight))
}

/// Whose execution an escalation is about: the session's owner's, or the worker's.
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

/// Tells everybody who sees the project; then whose worker it is about, with what that showed and changed; then those who
/// may look into everything, with what the other one of two outputs changed, too.
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

/// An open escalation whose session's screen nobody has looked at yet.
#[derive(Debug, Clone)]
pub struct Unseen {
    /// Which.
    pub escalation: EscalationId,
    /// The session that it is about.
    pub session: SessionId,
    /// Where that worked.
    pub workspace: WorkspaceId,
    /// The runner that has both.
    pub runner: RunnerId,
}

impl Store {
    /// The open escalations whose session's screen nobody has looked at yet.
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

/// Adds to an open escalation what its session showed and changed, or why that is not known.
#[derive(Debug, Serialize)]
pub struct ShowEvidence {
    /// To which.
    pub escalation: EscalationId,
    /// The last lines of the terminal.
    pub screen: Option<String>,
    /// What was changed, as a patch.
    pub diff: Option<String>,
    /// Why one of them is not here.
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
