//! What becomes of a report: checked, accepted, refused, kept because it came late.

use domain::{AttemptOutcome, EscalationKind, ReportId, ReportVerdict, TaskId, TaskStatus, UserId, WorkerId};
use engine::retry::{Next, after_refusal};
use protocol::{CriterionResult, Deliverables, EscalationContext, Report, Usage};

use super::hold::{Why, let_go_stuck, limits, tries};
use super::place::{self, Place, Spot};
use super::{Ask, asks, attempt, ends, escalate, first_line, held, let_go, settle_all};
use crate::StoreError;
use crate::sql::{Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::sessions;
use crate::verbs::sight::not_met;
use crate::verbs::tasks::row::{TaskRow, id_or_none};
use crate::verbs::workers::holds::{self, Ended};
use crate::verbs::workers::lines;
use crate::verbs::workers::log::decided;
use crate::verbs::workers::rows::{self, sum};
use crate::verbs::workers::sweep;
use crate::verbs::workspaces::{self, json_or_none};

/// Reads reports.
pub(crate) const COLUMNS: &str = "SELECT r.id, r.task, r.attempt, r.fence, r.worker, r.at, r.summary, r.deliverables, \
    r.context_score, r.usage, r.collected, r.verdict, r.results, r.reason FROM reports r";

/// What a worker hands back, however it came.
#[derive(Debug, Clone, Default)]
pub(crate) struct NewReport {
    /// What was done, in words.
    pub(crate) summary: String,
    /// Files, branch and commits.
    pub(crate) deliverables: Deliverables,
    /// How well the task could be understood, from 1 to 5.
    pub(crate) context_score: Option<u8>,
    /// What it used, if the worker says so.
    pub(crate) usage: Option<Usage>,
    /// Whether it was read out of what the agent said.
    pub(crate) collected: bool,
    /// Why it could not be done.
    pub(crate) failed: Option<String>,
}

impl NewReport {
    /// Whether nobody said anything: then only what was changed shows that something was done.
    fn is_silent(&self) -> bool {
        self.collected && self.summary == asks::SILENT
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

/// Keeps a report, with where it is checked.
fn keep(tx: &mut Tx<'_>, task: &TaskRow, fence: u64, made: &Report, place: Option<Spot>) {
    let head = "INSERT INTO reports (id, task, project, attempt, fence, worker, at, summary, deliverables, \
                context_score, usage, collected, verdict, results, reason, runner, workspace)";
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
        collected: new.collected,
        verdict: ReportVerdict::Pending,
        results: Vec::new(),
        reason: new.failed,
    }
}

/// Takes a report under its fence: accepted at once, on its way to be checked, or to a person.
///
/// A report that says it failed goes the way of a failed attempt. Refuses a zombie; its report is kept by [`late`].
pub(crate) async fn report_in(tx: &mut Tx<'_>, task: TaskId, fence: u64, new: NewReport) -> Result<Report, StoreError> {
    let mut row = held(tx, task, fence).await?;
    let worker = row.worker.ok_or_else(|| StoreError::Corrupt(format!("{task} is held by nobody")))?;
    if !matches!(row.status, TaskStatus::Assigned | TaskStatus::Running) {
        return Err(StoreError::Conflict(format!("{} was reported already and is being checked", row.named())));
    }
    let (failed, silent) = (new.failed.is_some(), new.is_silent());
    let words_only = asks::words_only(&row.acceptance);
    let place = match (failed, words_only && !silent) {
        (true, _) => None,
        (false, true) => place::to_compare(tx, &row, &new.deliverables).await?,
        (false, false) => Some(place::find(tx, &row, &new.deliverables).await?),
    };
    // Nothing is refused from here on.
    let mut report = made(tx, task, row.attempt, worker, new);
    if failed
        && report.deliverables.branch.is_none()
        && let (Some(_), Some(workspace)) = (row.session, row.workspace)
    {
        // Nobody looks at what failed; whoever is next may want to.
        report.deliverables.branch = workspaces::branch_in(tx.read(), workspace).await?;
    }
    // What was collected was read off the attempt: it is counted there already.
    if let Some(usage) = report.usage.clone().filter(|_| !report.collected) {
        used(tx, &row, worker, &usage).await?;
    }
    row.progress = None;
    // What was wrong with an earlier report is not what this one waits for.
    row.reason = None;
    if failed {
        report.verdict = ReportVerdict::Refused;
        keep(tx, &row, fence, &report, None);
        tx.put_task(row);
        let_go(tx, task, AttemptOutcome::Failed, report.reason.clone()).await?;
        return Ok(report);
    }
    if row.acceptance.is_empty() && !silent && place.is_none() {
        report.verdict = ReportVerdict::Accepted;
        attempt::close(tx, &row, AttemptOutcome::Accepted, None);
        keep(tx, &row, fence, &report, None);
        finish(tx, row, report.context_score).await?;
        return Ok(report);
    }
    row.lease_until = None;
    if let Some(Place::Unsaid(why)) = &place
        && !words_only
    {
        let why = why.clone();
        keep(tx, &row, fence, &report, None);
        row.status = TaskStatus::Reported;
        tx.put_task(row);
        refuse(tx, report.id, &[], &why, None).await?;
        return Ok(Report { verdict: ReportVerdict::Refused, reason: Some(why), ..report });
    }
    let (spot, ask) = match place {
        Some(Place::There(spot)) => (Some(spot), None),
        Some(Place::Branch(branch)) => (Some(branch.make(tx, &mut row, report.id).await?), None),
        Some(Place::Nowhere(why) | Place::Unsaid(why)) if words_only => (None, Some(asks::silence(&why))),
        Some(Place::Nowhere(why) | Place::Unsaid(why)) => {
            let question = format!("The acceptance needs files, and {why}. Is the work accepted?");
            let context = EscalationContext { text: report.summary.clone(), ..Default::default() };
            (None, Some(Ask::new(EscalationKind::Uncheckable, question, context)))
        }
        None => (None, Some(asks::judgement(&row, &[], &report.summary))),
    };
    keep(tx, &row, fence, &report, spot);
    row.status = TaskStatus::Reported;
    tx.put_task(row);
    if let Some((runner, _)) = spot {
        tx.desire(runner).await?;
    }
    if let Some(ask) = ask {
        escalate(tx, task, ask).await?;
    }
    Ok(report)
}

/// What a worker says it used, unless it is read off its sessions.
async fn used(tx: &mut Tx<'_>, row: &TaskRow, worker: WorkerId, usage: &Usage) -> Result<(), StoreError> {
    if let Some(session) = row.session
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

/// Keeps a report that came under a lease that was lost; it is shown and changes nothing else.
pub(crate) async fn late(tx: &mut Tx<'_>, task: TaskId, fence: u64, new: NewReport) -> Result<Report, StoreError> {
    let row = tx.known_task(task).await?;
    let sql = "SELECT number, worker FROM attempts WHERE task = $1 AND fence = $2";
    let found = tx.read().first(sql, args![task.to_string(), fence]).await?;
    let found = found.ok_or_else(|| StoreError::Conflict(format!("{} never had the fence {fence}", row.named())))?;
    let report = made(tx, task, found.count("number")?, found.parsed("worker")?, new);
    let why = super::hold::zombie(&row, fence).to_string();
    let report = Report { verdict: ReportVerdict::Late, reason: Some(why), ..report };
    keep(tx, &row, fence, &report, None);
    tx.put_task(row);
    Ok(report)
}

/// Ends a task whose attempt is accepted as done: the worker is free, and those that waited for it wait for one less.
async fn finish(tx: &mut Tx<'_>, mut row: TaskRow, score: Option<u8>) -> Result<(), StoreError> {
    let worker = match row.worker.take() {
        Some(worker) => Some(worker),
        None => last_worker(tx, &row).await?,
    };
    if let Some(worker) = worker {
        holds::let_go(tx, worker, row.id, Ended::Accepted(score)).await?;
    }
    let others = waits(row.status);
    row.status = TaskStatus::Done;
    row.reason = None;
    row.lease_until = None;
    row.progress = None;
    row.session = None;
    let (id, activity, asked) = (row.id, row.activity, std::mem::take(&mut row.asked));
    tx.put_task(row);
    if others {
        refuse_pending(tx, id, "the task is done without it").await?;
    }
    ends::free_dependants(tx, id).await?;
    if asked {
        settle_all(tx, id, "the task is done").await?;
    }
    match activity {
        Some(activity) => lines::look(tx, activity).await,
        None => Ok(()),
    }
}

async fn last_worker(tx: &mut Tx<'_>, row: &TaskRow) -> Result<Option<WorkerId>, StoreError> {
    let sql = "SELECT worker FROM attempts WHERE task = $1 AND number = $2";
    let found = tx.read().first(sql, args![row.id.to_string(), row.attempt]).await?;
    found.map_or(Ok(None), |found| id_or_none(&found, "worker"))
}

/// Writes a verdict on a report that has none yet; `false`: it has one.
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
        sweep::is_needless(tx, report).await?;
    }
    Ok(ruled)
}

/// The task of a report that waits for its verdict; `None`: the task has gone on without it.
async fn waiting(tx: &mut Tx<'_>, report: ReportId) -> Result<Option<(TaskRow, Option<u8>)>, StoreError> {
    let sql = format!("{COLUMNS} WHERE r.id = $1 AND r.verdict = 'pending'");
    let Some(found) = tx.read().first(&sql, vec![text(report)]).await? else { return Ok(None) };
    let score = found.integer_or_none("context_score")?.and_then(|score| u8::try_from(score).ok());
    let row = tx.known_task(found.parsed("task")?).await?;
    Ok((waits(row.status) && row.fence == found.integer("fence")?.cast_unsigned()).then_some((row, score)))
}

/// Accepts a report; `false`: the task has gone on without it, and nothing was written.
pub(crate) async fn accept(tx: &mut Tx<'_>, report: ReportId, results: &[CriterionResult]) -> Result<bool, StoreError> {
    let Some((row, score)) = waiting(tx, report).await? else { return Ok(false) };
    rule(tx, report, ReportVerdict::Accepted, results, None).await?;
    attempt::close(tx, &row, AttemptOutcome::Accepted, None);
    finish(tx, row, score).await?;
    Ok(true)
}

/// Refuses a report with words for its worker: back to it, to another, or to a person; `None`: the task has gone on
/// without it. `stuck` says why going on with this worker is useless.
pub(crate) async fn refuse(
    tx: &mut Tx<'_>,
    report: ReportId,
    results: &[CriterionResult],
    reason: &str,
    stuck: Option<&str>,
) -> Result<Option<Next>, StoreError> {
    let Some((mut row, _)) = waiting(tx, report).await? else { return Ok(None) };
    rule(tx, report, ReportVerdict::Refused, results, Some(reason)).await?;
    let settings = tx.work_settings(row.project).await?;
    if row.status == TaskStatus::Escalated {
        // A person was asked meanwhile: whoever handed it back let it go, and it was its work all the same.
        row.worker = last_worker(tx, &row).await?;
        row.status = TaskStatus::Validating;
    }
    row.refusals += 1;
    let open =
        not_met(&row.acceptance, results).unwrap_or_else(|| reason.lines().next().unwrap_or_default().to_owned());
    let whole = if own_check(tx, report, row.worker).await? { reason } else { open.as_str() }.to_owned();
    row.reason = Some(open.clone());
    let mut tried = tries(&row);
    tried.workers = row.workers_tried + 1;
    let next = after_refusal(tried, stuck.is_some(), limits(&settings));
    // Whoever took something else meanwhile does not get it back.
    let sql = "SELECT id FROM workers WHERE id = $1 AND task = $2";
    let still = match row.worker {
        Some(worker) => tx.read().first(sql, vec![text(worker), text(row.id)]).await?.is_some(),
        None => false,
    };
    if next == Next::Back && still {
        row.status = TaskStatus::Running;
        row.lease_until = Some(tx.now.plus_millis(i64::from(settings.lease_seconds) * 1000));
        let (times, most) = (row.refusals, settings.tries_per_worker);
        let why = format!("not accepted, back to its worker after {times} of {most} tries: {}", first_line(&open));
        let (project, worker, id) = (row.project, row.worker, row.id);
        tx.put_task(row);
        decided(tx, project, worker, Some(id), "sent_back", why).await?;
        return Ok(Some(Next::Back));
    }
    let id = row.id;
    tx.put_task(row);
    let why = Why { open: Some(open), whole: Some(whole) };
    let after = let_go_stuck(tx, id, AttemptOutcome::Refused, why, stuck).await?;
    Ok(Some(if after.status == TaskStatus::Escalated { Next::Escalate } else { Next::Another }))
}

/// Whether a report was checked on a runner of its worker's owner: then what the checks printed is theirs. What ran on
/// somebody else's machine is not.
pub(crate) async fn own_check(tx: &mut Tx<'_>, report: ReportId, worker: Option<WorkerId>) -> Result<bool, StoreError> {
    let sql = "SELECT n.owner FROM reports r JOIN runners n ON n.id = r.runner WHERE r.id = $1";
    let Some(found) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(true) };
    let owner: UserId = found.parsed("owner")?;
    Ok(match worker {
        Some(worker) => rows::get(tx, worker).await?.is_some_and(|slot| slot.owner.id == owner),
        None => false,
    })
}

