//! Comments on lines, replies, and resolved threads.

use domain::text::Field;
use domain::{Action, DiffSide, ThreadId, ThreadStatus};
use engine::reviews::after_comment;
use protocol::{ReviewComment, ReviewThread, ThreadComment, Verb, verbs};

use super::rows::{self, Thread};
use super::{announce, work};
use crate::sql::args;
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::verbs::room::room;
use crate::verbs::sight::Sight;
use crate::{Command, StoreError};

/// How many threads one task has at most, and how many comments they have together.
const MOST: (u32, u32) = (200, 500);
const TEXT: Field = Field { name: "text", limit: 8 * 1024, lines: true, optional: false };
const PATH: Field = Field { name: "path", limit: 4096, lines: false, optional: false };
/// The longest stored quote, in characters.
const QUOTE: usize = 4000;
/// The most lines that one comment is on.
const LINES: u32 = 1000;

impl Command for verbs::ReviewComment {
    type Output = ReviewThread;
    const VERB: &'static str = verbs::ReviewComment::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ReviewThread, StoreError> {
        let caller = tx.caller;
        let task = tx.known_task(self.task).await?;
        tx.check(task.project, Action::Write, "task").await?;
        let (author, author_kind) = caller.author()?;
        TEXT.check(&self.input.text)?;
        let sql = "SELECT COUNT(*) AS total FROM review_comments WHERE thread IN \
                   (SELECT id FROM review_threads WHERE task = $1)";
        let full = || format!("{} has {} review comments, the most that one task can have", task.named(), MOST.1);
        room(tx, sql, args![self.task.to_string()], MOST.1, full).await?;
        let mut thread = match self.input.thread {
            Some(id) => {
                let found = rows::get(tx.read(), id).await?.filter(|found| found.view.task == self.task);
                let mut found = found.ok_or(StoreError::NotFound("review thread"))?;
                found.view.status = after_comment(found.view.status, author_kind);
                if found.view.status != ThreadStatus::Resolved {
                    found.view.resolved_by = None;
                }
                save(tx, &mut found).await?;
                found
            }
            None => begin(tx, self).await?,
        };
        let number = thread.view.comments.last().map_or(1, |last| last.number + 1);
        let said = ThreadComment { number, author, author_kind, text: self.input.text.clone(), at: tx.now };
        let sql = "INSERT INTO review_comments (thread, number, author, author_kind, text, at) \
                   VALUES ($1, $2, $3, $4, $5, $6)";
        let (id, by) = (thread.view.id.to_string(), said.author.id.to_string());
        tx.run(sql, args![id, number, by, said.author_kind.word(), &said.text, tx.now]).await?;
        thread.view.comments.push(said);
        announce(tx, &task).await?;
        let place = format!("`{}`: {}:{}", task.title, thread.view.path, thread.view.line);
        tx.audit(Self::VERB, thread.view.id, AuditScope::Project(task.project), place);
        seen(tx, thread).await
    }
}

/// Starts a thread on lines.
async fn begin(tx: &mut Tx<'_>, verb: &verbs::ReviewComment) -> Result<Thread, StoreError> {
    let ReviewComment { path, side, line, end_line, quote, .. } = &verb.input;
    let (Some(path), Some(line)) = (path, *line) else {
        let message = "name the `path` and the `line` that the comment is on, or the `thread` to reply in";
        return Err(StoreError::invalid(if path.is_none() { "path" } else { "line" }, message));
    };
    PATH.check(path)?;
    let end_line = end_line.unwrap_or(line);
    if line == 0 || end_line < line || end_line - line >= LINES {
        let message = format!("`line` counts from 1, and `end_line` is not before it and at most {LINES} lines on");
        return Err(StoreError::invalid("line", message));
    }
    let task = tx.known_task(verb.task).await?;
    let sql = "SELECT COUNT(*) AS total FROM review_threads WHERE task = $1";
    let full = || format!("{} has {} review threads, the most that one task can have", task.named(), MOST.0);
    room(tx, sql, args![task.id.to_string()], MOST.0, full).await?;
    let work_of = work::owner(tx.read(), &task).await?;
    let quote = domain::text::plain(&quote.as_deref().unwrap_or_default().replace('\t', "    "), QUOTE);
    let thread = Thread {
        view: ReviewThread {
            id: ThreadId::generate(),
            project: task.project,
            task: task.id,
            path: path.clone(),
            side: side.unwrap_or(DiffSide::New),
            line,
            end_line,
            quote: Some(quote.clone()),
            status: ThreadStatus::Open,
            sent_at: None,
            resolved_by: None,
            comments: Vec::new(),
            created_at: tx.now,
            updated_at: tx.now,
        },
        work_of,
    };
    let sql = "INSERT INTO review_threads (id, project, task, path, side, line, end_line, quote, work_of, status, \
               created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'open', $10, $10)";
    let view = &thread.view;
    let values = args![
        view.id.to_string(),
        view.project.to_string(),
        view.task.to_string(),
        path,
        view.side.word(),
        line,
        end_line,
        quote,
        work_of.map(|id| id.to_string()),
        tx.now,
    ];
    tx.run(sql, values).await?;
    Ok(thread)
}

impl Command for verbs::ReviewResolve {
    type Output = ReviewThread;
    const VERB: &'static str = verbs::ReviewResolve::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ReviewThread, StoreError> {
        let caller = tx.caller;
        let found = rows::get(tx.read(), self.thread).await?;
        let mut found = found.ok_or(StoreError::NotFound("review thread"))?;
        tx.check(found.view.project, Action::Write, "review thread").await?;
        let by = caller.author()?.0;
        let status = if self.input.reopen { ThreadStatus::Open } else { ThreadStatus::Resolved };
        if (found.view.status == ThreadStatus::Resolved) != (status == ThreadStatus::Resolved) {
            found.view.status = status;
            found.view.resolved_by = (status == ThreadStatus::Resolved).then_some(by);
            save(tx, &mut found).await?;
            let task = tx.known_task(found.view.task).await?;
            announce(tx, &task).await?;
            let did = if self.input.reopen { "reopened" } else { "resolved" };
            let detail = format!("`{}`: {did} {}:{}", task.title, found.view.path, found.view.line);
            tx.audit(Self::VERB, self.thread, AuditScope::Project(task.project), detail);
        }
        seen(tx, found).await
    }
}

/// Stores the status of a thread.
async fn save(tx: &mut Tx<'_>, thread: &mut Thread) -> Result<(), StoreError> {
    thread.view.updated_at = tx.now;
    let view = &thread.view;
    let by = view.resolved_by.as_ref().map(|by| by.id.to_string());
    let sql = "UPDATE review_threads SET status = $1, resolved_by = $2, updated_at = $3 WHERE id = $4";
    tx.run(sql, args![view.status.word(), by, tx.now, view.id.to_string()]).await.map(|_| ())
}

/// A thread as the caller may see it.
async fn seen(tx: &mut Tx<'_>, thread: Thread) -> Result<ReviewThread, StoreError> {
    let caller = tx.caller;
    let facts = projects::facts_of(tx.read(), thread.view.project).await?.ok_or(StoreError::NotFound("project"))?;
    Ok(thread.seen(&Sight::on(tx.read(), caller, facts).await?))
}
