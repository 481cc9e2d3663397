//! Verdicts on reports: checked, accepted, refused, or kept as late.

use domain::{AttemptOutcome, ReportId, ReportVerdict, TaskId, TaskStatus, UserId, WorkerId};
use engine::tasks::life::{Event, Leaving, Why};
use engine::tasks::verdict::{Verdict, verdict};
use engine::workers::decision::Decision;
use protocol::{Criterion, CriterionResult, Deliverables, Report, Usage, UserRef};

use super::ask::escalate;
use super::place::{self, Place, Spot};
use super::{merging, questions, sweep};
use crate::StoreError;
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::sight::not_met;
use crate::verbs::work::life::{held, let_go, step, zombie};
use crate::verbs::work::tasks::row::{TaskRow, id_or_none};
use crate::verbs::work::workers::holds;
use crate::verbs::work::workers::log::decided;
use crate::verbs::work::workers::rows::{self, sum};
use crate::verbs::workspaces::{self, json_or_none};
use crate::verbs::{landing, reviews, sessions};

/// Reads reports.
pub(crate) const COLUMNS: &str = "SELECT r.id, r.task, r.attempt, r.fence, r.worker, r.at, r.summary, r.deliverables, \
    r.context_score, r.usage, r.collected, r.verdict, r.results, r.reason FROM reports r";

/// A report to store, from a worker or collected by the hub.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewReport {
    /// Summary of the work.
    pub(crate) summary: String,
    /// Files, branch and commits.
    pub(crate) deliverables: Deliverables,
    /// How well the task could be understood, from 1 to 5.
    pub(crate) context_score: Option<u8>,
    /// Model usage, if the worker reported it.
    pub(crate) usage: Option<Usage>,
    /// The source of the report.
    pub(crate) source: Source,
    /// Why the task could not be done.
    pub(crate) failed: Option<String>,
}

/// The source of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Source {
    /// The worker reported.
    #[default]
    Worker,
    /// The hub collected the agent's last message.
    Said,
    /// The agent said nothing: only its changes show whether it did anything.
    Silence,
}

impl NewReport {
    /// A report made from the agent's last message, if there is one.
    pub(crate) fn collected(said: Option<String>, deliverables: Deliverables, usage: Option<Usage>) -> Self {
        let source = if said.is_some() { Source::Said } else { Source::Silence };
        let summary = said.unwrap_or_else(|| questions::SILENT.to_owned());
        Self { summary, deliverables, usage, source, ..Self::default() }
    }
}

/// Reads a row of [`COLUMNS`].
pub(crate) fn report(row: &Row) -> Result<Report, StoreError> {
    Ok(Report {
        id: row.parsed("id")?,
        task: row.parsed("task")?,
        attempt: row.count("attempt")?,
        worker: row.parsed("worker")?,
        at: row.time("at")?,
        summary: row.text("summary")?,
        deliverables: row.json("deliverables")?,
        context_score: row.integer_or_none("context_score")?.and_then(|score| u8::try_from(score).ok()),
        usage: json_or_none(row, "usage")?,
        collected: row.flag("collected")?,
        verdict: row.parsed("verdict")?,
        results: row.json("results")?,
        reason: row.text_or_none("reason")?,
    })
}

/// Stores a report and the place that checks it.
fn keep(tx: &mut Tx<'_>, task: &TaskRow, fence: u64, made: &Report, silent: bool, place: Option<Spot>) {
    let head = "INSERT INTO reports (id, task, project, attempt, fence, worker, at, summary, deliverables, \
                context_score, usage, collected, silent, verdict, results, reason, runner, workspace)";
    let (runner, workspace) =
        place.map_or((None, None), |(runner, at)| (Some(runner.to_string()), Some(at.to_string())));
    let row = args![
        made.id.to_string(),
        made.task.to_string(),
        task.project.to_string(),
        made.attempt,
        fence,
        made.worker.to_string(),
        made.at,
        &made.summary,
        to_json(&made.deliverables),
        made.context_score.map(u32::from),
        made.usage.as_ref().map(to_json),
        made.collected,
        silent,
        made.verdict.word(),
        to_json(&made.results),
        made.reason.clone(),
        runner,
        workspace,
    ];
    tx.later(head, row);
}

