//! What runners found when they checked a report, and what becomes of it.

use domain::{EscalationKind, ReportId, ReportVerdict, RunnerId, TaskId, TaskStatus};
use engine::conflict::{self, Kind, Meeting};
use engine::progress::{self, Stuck, stuck};
use protocol::link::{ChangedFile, Changes, CheckTrouble};
use protocol::{CriterionResult, Escalation, EscalationContext};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::fill_in::fill_in;
use super::log::decided;
use super::{Say, away, facts};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::tasks::moves::{self, Ask};
use crate::verbs::workspaces::json_or_none;

/// With how many accepted outputs a new one is compared.
const COMPARED: u32 = 200;
/// How many further ones that it meets are named.
const ALSO: usize = 10;
/// How much of a patch a person is shown.
const SHOWN: usize = 20_000;
/// How long a result's words may be.
const WORDS: usize = 4_000;

/// A report whose acceptance was checked.
struct Checked {
    task: TaskId,
    fence: u64,
    /// What a person was asked meanwhile, because the runner was away.
    asked: Option<Escalation>,
}

/// A report that waits for its verdict, if this runner is the one to say.
async fn waiting(tx: &mut Tx<'_>, runner: RunnerId, report: ReportId) -> Result<Option<Checked>, StoreError> {
    if !facts::checks(tx, runner, &report.to_string()).await? {
        return Ok(None);
    }
    let row = tx.read().first("SELECT task, fence FROM reports WHERE id = $1", vec![text(report)]).await?;
    let Some(row) = row else { return Ok(None) };
    let (task, fence) = (row.parsed("task")?, row.integer("fence")?.cast_unsigned());
    let known = tx.task(task).await?.filter(|task| task.fence == fence);
    Ok(match known.map(|task| task.status) {
        Some(TaskStatus::Validating) => Some(Checked { task, fence, asked: None }),
        Some(TaskStatus::Escalated) => {
            away::asked(tx, task, runner).await?.map(|asked| Checked { task, fence, asked: Some(asked) })
        }
        _ => None,
    })
}

/// A report's acceptance was checked: accepted, refused, or a person's turn. Says what a live session is to be told.
pub(crate) async fn checked(
    tx: &mut Tx<'_>,
    runner: RunnerId,
    report: ReportId,
    results: &[CriterionResult],
    changes: Option<&Changes>,
) -> Result<Option<Say>, StoreError> {
    let Some(mut found) = waiting(tx, runner, report).await? else { return Ok(None) };
    let asked = found.asked.take();
    let say = verdict(tx, &found, report, results, changes).await?;
    if let Some(asked) = asked {
        away::answered(tx, asked, runner).await?;
    }
    Ok(say)
}

/// What follows from what was found.
async fn verdict(
    tx: &mut Tx<'_>,
    found: &Checked,
    report: ReportId,
    results: &[CriterionResult],
    changes: Option<&Changes>,
) -> Result<Option<Say>, StoreError> {
    let task = tx.known_task(found.task).await?;
    let results = complete(results, task.acceptance.len());
    if let Some(changes) = changes {
        let sql = "UPDATE reports SET changes = $1 WHERE id = $2";
        tx.run(sql, args![to_json(changes), report.to_string()]).await?;
    }
    let silent = fill_in(tx, report, changes).await?;
    let passed = results.iter().all(|result| result.passed != Some(false));
    if silent && passed {
        match changes {
            Some(changes) if changes.files.is_empty() && (changes.head.is_empty() || changes.head == changes.base) => {
                moves::came_to_nothing(tx, report, &results).await?;
                return Ok(None);
            }
            None if results.iter().all(|result| result.passed.is_none()) => {
                let ask = moves::asks::silence("Its runner does not tell what was changed.");
                moves::escalate(tx, found.task, ask).await?;
                return Ok(None);
            }
            _ => {}
        }
    }
    if passed
        && let Some(changes) = changes
        && let Some(other) = meets(tx, task.project, report, found.task, changes).await?
    {
        let sql = "UPDATE reports SET results = $1 WHERE id = $2";
        tx.run(sql, args![to_json(&results), report.to_string()]).await?;
        conflict(tx, found, changes, other).await?;
        return Ok(None);
    }
    let useless = if passed { None } else { no_progress(tx, found).await? };
    if let Some(stuck) = useless.as_ref().filter(|stuck| stuck.is_news()) {
        decided(tx, task.project, task.worker, Some(found.task), "stuck", stuck.reason.clone()).await?;
    }
    moves::judged(tx, report, &results, useless.as_ref().map(|stuck| stuck.reason.as_str())).await?;
    let failed = results.iter().filter(|result| result.passed == Some(false)).map(|result| result.reason.as_str());
    after(tx, found, &failed.collect::<Vec<_>>().join("\n")).await
}

