//! Activities that tasks started: each ends with its last task and session. Activities of people are left alone.

use domain::{ActivityId, ActivityStatus};

use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::activities;
use crate::{Caller, StoreError};

/// Records that a task started an activity.
pub(crate) async fn began(tx: &mut Tx<'_>, activity: ActivityId) -> Result<(), StoreError> {
    tx.run("UPDATE activities SET by_task = 1 WHERE id = $1", vec![text(activity)]).await.map(|_| ())
}

/// Ends an activity that a task started, once nothing of it is open: completed if a task was done, abandoned otherwise.
/// An activity that is not active keeps its status.
pub(crate) async fn look(tx: &mut Tx<'_>, activity: ActivityId) -> Result<(), StoreError> {
    let sql = "SELECT id FROM activities WHERE id = $1 AND by_task = 1 AND status = 'active'";
    if tx.read().first(sql, vec![text(activity)]).await?.is_none() {
        return Ok(());
    }
    let sql = "SELECT (SELECT COUNT(*) FROM sessions WHERE activity = $1 AND ended_at IS NULL) AS live, \
               (SELECT COUNT(*) FROM tasks WHERE activity = $1 AND status NOT IN ('done', 'failed', 'cancelled')) AS \
               open_tasks, (SELECT COUNT(*) FROM tasks WHERE activity = $1 AND status = 'done') AS done";
    let Some(left) = tx.read().first(sql, args![activity.to_string()]).await? else { return Ok(()) };
    if left.count("live")? > 0 || left.count("open_tasks")? > 0 {
        return Ok(());
    }
    let (status, why) = match left.count("done")? {
        0 => (ActivityStatus::Abandoned, "its tasks were given up"),
        _ => (ActivityStatus::Completed, "its tasks are done"),
    };
    activities::turn(&mut tx.acting(&Caller::hub("worker")), activity, status, why).await.map(|_| ())
}