fn made(tx: &Tx<'_>, task: TaskId, attempt: u32, worker: WorkerId, new: NewReport) -> Report {
    Report {
        id: ReportId::generate(),
        task,
        attempt,
        worker,
        at: tx.now,
        summary: new.summary,
        deliverables: new.deliverables,
        context_score: new.context_score,
        usage: new.usage,
        collected: new.source != Source::Worker,
        verdict: ReportVerdict::Pending,
        results: Vec::new(),
        reason: new.failed,
    }
}

/// Takes a report under its fence: accepts it, sends it to a check, or asks a person.
///
/// A report of failure ends the attempt as failed. Refuses a zombie; [`late`] keeps its report.
pub(crate) async fn report_in(tx: &mut Tx<'_>, task: TaskId, fence: u64, new: NewReport) -> Result<Report, StoreError> {
    let mut row = held(tx, task, fence).await?;
    let worker = row.worker().ok_or_else(|| StoreError::Corrupt(format!("no worker holds {task}")))?;
    if !row.is_worked_on() {
        return Err(StoreError::Conflict(format!("{} was reported already and is being checked", row.named())));
    }
    let (failed, silent) = (new.failed.is_some(), new.source == Source::Silence);
    let words_only = questions::words_only(&row.acceptance);
    let place = match (failed, words_only && !silent) {
        (true, _) => None,
        (false, true) => place::to_compare(tx, &row, &new.deliverables).await?,
        (false, false) => Some(place::find(tx, &row, &new.deliverables).await?),
    };
    // No refusals below this line.
    let mut report = made(tx, task, row.attempt, worker, new);
    if failed
        && report.deliverables.branch.is_none()
        && let (Some(_), Some(workspace)) = (row.session(), row.workspace)
    {
        // Nobody checks a failed attempt; the next worker may want to see it.
        report.deliverables.branch = workspaces::branch_in(tx.read(), workspace).await?;
    }
    // The usage of a collected report came from the attempt, which counts it already.
    if let Some(usage) = report.usage.clone().filter(|_| !report.collected) {
        used(tx, &row, worker, &usage).await?;
    }
    if failed {
        report.verdict = ReportVerdict::Refused;
        keep(tx, &row, fence, &report, silent, None);
        let_go(tx, task, Leaving::Failed, Why::open(report.reason.clone())).await?;
        return Ok(report);
    }
    if row.acceptance.is_empty() && !silent && place.is_none() {
        report.verdict = ReportVerdict::Accepted;
        keep(tx, &row, fence, &report, silent, None);
        step(tx, row, Event::Accept { score: report.context_score, by: None }).await?;
        return Ok(report);
    }
    if let Some(Place::Unsaid(why)) = &place
        && !words_only
    {
        keep(tx, &row, fence, &report, silent, None);
        step(tx, row, Event::Report).await?;
        refuse(tx, report.id, &[], why, None).await?;
        return Ok(Report { verdict: ReportVerdict::Refused, reason: Some(why.clone()), ..report });
    }
    let (spot, ask) = match place {
        Some(Place::There(spot)) => (Some(spot), None),
        Some(Place::Branch(branch)) => (Some(branch.make(tx, &mut row, report.id).await?), None),
        Some(Place::Nowhere(why) | Place::Unsaid(why)) if words_only => (None, Some(questions::silence(&why))),
        Some(Place::Nowhere(why) | Place::Unsaid(why)) => (None, Some(questions::uncheckable(&why, &report.summary))),
        None => (None, Some(questions::judgement(&row, &[], &report.summary))),
    };
    keep(tx, &row, fence, &report, silent, spot);
    step(tx, row, Event::Report).await?;
    if let Some((runner, _)) = spot {
        tx.desire(runner).await?;
    }
    if let Some(ask) = ask {
        escalate(tx, task, ask).await?;
    }
    Ok(report)
}

/// Counts the usage that a worker reported, unless its sessions report their own.
async fn used(tx: &mut Tx<'_>, row: &TaskRow, worker: WorkerId, usage: &Usage) -> Result<(), StoreError> {
    if let Some(session) = row.session()
        && sessions::counts(tx, session).await?
    {
        return Ok(());
    }
    holds::used(tx, worker, usage).await?;
    let sql = "SELECT usage FROM attempts WHERE task = $1 AND number = $2";
    let found = tx.read().first(sql, args![row.id.to_string(), row.attempt]).await?;
    let before = found.map(|found| found.json("usage")).transpose()?.unwrap_or_default();
    let sql = "UPDATE attempts SET usage = $1 WHERE task = $2 AND number = $3";
    let all = to_json(&sum(&before, usage));
    tx.run(sql, args![all, row.id.to_string(), row.attempt]).await.map(|_| ())
}

