//! The rows of queues, candidates and runs.

use domain::{
    ActivityId, CandidateId, CandidateState, MergeGate, MergePurpose, MergeRunId, MergeRunState, ProjectId, RunnerId,
    TaskId, Timestamp,
};
use engine::merge::Rates;
use protocol::link::{MergeCheck, MergeLand, MergeTest};
use protocol::{FlakyCheck, UserRef};
use serde::{Deserialize, Serialize};

use crate::StoreError;
use crate::sql::{Connection, Row, Value, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::users;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::json_or_none;

/// Names a queue.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) project: ProjectId,
    pub(crate) target: String,
}

impl Key {
    pub(super) fn args(&self) -> Vec<Value> {
        args![self.project.to_string(), &self.target]
    }
}

/// A queue, without its branches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct QueueRow {
    pub(super) key: Key,
    pub(super) gate: MergeGate,
    pub(super) reason: Option<String>,
    pub(super) tip: Option<String>,
    pub(super) rates: Rates,
    /// The checks that were red without a cause.
    pub(super) flaky_checks: Vec<FlakyCheck>,
    pub(super) check_ms: Option<u64>,
    pub(super) faults: u32,
    pub(super) retry_at: Timestamp,
}

/// How many checks are counted as flaky at most.
const FLAKY_CHECKS: usize = 20;

impl QueueRow {
    /// Counts a check that was red without a cause.
    pub(super) fn flaked(&mut self, check: Option<&MergeCheck>) {
        let Some(check) = check else { return };
        if let Some(known) = self.flaky_checks.iter_mut().find(|known| known.argv == check.argv) {
            known.runs += 1;
        } else if self.flaky_checks.len() < FLAKY_CHECKS {
            self.flaky_checks.push(FlakyCheck { argv: check.argv.clone(), runs: 1 });
        }
    }
}

/// A branch in a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StackMember {
    pub(super) candidate: CandidateId,
    pub(super) head: Option<String>,
}

/// A branch of a queue.
#[derive(Debug, Clone)]
pub(super) struct CandidateRow {
    pub(super) id: CandidateId,
    pub(super) key: Key,
    pub(super) branch: String,
    pub(super) title: String,
    pub(super) task: Option<TaskId>,
    pub(super) activity: Option<ActivityId>,
    pub(super) priority: u8,
    pub(super) after: Vec<CandidateId>,
    pub(super) fix: bool,
    pub(super) state: CandidateState,
    pub(super) reason: Option<String>,
    pub(super) run: Option<MergeRunId>,
    pub(super) head: Option<String>,
    /// Whether only that commit may land: a landing added it, with work that was accepted.
    pub(super) pinned: bool,
    pub(super) paths: Vec<String>,
    pub(super) confirmed: bool,
    pub(super) landed: Option<String>,
    pub(super) runs: u32,
    pub(super) cost_ms: u64,
    pub(super) added_by: UserRef,
    pub(super) by_agent: bool,
    pub(super) added_at: Timestamp,
    pub(super) ended_at: Option<Timestamp>,
}

/// A run of a queue.
#[derive(Debug, Clone)]
pub(super) struct RunRow {
    pub(super) id: MergeRunId,
    pub(super) key: Key,
    pub(super) purpose: MergePurpose,
    pub(super) state: MergeRunState,
    pub(super) runner: RunnerId,
    pub(super) base: Option<String>,
    pub(super) stack: Vec<StackMember>,
    pub(super) checks: Vec<MergeCheck>,
    pub(super) tested: Option<MergeRunId>,
    pub(super) top: Option<String>,
    pub(super) result: Option<Report>,
    pub(super) detail: Option<String>,
    pub(super) created_at: Timestamp,
    pub(super) began_at: Option<Timestamp>,
    pub(super) ended_at: Option<Timestamp>,
}

/// What a runner reported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub(super) enum Report {
    /// Of a test.
    Test(MergeTest),
    /// Of a push.
    Land(MergeLand),
}

const QUEUES: &str = "SELECT project, target, gate, reason, tip, landed, failed, runs, flaky, flaky_checks, check_ms, faults, \
    retry_at FROM merge_queues";
