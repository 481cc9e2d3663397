//! The effects of a decision, as rows.

use domain::{CandidateId, CandidateState, MergeGate, MergePurpose, MergeRunId, MergeRunState};
use engine::merge::{Effect, Ejected, Purpose};
use protocol::Change;
use protocol::link::MergeCheck;

use super::rows::{self, CandidateRow, Key, StackMember};
use super::settings::Rules;
use super::{place, view};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::{AuditScope, Tx};
use crate::verbs::landing::{self, Evidence};
use crate::verbs::work::workers::rows::tell;
use crate::verbs::{approvals, chat};

/// Performs one effect; `false` if it must be tried again later.
pub(super) async fn perform(tx: &mut Tx<'_>, key: &Key, rules: &Rules, effect: Effect) -> Result<bool, StoreError> {
    match effect {
        Effect::Start { purpose, base, stack } => return start(tx, key, rules, purpose, base, &stack).await,
        Effect::Cancel { run } => end_run(tx, run, MergeRunState::Cancelled).await?,
        Effect::Land { run, base, commit, candidates } => land(tx, key, run, base, commit, &candidates).await?,
        Effect::Eject { candidate, why } => eject(tx, key, candidate, why).await?,
        Effect::Contained { candidate } => {
            if let Some(row) = rows::find_candidate(tx.read(), candidate).await? {
                let reason = format!("everything in `{}` is in `{}` already", row.branch, key.target);
                leave(tx, row, CandidateState::Landed, Some(reason), None).await?;
            }
        }
        Effect::Freeze { run } => {
            let reason = format!("the checks fail on `{}` itself: only fixes land until they pass again", key.target);
            shut(tx, key, MergeGate::TipRed, &reason).await?;
            let add = "add the fix with `shopfloor merge add --fix`";
            say(tx, key, &format!("The merge queue of `{}` is frozen: {reason}; {add} (run {run}).", key.target))
                .await?;
        }
        Effect::Thaw => {
            let mut queue = rows::make_queue(tx, key).await?;
            (queue.gate, queue.reason) = (MergeGate::Open, None);
            rows::save_queue(tx, &queue).await?;
            let done = format!("The checks pass on `{0}` again: the merge queue of `{0}` moves.", key.target);
            say(tx, key, &done).await?;
        }
        Effect::Halt { candidate, paths } => {
            let row = rows::find_candidate(tx.read(), candidate).await?;
            let branch = row.map_or_else(|| candidate.to_string(), |row| row.branch);
            let reason = format!(
                "landing `{branch}` would change more than the branch does, in {}: remove the branch, or review it and \
                 resume the queue",
                listed(&paths)
            );
            shut(tx, key, MergeGate::Paused, &reason).await?;
            say(tx, key, &format!("The merge queue of `{}` is paused: {reason}.", key.target)).await?;
        }
    }
    Ok(true)
}

/// Closes the gate.
pub(super) async fn shut(tx: &mut Tx<'_>, key: &Key, gate: MergeGate, reason: &str) -> Result<(), StoreError> {
    let mut queue = rows::make_queue(tx, key).await?;
    (queue.gate, queue.reason) = (gate, Some(reason.to_owned()));
    tx.audit("merge.gate", key.project, AuditScope::Project(key.project), format!("`{}`: {reason}", key.target));
    rows::save_queue(tx, &queue).await
}

/// Tells the project's chat, as the floor manager of its owner.
pub(super) async fn say(tx: &mut Tx<'_>, key: &Key, content: &str) -> Result<(), StoreError> {
    chat::say(tx, key.project, content).await
}

async fn start(
    tx: &mut Tx<'_>,
    key: &Key,
    rules: &Rules,
    purpose: Purpose,
    base: Option<String>,
    stack: &[CandidateId],
) -> Result<bool, StoreError> {
    let Some(runner) = place::runner(tx, key, stack).await? else { return Ok(false) };
    let purpose = match purpose {
        Purpose::Look => MergePurpose::Look,
        Purpose::Search => MergePurpose::Search,
        Purpose::Confirm => MergePurpose::Confirm,
        Purpose::Bare => MergePurpose::Bare,
    };
    let checks = match purpose {
        MergePurpose::Look => Vec::new(),
        _ => rules.checks(),
    };
    let mut members = Vec::with_capacity(stack.len());
    for id in stack {
        let head = rows::find_candidate(tx.read(), *id).await?.and_then(|row| row.head);
        members.push(StackMember { candidate: *id, head });
    }
    let new = NewRun { purpose, runner, base, members, checks, tested: None, top: None };
    new.insert(tx, key).await.map(|()| true)
}