/// Keeps a report from a lost lease for display only.
pub(crate) async fn late(tx: &mut Tx<'_>, task: TaskId, fence: u64, new: NewReport) -> Result<Report, StoreError> {
    let row = tx.known_task(task).await?;
    let sql = "SELECT number, worker FROM attempts WHERE task = $1 AND fence = $2";
    let found = tx.read().first(sql, args![task.to_string(), fence]).await?;
    let found = found.ok_or_else(|| StoreError::Conflict(format!("{} never had the fence {fence}", row.named())))?;
    let report = made(tx, task, found.count("number")?, found.parsed("worker")?, new);
    let why = zombie(&row, fence).to_string();
    let report = Report { verdict: ReportVerdict::Late, reason: Some(why), ..report };
    keep(tx, &row, fence, &report, false, None);
    tx.put_task(row);
    Ok(report)
}

/// The worker of the current attempt.
pub(super) async fn last_worker(tx: &mut Tx<'_>, row: &TaskRow) -> Result<Option<WorkerId>, StoreError> {
    let sql = "SELECT worker FROM attempts WHERE task = $1 AND number = $2";
    let found = tx.read().first(sql, args![row.id.to_string(), row.attempt]).await?;
    found.map_or(Ok(None), |found| id_or_none(&found, "worker"))
}

/// Stores a verdict on a report; `false` if the report has one already.
async fn rule(
    tx: &mut Tx<'_>,
    report: ReportId,
    verdict: ReportVerdict,
    results: &[CriterionResult],
    reason: Option<&str>,
) -> Result<bool, StoreError> {
    let sql = "UPDATE reports SET verdict = $1, results = $2, reason = $3 WHERE id = $4 AND verdict = 'pending'";
    let values = args![verdict.word(), to_json(&results), reason.map(str::to_owned), report.to_string()];
    let ruled = tx.run(sql, values).await? == 1;
    if ruled {
        landing::withdraw(tx, report).await?;
        sweep::is_needless(tx, report).await?;
    }
    Ok(ruled)
}

/// The task of a report without a verdict; `None` if the task moved on.
async fn waiting(tx: &mut Tx<'_>, report: ReportId) -> Result<Option<(TaskRow, Option<u8>)>, StoreError> {
    let sql = format!("{COLUMNS} WHERE r.id = $1 AND r.verdict = 'pending'");
    let Some(found) = tx.read().first(&sql, vec![text(report)]).await? else { return Ok(None) };
    let score = found.integer_or_none("context_score")?.and_then(|score| u8::try_from(score).ok());
    let row = tx.known_task(found.parsed("task")?).await?;
    Ok((row.awaits_verdict() && row.fence == found.integer("fence")?.cast_unsigned()).then_some((row, score)))
}

/// Accepts a report; `false`, without any write, if the task moved on.
pub(crate) async fn accept(tx: &mut Tx<'_>, report: ReportId, results: &[CriterionResult]) -> Result<bool, StoreError> {
    let Some((row, score)) = waiting(tx, report).await? else { return Ok(false) };
    rule(tx, report, ReportVerdict::Accepted, results, None).await?;
    done(tx, row, score).await?;
    Ok(true)
}

/// Completes a task whose work was accepted.
async fn done(tx: &mut Tx<'_>, row: TaskRow, score: Option<u8>) -> Result<(), StoreError> {
    let by = match row.worker() {
        Some(worker) => Some(worker),
        None => last_worker(tx, &row).await?,
    };
    step(tx, row, Event::Accept { score, by }).await.map(|_| ())
}

/// Reverts the task to review after a person was asked: the worker let go, but the work is its own.
async fn judged_on(tx: &mut Tx<'_>, row: TaskRow) -> Result<TaskRow, StoreError> {
    if row.status() != TaskStatus::Escalated {
        return Ok(row);
    }
    match last_worker(tx, &row).await? {
        Some(worker) => step(tx, row, Event::JudgeOn { worker, session: None }).await,
        None => Ok(row),
    }
}

