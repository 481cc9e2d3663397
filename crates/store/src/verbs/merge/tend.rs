//! Runs that take too long, runners that are gone, and queues that wait for a machine or for a green tip.

use std::collections::BTreeSet;

use domain::{MergeGate, MergePurpose, MergeRunState, Timestamp};
use serde::Serialize;

use super::rows::{self, Key, RunRow};
use super::{advance, facts, perform};
use crate::sql::{Row, args, text};
use crate::tx::Tx;
use crate::verbs::runners;
use crate::verbs::work::Say;
use crate::{Command, Store, StoreError};

/// How long a runner may be away before its runs count as lost.
const AWAY_MS: i64 = 60_000;
/// How long a run may take besides its checks, and how long it may wait for its turn on its runner.
const SPARE_MS: i64 = 600_000;
const TURN_MS: i64 = 3_600_000;
/// How often the tip is looked at while it is red.
const LOOK_MS: i64 = 60_000;

/// Ends lost runs, and lets queues move that waited for time to pass or a machine to come.
#[derive(Debug, Clone, Serialize)]
pub struct TendMerges {}

impl Store {
    /// Whether a merge queue has anything to wait for.
    pub async fn merges_wait(&self) -> Result<bool, StoreError> {
        let sql = "SELECT 1 AS one FROM merge_candidates WHERE ended_at IS NULL UNION ALL \
                   SELECT 1 AS one FROM merge_runs WHERE state = 'open' UNION ALL \
                   SELECT 1 AS one FROM merge_queues WHERE gate = 'tip_red' LIMIT 1";
        Ok(self.readers.get().await?.borrow().first(sql, args![]).await?.is_some())
    }
}

impl Command for TendMerges {
    type Output = Vec<Say>;
    const VERB: &'static str = "merge.tend";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Vec<Say>, StoreError> {
        let now = tx.now;
        let there = runners::all(tx.read(), now).await?;
        let mut moved = BTreeSet::new();
        for run in rows::all_open(tx.read()).await? {
            let runner = there.iter().find(|runner| runner.id == run.runner);
            let seen = runner.and_then(|runner| runner.last_seen_at);
            let away = !runner.is_some_and(|runner| runner.connected) && late(&run, seen, AWAY_MS, now);
            if away || (overdue(&run, now) && !asks(tx, &run).await?) {
                lose(tx, &run).await?;
                moved.insert(run.key);
            }
        }
        for key in idle(tx).await? {
            if tend(tx, &key).await? {
                moved.insert(key);
            }
        }
        for key in moved {
            advance::advance(tx, &key).await?;
        }
        Ok(tx.take_said())
    }
}

/// Whether nothing was heard of a run for this long.
fn late(run: &RunRow, seen: Option<Timestamp>, ms: i64, now: Timestamp) -> bool {
    let last = run.began_at.unwrap_or(run.created_at).max(seen.unwrap_or(run.created_at));
    last.plus_millis(ms) < now
}

fn overdue(run: &RunRow, now: Timestamp) -> bool {
    let checks: i64 = run.checks.iter().map(|check| i64::from(check.seconds) * 1000).sum();
    match run.began_at {
        Some(began) => began.plus_millis(checks + SPARE_MS) < now,
        None => run.created_at.plus_millis(checks + TURN_MS) < now,
    }
}

/// Whether a run waits for its runner's owner.
async fn asks(tx: &mut Tx<'_>, run: &RunRow) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM approvals WHERE subject = $1 AND answer IS NULL";
    Ok(tx.read().first(sql, vec![text(run.id)]).await?.is_some())
}

async fn lose(tx: &mut Tx<'_>, run: &RunRow) -> Result<(), StoreError> {
    perform::end_run(tx, run.id, MergeRunState::Lost).await?;
    let mut queue = rows::make_queue(tx, &run.key).await?;
    if run.purpose == MergePurpose::Land {
        // Only that runner has the commit: the stack is tested again elsewhere. If the push went through after all, the
        // branches are found in the target branch.
        if let Some(tested) = run.tested {
            perform::withdraw(tx, tested).await?;
        }
        queue.tip = None;
    }
    let now = tx.now;
    facts::after(&mut queue, Some("its runner did not answer"), now);
    rows::save_queue(tx, &queue).await
}

/// The queues without an open run that may move now.
async fn idle(tx: &mut Tx<'_>) -> Result<Vec<Key>, StoreError> {
    let sql = "SELECT q.project, q.target FROM merge_queues q WHERE q.gate <> 'paused' AND q.retry_at <= $1 AND \
               (q.gate = 'tip_red' OR EXISTS (SELECT 1 FROM merge_candidates c WHERE c.project = q.project AND \
               c.target = q.target AND c.ended_at IS NULL)) AND NOT EXISTS (SELECT 1 FROM merge_runs r WHERE \
               r.project = q.project AND r.target = q.target AND r.state = 'open') ORDER BY q.project, q.target";
    let read = |row: &Row| Ok(Key { project: row.parsed("project")?, target: row.text("target")? });
    let now = tx.now;
    tx.read().all(sql, args![now]).await?.iter().map(read).collect()
}

/// Lets a queue move, and looks at a red tip from time to time; returns whether anything was done.
async fn tend(tx: &mut Tx<'_>, key: &Key) -> Result<bool, StoreError> {
    let moved = advance::step(tx, key).await?;
    let frozen = rows::find_queue(tx.read(), key).await?.is_some_and(|queue| queue.gate == MergeGate::TipRed);
    if !frozen || !rows::open_runs(tx.read(), key).await?.is_empty() || looked(tx, key).await? {
        return Ok(moved);
    }
    perform::look(tx, key).await.map(|began| moved || began)
}

/// Whether the tip was looked at a short time ago.
async fn looked(tx: &mut Tx<'_>, key: &Key) -> Result<bool, StoreError> {
    let sql = "SELECT MAX(created_at) AS last FROM merge_runs WHERE project = $1 AND target = $2";
    let last =
        tx.read().first(sql, key.args()).await?.and_then(|row| row.time_or_none("last").transpose()).transpose()?;
    Ok(last.is_some_and(|last| last.plus_millis(LOOK_MS) > tx.now))
}
