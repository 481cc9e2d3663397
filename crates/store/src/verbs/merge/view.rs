//! Queues, candidates and runs as people see them.

use std::collections::BTreeMap;

use domain::{CandidateId, CandidateState, CheckOutcome, MergeGate, MergePurpose, Timestamp};
use engine::merge::{Entry, Held, Search, WINDOW, order};
use protocol::link::{LevelBuilt, MergeCheck, MergeChecked, MergeTest};
use protocol::{Candidate, MergeQueue, MergeRun, MergeRunCheck, MergeSettings};

use super::rows::{self, CandidateRow, Key, QueueRow, Report, RunRow};
use super::{load, named, settings};
use crate::StoreError;
use crate::sql::Connection;

/// A queue, in order; `None` if nothing was ever added to it.
pub(super) async fn queue(c: &mut Connection<'_>, key: &Key, now: Timestamp) -> Result<Option<MergeQueue>, StoreError> {
    let Some(queue) = rows::find_queue(c, key).await? else { return Ok(None) };
    let rules = settings::rules(c, key.project).await?;
    let facts = load::facts(c, &queue, &rules).await?;
    let open = rows::open_runs(c, key).await?;
    let mut waiting = rows::waiting(c, key).await?;
    let started = open.iter().filter(|run| run.purpose == MergePurpose::Search).max_by_key(|run| run.stack.len());
    let started: Vec<CandidateId> =
        started.map(|run| run.stack.iter().map(|member| member.candidate).collect()).unwrap_or_default();
    let ordered = order(&facts.entries, &started);
    waiting.sort_by_key(|row| ordered.iter().position(|id| *id == row.id));
    let search = Search::of(queue.rates.failure(), facts.capacity);
    let known = facts.known();
    let names: BTreeMap<CandidateId, String> = waiting.iter().map(|row| (row.id, row.branch.clone())).collect();
    let mut candidates = Vec::with_capacity(waiting.len());
    for (place, row) in waiting.into_iter().enumerate() {
        let expected = expected(&queue, &search, place + 1, now);
        let mut shown = candidate(row, &rules.settings);
        shown.expected_at = expected;
        moves(&mut shown, &open);
        if let Some(entry) = facts.entry(shown.id) {
            stands(c, &mut shown, entry, &names).await?;
        }
        candidates.push(shown);
    }
    let expected_at = expected(&queue, &search, candidates.len(), now).filter(|_| !candidates.is_empty());
    let reason = queue.reason.clone().or_else(|| waits(&candidates, &open));
    Ok(Some(MergeQueue {
        project: key.project,
        target: key.target.clone(),
        gate: queue.gate,
        reason,
        tip: queue.tip.clone(),
        candidates,
        runs: open.into_iter().map(|row| run(row, false)).collect(),
        failure_percent: percent(queue.rates.failure()),
        flaky: queue.rates.flaky,
        flaky_checks: queue.flaky_checks.clone(),
        failed_together: known.failed_together,
        suspects: known.suspects,
        check_ms: queue.check_ms,
        expected_at,
        no_checks: rules.settings.checks.is_empty(),
    }))
}

/// What a queue waits for although it may move.
fn waits(candidates: &[Candidate], open: &[RunRow]) -> Option<String> {
    let ready = candidates.iter().any(|candidate| candidate.state == CandidateState::Waiting);
    (ready && open.is_empty()).then(|| "waits for a connected runner that can reach the repository".to_owned())
}

/// A share as people read it.
pub(super) fn percent(share: f64) -> u32 {
    (share * 100.0).round().clamp(0.0, 100.0) as u32
}

/// When the first `count` branches have landed or left.
fn expected(queue: &QueueRow, search: &Search, count: usize, now: Timestamp) -> Option<Timestamp> {
    if queue.gate != MergeGate::Open {
        return None;
    }
    let windows = (count.saturating_sub(1) / WINDOW) as f64 * search.rounds(WINDOW, 0);
    let rounds = windows + search.rounds((count.saturating_sub(1) % WINDOW) + 1, 0);
    let ms = rounds * queue.check_ms? as f64;
    Some(now.plus_millis(ms as i64))
}

/// Whether it is tested or landed now.
fn moves(shown: &mut Candidate, open: &[RunRow]) {
    let mine = |run: &&RunRow| run.stack.iter().any(|member| member.candidate == shown.id);
    for run in open.iter().filter(mine) {
        shown.state = match run.purpose {
            MergePurpose::Land => CandidateState::Landing,
            MergePurpose::Confirm => CandidateState::Confirming,
            MergePurpose::Look => continue,
            MergePurpose::Search | MergePurpose::Bare => CandidateState::Testing,
        };
        shown.run = Some(run.id);
        if run.purpose == MergePurpose::Land {
            return;
        }
    }
}