/// Decides from what the checks of a report found: refused if one is not met, a person's turn if one needs judgement,
/// accepted otherwise. `stuck` says why going on with this worker is useless. `false`: the task has gone on without it.
pub(crate) async fn judged(
    tx: &mut Tx<'_>,
    report: ReportId,
    results: &[CriterionResult],
    stuck: Option<&str>,
) -> Result<bool, StoreError> {
    let failed: Vec<&str> =
        results.iter().filter(|result| result.passed == Some(false)).map(|result| result.reason.as_str()).collect();
    if !failed.is_empty() {
        return Ok(refuse(tx, report, results, &failed.join("\n"), stuck).await?.is_some());
    }
    if results.iter().all(|result| result.passed == Some(true)) {
        return accept(tx, report, results).await;
    }
    let Some((row, _)) = waiting(tx, report).await? else { return Ok(false) };
    tx.run("UPDATE reports SET results = $1 WHERE id = $2", args![to_json(&results), report.to_string()]).await?;
    let found = tx.read().first("SELECT summary FROM reports WHERE id = $1", vec![text(report)]).await?;
    let summary = found.map(|found| found.text("summary")).transpose()?.unwrap_or_default();
    let ask = asks::judgement(&row, results, &summary);
    escalate(tx, row.id, ask).await?;
    Ok(true)
}

