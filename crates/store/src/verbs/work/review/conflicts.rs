//! Conflicting outputs: found when the second report arrives, decided by a person who sees both, and compared again
//! when one of them is dropped.

use std::collections::HashSet;

use domain::{AnswerAct, EscalationKind, ReportId, ReportVerdict, TaskId, TaskStatus, UserId};
use engine::overlaps::{Meeting, MeetingKind, Prepared};
use engine::tasks::life::Event;
use engine::workers::decision::Decision;
use protocol::link::{Changes, WorkFacts};
use protocol::{CriterionResult, Escalation, EscalationContext};
use serde::Deserialize;

use super::ask::{self, Ask};
use super::{evidence, judge, place};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::overlaps;
use crate::verbs::work::life::step;
use crate::verbs::work::tasks::row::{TaskRow, id_or_none};
use crate::verbs::work::workers::log::decided;
use crate::verbs::workspaces::json_or_none;

/// The maximum number of accepted outputs that a new one is compared with.
const COMPARED: u32 = 200;
/// The maximum number of further conflicts that are named.
const ALSO: usize = 10;
/// The maximum length of a patch in an escalation.
const SHOWN: usize = 20_000;

/// An output that conflicts with this one.
pub(super) struct Other {
    task: TaskId,
    title: String,
    /// The owner of that output's worker.
    owner: Option<UserId>,
    patch: String,
    meetings: Vec<Meeting>,
    /// The titles of further conflicting tasks.
    also: Vec<String>,
}

/// The part of [`Changes`] that is compared.
#[derive(Deserialize)]
struct Output {
    base: String,
    head: String,
    tree: String,
    #[serde(default)]
    work: Vec<WorkFacts>,
}

impl Output {
    /// Whether the other work started from this output, and so already contains it.
    fn is_under(&self, work: &Changes) -> bool {
        let committed = !self.head.is_empty() && self.head != self.base;
        committed && (work.head == self.head || work.base == self.head || work.commits.contains(&self.head))
    }
}

/// The newest conflicting output: an accepted one, else one that waits for a person. Skips `except`.
pub(super) async fn meets(
    tx: &mut Tx<'_>,
    project: domain::ProjectId,
    report: ReportId,
    task: TaskId,
    changes: &Changes,
    except: &[TaskId],
) -> Result<Option<Other>, StoreError> {
    let Some(mine) = overlaps::work(changes.work.clone()).filter(|mine| !mine.is_empty()) else { return Ok(None) };
    if !place::has_repository(tx, project).await? {
        return Ok(None);
    }
    // Earlier outputs from the same workspace are part of this one, and so is what had landed where its branch left the
    // base. A recipe decides about the works of its execution itself: attempts at the same task are meant to differ.
    let sql = "SELECT r.task, t.title, r.changes, w.owner FROM reports r JOIN tasks t ON t.id = r.task \
               LEFT JOIN workers w ON w.id = r.worker \
               WHERE r.project = $1 AND \
               (r.verdict = $2 OR (r.verdict = 'pending' AND r.fence = t.fence AND t.status = 'escalated')) AND \
               r.changes IS NOT NULL AND r.task <> $3 AND NOT EXISTS \
               (SELECT 1 FROM reports m WHERE m.id = $4 AND m.workspace = r.workspace) AND NOT EXISTS \
               (SELECT 1 FROM landings l JOIN reports m ON m.id = $4 JOIN workspaces w ON w.id = m.workspace \
               WHERE l.report = r.id AND l.state = 'landed' AND l.updated_at <= w.created_at) AND NOT EXISTS \
               (SELECT 1 FROM landings l JOIN landings n ON n.project = l.project AND n.state = 'landed' AND n.landed = $6 \
               WHERE l.report = r.id AND l.state = 'landed' AND l.updated_at <= n.updated_at) AND NOT EXISTS \
               (SELECT 1 FROM execution_tasks a JOIN execution_tasks b ON b.execution = a.execution \
               WHERE a.task = r.task AND b.task = $3) \
               ORDER BY CASE r.verdict WHEN 'accepted' THEN 0 ELSE 1 END, r.at DESC, r.id DESC LIMIT $5";
    let accepted = ReportVerdict::Accepted.word();
    let of = args![project.to_string(), accepted, task.to_string(), report.to_string(), COMPARED, &mine.fork];
    let rows = tx.read().all(sql, of).await?;
    let (mine, before) = (Prepared::new(&mine), before(tx, task).await?);
    let mut first: Option<Other> = None;
    for row in &rows {
        let other: TaskId = row.parsed("task")?;
        if except.contains(&other) || before.contains(&other) {
            continue;
        }
        let other: Output = row.json("changes")?;
        if (other.base == changes.base && other.tree == changes.tree) || other.is_under(changes) {
            continue;
        }
        let theirs = overlaps::work(other.work);
        let mut meetings = theirs.and_then(|theirs| mine.with(&theirs)).unwrap_or_default();
        meetings.retain(|meeting| meeting.kind.conflicts());
        if meetings.is_empty() {
            continue;
        }
        match &mut first {
            None => {
                let (task, title) = (row.parsed("task")?, row.text("title")?);
                let Changes { patch, .. } = row.json("changes")?;
                let owner = id_or_none(row, "owner")?;
                first = Some(Other { task, title, owner, patch, meetings, also: Vec::new() });
            }
            Some(first) if first.also.len() < ALSO => first.also.push(row.text("title")?),
            Some(_) => break,
        }
    }
    Ok(first)
}

