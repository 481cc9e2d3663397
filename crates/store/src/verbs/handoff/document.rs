//! Seals the document of a handoff: what the runner said, what the hub knows, and the prose.

use engine::handoff::{Check, Facts, note, seal, text};
use protocol::{Criterion, CriterionResult};
use sha2::{Digest, Sha256};

use super::rows::HandoffRow;
use crate::StoreError;
use crate::sql::args;
use crate::tx::Tx;
use crate::verbs::work::tasks::brief::words;
use crate::verbs::{sessions, workspaces};

/// Seals the document; the hash is of everything else in it.
pub(super) async fn sealed(tx: &mut Tx<'_>, row: &mut HandoffRow) -> Result<(), StoreError> {
    let facts = facts(tx, row).await?;
    let body = row.body.clone().unwrap_or_default();
    let hash = hex::encode(Sha256::digest(text(&facts, &body)));
    row.document = Some(seal(&facts, &body, &hash));
    row.view.hash = Some(hash);
    Ok(())
}

/// The document as a file beside the work.
pub(super) async fn note_of(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<String, StoreError> {
    Ok(note(&facts(tx, row).await?, row.body.as_deref().unwrap_or_default()))
}

async fn facts(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<Facts, StoreError> {
    let view = &row.view;
    let agent = sessions::get(tx.read(), view.session).await?.map(|(session, _)| session.agent).unwrap_or_default();
    let task = match view.task {
        Some(task) => tx.task(task).await?.map(|task| format!("{} {}", task.short, task.title)),
        None => None,
    };
    let kept = row.kept.clone().unwrap_or_default();
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    Ok(Facts {
        handoff: view.id,
        session: view.session,
        agent,
        task,
        goal: view.goal.clone(),
        branch: workspaces::branch_in(tx.read(), view.workspace).await?,
        fork: kept.base,
        head: kept.head,
        tree: some(kept.tree),
        saved: some(kept.commit),
        dirty: kept.dirty,
        more_dirty: kept.more_dirty,
        checks: checks(tx, row).await?,
    })
}

/// The checks of the last report of the session's task.
async fn checks(tx: &mut Tx<'_>, row: &HandoffRow) -> Result<Vec<Check>, StoreError> {
    let Some(task) = row.view.task else { return Ok(Vec::new()) };
    let sql = "SELECT r.results, t.acceptance FROM reports r JOIN tasks t ON t.id = r.task WHERE r.task = $1 \
               ORDER BY r.at DESC, r.id DESC LIMIT 1";
    let Some(found) = tx.read().first(sql, args![task.to_string()]).await? else { return Ok(Vec::new()) };
    let criteria: Vec<Criterion> = found.json("acceptance")?;
    let results: Vec<CriterionResult> = found.json("results")?;
    let told = results.into_iter().filter_map(|result| {
        let what = words(criteria.get(result.criterion as usize)?);
        Some(Check { what, passed: result.passed, result: domain::text::plain(&result.reason, 500) })
    });
    Ok(told.collect())
}
