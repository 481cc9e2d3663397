//! Outputs that meet: found when the second comes, shown to a person with both before them, and looked at again when one
//! of them stands no more.

use domain::{AnswerAct, EscalationKind, ReportId, ReportVerdict, TaskId, TaskStatus, UserId};
use engine::tasks::conflict::{self, Kind, Meeting};
use engine::tasks::life::Event;
use engine::workers::decision::Decision;
use protocol::link::{ChangedFile, Changes};
use protocol::{CriterionResult, Escalation, EscalationContext};
use serde::Deserialize;

use super::ask::{self, Ask};
use super::{evidence, judge, place};
use crate::StoreError;
use crate::sql::{args, text, to_json};
use crate::tx::Tx;
use crate::verbs::work::life::step;
use crate::verbs::work::tasks::row::{TaskRow, id_or_none};
use crate::verbs::work::workers::log::decided;
use crate::verbs::workspaces::json_or_none;

/// With how many accepted outputs a new one is compared.
const COMPARED: u32 = 200;
/// How many further ones that it meets are named.
const ALSO: usize = 10;
/// How much of a patch a person is shown.
const SHOWN: usize = 20_000;

/// Another output that this one meets.
pub(super) struct Other {
    task: TaskId,
    title: String,
    /// Whose work it is.
    owner: Option<UserId>,
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

/// The newest output that changes what this one changes, too: accepted, else waiting for a person. Those of `except` do
/// not count.
pub(super) async fn meets(
    tx: &mut Tx<'_>,
    project: domain::ProjectId,
    report: ReportId,
    task: TaskId,
    changes: &Changes,
    except: &[TaskId],
) -> Result<Option<Other>, StoreError> {
    if changes.files.is_empty() || !place::has_repository(tx, project).await? {
        return Ok(None);
    }
    // What was done before in the same workspace is part of it.
    let sql = "SELECT r.task, t.title, r.changes, w.owner FROM reports r JOIN tasks t ON t.id = r.task \
               LEFT JOIN workers w ON w.id = r.worker \
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
        if except.contains(&row.parsed("task")?) {
            continue;
        }
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
                let owner = id_or_none(row, "owner")?;
                first = Some(Other { task, title, owner, patch, meetings, also: Vec::new() });
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
pub(super) fn question(changes: &Changes, other: Other) -> Ask {
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
        EscalationKind::Contradiction => format!("Contradicts `{}`. Which is right?", other.title),
        _ => format!("Conflicts with `{}`. Accept anyway?", other.title),
    };
    Ask { other_owner: other.owner, ..Ask::new(kind, question, context) }
}

fn shown(patch: &str) -> String {
    patch.chars().take(SHOWN).collect()
}

/// An output that waited for a person stands no more: `how` says why. Whoever was asked about another one that met it is
/// asked about the next that this meets, or not at all.
pub(crate) async fn stands_no_more(tx: &mut Tx<'_>, gone: &TaskRow, how: &str) -> Result<(), StoreError> {
    let sql = format!(
        "{} WHERE e.project = $1 AND e.answered_at IS NULL AND e.kind IN ('same_lines', 'contradiction') \
         ORDER BY e.created_at, e.id",
        ask::COLUMNS
    );
    let rows = tx.read().all(&sql, vec![text(gone.project)]).await?;
    let open = rows.iter().map(ask::escalation).collect::<Result<Vec<_>, _>>()?;
    let why = format!("{} {how}: its output stands no more", gone.named());
    for one in open.iter().filter(|open| open.context.other_task == Some(gone.id)) {
        // Of two outputs, only one is asked about the other.
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

/// A person is asked about another output than before; what they were shown of this one stays.
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

/// What a person was asked about is judged on after all, as if it had never been asked: whose work it is, and in which
/// session, decides who may see what follows.
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