/// Looks where the target branch is; `false` if no runner can.
pub(super) async fn look(tx: &mut Tx<'_>, key: &Key) -> Result<bool, StoreError> {
    let rules = super::settings::rules(tx.read(), key.project).await?;
    start(tx, key, &rules, Purpose::Look, None, &[]).await
}

async fn land(
    tx: &mut Tx<'_>,
    key: &Key,
    tested: MergeRunId,
    base: String,
    commit: String,
    candidates: &[CandidateId],
) -> Result<(), StoreError> {
    let Some(run) = rows::find_run(tx.read(), tested).await? else { return Ok(()) };
    let members = run.stack.into_iter().filter(|member| candidates.contains(&member.candidate)).collect();
    let (tested, top) = (Some(tested), Some(commit));
    let purpose = MergePurpose::Land;
    let new = NewRun { purpose, runner: run.runner, base: Some(base), members, checks: Vec::new(), tested, top };
    new.insert(tx, key).await
}

struct NewRun {
    purpose: MergePurpose,
    runner: domain::RunnerId,
    base: Option<String>,
    members: Vec<StackMember>,
    checks: Vec<MergeCheck>,
    tested: Option<MergeRunId>,
    top: Option<String>,
}

impl NewRun {
    async fn insert(self, tx: &mut Tx<'_>, key: &Key) -> Result<(), StoreError> {
        let id = MergeRunId::generate();
        let sql = "INSERT INTO merge_runs (id, project, target, purpose, state, runner, base, stack, checks, tested, top, \
                   created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let values = args![
            id.to_string(),
            key.project.to_string(),
            &key.target,
            self.purpose.word(),
            MergeRunState::Open.word(),
            self.runner.to_string(),
            self.base,
            to_json(&self.members),
            to_json(&self.checks),
            self.tested.map(|id| id.to_string()),
            self.top,
            tx.now,
        ];
        tx.run(sql, values).await?;
        for member in &self.members {
            let sql = "INSERT INTO merge_members (candidate, run) VALUES ($1, $2)";
            tx.run(sql, args![member.candidate.to_string(), id.to_string()]).await?;
        }
        tx.desire(self.runner).await
    }
}

/// Ends an open run without a result.
pub(super) async fn end_run(tx: &mut Tx<'_>, run: MergeRunId, state: MergeRunState) -> Result<(), StoreError> {
    let Some(row) = rows::find_run(tx.read(), run).await? else { return Ok(()) };
    let sql = "UPDATE merge_runs SET state = $1, ended_at = $2 WHERE id = $3 AND state = 'open'";
    tx.run(sql, args![state.word(), tx.now, run.to_string()]).await?;
    approvals::over(tx, run).await?;
    tx.desire(row.runner).await
}

async fn eject(tx: &mut Tx<'_>, key: &Key, id: CandidateId, why: Ejected) -> Result<(), StoreError> {
    let Some(row) = rows::find_candidate(tx.read(), id).await? else { return Ok(()) };
    let (target, moves) = (&key.target, matches!(why, Ejected::Moved { .. }));
    let (reason, run) = match why {
        Ejected::Red { run } => {
            let mut queue = rows::make_queue(tx, key).await?;
            queue.rates.failed += 1;
            rows::save_queue(tx, &queue).await?;
            let failed = rows::find_run(tx.read(), run).await?.and_then(|run| view::failed_check(&run));
            let check = failed.unwrap_or_else(|| "a check".to_owned());
            (format!("{check} fails with it on `{target}`"), Some(run))
        }
        Ejected::Conflict { paths } => (format!("it conflicts with `{target}` in {}: rebase it", listed(&paths)), None),
        Ejected::Missing => (format!("the repository has no branch `{}`", row.branch), None),
        Ejected::Moved { head } => {
            if landing::replaced(tx, id).await? {
                let reason = "newer work of the same branch lands instead".to_owned();
                return leave(tx, row, CandidateState::Removed, Some(reason), None).await;
            }
            (moved(&row, head.as_deref()), None)
        }
    };
    let (branch, adder) = (row.branch.clone(), row.added_by.name.clone());
    match moves {
        true => leave_to_a_person(tx, row, reason.clone()).await?,
        false => leave(tx, row, CandidateState::Ejected, Some(reason.clone()), run).await?,
    }
    let look = format!("`shopfloor merge show {id}` shows the log");
    say(tx, key, &format!("@{adder} `{branch}` was sent back by the merge queue of `{target}`: {reason}; {look}."))
        .await
}