/// A report's acceptance could not be checked: its worker puts that right, another runner tries, or a person decides.
/// Says what a live session is to be told.
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
        away::in_vain(tx, asked, detail).await?;
        return Ok(None);
    }
    if moves::not_compared(tx, report, &detail).await? {
        return Ok(None);
    }
    let row = tx.known_task(found.task).await?;
    let acceptance = row.acceptance.clone();
    // Whoever worked on a runner was not asked to push what it names.
    if cause == CheckTrouble::Missing && row.session.and(row.workspace).is_none() {
        moves::refuse(tx, report, &[], &detail, None).await?;
        return after(tx, &found, &detail).await;
    }
    if cause == CheckTrouble::Unreachable && moves::elsewhere(tx, row, report, None).await? {
        return Ok(None);
    }
    let ask = match acceptance.is_empty() {
        true => moves::asks::silence(&detail),
        false => {
            let context = EscalationContext { text: detail, ..Default::default() };
            let question = "The acceptance could not be checked. Is the work accepted?";
            Ask::new(EscalationKind::Uncheckable, question, context)
        }
    };
    moves::escalate(tx, found.task, ask).await?;
    Ok(None)
}

/// What a refused report's worker is told, if the task came back to it.
async fn after(tx: &mut Tx<'_>, found: &Checked, reasons: &str) -> Result<Option<Say>, StoreError> {
    let task = tx.known_task(found.task).await?;
    if task.fence != found.fence || task.status != TaskStatus::Running {
        return Ok(None);
    }
    facts::back(tx, found.task, reasons).await
}

/// One result for each criterion, in order; what was not looked at is for a person.
fn complete(results: &[CriterionResult], count: usize) -> Vec<CriterionResult> {
    let result = |index: usize| {
        let criterion = u32::try_from(index).unwrap_or(u32::MAX);
        let found = results.iter().find(|result| result.criterion == criterion);
        let reason = found.map_or("it was not checked".to_owned(), |result| domain::text::plain(&result.reason, WORDS));
        CriterionResult { criterion, passed: found.and_then(|result| result.passed), reason }
    };
    (0..count).map(result).collect()
}

