//! What runners report about merge runs. A run has one result: only the first counts, and only from its runner.

use domain::text::plain;
use domain::{CandidateState, CheckOutcome, LandOutcome, MergeGate, MergePurpose, MergeRunId, MergeRunState, RunnerId};
use protocol::link::{
    LevelBuilt, MAX_MERGE_CANDIDATES, MAX_MERGE_LOG, MAX_MERGE_PATHS, MergeLand, MergeLevel, MergeTest,
};

use super::rows::{self, QueueRow, Report, RunRow};
use super::{advance, perform, view};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::approvals;

/// The longest text that a runner says about itself.
const WORDS: usize = 2_000;
/// The wait after a fault of a machine, doubled with each one in a row, and its maximum.
const RETRY_MS: i64 = 5_000;
const MOST_RETRY_MS: i64 = 300_000;
/// How many faults in a row pause a queue.
const FAULTS: u32 = 8;

/// A runner has begun.
pub(crate) async fn began(tx: &mut Tx<'_>, runner: RunnerId, run: MergeRunId) -> Result<(), StoreError> {
    let Some(row) = open(tx, runner, run).await? else { return Ok(()) };
    let sql = "UPDATE merge_runs SET began_at = COALESCE(began_at, $1) WHERE id = $2";
    tx.run(sql, args![tx.now, run.to_string()]).await?;
    advance::announce(tx, &row.key).await
}

/// A stack was built and checked, or could not be.
pub(crate) async fn tested(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    run: MergeRunId,
    test: &MergeTest,
) -> Result<(), StoreError> {
    let Some(mut row) = open(tx, runner, run).await?.filter(|row| row.purpose != MergePurpose::Land) else {
        return Ok(());
    };
    let test = bounded(test);
    let (state, fault) = judged(&row, &test);
    let mut queue = rows::make_queue(tx, &row.key).await?;
    if fault.is_none() {
        queue.tip.clone_from(&test.base);
        if test.base.is_none() {
            (queue.gate, queue.reason) = (MergeGate::Paused, Some(no_branch(&row.key.target)));
        }
    }
    heads(tx, &mut row, &test).await?;
    let top = match row.stack.len() {
        0 => test.base.clone(),
        more => test.levels.get(more - 1).and_then(commit),
    };
    let took = test.checks.iter().map(|check| check.duration_ms).sum::<u64>();
    let flaky = contradicted(tx, &row, top.as_deref(), state).await?;
    if let Some(opposite) = &flaky {
        let red = match state {
            MergeRunState::Red => view::failing(&row.checks, &test),
            _ => view::failed(opposite).map(|(check, _)| check),
        };
        queue.flaked(red);
    }
    row.state = state;
    end(tx, &row, top, Report::Test(test), fault.clone()).await?;
    charge(tx, &row, took).await?;
    if matches!(state, MergeRunState::Green | MergeRunState::Red) {
        queue.rates.runs += 1;
        queue.rates.flaky += u32::from(flaky.is_some());
    }
    if state == MergeRunState::Green && took > 0 {
        queue.check_ms = Some(queue.check_ms.map_or(took, |before| (before * 3 + took) / 4));
    }
    after(&mut queue, fault.as_deref(), tx.now);
    rows::save_queue(tx, &queue).await?;
    advance::advance(tx, &row.key).await
}

