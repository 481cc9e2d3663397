//! Everything that an execution waits for and that is there now: timers, work that is over, work that can begin.

use domain::{ExecutionId, RunnerId, Timestamp};
use engine::recipes::{Event, Path, TimerKind};
use serde::Serialize;

use super::begin::{self, Began};
use super::rows::{self, ExecutionRow};
use super::{advance, over, perform, presence, work};
use crate::sql::{Row, args};
use crate::tx::Tx;
use crate::verbs::work::workers::Say;
use crate::{Command, Store, StoreError};

/// The most rounds in one transaction; the rest follows in the next.
const ROUNDS: usize = 50;
/// The most executions that one look names.
const LOOK: usize = 500;

/// Moves an execution as far as it can go now.
#[derive(Debug, Clone, Serialize)]
pub struct TendExecution {
    /// The execution.
    pub execution: ExecutionId,
    /// The connected runners.
    #[serde(skip)]
    pub connected: Vec<RunnerId>,
    /// The runners that are connected, whether they can work or not.
    #[serde(skip)]
    pub there: Vec<RunnerId>,
    /// The runners that have not been connected for some time.
    #[serde(skip)]
    pub away: Vec<RunnerId>,
}

impl Command for TendExecution {
    type Output = Vec<Say>;
    const VERB: &'static str = "execution.tend";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Say>, StoreError> {
        let Some(mut row) = rows::find(tx.read(), self.execution).await? else { return Ok(Vec::new()) };
        let mut moved = false;
        for _ in 0..ROUNDS {
            let ended = ended(tx, &mut row).await?;
            let seen = presence::see(tx, &mut row, &self.there, &self.away).await?;
            let due = timers(tx, &mut row).await?;
            let began = begun(tx, &mut row, &self.connected).await?;
            if !(due || ended || seen || began) {
                break;
            }
            moved = true;
        }
        if moved {
            advance::save(tx, &mut row).await?;
        }
        Ok(tx.take_said())
    }
}

/// Handles the timers that are due; returns whether there was one.
async fn timers(tx: &mut Tx<'_>, row: &mut ExecutionRow) -> Result<bool, StoreError> {
    let sql = "SELECT path, attempt, timer FROM execution_timers WHERE execution = $1 AND due_at <= $2 ORDER BY due_at";
    let now = tx.now;
    let due = tx.read().all(sql, args![row.id.to_string(), now]).await?;
    for timer in &due {
        let (path, attempt, kind) = (timer.text("path")?, timer.count("attempt")?, timer.text("timer")?);
        let sql = "DELETE FROM execution_timers WHERE execution = $1 AND path = $2 AND attempt = $3 AND timer = $4 \
                   AND due_at <= $5";
        tx.run(sql, args![row.id.to_string(), &path, attempt, &kind, now]).await?;
        let path = match path.as_str() {
            "" => None,
            path => Some(path.parse::<Path>().map_err(|e| StoreError::Corrupt(e.to_string()))?),
        };
        let timer = timer_of(&kind).ok_or_else(|| StoreError::Corrupt(format!("timer `{kind}`")))?;
        match (path, timer) {
            (Some(path), TimerKind::Away) => presence::lost(tx, row, path, attempt).await?,
            (path, timer) => advance::happen(tx, row, Event::Due { path, attempt, timer }, None).await?,
        }
        failpoint::pass("timer.due");
    }
    Ok(!due.is_empty())
}

/// The timer with this name.
fn timer_of(word: &str) -> Option<TimerKind> {
    let all = [TimerKind::Timeout, TimerKind::Retry, TimerKind::Wait, TimerKind::Deadline, TimerKind::Away];
    all.into_iter().find(|timer| perform::word(*timer) == word)
}