/// Whether going on with the same agent is useless: its last reports left and said the same. What a person answered since
/// makes it worth another try: then only what came after counts.
async fn no_progress(tx: &mut Tx<'_>, found: &Checked) -> Result<Option<Stuck>, StoreError> {
    tx.settle().await?;
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

/// Another output that this one meets.
struct Other {
    task: TaskId,
    title: String,
    patch: String,
    meetings: Vec<Meeting>,
    /// The titles of further ones.
    also: Vec<String>,
}

/// What of [`Changes`] is compared.
#[derive(Deserialize)]
struct Output {
    base: String,
    head: String,
    tree: String,
    files: Vec<ChangedFile>,
}

impl Output {
    /// Whether somebody's work was begun on this one: then nothing in it is news to them.
    fn is_under(&self, work: &Changes) -> bool {
        let committed = !self.head.is_empty() && self.head != self.base;
        committed && (work.head == self.head || work.base == self.head || work.commits.contains(&self.head))
    }
}

/// The newest output that changes what this one changes, too: accepted, else waiting for a person.
async fn meets(
    tx: &mut Tx<'_>,
    project: domain::ProjectId,
    report: ReportId,
    task: TaskId,
    changes: &Changes,
) -> Result<Option<Other>, StoreError> {
    if changes.files.is_empty() || !moves::has_repository(tx, project).await? {
        return Ok(None);
    }
    // What was done before in the same workspace is part of it.
    let sql = "SELECT r.task, t.title, r.changes FROM reports r JOIN tasks t ON t.id = r.task \
               WHERE r.project = $1 AND \
               (r.verdict = $2 OR (r.verdict = 'pending' AND r.fence = t.fence AND t.status = 'escalated')) AND \
               r.changes IS NOT NULL AND r.task <> $3 AND NOT EXISTS \
               (SELECT 1 FROM reports m WHERE m.id = $4 AND m.workspace = r.workspace) \
               ORDER BY CASE r.verdict WHEN 'accepted' THEN 0 ELSE 1 END, r.at DESC, r.id DESC LIMIT $5";
    let of = args![project.to_string(), ReportVerdict::Accepted.word(), task.to_string(), report.to_string(), COMPARED];
    let rows = tx.read().all(sql, of).await?;
    let mine: Vec<conflict::File> = changes.files.iter().map(file).collect();
    let mut first: Option<Other> = None;
    for row in &rows {
        let other: Output = row.json("changes")?;
        let same_base = other.base == changes.base;
        if (same_base && other.tree == changes.tree) || other.is_under(changes) {
            continue;
        }
        let theirs: Vec<conflict::File> = other.files.iter().map(file).collect();
        let meetings = conflict::meetings(&mine, &theirs, same_base);
        if meetings.is_empty() {
            continue;
        }
        match &mut first {
            None => {
                let (task, title) = (row.parsed("task")?, row.text("title")?);
                let Changes { patch, .. } = row.json("changes")?;
                first = Some(Other { task, title, patch, meetings, also: Vec::new() });
            }
            Some(first) if first.also.len() < ALSO => first.also.push(row.text("title")?),
            Some(_) => break,
        }
    }
    Ok(first)
}

fn file(changed: &ChangedFile) -> conflict::File {
    conflict::File {
        path: changed.path.clone(),
        from: changed.from.clone(),
        change: conflict::Change::of(&changed.change),
        before: changed.before.clone(),
        content: changed.content.clone(),
        ranges: changed.ranges.clone(),
    }
}

/// Two outputs cannot both be had: a person decides, with both before them.
async fn conflict(tx: &mut Tx<'_>, found: &Checked, changes: &Changes, other: Other) -> Result<(), StoreError> {
    let kind = match conflict::worst(&other.meetings) {
        Some(Kind::Contradiction) => EscalationKind::Contradiction,
        _ => EscalationKind::SameLines,
    };
    let also: Vec<String> = other.also.iter().map(|title| format!("`{title}`")).collect();
    let also = if also.is_empty() { String::new() } else { format!(" It also meets {}.", also.join(", ")) };
    let context = EscalationContext {
        text: format!("The other output, of `{}`, came first.{also}", other.title),
        diff: Some(shown(&changes.patch)),
        other_task: Some(other.task),
        other_diff: Some(shown(&other.patch)),
        places: other.meetings.iter().take(100).map(ToString::to_string).collect(),
        ..Default::default()
    };
    let question = match kind {
        EscalationKind::Contradiction => format!("The work contradicts what `{}` did. Which is right?", other.title),
        _ => format!("The work changes the same lines as `{}`. Is it accepted all the same?", other.title),
    };
    moves::escalate(tx, found.task, Ask::new(kind, question, context)).await.map(|_| ())
}

fn shown(patch: &str) -> String {
    patch.chars().take(SHOWN).collect()
}