/// What was only to be compared with other outputs, and could not be: `true`, and it goes on without that. `why` is for
/// everybody who sees the project.
pub(crate) async fn not_compared(tx: &mut Tx<'_>, report: ReportId, why: &str) -> Result<bool, StoreError> {
    let Some((row, _)) = waiting(tx, report).await? else { return Ok(false) };
    let sql = "SELECT summary, collected FROM reports WHERE id = $1";
    let Some(found) = tx.read().first(sql, vec![text(report)]).await? else { return Ok(false) };
    let summary = found.text("summary")?;
    if !asks::words_only(&row.acceptance) || (found.flag("collected")? && summary == asks::SILENT) {
        return Ok(false);
    }
    let reason = format!("it was not compared with other outputs: {why}");
    decided(tx, row.project, row.worker, Some(row.id), "not_compared", reason).await?;
    match row.acceptance.is_empty() {
        true => accept(tx, report, &[]).await?,
        false => escalate(tx, row.id, asks::judgement(&row, &[], &summary)).await.map(|_| true)?,
    };
    Ok(true)
}

/// A report that says nothing about work that changed nothing: the attempt failed.
pub(crate) async fn came_to_nothing(
    tx: &mut Tx<'_>,
    report: ReportId,
    results: &[CriterionResult],
) -> Result<(), StoreError> {
    let Some((mut row, _)) = waiting(tx, report).await? else { return Ok(()) };
    let reason = "its agent ended, said nothing and changed nothing";
    rule(tx, report, ReportVerdict::Refused, results, Some(reason)).await?;
    let id = row.id;
    if row.status == TaskStatus::Escalated {
        row.worker = last_worker(tx, &row).await?;
        row.status = TaskStatus::Validating;
        tx.put_task(row);
    }
    let_go(tx, id, AttemptOutcome::Failed, Some(reason.to_owned())).await.map(|_| ())
}

