//! Comments on lines, replies, and resolved threads.

use domain::text::Field;
use domain::{DiffSide, ThreadId, ThreadStatus};
use engine::reviews::after_comment;
use protocol::{ReviewComment, ReviewOf, ReviewThread, ThreadComment, Verb, verbs};

use super::rows::{self, Thread};
use super::subject::{Subject, column, newest_session};
use crate::sql::args;
use crate::tx::{AuditScope, Tx};
use crate::verbs::projects;
use crate::verbs::room::room;
use crate::verbs::sight::Sight;
use crate::{Command, StoreError};

/// How many threads one task or workspace has at most, and how many comments they have together.
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
        let of = ReviewOf::Task { task: self.task };
        let subject = Subject::written(tx, of, "task").await?;
        begin(tx, Self::VERB, (&subject, of), &self.input).await
    }
}

impl Command for verbs::WorkspaceComment {
    type Output = ReviewThread;
    const VERB: &'static str = verbs::WorkspaceComment::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ReviewThread, StoreError> {
        let of = ReviewOf::Workspace { workspace: self.workspace };
        let subject = Subject::written(tx, of, "workspace").await?;
        if let Subject::Workspace(workspace) = &subject {
            newest_session(tx.read(), workspace).await?;
        }
        begin(tx, Self::VERB, (&subject, of), &self.input).await
    }
}

impl Command for verbs::ReviewReply {
    type Output = ReviewThread;
    const VERB: &'static str = verbs::ReviewReply::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ReviewThread, StoreError> {
        let found = rows::get(tx.read(), self.thread).await?;
        let mut thread = found.ok_or(StoreError::NotFound("review thread"))?;
        let of = thread.view.of;
        let subject = Subject::written(tx, of, "review thread").await?;
        let author_kind = tx.caller.author()?.1;
        thread.view.status = after_comment(thread.view.status, author_kind);
        if thread.view.status != ThreadStatus::Resolved {
            thread.view.resolved_by = None;
        }
        said(tx, (&subject, of), &mut thread, &self.input.text).await?;
        save(tx, &mut thread).await?;
        announced(tx, Self::VERB, &subject, thread).await
    }
}

/// Adds a comment to a thread.
async fn said(
    tx: &mut Tx<'_>,
    (subject, of): (&Subject, ReviewOf),
    thread: &mut Thread,
    text: &str,
) -> Result<(), StoreError> {
    let (author, author_kind) = tx.caller.author()?;
    TEXT.check(text)?;
    let (column, id) = column(of);
    let sql = format!(
        "SELECT COUNT(*) AS total FROM review_comments WHERE thread IN \
         (SELECT id FROM review_threads WHERE {column} = $1)"
    );
    let full =
        || format!("{} has {} review comments, the most that one {} can have", subject.named(), MOST.1, subject.noun());
    room(tx, &sql, args![id], MOST.1, full).await?;
    let number = thread.view.comments.last().map_or(1, |last| last.number + 1);
    let said = ThreadComment { number, author, author_kind, text: text.to_owned(), at: tx.now };
    let sql = "INSERT INTO review_comments (thread, number, author, author_kind, text, at) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let (id, by) = (thread.view.id.to_string(), said.author.id.to_string());
    tx.run(sql, args![id, number, by, said.author_kind.word(), &said.text, tx.now]).await?;
    thread.view.comments.push(said);
    Ok(())
}

/// Announces a thread that has a new comment, and records it.
async fn announced(
    tx: &mut Tx<'_>,
    verb: &'static str,
    subject: &Subject,
    thread: Thread,
) -> Result<ReviewThread, StoreError> {
    subject.announce(tx).await?;
    let place = format!("{}:{}", thread.view.path, thread.view.line);
    tx.audit(verb, thread.view.id, AuditScope::Project(subject.project()), subject.audited("", &place));
    seen(tx, thread).await
}

/// Starts a thread on lines.
async fn begin(
    tx: &mut Tx<'_>,
    verb: &'static str,
    (subject, of): (&Subject, ReviewOf),
    input: &ReviewComment,
) -> Result<ReviewThread, StoreError> {
    let ReviewComment { path, side, line, end_line, quote, text } = input;
    let line = *line;
    PATH.check(path)?;
    TEXT.check(text)?;
    let end_line = end_line.unwrap_or(line);
    if line == 0 || end_line < line || end_line - line >= LINES {
        let message = format!("`line` counts from 1, and `end_line` is not before it and at most {LINES} lines on");
        return Err(StoreError::invalid("line", message));
    }
    let (column, id) = column(of);
    let sql = format!("SELECT COUNT(*) AS total FROM review_threads WHERE {column} = $1");
    let full =
        || format!("{} has {} review threads, the most that one {} can have", subject.named(), MOST.0, subject.noun());
    room(tx, &sql, args![id.clone()], MOST.0, full).await?;
    let work_of = subject.owner(tx).await?;
    let quote = domain::text::plain(&quote.as_deref().unwrap_or_default().replace('\t', "    "), QUOTE);
    let mut thread = Thread {
        view: ReviewThread {
            id: ThreadId::generate(),
            project: subject.project(),
            of,
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
    let sql = format!(
        "INSERT INTO review_threads (id, project, {column}, path, side, line, end_line, quote, work_of, status, \
         created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'open', $10, $10)"
    );
    let view = &thread.view;
    let values = args![
        view.id.to_string(),
        view.project.to_string(),
        id,
        path,
        view.side.word(),
        line,
        end_line,
        quote,
        work_of.map(|id| id.to_string()),
        tx.now,
    ];
    tx.run(&sql, values).await?;
    said(tx, (subject, of), &mut thread, text).await?;
    announced(tx, verb, subject, thread).await
}

impl Command for verbs::ReviewResolve {
    type Output = ReviewThread;
    const VERB: &'static str = verbs::ReviewResolve::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<ReviewThread, StoreError> {
        let caller = tx.caller;
        let found = rows::get(tx.read(), self.thread).await?;
        let mut found = found.ok_or(StoreError::NotFound("review thread"))?;
        let subject = Subject::written(tx, found.view.of, "review thread").await?;
        let by = caller.author()?.0;
        let status = if self.input.reopen { ThreadStatus::Open } else { ThreadStatus::Resolved };
        if (found.view.status == ThreadStatus::Resolved) != (status == ThreadStatus::Resolved) {
            found.view.status = status;
            found.view.resolved_by = (status == ThreadStatus::Resolved).then_some(by);
            save(tx, &mut found).await?;
            subject.announce(tx).await?;
            let did = if self.input.reopen { "reopened " } else { "resolved " };
            let detail = subject.audited(did, &format!("{}:{}", found.view.path, found.view.line));
            tx.audit(Self::VERB, self.thread, AuditScope::Project(subject.project()), detail);
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