/// Refuses a report with a reason; the task returns to its worker, to another, or to a person. `false` if the task
/// moved on. `stuck` says why another attempt of this worker is useless.
pub(crate) async fn refuse(
    tx: &mut Tx<'_>,
    report: ReportId,
    results: &[CriterionResult],
    reason: &str,
    stuck: Option<&str>,
) -> Result<bool, StoreError> {
    let Some((row, _)) = waiting(tx, report).await? else { return Ok(false) };
    rule(tx, report, ReportVerdict::Refused, results, Some(reason)).await?;
    let row = judged_on(tx, row).await?;
    let open =
        not_met(&row.acceptance, results).unwrap_or_else(|| reason.lines().next().unwrap_or_default().to_owned());
    let whole = if own_check(tx, report, row.worker()).await? { reason } else { open.as_str() }.to_owned();
    // A worker that has taken another task does not get this one back.
    let sql = "SELECT id FROM workers WHERE id = $1 AND task = $2";
    let still_there = match row.worker() {
        Some(worker) => tx.read().first(sql, vec![text(worker), text(row.id)]).await?.is_some(),
        None => false,
    };
    let lease_ms = i64::from(tx.work_settings(row.project).await?.lease_seconds) * 1000;
    let why = Why { open: Some(open), whole: Some(whole) };
    let (stuck, until) = (stuck.map(str::to_owned), tx.now.plus_millis(lease_ms));
    step(tx, row, Event::Refuse { why, stuck, still_there, until }).await?;
    Ok(true)
}

/// Whether a runner of the worker's owner checked the report: only then may the worker see the output of the checks.
pub(crate) async fn own_check(tx: &mut Tx<'_>, report: ReportId, worker: Option<WorkerId>) -> Result<bool, StoreError> {
    let sql = "SELECT n.owner FROM reports r JOIN runners n ON n.id = r.runner WHERE r.id = $1";
    let Some(found) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(true) };
    let owner: UserId = found.parsed("owner")?;
    Ok(match worker {
        Some(worker) => rows::get(tx, worker).await?.is_some_and(|slot| slot.owner.id == owner),
        None => false,
    })
}

/// Decides by the check results: refuses if a criterion is not met, asks a person if one needs judgement, merges the
/// work if the task requires that, accepts otherwise. `stuck` says why another attempt of this worker is useless. `false` if the task moved on.
pub(crate) async fn judged(
    tx: &mut Tx<'_>,
    report: ReportId,
    results: &[CriterionResult],
    stuck: Option<&str>,
) -> Result<bool, StoreError> {
    let Some((row, _)) = waiting(tx, report).await? else { return Ok(false) };
    match verdict(&merging::outcomes(&row.acceptance, results)) {
        Verdict::Refuse => {
            let failed = results.iter().filter(|result| result.passed == Some(false));
            let reasons: Vec<&str> = failed.map(|result| result.reason.as_str()).collect();
            return refuse(tx, report, results, &reasons.join("\n"), stuck).await;
        }
        Verdict::Accept => return accept(tx, report, results).await,
        Verdict::Merge => return merging::begin(tx, row, report, results).await.map(|()| true),
        Verdict::Ask => {}
    }
    tx.run("UPDATE reports SET results = $1 WHERE id = $2", args![to_json(&results), report.to_string()]).await?;
    let found = tx.read().first("SELECT summary FROM reports WHERE id = $1", vec![text(report)]).await?;
    let summary = found.map(|found| found.text("summary")).transpose()?.unwrap_or_default();
    let ask = questions::judgement(&row, results, &summary);
    escalate(tx, row.id, ask).await?;
    Ok(true)
}

/// Continues without a comparison that failed, if the check was only for that; returns whether it was. Everybody who
/// sees the project can read `why`.
pub(crate) async fn not_compared(tx: &mut Tx<'_>, report: ReportId, why: &str) -> Result<bool, StoreError> {
    let Some((row, _)) = waiting(tx, report).await? else { return Ok(false) };
    let sql = "SELECT summary, silent FROM reports WHERE id = $1";
    let Some(found) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(false) };
    let summary = found.text("summary")?;
    if !questions::words_only(&row.acceptance) || found.flag("silent")? {
        return Ok(false);
    }
    let decision = Decision::NotCompared { why: why.to_owned() };
    decided(tx, row.project, row.worker(), Some(row.id), decision).await?;
    match row.acceptance.is_empty() {
        true => accept(tx, report, &[]).await?,
        false => escalate(tx, row.id, questions::judgement(&row, &[], &summary)).await.map(|_| true)?,
    };
    Ok(true)
}