/// The newest report of a task that waits for its verdict.
async fn pending(tx: &mut Tx<'_>, task: TaskId) -> Result<Option<ReportId>, StoreError> {
    let sql = "SELECT id FROM reports WHERE task = $1 AND verdict = 'pending' ORDER BY at DESC, id DESC LIMIT 1";
    tx.read().first(sql, vec![text(task)]).await?.map(|found| found.parsed("id")).transpose()
}

/// A person accepts what was handed back last, or the task as it is.
pub(super) async fn accept_last(tx: &mut Tx<'_>, row: TaskRow) -> Result<(), StoreError> {
    if let Some(report) = pending(tx, row.id).await? {
        let sql = format!("{COLUMNS} WHERE r.id = $1");
        let found = tx.read().first(&sql, vec![text(report)]).await?.as_ref().map(self::report).transpose()?;
        let results = found.map(|found| found.results).unwrap_or_default();
        if accept(tx, report, &results).await? {
            return Ok(());
        }
    }
    let score = overrule(tx, &row).await?;
    attempt::close(tx, &row, AttemptOutcome::Accepted, None);
    finish(tx, row, score).await
}

/// What was refused or given up counts as accepted: the attempt, its last report, and its worker, which did not fail.
/// Answers with the report's context score.
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

/// Whether a task in this status may have a report that waits for its verdict.
pub(super) fn waits(status: TaskStatus) -> bool {
    matches!(status, TaskStatus::Reported | TaskStatus::Validating | TaskStatus::Escalated)
}

/// The task goes on without what waits for a verdict: that is refused, and nobody checks it any more.
pub(super) async fn refuse_pending(tx: &mut Tx<'_>, task: TaskId, reason: &str) -> Result<(), StoreError> {
    let sql = "SELECT DISTINCT runner FROM reports WHERE task = $1 AND verdict = 'pending'";
    let checking = tx.read().all(sql, vec![text(task)]).await?;
    if checking.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE reports SET verdict = 'refused', reason = $1 WHERE task = $2 AND verdict = 'pending'";
    tx.run(sql, args![reason, task.to_string()]).await?;
    for row in &checking {
        if let Some(runner) = id_or_none(row, "runner")? {
            tx.desire(runner).await?;
        }
    }
    Ok(())
}