/// A tested commit was pushed, or could not be.
pub(crate) async fn landed(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    run: MergeRunId,
    land: &MergeLand,
) -> Result<(), StoreError> {
    let Some(mut row) = open(tx, runner, run).await?.filter(|row| row.purpose == MergePurpose::Land) else {
        return Ok(());
    };
    let detail = plain(&land.detail, WORDS);
    let mut queue = rows::make_queue(tx, &row.key).await?;
    let mut fault = None;
    row.state = MergeRunState::NotLanded;
    match land.outcome {
        LandOutcome::Landed => {
            row.state = MergeRunState::Landed;
            queue.tip.clone_from(&row.top);
            queue.rates.landed += u32::try_from(row.stack.len()).unwrap_or(0);
        }
        LandOutcome::BaseMoved => queue.tip = land.tip.as_deref().map(|tip| plain(tip, 64)),
        LandOutcome::Protected | LandOutcome::Refused | LandOutcome::CheckedOutDirty => {
            let reason = format!("`{}` was not updated: {}: {detail}", row.key.target, land.outcome.meaning());
            (queue.gate, queue.reason) = (MergeGate::Paused, Some(reason));
        }
        LandOutcome::Infrastructure => fault = Some(detail.clone()),
    }
    let top = row.top.clone();
    end(tx, &row, top.clone(), Report::Land(MergeLand { detail: detail.clone(), ..land.clone() }), Some(detail))
        .await?;
    if row.state == MergeRunState::Landed {
        for member in &row.stack {
            if let Some(mut candidate) = rows::find_candidate(tx.read(), member.candidate).await? {
                candidate.landed.clone_from(&top);
                perform::leave(tx, candidate, CandidateState::Landed, None, row.tested).await?;
            }
        }
    }
    after(&mut queue, fault.as_deref(), tx.now);
    rows::save_queue(tx, &queue).await?;
    advance::advance(tx, &row.key).await
}

/// A run of this runner that is still open.
async fn open(tx: &mut Tx<'_>, runner: RunnerId, run: MergeRunId) -> Result<Option<RunRow>, StoreError> {
    let row = rows::find_run(tx.read(), run).await?;
    Ok(row.filter(|row| row.runner == runner && row.state == MergeRunState::Open))
}

/// What a test says, and the fault of the machine, if it had one.
fn judged(row: &RunRow, test: &MergeTest) -> (MergeRunState, Option<String>) {
    if let Some(trouble) = &test.trouble {
        return (MergeRunState::Unproven, Some(trouble.clone()));
    }
    let outcome = |wanted: CheckOutcome| test.checks.iter().any(|check| check.outcome == wanted);
    let built = test.levels.len() == row.stack.len() && test.levels.iter().all(|level| commit(level).is_some());
    let expected = row.base.is_none() || test.base == row.base;
    if row.purpose == MergePurpose::Look || !built || !expected || test.base.is_none() {
        return (MergeRunState::Unproven, None);
    }
    if outcome(CheckOutcome::Infrastructure) {
        return (MergeRunState::Unproven, Some("the machine could not run a check".to_owned()));
    }
    if outcome(CheckOutcome::Failed) || outcome(CheckOutcome::TimedOut) {
        return (MergeRunState::Red, None);
    }
    let passed =
        test.checks.len() == row.checks.len() && test.checks.iter().all(|check| check.outcome == CheckOutcome::Passed);
    match passed {
        true => (MergeRunState::Green, None),
        false => (MergeRunState::Unproven, Some("the runner did not report every check".to_owned())),
    }
}

fn commit(level: &MergeLevel) -> Option<String> {
    match &level.built {
        LevelBuilt::Merged { commit, .. } => Some(commit.clone()),
        _ => None,
    }
}

/// Stores where the branches are, and what they change.
async fn heads(tx: &mut Tx<'_>, row: &mut RunRow, test: &MergeTest) -> Result<(), StoreError> {
    for (member, level) in row.stack.iter_mut().zip(&test.levels) {
        if level.candidate != member.candidate {
            continue;
        }
        let moved = matches!(level.built, LevelBuilt::Moved);
        if let LevelBuilt::Merged { paths, .. } = &level.built {
            let sql = "UPDATE merge_candidates SET paths = $1 WHERE id = $2";
            tx.run(sql, args![to_json(paths), member.candidate.to_string()]).await?;
        }
        // A branch that was pushed to starts over with its new commit, unless its work was accepted at another one; a
        // missing one is recognised by having none.
        let head = level.head.clone().unwrap_or_else(|| "missing".to_owned());
        if member.head.is_none() || moved {
            let sql = "UPDATE merge_candidates SET head = $1 WHERE id = $2 AND NOT EXISTS \
                       (SELECT 1 FROM landings l WHERE l.candidate = $2)";
            tx.run(sql, args![&head, member.candidate.to_string()]).await?;
        }
        if !moved {
            member.head.get_or_insert(head);
        }
    }
    Ok(())
}

