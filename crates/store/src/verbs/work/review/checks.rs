//! Check results from runners, and the verdicts that follow.

use domain::{EscalationKind, ReportId, RunnerId, TaskId, TaskStatus};
use engine::tasks::life::Event;
use engine::tasks::progress::{self, Stuck, stuck};
use engine::workers::decision::Decision;
use protocol::link::{Changes, CheckTrouble};
use protocol::{Criterion, CriterionResult, Escalation, EscalationContext};
use sha2::{Digest, Sha256};

use super::ask::{self, Ask};
use super::changes::bounded;
use super::fill_in::fill_in;
use super::{away, conflicts, judge, place, questions};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::sight::not_met;
use crate::verbs::work::life::step;
use crate::verbs::work::workers::log::decided;
use crate::verbs::work::workers::{Say, facts};
use crate::verbs::workspaces::json_or_none;

/// The maximum length of a result's text.
const WORDS: usize = 4_000;

/// A report whose acceptance was checked.
struct Checked {
    task: TaskId,
    fence: u64,
    /// The escalation that was raised while the runner was offline.
    asked: Option<Escalation>,
}

/// A report without a verdict, if this runner must check it.
async fn waiting(tx: &mut Tx<'_>, runner: RunnerId, report: ReportId) -> Result<Option<Checked>, StoreError> {
    if !facts::checks(tx, runner, &report.to_string()).await? {
        return Ok(None);
    }
    let row = tx.read().first("SELECT task, fence FROM reports WHERE id = $1", vec![text(report)]).await?;
    let Some(row) = row else { return Ok(None) };
    let (task, fence) = (row.parsed("task")?, row.integer("fence")?.cast_unsigned());
    let known = tx.task(task).await?.filter(|task| task.fence == fence);
    Ok(match known.map(|task| task.status()) {
        Some(TaskStatus::Reported | TaskStatus::Validating) => Some(Checked { task, fence, asked: None }),
        Some(TaskStatus::Escalated) => {
            away::asked(tx, task, runner).await?.map(|asked| Checked { task, fence, asked: Some(asked) })
        }
        _ => None,
    })
}

/// A runner started to check a report.
pub(crate) async fn began(tx: &mut Tx<'_>, runner: RunnerId, report: ReportId) -> Result<(), StoreError> {
    let Some(found) = waiting(tx, runner, report).await? else { return Ok(()) };
    let row = tx.known_task(found.task).await?;
    step(tx, row, Event::BeginCheck).await.map(|_| ())
}

/// Accepts or refuses a checked report, or asks a person. Returns the message for a live session, if any.
pub(crate) async fn checked(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    report: ReportId,
    results: &[CriterionResult],
    changes: Option<&Changes>,
) -> Result<Option<Say>, StoreError> {
    let Some(mut found) = waiting(tx, runner, report).await? else { return Ok(None) };
    let changes = changes.map(bounded);
    let changes = changes.as_ref();
    let asked = found.asked.take();
    if let Some(asked) = &asked {
        conflicts::judge_on(tx, asked).await?;
    }
    let say = verdict(tx, &found, report, results, changes).await?;
    if let Some(asked) = asked {
        away::answered(tx, asked, runner).await?;
        let row = tx.known_task(found.task).await?;
        if !matches!(row.status(), TaskStatus::Done | TaskStatus::Escalated) {
            conflicts::stands_no_more(tx, &row, "was refused").await?;
        }
    }
    Ok(say)
}

/// Applies the check results.
async fn verdict(
    tx: &mut Tx<'_>,
    found: &Checked,
    report: ReportId,
    results: &[CriterionResult],
    changes: Option<&Changes>,
) -> Result<Option<Say>, StoreError> {
    let task = tx.known_task(found.task).await?;
    let results = complete(results, &task.acceptance);
    if let Some(changes) = changes {
        let base = changes.work.first().map(|work| work.against.clone());
        let sql = "UPDATE reports SET changes = $1, base = $2, kept = $3 WHERE id = $4";
        tx.run(sql, args![to_json(changes), base, changes.kept.clone(), report.to_string()]).await?;
    }
    let silent = fill_in(tx, report, changes).await?;
    let passed = results.iter().all(|result| result.passed != Some(false));
    if silent && passed {
        match changes {
            Some(changes) if changes.files.is_empty() && (changes.head.is_empty() || changes.head == changes.base) => {
                judge::came_to_nothing(tx, report, &results).await?;
                return Ok(None);
            }
            None if results.iter().all(|result| result.passed.is_none()) => {
                let ask = questions::silence("Its runner did not report the changes.");
                ask::escalate(tx, found.task, ask).await?;
                return Ok(None);
            }
            _ => {}
        }
    }
    if passed
        && let Some(changes) = changes
        && let Some(other) = conflicts::meets(tx, task.project, report, found.task, changes, &[]).await?
    {
        let sql = "UPDATE reports SET results = $1 WHERE id = $2";
        tx.run(sql, args![to_json(&results), report.to_string()]).await?;
        ask::escalate(tx, found.task, conflicts::question(changes, other)).await?;
        return Ok(None);
    }
    let useless = if passed { None } else { no_progress(tx, found).await? };
    if let Some(stuck) = useless.as_ref().filter(|stuck| stuck.is_news()) {
        let decision = Decision::Stuck { why: stuck.reason.clone() };
        decided(tx, task.project, task.worker(), Some(found.task), decision).await?;
    }
    judge::judged(tx, report, &results, useless.as_ref().map(|stuck| stuck.reason.as_str())).await?;
    let failed = results.iter().filter(|result| result.passed == Some(false)).map(|result| result.reason.as_str());
    let mut reasons = failed.collect::<Vec<_>>().join("\n");
    if let Some(open) = not_met(&task.acceptance, &results)
        && !judge::own_check(tx, report, task.worker()).await?
    {
        reasons = open;
    }
    after(tx, found, &reasons).await
}

