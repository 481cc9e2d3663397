//! Threads, comments and approvals, as the tables have them.

use std::collections::HashMap;

use domain::{ReportId, ThreadId, ThreadStatus, UserId};
use protocol::{ReviewApproval, ReviewOf, ReviewThread, ThreadComment};

use super::subject::column;
use crate::StoreError;
use crate::sql::{Connection, Row, text};
use crate::verbs::sight::Sight;
use crate::verbs::users;
use crate::verbs::work::tasks::row::id_or_none;

const THREADS: &str = "SELECT h.id, h.project, h.task, h.workspace, h.path, h.side, h.line, h.end_line, h.quote, h.work_of, \
    h.status, h.sent_at, h.resolved_by, u.name AS resolved_by_name, h.created_at, h.updated_at FROM review_threads h \
    LEFT JOIN users u ON u.id = h.resolved_by";
const COMMENTS: &str = "SELECT c.thread, c.number, c.author, u.name AS author_name, c.author_kind, c.text, c.at \
    FROM review_comments c JOIN users u ON u.id = c.author";

/// A thread, with the owner of the work that it quotes.
#[derive(Debug, Clone)]
pub(super) struct Thread {
    pub(super) view: ReviewThread,
    pub(super) work_of: Option<UserId>,
}

impl Thread {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let resolved = row.text_or_none("resolved_by")?.is_some();
        let of = match id_or_none(row, "workspace")? {
            Some(workspace) => ReviewOf::Workspace { workspace },
            None => ReviewOf::Task { task: row.parsed("task")? },
        };
        let view = ReviewThread {
            id: row.parsed("id")?,
            project: row.parsed("project")?,
            of,
            path: row.text("path")?,
            side: row.parsed("side")?,
            line: row.count("line")?,
            end_line: row.count("end_line")?,
            quote: Some(row.text("quote")?),
            status: row.parsed("status")?,
            sent_at: row.time_or_none("sent_at")?,
            resolved_by: if resolved { Some(users::reference(row, "resolved_by")?) } else { None },
            comments: Vec::new(),
            created_at: row.time("created_at")?,
            updated_at: row.time("updated_at")?,
        };
        Ok(Self { view, work_of: id_or_none(row, "work_of")? })
    }

    /// The thread as a caller may see it.
    pub(super) fn seen(mut self, sight: &Sight<'_>) -> ReviewThread {
        if !sight.of(self.view.project, self.work_of) {
            self.view.quote = None;
        }
        self.view
    }
}

fn comment(row: &Row) -> Result<ThreadComment, StoreError> {
    Ok(ThreadComment {
        number: row.count("number")?,
        author: users::reference(row, "author")?,
        author_kind: row.parsed("author_kind")?,
        text: row.text("text")?,
        at: row.time("at")?,
    })
}

/// The threads on something, oldest first; only those with this status, if one is given.
pub(super) async fn on(
    c: &mut Connection<'_>,
    of: ReviewOf,
    only: Option<ThreadStatus>,
) -> Result<Vec<Thread>, StoreError> {
    let (column, id) = column(of);
    let mut values = vec![text(&id)];
    let mut also = "";
    if let Some(status) = only {
        values.push(text(status));
        also = " AND h.status = $2";
    }
    let sql = format!("{THREADS} WHERE h.{column} = $1{also} ORDER BY h.created_at, h.id");
    let mut threads = c.all(&sql, values).await?.iter().map(Thread::read).collect::<Result<Vec<_>, _>>()?;
    let sql = format!(
        "{COMMENTS} WHERE c.thread IN (SELECT id FROM review_threads WHERE {column} = $1) ORDER BY c.thread, c.number"
    );
    let mut said: HashMap<ThreadId, Vec<ThreadComment>> = HashMap::new();
    for row in c.all(&sql, vec![text(id)]).await? {
        said.entry(row.parsed("thread")?).or_default().push(comment(&row)?);
    }
    for thread in &mut threads {
        thread.view.comments = said.remove(&thread.view.id).unwrap_or_default();
    }
    Ok(threads)
}

/// One thread.
pub(super) async fn get(c: &mut Connection<'_>, id: ThreadId) -> Result<Option<Thread>, StoreError> {
    let Some(row) = c.first(&format!("{THREADS} WHERE h.id = $1"), vec![text(id)]).await? else { return Ok(None) };
    let mut thread = Thread::read(&row)?;
    let sql = format!("{COMMENTS} WHERE c.thread = $1 ORDER BY c.number");
    thread.view.comments = c.all(&sql, vec![text(id)]).await?.iter().map(comment).collect::<Result<_, _>>()?;
    Ok(Some(thread))
}

/// The approval of a report.
pub(super) async fn approval(c: &mut Connection<'_>, report: ReportId) -> Result<Option<ReviewApproval>, StoreError> {
    let sql = "SELECT a.report, a.tree, a.approved_by, u.name AS approved_by_name, a.approved_at \
               FROM review_approvals a JOIN users u ON u.id = a.approved_by WHERE a.report = $1";
    let read = |row: Row| {
        Ok(ReviewApproval {
            report: row.parsed("report")?,
            tree: row.text_or_none("tree")?,
            by: users::reference(&row, "approved_by")?,
            at: row.time("approved_at")?,
        })
    };
    c.first(sql, vec![text(report)]).await?.map(read).transpose()
}