/// Why it does not move, if it waits for a person or for a branch that it builds on.
async fn stands(
    c: &mut Connection<'_>,
    shown: &mut Candidate,
    entry: &Entry,
    names: &BTreeMap<CandidateId, String>,
) -> Result<(), StoreError> {
    if shown.state == CandidateState::Landing {
        return Ok(());
    }
    let why = match entry.held {
        Some(Held::Unchecked) => "the project has no checks: a person must confirm it".to_owned(),
        Some(Held::Orphaned(left)) => {
            let branch = rows::find_candidate(c, left).await?.map_or_else(String::new, |row| row.branch);
            format!("it builds on `{branch}`, which left the queue without landing: confirm it or remove it")
        }
        None => {
            let below = entry.after.iter().find_map(|id| names.get(id));
            if shown.state == CandidateState::Waiting && shown.reason.is_none() {
                shown.reason = below.map(|branch| format!("it waits for `{branch}`, which it builds on"));
            }
            return Ok(());
        }
    };
    shown.state = CandidateState::NeedsPerson;
    shown.reason = Some(why);
    Ok(())
}

/// A branch as it is stored.
pub(super) fn candidate(row: CandidateRow, settings: &MergeSettings) -> Candidate {
    Candidate {
        edits_checks: named::among(&row.paths, &settings.checks),
        id: row.id,
        project: row.key.project,
        target: row.key.target,
        branch: row.branch,
        title: row.title,
        task: row.task,
        activity: row.activity,
        priority: row.priority,
        after: row.after,
        fix: row.fix,
        state: row.state,
        reason: row.reason,
        run: row.run,
        head: row.head,
        landed: row.landed,
        expected_at: None,
        runs: row.runs,
        cost_ms: row.cost_ms,
        added_by: row.added_by,
        by_agent: row.by_agent,
        added_at: row.added_at,
        ended_at: row.ended_at,
    }
}

/// One branch, with its place in the queue if it waits.
pub(super) async fn one(
    c: &mut Connection<'_>,
    id: CandidateId,
    now: Timestamp,
) -> Result<Option<Candidate>, StoreError> {
    let Some(row) = rows::find_candidate(c, id).await? else { return Ok(None) };
    if row.ended_at.is_none()
        && let Some(queue) = queue(c, &row.key, now).await?
        && let Some(found) = queue.candidates.into_iter().find(|candidate| candidate.id == id)
    {
        return Ok(Some(found));
    }
    let settings = settings::of(c, row.key.project).await?;
    Ok(Some(candidate(row, &settings)))
}

/// A run; without `looks`, without what the checks printed.
pub(super) fn run(row: RunRow, looks: bool) -> MergeRun {
    let reported = match &row.result {
        Some(Report::Test(test)) => test.checks.clone(),
        _ => Vec::new(),
    };
    let check = |(check, reported): (protocol::link::MergeCheck, protocol::link::MergeChecked)| MergeRunCheck {
        argv: check.argv,
        outcome: reported.outcome,
        duration_ms: reported.duration_ms,
        log: if looks { reported.log } else { String::new() },
    };
    MergeRun {
        id: row.id,
        purpose: row.purpose,
        state: row.state,
        base: row.base,
        candidates: row.stack.iter().map(|member| member.candidate).collect(),
        runner: looks.then_some(row.runner),
        commit: row.top,
        detail: row.detail.filter(|_| looks),
        checks: row.checks.into_iter().zip(reported).map(check).collect(),
        created_at: row.created_at,
        began_at: row.began_at,
        ended_at: row.ended_at,
    }
}

/// The command that failed in a run.
pub(super) fn failed_check(run: &RunRow) -> Option<String> {
    let (check, _) = failed(run)?;
    Some(format!("`{}`", domain::text::plain(&check.argv.join(" "), 120)))
}

/// The end of the log of the command that failed in a run.
pub(super) fn failed_log(run: &RunRow) -> Option<String> {
    failed(run).map(|(_, checked)| checked.log.clone()).filter(|log| !log.trim().is_empty())
}

/// Both sides of a branch's conflict with the tip, as a run found it.
pub(super) fn conflict(run: &RunRow, id: CandidateId) -> Option<String> {
    let Some(Report::Test(test)) = &run.result else { return None };
    test.levels.iter().find(|level| level.candidate == id).and_then(|level| match &level.built {
        LevelBuilt::Conflict { with_tip: true, sides, .. } if !sides.is_empty() => Some(sides.clone()),
        _ => None,
    })
}

/// The check that failed in a run, with what it said.
pub(super) fn failed(run: &RunRow) -> Option<(&MergeCheck, &MergeChecked)> {
    let Some(Report::Test(test)) = &run.result else { return None };
    first_failed(&run.checks, test)
}

/// The check that failed in a test.
pub(super) fn failing<'a>(checks: &'a [MergeCheck], test: &'a MergeTest) -> Option<&'a MergeCheck> {
    first_failed(checks, test).map(|(check, _)| check)
}

fn first_failed<'a>(checks: &'a [MergeCheck], test: &'a MergeTest) -> Option<(&'a MergeCheck, &'a MergeChecked)> {
    let failed = |outcome| matches!(outcome, CheckOutcome::Failed | CheckOutcome::TimedOut);
    checks.iter().zip(&test.checks).find(|(_, checked)| failed(checked.outcome))
}