/// Handles the work that is over; returns whether there was any.
async fn ended(tx: &mut Tx<'_>, row: &mut ExecutionRow) -> Result<bool, StoreError> {
    let mut any = false;
    for one in work::open(tx.read(), row.id).await?.into_iter().filter(|one| one.state == "running") {
        if let Some(verdict) = over::verdict(tx, row, &one).await? {
            let (path, attempt) = (one.path, one.attempt);
            advance::happen(tx, row, Event::Ended { path: path.clone(), attempt, verdict }, None).await?;
            // A late end changes nothing, but it must not be found again.
            work::close(tx, row, &path, attempt, "stopped", None).await?;
            failpoint::pass("work.closed");
            any = true;
        }
    }
    Ok(any)
}

/// Begins the work that can begin; returns whether anything changed.
async fn begun(tx: &mut Tx<'_>, row: &mut ExecutionRow, connected: &[RunnerId]) -> Result<bool, StoreError> {
    let mut any = false;
    for one in work::open(tx.read(), row.id).await?.into_iter().filter(|one| one.state == "waiting") {
        match begin::begin(tx, row, &one, connected).await? {
            Began::Runs => any = true,
            Began::Waits(news) => any |= news,
            Began::Over(verdict) => {
                let (path, attempt) = (one.path, one.attempt);
                advance::happen(tx, row, Event::Ended { path, attempt, verdict }, None).await?;
                any = true;
            }
        }
    }
    Ok(any)
}

/// The executions that can move, and when to look again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DueExecutions {
    /// They can move now.
    pub now: Vec<ExecutionId>,
    /// Work of these waits for a runner, or for something else that nobody announces: the next ones in order, so that
    /// each gets its turn however many there are.
    pub waiting: Vec<ExecutionId>,
    /// The last of them, if there may be more.
    pub after: Option<ExecutionId>,
    /// The next timer.
    pub next: Option<Timestamp>,
}

impl Store {
    /// The executions that can move now, or have work that could not begin yet: the latter after this one.
    pub async fn due_executions(
        &self,
        now: Timestamp,
        after: Option<ExecutionId>,
    ) -> Result<DueExecutions, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = format!(
            "SELECT execution FROM execution_timers WHERE due_at <= $1 UNION \
             SELECT w.execution FROM execution_work w JOIN sessions s ON s.id = w.session WHERE w.state = 'running' \
             AND s.ended_at IS NOT NULL UNION \
             SELECT w.execution FROM execution_work w JOIN executions e ON e.id = w.called WHERE w.state = 'running' \
             AND e.ended_at IS NOT NULL UNION \
             SELECT w.execution FROM execution_work w JOIN landings l ON l.id = w.landing WHERE w.state = 'running' \
             AND l.state IN ('published', 'landed', 'refused') UNION \
             SELECT w.execution FROM execution_work w JOIN workers k ON k.id = w.worker WHERE w.state = 'running' \
             AND k.status = 'spent' UNION \
             SELECT w.execution FROM execution_work w WHERE w.state = 'running' AND w.kind IN ('task', 'agent') \
             AND w.tasks <> '[]' AND NOT EXISTS (SELECT 1 FROM execution_tasks x JOIN tasks t ON t.id = x.task \
             WHERE x.execution = w.execution AND x.path = w.path AND x.attempt = w.attempt \
             AND t.status NOT IN ('done', 'failed', 'cancelled')) LIMIT {LOOK}"
        );
        let ids = |rows: Vec<Row>| -> Result<Vec<ExecutionId>, StoreError> {
            rows.iter().map(|row| row.parsed("execution")).collect()
        };
        let now = ids(c.all(&sql, args![now]).await?)?;
        let sql = format!(
            "SELECT DISTINCT execution FROM execution_work WHERE state = 'waiting' AND execution > $1 ORDER BY execution \
             LIMIT {LOOK}"
        );
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let waiting = ids(c.all(&sql, args![after]).await?)?;
        let after = waiting.last().copied().filter(|_| waiting.len() == LOOK);
        let sql = "SELECT due_at FROM execution_timers ORDER BY due_at LIMIT 1";
        let next = c.first(sql, args![]).await?.map(|row| row.time("due_at")).transpose()?;
        Ok(DueExecutions { now, waiting, after, next })
    }
}
