//! The facts about a queue, as the engine reads them.

use std::collections::HashMap;

use domain::{CandidateId, MergeGate, MergePurpose, MergeRunState};
use engine::merge::{Entry, Gate, Held, Landing, Level, Member, Purpose, Queue, Run, Tested, Verdict};
use protocol::link::{LevelBuilt, MergeLevel};

use super::rows::{self, CandidateRow, QueueRow, Report, RunRow, StackMember, Successor};
use super::settings::Rules;
use crate::StoreError;
use crate::sql::Connection;
use crate::verbs::overlaps;

/// Everything that the engine reads.
pub(super) async fn facts(c: &mut Connection<'_>, queue: &QueueRow, rules: &Rules) -> Result<Queue, StoreError> {
    let waiting = rows::waiting(c, &queue.key).await?;
    // Before the first test, the runners' descriptions of the work tell which files a branch changes.
    let described = match waiting.iter().any(|row| row.paths.is_empty()) {
        true => overlaps::of_branches(c, queue.key.project).await?,
        false => HashMap::new(),
    };
    let open = rows::open_runs(c, &queue.key).await?;
    let landing = open.iter().any(|run| run.purpose == MergePurpose::Land);
    let finished = rows::tests(c, queue).await?;
    let runs = finished.iter().chain(&open).filter_map(run).collect();
    let landings = rows::landings(c, &queue.key).await?.iter().filter_map(landed).collect();
    let mut entries = Vec::with_capacity(waiting.len());
    for row in &waiting {
        entries.push(entry(row, rules, &described, below(c, row, &waiting).await?));
    }
    Ok(Queue {
        gate: gate(queue.gate),
        tip: queue.tip.clone(),
        entries,
        runs,
        landings,
        landing,
        rates: queue.rates,
        capacity: usize::try_from(rules.settings.at_once).unwrap_or(1),
    })
}

fn gate(gate: MergeGate) -> Gate {
    match gate {
        MergeGate::Open => Gate::Open,
        MergeGate::Paused => Gate::Paused,
        MergeGate::Frozen => Gate::Frozen,
        MergeGate::TipRed => Gate::TipRed,
    }
}

/// The branches that a branch builds on.
#[derive(Default)]
struct Below {
    /// Those that are in the queue.
    waiting: Vec<CandidateId>,
    /// One that left without landing, and was not added again.
    left: Option<CandidateId>,
}

async fn below(c: &mut Connection<'_>, row: &CandidateRow, waiting: &[CandidateRow]) -> Result<Below, StoreError> {
    let mut found = Below::default();
    for id in &row.after {
        if waiting.iter().any(|other| other.id == *id) {
            found.waiting.push(*id);
            continue;
        }
        match rows::successor(c, *id).await? {
            Successor::Landed => {}
            Successor::Waits(id) => found.waiting.push(id),
            Successor::Left => found.left = found.left.or(Some(*id)),
        }
    }
    Ok(found)
}

fn entry(row: &CandidateRow, rules: &Rules, described: &HashMap<String, Vec<String>>, below: Below) -> Entry {
    let known = Some(&row.paths).filter(|paths| !paths.is_empty()).or_else(|| described.get(&row.branch));
    Entry {
        id: row.id,
        priority: row.priority,
        added_at: row.added_at,
        after: below.waiting,
        head: row.head.clone(),
        pinned: row.pinned,
        paths: known.cloned().unwrap_or_default(),
        fix: row.fix,
        held: Held::of(row.confirmed, !rules.settings.checks.is_empty(), below.left),
    }
}

fn member(member: &StackMember) -> Member {
    Member { id: member.candidate, head: member.head.clone() }
}

/// A test run; `None` for a push.
fn run(row: &RunRow) -> Option<Run> {
    let purpose = match row.purpose {
        MergePurpose::Look => Purpose::Look,
        MergePurpose::Search => Purpose::Search,
        MergePurpose::Confirm => Purpose::Confirm,
        MergePurpose::Bare => Purpose::Bare,
        MergePurpose::Land => return None,
    };
    let verdict = match row.state {
        MergeRunState::Green => Verdict::Green,
        MergeRunState::Red => Verdict::Red,
        _ => Verdict::Unproven,
    };
    let result = match &row.result {
        Some(Report::Test(test)) => {
            Some(Tested { base: test.base.clone(), levels: test.levels.iter().map(level).collect(), verdict })
        }
        _ => None,
    };
    Some(Run { id: row.id, purpose, base: row.base.clone(), stack: row.stack.iter().map(member).collect(), result })
}

fn level(found: &MergeLevel) -> Level {
    match &found.built {
        LevelBuilt::Merged { commit, differs, .. } => {
            Level::Merged { commit: commit.clone(), differs: differs.clone() }
        }
        LevelBuilt::Conflict { paths, with_tip, .. } => Level::Conflict { with_tip: *with_tip, paths: paths.clone() },
        LevelBuilt::Contained => Level::Contained,
        LevelBuilt::Moved => Level::Moved { head: found.head.clone() },
        LevelBuilt::Missing => Level::Missing,
    }
}

fn landed(row: &RunRow) -> Option<Landing> {
    let candidates = row.stack.iter().map(|member| member.candidate).collect();
    Some(Landing { from: row.base.clone()?, to: row.top.clone()?, candidates })
}
