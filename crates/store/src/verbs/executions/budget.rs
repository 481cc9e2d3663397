//! Budgets of steps: a session that has cost what its profile allows is stopped, and its attempt fails.

use domain::{SessionId, WorkerStatus};
use engine::workers::budget::{Purse, must_stop};
use protocol::{Session, Usage};

use super::work::WorkRow;
use crate::StoreError;
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::work::workers::rows::get;

/// How the reason of an attempt begins whose budget is spent.
const SPENT: &str = "its budget is spent: ";

/// Stops the session of a step before it exceeds its budget.
pub(crate) async fn used(tx: &mut Tx<'_>, before: &Session, now: &Usage) -> Result<(), StoreError> {
    let Some(spent) = now.cost_micros.filter(|spent| *spent > 0 && !before.state.ended()) else { return Ok(()) };
    let sql = "SELECT budget_micros FROM execution_work WHERE session = $1 AND state = 'running'";
    let row = tx.read().first(sql, vec![text(before.id)]).await?;
    let Some(limit) = row.map(|row| row.integer_or_none("budget_micros")).transpose()?.flatten() else {
        return Ok(());
    };
    // The first cost may cover the whole session: it does not predict the next step.
    let step = before.usage.cost_micros.filter(|cost| *cost > 0).map(|cost| spent.saturating_sub(cost));
    let purse = Purse { limit: Some(limit.cast_unsigned()), spent, promised: 0 };
    match must_stop(purse, step) {
        Some(why) => stop(tx, before.id, &why).await,
        None => Ok(()),
    }
}

async fn stop(tx: &mut Tx<'_>, session: SessionId, why: &str) -> Result<(), StoreError> {
    let sql = "UPDATE execution_work SET reason = $1 WHERE session = $2 AND state = 'running'";
    tx.run(sql, args![format!("{SPENT}{why}"), session.to_string()]).await?;
    sessions::ask_any_to_stop(tx, session, false).await
}

/// Why the work of an attempt must not go on: the budget of its session or of its worker is spent.
pub(super) async fn spent(tx: &mut Tx<'_>, work: &WorkRow) -> Result<Option<String>, StoreError> {
    if let Some(reason) = work.reason.as_ref().filter(|reason| reason.starts_with(SPENT)) {
        return Ok(Some(reason.clone()));
    }
    let Some(worker) = work.worker else { return Ok(None) };
    let slot = get(tx, worker).await?.filter(|slot| slot.status == WorkerStatus::Spent);
    Ok(slot.map(|slot| format!("{SPENT}{}", slot.reason.as_deref().unwrap_or("its worker may cost no more"))))
}
