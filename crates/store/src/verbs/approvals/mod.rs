//! Approvals: requests to a runner's owner to run other people's text. The runner waits for the answer.

mod answer;
mod facts;
mod grants;
mod wanted;

pub use answer::SweepApprovals;
pub(crate) use facts::{Authors, WRITERS, WRITTEN, author, check_sandbox, others_in_sandbox, unless_own, written_by};
pub(crate) use wanted::{over, settle, wanted};

use domain::text::title;
use domain::{Action, ApprovalId, Resource, RunnerId, UserId};
use protocol::link::{Subject, WishAnswer};
use protocol::{Approval, ApprovalFilter, Change};

use crate::batch::PendingEvent;
use crate::sql::{Connection, Row, args, text};
use crate::tx::Tx;
use crate::verbs::work::tasks::row::id_or_none;
use crate::verbs::workspaces::json_or_none;
use crate::{Caller, EventBody, Store, StoreError};

/// The maximum number of listed requests.
const PAGE: u32 = 500;

const COLUMNS: &str = "SELECT a.id, a.project, p.content AS project_content, a.runner, r.name AS runner_name, \
    r.owner AS runner_owner, a.subject, a.kind, a.text, a.sha256, a.author, u.name AS author_name, a.by_agent AS author_agent, \
    a.author_session, \
    a.why, a.sandbox, a.reach, a.session, a.report, a.task, a.workspace, a.created_at, a.answer, a.answered_at \
    FROM approvals a JOIN projects p ON p.id = a.project JOIN runners r ON r.id = a.runner \
    JOIN users u ON u.id = a.author";

fn approval(row: &Row) -> Result<Approval, StoreError> {
    Ok(Approval {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        project_name: title(&row.text("project_content")?),
        runner: row.parsed("runner")?,
        runner_name: row.text("runner_name")?,
        kind: row.parsed("kind")?,
        text: row.text("text")?,
        sha256: row.text("sha256")?,
        author: written_by(row, "author", "author_session")?.ok_or_else(|| StoreError::Corrupt("author".into()))?,
        why: row.text("why")?,
        sandbox: row.flag("sandbox")?,
        reach: json_or_none(row, "reach")?,
        session: id_or_none(row, "session")?,
        report: id_or_none(row, "report")?,
        task: id_or_none(row, "task")?,
        workspace: id_or_none(row, "workspace")?,
        created_at: row.time("created_at")?,
        answer: id_or_none(row, "answer")?,
        answered_at: row.time_or_none("answered_at")?,
    })
}

/// Announces a request to the runner's owner only.
fn announce(tx: &mut Tx<'_>, owner: UserId, approval: Approval) {
    let project = Some(approval.project);
    let body = EventBody::Change { change: Change::Approval { approval } };
    tx.announce(PendingEvent { project, audience: Some(owner), facts_before: None, execution_of: None, body });
}

/// The open requests of a person's runners, oldest first; with `answered`, all requests, newest first.
pub(crate) async fn of(
    c: &mut Connection<'_>,
    owner: UserId,
    filter: ApprovalFilter,
) -> Result<Vec<Approval>, StoreError> {
    let mut values = vec![text(owner)];
    let mut sql = format!("{COLUMNS} WHERE r.owner = $1");
    for (column, value) in [("a.project", filter.project.map(text)), ("a.task", filter.task.map(text))] {
        if let Some(value) = value {
            values.push(value);
            sql.push_str(&format!(" AND {column} = ${}", values.len()));
        }
    }
    let order = match filter.answered.unwrap_or(false) {
        true => " ORDER BY a.created_at DESC, a.id DESC",
        false => " AND a.answer IS NULL ORDER BY a.created_at, a.id",
    };
    sql.push_str(order);
    sql.push_str(&format!(" LIMIT {PAGE}"));
    c.all(&sql, values).await?.iter().map(approval).collect()
}

/// The answers for a runner that its sessions and checks still need.
pub(crate) async fn answers(c: &mut Connection<'_>, runner: RunnerId) -> Result<Vec<WishAnswer>, StoreError> {
    let sql = "SELECT a.session, a.report, m.id AS merge_run, a.kind, a.sha256, a.reach, a.answer FROM approvals a \
               LEFT JOIN sessions s ON s.id = a.session LEFT JOIN reports r ON r.id = a.report \
               LEFT JOIN merge_runs m ON m.id = a.subject AND m.state = 'open' \
               WHERE a.runner = $1 AND a.answer IS NOT NULL AND a.answer <> 'withdrawn' AND \
               ((a.session IS NOT NULL AND s.ended_at IS NULL) OR (a.report IS NOT NULL AND r.verdict = 'pending') OR \
               m.id IS NOT NULL) \
               ORDER BY a.created_at, a.id";
    let read = |row: &Row| {
        let subject = match (id_or_none(row, "session")?, id_or_none(row, "merge_run")?) {
            (Some(session), _) => Subject::Session(session),
            (None, Some(run)) => Subject::Merge(run),
            (None, None) => Subject::Report(row.parsed("report")?),
        };
        let allowed = row.parsed::<domain::Answered>("answer")?.allows();
        let sandbox = json_or_none(row, "reach")?;
        Ok(WishAnswer { subject, kind: row.parsed("kind")?, sha256: row.text("sha256")?, sandbox, allowed })
    };
    c.all(sql, vec![text(runner)]).await?.iter().map(read).collect()
}

impl Store {
    /// The requests to run other people's text on the caller's runners.
    pub async fn approvals(&self, caller: &Caller, filter: ApprovalFilter) -> Result<Vec<Approval>, StoreError> {
        let me = caller.person()?;
        let mut reader = self.readers.get().await?;
        of(&mut reader.borrow(), me.id, filter).await
    }

    /// One request.
    pub async fn approval(&self, caller: &Caller, id: ApprovalId) -> Result<Approval, StoreError> {
        let mut reader = self.readers.get().await?;
        let mut c = reader.borrow();
        find(&mut c, caller, id).await.map(|(found, _)| found)
    }
}

/// A request to the caller.
async fn find(c: &mut Connection<'_>, caller: &Caller, id: ApprovalId) -> Result<(Approval, Row), StoreError> {
    let row = c.first(&format!("{COLUMNS} WHERE a.id = $1"), vec![text(id)]).await?;
    let row = row.ok_or(StoreError::NotFound("approval"))?;
    caller.may(Action::ManageOwn, Resource::Belongings(row.parsed("runner_owner")?), "approval")?;
    Ok((approval(&row)?, row))
}

/// Deletes the requests and grants of a removed runner.
pub(crate) async fn forget(tx: &mut Tx<'_>, runner: RunnerId) -> Result<(), StoreError> {
    tx.run("DELETE FROM approvals WHERE runner = $1", args![runner.to_string()]).await?;
    tx.run("DELETE FROM grants WHERE runner = $1", args![runner.to_string()]).await?;
    Ok(())
}