/// The tasks that a task builds on, directly or through others: its work started from theirs.
async fn before(tx: &mut Tx<'_>, task: TaskId) -> Result<HashSet<TaskId>, StoreError> {
    let (mut found, mut next) = (HashSet::new(), vec![task]);
    while let Some(id) = next.pop() {
        let deps = tx.task(id).await?.map(|row| row.deps).unwrap_or_default();
        next.extend(deps.into_iter().filter(|dep| found.insert(*dep)));
    }
    Ok(found)
}

/// Asks a person to decide between two conflicting outputs.
pub(super) fn question(changes: &Changes, other: Other) -> Ask {
    let kind = match other.meetings.iter().map(|meeting| meeting.kind).max() {
        Some(MeetingKind::Contradiction) => EscalationKind::Contradiction,
        _ => EscalationKind::SameLines,
    };
    let also: Vec<String> = other.also.iter().map(|title| format!("`{title}`")).collect();
    let also = if also.is_empty() { String::new() } else { format!(" It also conflicts with {}.", also.join(", ")) };
    let context = EscalationContext {
        text: format!("The other output, of `{}`, came first.{also}", other.title),
        diff: Some(shown(&changes.patch)),
        other_task: Some(other.task),
        other_diff: Some(shown(&other.patch)),
        places: other.meetings.iter().take(100).map(ToString::to_string).collect(),
        ..Default::default()
    };
    let question = match kind {
        EscalationKind::Contradiction => format!("Contradicts `{}`. Which is right?", other.title),
        _ => format!("Conflicts with `{}`. Accept anyway?", other.title),
    };
    Ask { other_owner: other.owner, ..Ask::new(kind, question, context) }
}

fn shown(patch: &str) -> String {
    patch.chars().take(SHOWN).collect()
}

/// An output that waited for a person was dropped; `how` says why. Each escalation about a conflict with it moves to
/// the next conflict, or closes.
pub(crate) async fn stands_no_more(tx: &mut Tx<'_>, gone: &TaskRow, how: &str) -> Result<(), StoreError> {
    let sql = format!(
        "{} WHERE e.project = $1 AND e.answered_at IS NULL AND e.kind IN ('same_lines', 'contradiction') \
         ORDER BY e.created_at, e.id",
        ask::COLUMNS
    );
    let rows = tx.read().all(&sql, vec![text(gone.project)]).await?;
    let open = rows.iter().map(ask::escalation).collect::<Result<Vec<_>, _>>()?;
    let why = format!("{} {how}: its output was dropped", gone.named());
    for one in open.iter().filter(|open| open.context.other_task == Some(gone.id)) {
        // Only one output of a pair is asked about.
        let after = open.iter().filter(|open| open.context.other_task == Some(one.task)).map(|open| open.task);
        look_again(tx, one.clone(), &after.collect::<Vec<_>>(), &why).await?;
    }
    Ok(())
}

async fn look_again(tx: &mut Tx<'_>, open: Escalation, after: &[TaskId], why: &str) -> Result<(), StoreError> {
    let row = tx.known_task(open.task).await?;
    let sql = "SELECT id, results, changes FROM reports WHERE task = $1 AND fence = $2 AND verdict = 'pending' \
               ORDER BY at DESC, id DESC LIMIT 1";
    let found = tx.read().first(sql, args![row.id.to_string(), row.fence]).await?;
    let Some(found) = found.filter(|_| row.status() == TaskStatus::Escalated) else { return Ok(()) };
    let Some(changes) = json_or_none::<Changes>(&found, "changes")? else { return Ok(()) };
    let report = found.parsed("id")?;
    if let Some(other) = meets(tx, row.project, report, row.id, &changes, after).await? {
        return ask_instead(tx, open, row, question(&changes, other), why).await;
    }
    let results: Vec<CriterionResult> = found.json("results")?;
    let met = results.iter().all(|result| result.passed == Some(true));
    decided(tx, row.project, open.worker, Some(row.id), Decision::ConflictGone { why: why.to_owned() }).await?;
    judge_on(tx, &open).await?;
    ask::close(tx, open, if met { AnswerAct::Accept } else { AnswerAct::Tell }, why, None).await?;
    judge::judged(tx, report, &results, None).await.map(|_| ())
}

/// Replaces an escalation by one about another conflict; the evidence about this output stays.
async fn ask_instead(tx: &mut Tx<'_>, open: Escalation, row: TaskRow, ask: Ask, why: &str) -> Result<(), StoreError> {
    let context = EscalationContext { screen: open.context.screen, missing: open.context.missing, ..ask.context };
    let asked = Escalation { kind: ask.kind, question: ask.question, options: ask.options, context, ..open };
    let sql =
        "UPDATE escalations SET kind = $1, question = $2, options = $3, context = $4, other_owner = $5 WHERE id = $6";
    let (options, context) = (to_json(&asked.options), to_json(&asked.context));
    let other = ask.other_owner.map(|id| id.to_string());
    tx.run(sql, args![asked.kind.word(), &asked.question, options, context, other, asked.id.to_string()]).await?;
    let question = asked.question.clone();
    step(tx, row, Event::Escalate { question: question.clone(), verdict_open: true }).await?;
    evidence::announce(tx, &asked).await?;
    let decision = Decision::AskedAgain { why: why.to_owned(), question };
    decided(tx, asked.project, asked.worker, Some(asked.task), decision).await
}

/// Resumes judging a report whose question is settled. The owner and session of the work decide who may see the next
/// question.
pub(super) async fn judge_on(tx: &mut Tx<'_>, asked: &Escalation) -> Result<(), StoreError> {
    let row = tx.known_task(asked.task).await?;
    let worker = match asked.worker {
        Some(worker) => Some(worker),
        None => judge::last_worker(tx, &row).await?,
    };
    match worker {
        Some(worker) => step(tx, row, Event::JudgeOn { worker, session: asked.session }).await.map(|_| ()),
        None => Ok(()),
    }
}