/// Fails the attempt: the report is empty, and so are the changes.
pub(crate) async fn came_to_nothing(
    tx: &mut Tx<'_>,
    report: ReportId,
    results: &[CriterionResult],
) -> Result<(), StoreError> {
    let Some((row, _)) = waiting(tx, report).await? else { return Ok(()) };
    let reason = "its agent ended, said nothing and changed nothing";
    rule(tx, report, ReportVerdict::Refused, results, Some(reason)).await?;
    let row = judged_on(tx, row).await?;
    let_go(tx, row.id, Leaving::Failed, Why::open(Some(reason.to_owned()))).await.map(|_| ())
}

/// The newest report of a task without a verdict.
pub(crate) async fn pending(tx: &mut Tx<'_>, task: TaskId) -> Result<Option<ReportId>, StoreError> {
    let sql = "SELECT id FROM reports WHERE task = $1 AND verdict = 'pending' ORDER BY at DESC, id DESC LIMIT 1";
    tx.read().first(sql, vec![text(task)]).await?.map(|found| found.parsed("id")).transpose()
}

/// A person accepts the last report, or the task as it is.
pub(crate) async fn accept_last(tx: &mut Tx<'_>, task: TaskId, by: &UserRef) -> Result<(), StoreError> {
    if let Some(report) = pending(tx, task).await? {
        let sql = format!("{COLUMNS} WHERE r.id = $1");
        let found = tx.read().first(&sql, vec![text(report)]).await?.as_ref().map(self::report).transpose()?;
        let mut results = found.map(|found| found.results).unwrap_or_default();
        let acceptance = tx.known_task(task).await?.acceptance;
        for result in &mut results {
            if let Some(Criterion::Approved {}) = acceptance.get(result.criterion as usize) {
                (result.passed, result.reason) = (Some(true), format!("approved by {}", by.name));
            }
        }
        reviews::approved(tx, task, by).await?;
        if merging::is_next(tx, report, &acceptance).await? {
            let row = tx.known_task(task).await?;
            let row = judged_on(tx, row).await?;
            return merging::begin(tx, row, report, &results).await;
        }
        if accept(tx, report, &results).await? {
            return Ok(());
        }
    }
    let row = tx.known_task(task).await?;
    let score = overrule(tx, &row).await?;
    done(tx, row, score).await
}

/// Marks a refused or failed attempt, its last report and its worker as successful. Returns the report's context score.
async fn overrule(tx: &mut Tx<'_>, row: &TaskRow) -> Result<Option<u8>, StoreError> {
    let of = || args![row.id.to_string(), row.attempt];
    let sql =
        "SELECT worker, outcome FROM attempts WHERE task = $1 AND number = $2 AND outcome NOT IN ('open', 'accepted')";
    let Some(found) = tx.read().first(sql, of()).await? else { return Ok(None) };
    if matches!(found.parsed("outcome")?, AttemptOutcome::Refused | AttemptOutcome::Failed) {
        holds::forgive(tx, found.parsed("worker")?).await?;
    }
    tx.run("UPDATE attempts SET outcome = 'accepted', reason = NULL WHERE task = $1 AND number = $2", of()).await?;
    let sql = format!(
        "{COLUMNS} WHERE r.task = $1 AND r.attempt = $2 AND r.verdict = 'refused' \
                       ORDER BY r.at DESC, r.id DESC LIMIT 1"
    );
    let Some(last) = tx.read().first(&sql, of()).await?.as_ref().map(report).transpose()? else { return Ok(None) };
    let sql = "UPDATE reports SET verdict = 'accepted', reason = NULL WHERE id = $1";
    tx.run(sql, vec![text(last.id)]).await?;
    Ok(last.context_score)
}

/// Refuses the pending reports of a task that moved on, and stops their checks.
pub(crate) async fn refuse_pending(tx: &mut Tx<'_>, task: TaskId, reason: &str) -> Result<(), StoreError> {
    let sql = "SELECT id, runner FROM reports WHERE task = $1 AND verdict = 'pending'";
    let checking = tx.read().all(sql, vec![text(task)]).await?;
    if checking.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE reports SET verdict = 'refused', reason = $1 WHERE task = $2 AND verdict = 'pending'";
    tx.run(sql, args![reason, task.to_string()]).await?;
    for row in &checking {
        landing::withdraw(tx, row.parsed("id")?).await?;
        if let Some(runner) = id_or_none(row, "runner")? {
            tx.desire(runner).await?;
        }
    }
    Ok(())
}