/// Why accepted work leaves the queue when somebody has pushed to its branch.
fn moved(row: &CandidateRow, head: Option<&str>) -> String {
    let short = |commit: Option<&str>| commit.map_or("another commit".to_owned(), |commit| format!("`{commit:.10}`"));
    let (now, accepted) = (short(head), short(row.head.as_deref()));
    format!("the branch moved after the work was accepted: `{}` is at {now}, accepted was {accepted}", row.branch)
}

fn listed(paths: &[String]) -> String {
    let shown: Vec<String> = paths.iter().take(3).map(|path| format!("`{path}`")).collect();
    match paths.len() {
        0 => "some files".to_owned(),
        1..=3 => shown.join(", "),
        more => format!("{} and {} more", shown.join(", "), more - 3),
    }
}

/// Takes a branch out of its queue.
pub(super) async fn leave(
    tx: &mut Tx<'_>,
    row: CandidateRow,
    state: CandidateState,
    reason: Option<String>,
    run: Option<MergeRunId>,
) -> Result<(), StoreError> {
    let (id, landed, why) = (row.id, row.landed.clone(), reason.clone());
    end(tx, row, state, reason, run).await?;
    match state {
        CandidateState::Landed => landing::landed(tx, id, landed).await,
        CandidateState::Ejected => {
            let evidence = evidence(tx, id, run).await?;
            landing::ejected(tx, id, why.as_deref().unwrap_or_default(), evidence).await
        }
        _ => landing::removed(tx, id).await,
    }
}

/// Takes out a branch that its agent cannot repair: the work was accepted, and then somebody pushed to its branch.
async fn leave_to_a_person(tx: &mut Tx<'_>, row: CandidateRow, reason: String) -> Result<(), StoreError> {
    let id = row.id;
    end(tx, row, CandidateState::Ejected, Some(reason.clone()), None).await?;
    landing::undecided(tx, id, &reason).await
}

/// Stores and announces that a branch has left its queue.
async fn end(
    tx: &mut Tx<'_>,
    mut row: CandidateRow,
    state: CandidateState,
    reason: Option<String>,
    run: Option<MergeRunId>,
) -> Result<(), StoreError> {
    (row.state, row.reason, row.run, row.ended_at) = (state, reason, run.or(row.run), Some(tx.now));
    let sql = "UPDATE merge_candidates SET state = $1, reason = $2, run = $3, ended_at = $4, landed = $5 WHERE id = $6";
    let values = args![
        state.word(),
        row.reason.clone(),
        row.run.map(|id| id.to_string()),
        tx.now,
        row.landed.clone(),
        row.id.to_string(),
    ];
    tx.run(sql, values).await?;
    let detail = row.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let verb = match state {
        CandidateState::Landed => "merge.landed",
        CandidateState::Ejected => "merge.ejected",
        _ => "merge.remove",
    };
    tx.audit(verb, row.id, AuditScope::Project(row.key.project), format!("`{}` {state}{detail}", row.branch));
    let (project, settings) = (row.key.project, super::settings::of(tx.read(), row.key.project).await?);
    tell(tx, project, Change::Candidate { candidate: view::candidate(row, &settings) });
    Ok(())
}

/// What shows why a branch was sent back: the log of the failed check, or both sides of the conflict.
async fn evidence(
    tx: &mut Tx<'_>,
    id: CandidateId,
    failed: Option<MergeRunId>,
) -> Result<Option<Evidence>, StoreError> {
    if let Some(run) = failed {
        let run = rows::find_run(tx.read(), run).await?;
        return Ok(run.and_then(|run| view::failed_log(&run)).map(Evidence::Log));
    }
    let runs = rows::runs_of(tx.read(), id).await?;
    Ok(runs.iter().find_map(|run| view::conflict(run, id)).map(Evidence::Sides))
}

/// Withdraws the result of a test, so that it is repeated.
pub(super) async fn withdraw(tx: &mut Tx<'_>, run: MergeRunId) -> Result<(), StoreError> {
    tx.run("UPDATE merge_runs SET state = 'unproven' WHERE id = $1", vec![text(run)]).await?;
    Ok(())
}