const CANDIDATES: &str = "SELECT c.id, c.project, c.target, c.branch, c.title, c.task, c.activity, c.priority, c.deps, \
    c.fix, c.state, c.reason, c.run, c.head, c.paths, c.confirmed, c.landed, c.runs, c.cost_ms, c.added_by, \
    CAST(CASE WHEN EXISTS (SELECT 1 FROM landings l WHERE l.candidate = c.id) THEN 1 ELSE 0 END AS BIGINT) AS pinned, \
    u.name AS added_by_name, c.by_agent, c.added_at, c.ended_at FROM merge_candidates c JOIN users u ON u.id = c.added_by";
const RUNS: &str = "SELECT r.id, r.project, r.target, r.purpose, r.state, r.runner, r.base, r.stack, r.checks, r.tested, \
    r.top, r.result, r.detail, r.created_at, r.began_at, r.ended_at FROM merge_runs r";

fn key(row: &Row) -> Result<Key, StoreError> {
    Ok(Key { project: row.parsed("project")?, target: row.text("target")? })
}

fn queue(row: &Row) -> Result<QueueRow, StoreError> {
    let rates = Rates {
        landed: row.count("landed")?,
        failed: row.count("failed")?,
        runs: row.count("runs")?,
        flaky: row.count("flaky")?,
    };
    Ok(QueueRow {
        key: key(row)?,
        gate: row.parsed("gate")?,
        reason: row.text_or_none("reason")?,
        tip: row.text_or_none("tip")?,
        rates,
        flaky_checks: row.json("flaky_checks")?,
        check_ms: row.integer_or_none("check_ms")?.map(i64::cast_unsigned),
        faults: row.count("faults")?,
        retry_at: row.time("retry_at")?,
    })
}

