//! Runners that are away while they work on steps: the engine gives them time to come back, and then gives the attempt
//! up.

use domain::{ExecutionId, RunnerId, SessionId, SessionStatus};
use engine::recipes::{Event, Path, TimerKind};
use protocol::{Change, SessionState};

use super::rows::{self, ExecutionRow};
use super::work::{self, WorkRow};
use super::{advance, view};
use crate::sql::{args, text};
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::work::workers::rows::tell;
use crate::{Store, StoreError};

/// Notes which runners of running attempts are away, and which are back; returns whether that is news.
pub(super) async fn see(
    tx: &mut Tx<'_>,
    row: &mut ExecutionRow,
    there: &[RunnerId],
    away: &[RunnerId],
) -> Result<bool, StoreError> {
    if there.is_empty() && away.is_empty() {
        return Ok(false);
    }
    let before = row.events;
    for one in work::open(tx.read(), row.id).await?.into_iter().filter(|one| one.state == "running") {
        let Some(session) = one.session else { continue };
        let Some((session, _)) = sessions::get(tx.read(), session).await? else { continue };
        let (path, attempt) = (one.path, one.attempt);
        let known = row.machine.steps.get(&path).is_some_and(|run| run.attempt == attempt && run.away.is_some());
        let event = match known {
            true if there.contains(&session.runner) => Event::RunnerBack { path, attempt },
            false if away.contains(&session.runner) => {
                let runner = runner_name(tx, session.runner).await?;
                Event::RunnerAway { path, attempt, runner }
            }
            _ => continue,
        };
        advance::happen(tx, row, event, None).await?;
        failpoint::pass("runner.away");
    }
    Ok(row.events > before)
}

async fn runner_name(tx: &mut Tx<'_>, runner: RunnerId) -> Result<String, StoreError> {
    let found = tx.read().first("SELECT name FROM runners WHERE id = $1", vec![text(runner)]).await?;
    Ok(found.map(|row| row.text("name")).transpose()?.unwrap_or_else(|| runner.to_string()))
}

/// The time of a runner that is away is up. The next attempt need not wait for its workspace, unless that has the work
/// of other steps.
pub(super) async fn lost(tx: &mut Tx<'_>, row: &mut ExecutionRow, path: Path, attempt: u32) -> Result<(), StoreError> {
    let open = work::open(tx.read(), row.id).await?;
    let own = open.into_iter().find(|one| one.path == path && one.attempt == attempt);
    let before = row.events;
    advance::happen(tx, row, Event::Due { path: Some(path), attempt, timer: TimerKind::Away }, None).await?;
    if let Some(own) = own.filter(|_| row.events > before) {
        leave(tx, row, &own).await?;
    }
    Ok(())
}

/// Leaves the shared workspace of a lost attempt, if no other step has worked there.
async fn leave(tx: &mut Tx<'_>, row: &mut ExecutionRow, lost: &WorkRow) -> Result<(), StoreError> {
    let Some(workspace) = row.workspace.filter(|shared| lost.workspace == Some(*shared)) else { return Ok(()) };
    let sql = "SELECT path FROM execution_work WHERE execution = $1 AND workspace = $2 AND (path <> $3 OR state = \
               'succeeded') AND state IN ('running', 'succeeded') LIMIT 1";
    let values = args![row.id.to_string(), workspace.to_string(), lost.path.to_string()];
    if tx.read().first(sql, values).await?.is_none() {
        row.workspace = None;
    }
    Ok(())
}

/// A session has ended: keeps how, if its attempt was given up before.
pub(crate) async fn ended_late(tx: &mut Tx<'_>, session: SessionId, state: &SessionState) -> Result<(), StoreError> {
    let sql = "SELECT execution, path, attempt FROM execution_work WHERE session = $1 AND late IS NULL AND state IN \
               ('failed', 'interrupted')";
    let Some(found) = tx.read().first(sql, vec![text(session)]).await? else { return Ok(()) };
    let how = match (state.status, state.code, state.signal) {
        (SessionStatus::Lost, ..) => "its session was lost".to_owned(),
        (_, Some(0), _) => "it had finished".to_owned(),
        (_, Some(code), _) => format!("it exited with {code}"),
        (_, None, Some(signal)) => format!("it ended by signal {signal}"),
        _ => "it has ended".to_owned(),
    };
    let late = format!("{how}; the result came after the attempt was given up and was not used");
    let (execution, path): (ExecutionId, String) = (found.parsed("execution")?, found.text("path")?);
    let sql = "UPDATE execution_work SET late = $1 WHERE execution = $2 AND path = $3 AND attempt = $4";
    tx.run(sql, args![late, execution.to_string(), path, found.count("attempt")?]).await?;
    let Some(mut row) = rows::find(tx.read(), execution).await? else { return Ok(()) };
    row.revision += 1;
    rows::save(tx, &row).await?;
    tell(tx, row.project, Change::Execution { execution: view::execution(&row) });
    Ok(())
}

/// Work of an execution in a session that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AtWork {
    /// The execution.
    pub execution: ExecutionId,
    /// The runner of the session.
    pub runner: RunnerId,
    /// Whether the execution knows that the runner is away.
    pub away: bool,
}

impl Store {
    /// What runners work on for executions.
    pub async fn executions_at_work(&self) -> Result<Vec<AtWork>, StoreError> {
        let sql = "SELECT w.execution, s.runner, t.due_at FROM execution_work w JOIN sessions s ON s.id = w.session \
                   LEFT JOIN execution_timers t ON t.execution = w.execution AND t.path = w.path AND t.attempt = \
                   w.attempt AND t.timer = 'away' WHERE w.state = 'running' AND s.ended_at IS NULL";
        let rows = self.readers.get().await?.borrow().all(sql, args![]).await?;
        let one = |row: &crate::sql::Row| {
            let away = row.time_or_none("due_at")?.is_some();
            Ok(AtWork { execution: row.parsed("execution")?, runner: row.parsed("runner")?, away })
        };
        rows.iter().map(one).collect()
    }
}