/// The newest run of the same commit that said the opposite.
async fn contradicted(
    tx: &mut Tx<'_>,
    row: &RunRow,
    top: Option<&str>,
    state: MergeRunState,
) -> Result<Option<RunRow>, StoreError> {
    let opposite = match state {
        MergeRunState::Green => MergeRunState::Red,
        MergeRunState::Red => MergeRunState::Green,
        _ => return Ok(None),
    };
    rows::run_of_commit(tx.read(), &row.key, top.unwrap_or_default(), opposite).await
}

/// Ends a run with its result, as the next one of its queue.
async fn end(
    tx: &mut Tx<'_>,
    row: &RunRow,
    top: Option<String>,
    report: Report,
    detail: Option<String>,
) -> Result<(), StoreError> {
    let sql = "SELECT COALESCE(MAX(number), 0) AS last FROM merge_runs WHERE project = $1 AND target = $2";
    let last = tx.read().first(sql, row.key.args()).await?.map_or(Ok(0), |row| row.integer("last"))?;
    let sql = "UPDATE merge_runs SET state = $1, number = $2, stack = $3, top = $4, result = $5, detail = $6, \
               ended_at = $7 WHERE id = $8";
    let values = args![
        row.state.word(),
        last + 1,
        to_json(&row.stack),
        top,
        to_json(&report),
        detail,
        tx.now,
        row.id.to_string(),
    ];
    tx.run(sql, values).await?;
    approvals::over(tx, row.id).await?;
    tx.desire(row.runner).await
}

/// Shares the time of a run among its branches.
async fn charge(tx: &mut Tx<'_>, row: &RunRow, took: u64) -> Result<(), StoreError> {
    if row.purpose == MergePurpose::Look {
        return Ok(());
    }
    let share = took / u64::try_from(row.stack.len().max(1)).unwrap_or(1);
    for member in &row.stack {
        let sql = "UPDATE merge_candidates SET runs = runs + 1, cost_ms = cost_ms + $1 WHERE id = $2";
        tx.run(sql, vec![share.into(), text(member.candidate)]).await?;
    }
    Ok(())
}

/// Counts faults of machines, and waits longer after each.
pub(super) fn after(queue: &mut QueueRow, fault: Option<&str>, now: domain::Timestamp) {
    let Some(fault) = fault else {
        (queue.faults, queue.retry_at) = (0, domain::Timestamp::from_millis(0));
        return;
    };
    queue.faults += 1;
    let wait = RETRY_MS.saturating_mul(1 << queue.faults.min(10)).min(MOST_RETRY_MS);
    queue.retry_at = now.plus_millis(wait);
    queue.reason = Some(format!("the last run could not finish and will be retried: {fault}"));
    if queue.faults >= FAULTS && queue.gate == MergeGate::Open {
        queue.gate = MergeGate::Paused;
        queue.reason = Some(format!("{FAULTS} runs in a row could not finish: {fault}"));
    }
}

fn no_branch(target: &str) -> String {
    format!("the repository has no branch `{target}`: make it, or name another with --target")
}

/// A report within the bounds of the protocol.
fn bounded(test: &MergeTest) -> MergeTest {
    let mut test = test.clone();
    test.base = test.base.map(|commit| plain(&commit, 64));
    test.trouble = test.trouble.map(|trouble| plain(&trouble, WORDS));
    test.levels.truncate(MAX_MERGE_CANDIDATES);
    for level in &mut test.levels {
        level.head = level.head.as_deref().map(|commit| plain(commit, 64));
        match &mut level.built {
            LevelBuilt::Merged { commit, tree, paths, differs } => {
                (*commit, *tree) = (plain(commit, 64), plain(tree, 64));
                cut(paths);
                cut(differs);
            }
            LevelBuilt::Conflict { paths, sides, .. } => {
                cut(paths);
                *sides = plain(sides, MAX_MERGE_LOG);
            }
            LevelBuilt::Contained | LevelBuilt::Moved | LevelBuilt::Missing => {}
        }
    }
    test.checks.truncate(super::settings::MAX_CHECKS);
    test.checks.iter_mut().for_each(|check| check.log = plain(&check.log, MAX_MERGE_LOG));
    test
}

fn cut(paths: &mut Vec<String>) {
    paths.truncate(MAX_MERGE_PATHS);
    paths.iter_mut().for_each(|path| *path = plain(&path.replace('\n', " "), 1024));
}