fn candidate(row: &Row) -> Result<CandidateRow, StoreError> {
    Ok(CandidateRow {
        id: row.parsed("id")?,
        key: key(row)?,
        branch: row.text("branch")?,
        title: row.text("title")?,
        task: id_or_none(row, "task")?,
        activity: id_or_none(row, "activity")?,
        priority: u8::try_from(row.count("priority")?).unwrap_or(0),
        after: row.json("deps")?,
        fix: row.flag("fix")?,
        state: row.parsed("state")?,
        reason: row.text_or_none("reason")?,
        run: id_or_none(row, "run")?,
        head: row.text_or_none("head")?,
        pinned: row.flag("pinned")?,
        paths: row.json("paths")?,
        confirmed: row.flag("confirmed")?,
        landed: row.text_or_none("landed")?,
        runs: row.count("runs")?,
        cost_ms: row.integer("cost_ms")?.cast_unsigned(),
        added_by: users::reference(row, "added_by")?,
        by_agent: row.flag("by_agent")?,
        added_at: row.time("added_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

fn run(row: &Row) -> Result<RunRow, StoreError> {
    Ok(RunRow {
        id: row.parsed("id")?,
        key: key(row)?,
        purpose: row.parsed("purpose")?,
        state: row.parsed("state")?,
        runner: row.parsed("runner")?,
        base: row.text_or_none("base")?,
        stack: row.json("stack")?,
        checks: row.json("checks")?,
        tested: id_or_none(row, "tested")?,
        top: row.text_or_none("top")?,
        result: json_or_none(row, "result")?,
        detail: row.text_or_none("detail")?,
        created_at: row.time("created_at")?,
        began_at: row.time_or_none("began_at")?,
        ended_at: row.time_or_none("ended_at")?,
    })
}

/// A queue; `None` if nothing was ever added to it.
pub(super) async fn find_queue(c: &mut Connection<'_>, key: &Key) -> Result<Option<QueueRow>, StoreError> {
    let sql = format!("{QUEUES} WHERE project = $1 AND target = $2");
    c.first(&sql, key.args()).await?.as_ref().map(queue).transpose()
}

/// The queues of a project.
pub(super) async fn queues(c: &mut Connection<'_>, project: ProjectId) -> Result<Vec<QueueRow>, StoreError> {
    let sql = format!("{QUEUES} WHERE project = $1 ORDER BY target");
    c.all(&sql, vec![text(project)]).await?.iter().map(queue).collect()
}

/// The queues that are stopped or hold branches: those of one project, or all.
pub(super) async fn not_idle(c: &mut Connection<'_>, only: Option<ProjectId>) -> Result<Vec<Key>, StoreError> {
    let filter = if only.is_some() { "AND q.project = $1" } else { "" };
    let sql = format!(
        "SELECT q.project, q.target FROM merge_queues q WHERE (q.gate <> 'open' OR EXISTS (SELECT 1 FROM \
         merge_candidates m WHERE m.project = q.project AND m.target = q.target AND m.ended_at IS NULL)) {filter} \
         ORDER BY q.project, q.target"
    );
    let key = |row: &Row| Ok(Key { project: row.parsed("project")?, target: row.text("target")? });
    c.all(&sql, only.map(text).into_iter().collect()).await?.iter().map(key).collect()
}

/// A queue, made if it does not exist.
pub(super) async fn make_queue(tx: &mut Tx<'_>, key: &Key) -> Result<QueueRow, StoreError> {
    if let Some(found) = find_queue(tx.read(), key).await? {
        return Ok(found);
    }
    let sql = "INSERT INTO merge_queues (project, target, gate, landed, failed, runs, flaky, flaky_checks, faults, \
               retry_at) VALUES ($1, $2, $3, 0, 0, 0, 0, '[]', 0, 0)";
    tx.run(sql, args![key.project.to_string(), &key.target, MergeGate::Open.word()]).await?;
    find_queue(tx.read(), key).await?.ok_or_else(|| StoreError::Corrupt("the queue was not made".into()))
}

/// Writes what can change of a queue.
pub(super) async fn save_queue(tx: &mut Tx<'_>, queue: &QueueRow) -> Result<(), StoreError> {
    let sql = "UPDATE merge_queues SET gate = $3, reason = $4, tip = $5, landed = $6, failed = $7, runs = $8, flaky = $9, \
               check_ms = $10, faults = $11, retry_at = $12, flaky_checks = $13 WHERE project = $1 AND target = $2";
    let mut values = queue.key.args();
    values.extend(args![
        queue.gate.word(),
        queue.reason.clone(),
        queue.tip.clone(),
        queue.rates.landed,
        queue.rates.failed,
        queue.rates.runs,
        queue.rates.flaky,
        queue.check_ms.map(u64::cast_signed),
        queue.faults,
        queue.retry_at,
        to_json(&queue.flaky_checks),
    ]);
    tx.run(sql, values).await?;
    Ok(())
}

/// A branch.
pub(super) async fn find_candidate(
    c: &mut Connection<'_>,
    id: CandidateId,
) -> Result<Option<CandidateRow>, StoreError> {
    c.first(&format!("{CANDIDATES} WHERE c.id = $1"), vec![text(id)]).await?.as_ref().map(candidate).transpose()
}

/// What became of a branch that others build on.
pub(super) enum Successor {
    /// It is in the target branch.
    Landed,
    /// The branch waits, perhaps because it was added again.
    Waits(CandidateId),
    /// It left without landing.
    Left,
}

/// What became of a candidate: the newest one of the same branch counts, if it did not land itself.
pub(super) async fn successor(c: &mut Connection<'_>, id: CandidateId) -> Result<Successor, StoreError> {
    let sql = "SELECT c.state, n.id AS newest, n.state AS newest_state FROM merge_candidates c \
               JOIN merge_candidates n ON n.project = c.project AND n.target = c.target AND n.branch = c.branch \
               WHERE c.id = $1 ORDER BY n.added_at DESC, n.id DESC LIMIT 1";
    let Some(row) = c.first(sql, vec![text(id)]).await? else { return Ok(Successor::Left) };
    let landed = CandidateState::Landed.word();
    let newest: CandidateState = row.parsed("newest_state")?;
    Ok(match newest {
        _ if row.text("state")? == landed => Successor::Landed,
        CandidateState::Landed => Successor::Landed,
        CandidateState::Ejected | CandidateState::Removed => Successor::Left,
        _ => Successor::Waits(row.parsed("newest")?),
    })
}

/// The branches of a queue that have not left it, oldest first.
pub(super) async fn waiting(c: &mut Connection<'_>, key: &Key) -> Result<Vec<CandidateRow>, StoreError> {
    let sql =
        format!("{CANDIDATES} WHERE c.project = $1 AND c.target = $2 AND c.ended_at IS NULL ORDER BY c.added_at, c.id");
    c.all(&sql, key.args()).await?.iter().map(candidate).collect()
}

/// The branches of a project that have left its queues, newest first.
pub(super) async fn ended(
    c: &mut Connection<'_>,
    project: ProjectId,
    limit: u32,
) -> Result<Vec<CandidateRow>, StoreError> {
    let sql = format!(
        "{CANDIDATES} WHERE c.project = $1 AND c.ended_at IS NOT NULL ORDER BY c.ended_at DESC, c.id DESC LIMIT {limit}"
    );
    c.all(&sql, vec![text(project)]).await?.iter().map(candidate).collect()
}

/// A run.
pub(super) async fn find_run(c: &mut Connection<'_>, id: MergeRunId) -> Result<Option<RunRow>, StoreError> {
    c.first(&format!("{RUNS} WHERE r.id = $1"), vec![text(id)]).await?.as_ref().map(run).transpose()
}

/// The newest run of a commit that ended like this.
pub(super) async fn run_of_commit(
    c: &mut Connection<'_>,
    key: &Key,
    commit: &str,
    state: MergeRunState,
) -> Result<Option<RunRow>, StoreError> {
    let sql = format!(
        "{RUNS} WHERE r.project = $1 AND r.target = $2 AND r.top = $3 AND r.state = $4 ORDER BY r.number DESC LIMIT 1"
    );
    let mut values = key.args();
    values.extend(args![commit, state.word()]);
    c.first(&sql, values).await?.as_ref().map(run).transpose()
}

/// The open runs of a queue, oldest first.
pub(super) async fn open_runs(c: &mut Connection<'_>, key: &Key) -> Result<Vec<RunRow>, StoreError> {
    let sql = format!("{RUNS} WHERE r.project = $1 AND r.target = $2 AND r.state = 'open' ORDER BY r.created_at, r.id");
    c.all(&sql, key.args()).await?.iter().map(run).collect()
}

/// The open runs of a runner, oldest first.
pub(super) async fn open_on(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<RunRow>, StoreError> {
    let sql = format!("{RUNS} WHERE r.runner = $1 AND r.state = 'open' ORDER BY r.created_at, r.id");
    c.all(&sql, vec![text(runner)]).await?.iter().map(run).collect()
}

/// Every open run.
pub(super) async fn all_open(c: &mut Connection<'_>) -> Result<Vec<RunRow>, StoreError> {
    c.all(&format!("{RUNS} WHERE r.state = 'open' ORDER BY r.created_at, r.id"), args![])
        .await?
        .iter()
        .map(run)
        .collect()
}

/// The newest runs of a branch, newest first.
pub(super) async fn runs_of(c: &mut Connection<'_>, id: CandidateId) -> Result<Vec<RunRow>, StoreError> {
    let sql = format!(
        "{RUNS} JOIN merge_members m ON m.run = r.id WHERE m.candidate = $1 ORDER BY r.created_at DESC, r.id DESC LIMIT 50"
    );
    c.all(&sql, vec![text(id)]).await?.iter().map(run).collect()
}

/// The finished tests of a queue that may still say something, in the order of their results: those of its branches, and
/// those of the tip.
pub(super) async fn tests(c: &mut Connection<'_>, queue: &QueueRow) -> Result<Vec<RunRow>, StoreError> {
    let sql = format!(
        "{RUNS} WHERE r.project = $1 AND r.target = $2 AND r.state IN ('green', 'red', 'unproven') AND (r.top = $3 OR \
         r.id IN (SELECT m.run FROM merge_members m JOIN merge_candidates k ON k.id = m.candidate \
         WHERE k.project = $1 AND k.target = $2 AND k.ended_at IS NULL)) ORDER BY r.number"
    );
    let mut values = queue.key.args();
    values.push(queue.tip.clone().unwrap_or_default().into());
    c.all(&sql, values).await?.iter().map(run).collect()
}

/// What landed last through a queue, oldest first.
pub(super) async fn landings(c: &mut Connection<'_>, key: &Key) -> Result<Vec<RunRow>, StoreError> {
    let sql =
        format!("{RUNS} WHERE r.project = $1 AND r.target = $2 AND r.state = 'landed' ORDER BY r.number DESC LIMIT 50");
    let mut found: Vec<RunRow> = c.all(&sql, key.args()).await?.iter().map(run).collect::<Result<_, _>>()?;
    found.reverse();
    Ok(found)
}