/// A runner could not check a report: the worker fixes the cause, another runner tries, or a person decides. Returns
/// the message for a live session, if any.
pub(crate) async fn check_failed(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    report: ReportId,
    detail: &str,
    cause: CheckTrouble,
) -> Result<Option<Say>, StoreError> {
    let Some(found) = waiting(tx, runner, report).await? else { return Ok(None) };
    let detail = domain::text::plain(detail, WORDS);
    if let Some(asked) = found.asked {
        away::still_unchecked(tx, asked, detail).await?;
        return Ok(None);
    }
    // The detail can name folders on the runner's machine, and everybody who sees the project can read the work log.
    if judge::not_compared(tx, report, "its runner could not look at the work").await? {
        return Ok(None);
    }
    let row = tx.known_task(found.task).await?;
    let acceptance = row.acceptance.clone();
    // A worker with a session on a runner was not asked to push its branch.
    if cause == CheckTrouble::Missing && row.session().and(row.workspace).is_none() {
        judge::refuse(tx, report, &[], &detail, None).await?;
        return after(tx, &found, &detail).await;
    }
    if cause == CheckTrouble::Unreachable && place::elsewhere(tx, row, report, None).await? {
        return Ok(None);
    }
    let ask = match acceptance.is_empty() {
        true => questions::silence(&detail),
        false => {
            let context = EscalationContext { text: detail, ..Default::default() };
            let question = "The acceptance criteria could not be checked. Accept the work?";
            Ask::new(EscalationKind::Uncheckable, question, context)
        }
    };
    ask::escalate(tx, found.task, ask).await?;
    Ok(None)
}

/// The message to the worker of a refused report, if the task returned to it.
async fn after(tx: &mut Tx<'_>, found: &Checked, reasons: &str) -> Result<Option<Say>, StoreError> {
    let task = tx.known_task(found.task).await?;
    if task.fence != found.fence || task.status() != TaskStatus::Running {
        return Ok(None);
    }
    facts::back(tx, found.task, reasons).await
}

/// One result for each criterion, in order; a person judges the missing ones.
fn complete(results: &[CriterionResult], acceptance: &[Criterion]) -> Vec<CriterionResult> {
    let result = |(index, wanted): (usize, &Criterion)| {
        let criterion = u32::try_from(index).unwrap_or(u32::MAX);
        let found = results.iter().find(|result| result.criterion == criterion);
        let reason = found.map_or("it was not checked".to_owned(), |result| domain::text::plain(&result.reason, WORDS));
        // No runner can approve for a person, or say that work is merged.
        let not_theirs = matches!(wanted, Criterion::Approved {} | Criterion::Merged {});
        CriterionResult { criterion, passed: found.and_then(|result| result.passed).filter(|_| !not_theirs), reason }
    };
    acceptance.iter().enumerate().map(result).collect()
}

/// Whether the agent is stuck: its last reports have the same changes and summary. A person's answer resets the
/// comparison.
async fn no_progress(tx: &mut Tx<'_>, found: &Checked) -> Result<Option<Stuck>, StoreError> {
    let sql = "SELECT r.summary, r.changes, a.agent FROM reports r JOIN attempts a ON a.task = r.task AND \
               a.number = r.attempt WHERE r.task = $1 AND r.verdict IN ('refused', 'pending') AND \
               r.at > COALESCE((SELECT MAX(e.answered_at) FROM escalations e WHERE e.task = $1), 0) \
               ORDER BY r.at DESC, r.id DESC LIMIT 10";
    let rows = tx.read().all(sql, vec![text(found.task)]).await?;
    let mut attempts = Vec::new();
    for row in rows.iter().rev() {
        let changes: Option<Changes> = json_or_none(row, "changes")?;
        attempts.push(progress::Attempt {
            agent: row.text("agent")?,
            tree: changes.map(|changes| changes.tree).unwrap_or_default(),
            report: hex::encode(Sha256::digest(row.text("summary")?.trim())),
        });
    }
    Ok(stuck(&attempts))
}
