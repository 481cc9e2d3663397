//! The runner of a run: one that can reach the repository.

use domain::{Action, CandidateId, RunnerId, UserId, WorkerKind};

use super::rows::{self, Key};
use crate::sql::text;
use crate::tx::Tx;
use crate::verbs::work::workers::rows as worker_rows;
use crate::verbs::{projects, runners};
use crate::{Caller, StoreError};

/// Chooses among the connected runners of the project's owner and of those who added the branches, and those with workers
/// of this project: the one with the fewest faults here, then one that has the repository already, then the least busy.
pub(super) async fn runner(tx: &mut Tx<'_>, key: &Key, stack: &[CandidateId]) -> Result<Option<RunnerId>, StoreError> {
    let project = projects::find(tx.read(), &Caller::hub("merge"), key.project, Action::See).await?;
    if project.repositories.is_empty() {
        return Ok(None);
    }
    let mut people: Vec<UserId> = vec![project.owner.id];
    for id in stack {
        people.extend(rows::find_candidate(tx.read(), *id).await?.map(|row| row.added_by.id));
    }
    let workers = worker_rows::of(tx, Some(key.project)).await?;
    let works_here =
        |runner: RunnerId| workers.iter().any(|slot| slot.kind == WorkerKind::Managed && slot.runner == Some(runner));
    let now = tx.now;
    let mut best = None;
    for runner in runners::all(tx.read(), now).await? {
        let fits = people.contains(&runner.owner.id) || works_here(runner.id);
        if !runner.connected || !fits {
            continue;
        }
        let faults = faults(tx, key, runner.id).await?;
        let there =
            count(tx, "SELECT COUNT(*) AS n FROM workspaces WHERE project = $1 AND runner = $2", key, runner.id);
        let there = there.await?.min(1);
        let busy = "SELECT COUNT(*) AS n FROM merge_runs WHERE project = $1 AND runner = $2 AND state = 'open'";
        let busy = count(tx, busy, key, runner.id).await?;
        let rank = (faults, 1 - there, busy, runner.owner.id != project.owner.id, runner.id);
        if best.as_ref().is_none_or(|known| rank < *known) {
            best = Some(rank);
        }
    }
    Ok(best.map(|(.., id)| id))
}

/// How many of the last runs on a runner failed because of the machine.
async fn faults(tx: &mut Tx<'_>, key: &Key, runner: RunnerId) -> Result<u32, StoreError> {
    let sql = "SELECT COUNT(*) AS n FROM (SELECT state, detail, purpose FROM merge_runs WHERE project = $1 AND \
               runner = $2 AND state <> 'open' ORDER BY ended_at DESC LIMIT 5) x \
               WHERE x.state = 'lost' OR (x.state = 'unproven' AND x.detail IS NOT NULL)";
    count(tx, sql, key, runner).await
}

async fn count(tx: &mut Tx<'_>, sql: &str, key: &Key, runner: RunnerId) -> Result<u32, StoreError> {
    let row = tx.read().first(sql, vec![text(key.project), text(runner)]).await?;
    row.map_or(Ok(0), |row| row.count("n"))
}
