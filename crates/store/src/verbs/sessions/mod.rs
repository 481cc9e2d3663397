//! Sessions: their desired and their reported state.

mod branches;
mod contained;
mod desired;
mod facts;
mod fits;
pub(crate) mod keyboard;
mod questions;
pub(crate) mod spawn;
mod tokens;

pub(crate) use contained::{contain_waiting, refuse_beside_uncontained, sandbox_of};
pub use desired::Desired;
pub use facts::{SeenFacts, TakeFacts};
pub(crate) use fits::counts;
pub use keyboard::LeaveKeyboard;
pub use questions::{OpenQuestion, QuestionEnded};
pub use tokens::{AGENT_TOKEN_SECONDS, MintAgentToken};

use domain::limits::MAX_LISTED;
use domain::{Action, ProjectId, Resource, RunnerId, SessionId};
use protocol::{
    Change, ExecutionFilter, Recording, Session, SessionDetail, SessionState, SessionWorker, Usage, Verb, verbs,
};
use serde::Serialize;

use super::approvals::written_by;
use super::work::tasks::reach::list;
use super::work::workers;
use super::work::workers::facts::Under;
use super::workspaces::{self, check_filter, narrowed, sees};
use super::{projects, users};
use crate::sql::{Connection, Row, args, text};
use crate::tx::{AuditScope, Tx};
use crate::{Caller, Command, Store, StoreError};

const COLUMNS: &str = "SELECT s.id, s.project, s.activity, s.workspace, s.runner, s.owner, u.name AS owner_name, \
    s.agent, s.mode, s.model, s.title, s.prompt, s.argv, s.sandbox, s.record_input, s.cols, s.rows_high, s.status, \
    s.detail, s.code, s.signal, s.since, s.stop, s.usage, s.conversation, s.resumes, s.output_bytes, s.disk_bytes, \
    s.duration_ms, s.keep, s.keyboard, s.created_at, s.ended_at, s.task, s.fence, s.asked_by, ab.name AS asked_by_name, s.asked_by_agent, \
    s.asked_session, w.id AS worker, w.name AS worker_name, w.colour \
    FROM sessions s JOIN users u ON u.id = s.owner LEFT JOIN users ab ON ab.id = s.asked_by \
    LEFT JOIN attempts a ON a.task = s.task AND a.fence = s.fence LEFT JOIN workers w ON w.id = a.worker";

/// How long clients keep an ended session in their state, in milliseconds.
const REMEMBERED: i64 = 7 * 24 * 3_600_000;

fn session(row: &Row) -> Result<Session, StoreError> {
    let number = |column: &str| row.integer(column).map(i64::cast_unsigned);
    let small = |column: &str| -> Result<Option<i32>, StoreError> {
        Ok(row.integer_or_none(column)?.and_then(|value| i32::try_from(value).ok()))
    };
    let worker = match row.text_or_none("worker")? {
        Some(_) => Some(SessionWorker {
            id: row.parsed("worker")?,
            name: row.text("worker_name")?,
            colour: row.count("colour")?,
        }),
        None => None,
    };
    Ok(Session {
        id: row.parsed("id")?,
        project: row.parsed("project")?,
        activity: row.parsed("activity")?,
        workspace: row.parsed("workspace")?,
        runner: row.parsed("runner")?,
        owner: users::reference(row, "owner")?,
        asked_by: written_by(row, "asked_by", "asked_session")?,
        agent: row.text("agent")?,
        mode: row.parsed("mode")?,
        model: row.text_or_none("model")?,
        title: row.text("title")?,
        state: SessionState {
            status: row.parsed("status")?,
            detail: row.text_or_none("detail")?,
            code: small("code")?,
            signal: small("signal")?,
            since: row.time("since")?,
        },
        stopping: row.text_or_none("stop")?.is_some(),
        worker,
        task: row.text_or_none("task")?.and_then(|id| id.parse().ok()),
        usage: row.json::<Usage>("usage")?,
        resumable: row.text_or_none("conversation")?.is_some(),
        resumes: row.text_or_none("resumes")?.and_then(|id| id.parse().ok()),
        sandbox: row.text_or_none("sandbox")?.is_some(),
        keyboard: workspaces::json_or_none(row, "keyboard")?.unwrap_or_default(),
        recording: Recording {
            output_bytes: number("output_bytes")?,
            disk_bytes: number("disk_bytes")?,
            duration_ms: number("duration_ms")?,
            keep: row.flag("keep")?,
        },
        created_at: row.time("created_at")?,
    })
}

/// A session, without an access check.
pub(crate) async fn get(c: &mut Connection<'_>, id: SessionId) -> Result<Option<(Session, Row)>, StoreError> {
    let Some(row) = c.first(&format!("{COLUMNS} WHERE s.id = $1"), vec![text(id)]).await? else { return Ok(None) };
    Ok(Some((session(&row)?, row)))
}

/// The existing ones among these sessions, without an access check.
pub(crate) async fn some(c: &mut Connection<'_>, ids: &[SessionId]) -> Result<Vec<Session>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let (places, values) = list(ids);
    c.all(&format!("{COLUMNS} WHERE s.id IN ({places})"), values).await?.iter().map(session).collect()
}

/// A session, if the caller may do this to it.
pub(crate) async fn find(
    c: &mut Connection<'_>,
    caller: &Caller,
    id: SessionId,
    action: Action,
) -> Result<(Session, Row), StoreError> {
    let (found, row) = get(c, id).await?.ok_or(StoreError::NotFound("session"))?;
    let facts = projects::facts_of(c, found.project).await?.ok_or(StoreError::NotFound("session"))?;
    caller.may(action, Resource::Execution { project: &facts, owner: found.owner.id }, "session")?;
    Ok((found, row))
}

/// Live sessions, those that ended recently, or all; oldest first.
pub(crate) async fn of(
    c: &mut Connection<'_>,
    filter: ExecutionFilter,
    since: Option<domain::Timestamp>,
) -> Result<Vec<Session>, StoreError> {
    let (mut sql, mut values) = narrowed(COLUMNS, "s", filter);
    if let Some(since) = since {
        values.extend(args![since.plus_millis(-REMEMBERED)]);
        sql.push_str(&format!(" AND (s.ended_at IS NULL OR s.ended_at > ${})", values.len()));
    } else if !filter.ended.unwrap_or(false) {
        sql.push_str(" AND s.ended_at IS NULL");
    }
    // A full sync comes in parts; a list is one answer.
    let most = if since.is_none() { format!(" LIMIT {MAX_LISTED}") } else { String::new() };
    sql.push_str(&format!(" ORDER BY s.created_at DESC, s.id DESC{most}"));
    c.all(&sql, values).await?.iter().rev().map(session).collect()
}

fn announce(tx: &mut Tx<'_>, session: Session) {
    let (project, owner) = (session.project, session.owner.id);
    tx.announce_execution(project, owner, Change::Session { session });
}

/// Asks a session that was started for a task to stop, without an access check. Does nothing if the session has ended,
/// was asked already, or was started by a person.
pub(crate) async fn ask_to_stop(tx: &mut Tx<'_>, id: SessionId, force: bool) -> Result<(), StoreError> {
    let Some((before, row)) = get(tx.read(), id).await? else { return Ok(()) };
    if row.text_or_none("task")?.is_none() {
        return Ok(());
    }
    stop(tx, before, row.text_or_none("stop")?, force).await.map(|_| ())
}

/// Asks any session to stop, without an access check: its owner froze everything, or hands it off.
pub(crate) async fn ask_any_to_stop(tx: &mut Tx<'_>, id: SessionId, force: bool) -> Result<(), StoreError> {
    let Some((before, row)) = get(tx.read(), id).await? else { return Ok(()) };
    stop(tx, before, row.text_or_none("stop")?, force).await.map(|_| ())
}

/// Asks a session to stop; `None` if nothing changed.
async fn stop(
    tx: &mut Tx<'_>,
    before: Session,
    already: Option<String>,
    force: bool,
) -> Result<Option<Session>, StoreError> {
    let how = if force { "force" } else { "gracefully" };
    // A repeated request changes nothing unless it adds force.
    if before.state.ended() || already.as_deref() == Some("force") || already.as_deref() == Some(how) {
        return Ok(None);
    }
    tx.run("UPDATE sessions SET stop = $1 WHERE id = $2", args![how, before.id.to_string()]).await?;
    tx.desire(before.runner).await?;
    let after = Session { stopping: true, ..before };
    announce(tx, after.clone());
    Ok(Some(after))
}

impl Command for verbs::SessionStop {
    type Output = Session;
    const VERB: &'static str = verbs::SessionStop::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        let caller = tx.caller;
        let (before, row) = find(tx.read(), caller, self.session, Action::Drive).await?;
        let already = row.text_or_none("stop")?;
        let Some(after) = stop(tx, before.clone(), already, self.input.force).await? else { return Ok(before) };
        if let Some(under) = Under::read(&row)? {
            workers::stop::with_session(tx, after.id, under).await?;
        }
        let how = if self.input.force { "force" } else { "gracefully" };
        let detail = format!("asked `{}` to stop, {how}", after.title);
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.project), detail);
        Ok(after)
    }
}

impl Command for verbs::RecordingKeep {
    type Output = Session;
    const VERB: &'static str = verbs::RecordingKeep::SPEC.name;

    async fn run(&self, tx: &mut Tx<'_>) -> Result<Session, StoreError> {
        let caller = tx.caller;
        let (mut after, _) = find(tx.read(), caller, self.session, Action::Drive).await?;
        if after.recording.keep == self.input.keep {
            return Ok(after);
        }
        after.recording.keep = self.input.keep;
        tx.run("UPDATE sessions SET keep = $1 WHERE id = $2", args![self.input.keep, after.id.to_string()]).await?;
        tx.desire(after.runner).await?;
        announce(tx, after.clone());
        let detail = if self.input.keep { "marked the recording to keep" } else { "lets the recording expire" };
        tx.audit(Self::VERB, after.id, AuditScope::Project(after.project), detail);
        Ok(after)
    }
}

/// Records a request to a runner that changes a session or workspace, before it is sent.
#[derive(Debug, Serialize)]
pub struct NoteAsked {
    /// The verb.
    #[serde(skip)]
    pub verb: &'static str,
    /// The session or workspace.
    pub subject: String,
    /// Its project.
    pub project: ProjectId,
    /// The detail for the audit trail.
    pub detail: String,
    /// The request, so that one key stands for one request.
    pub ask: String,
    /// Identifies this attempt: a retry with the same key gets the first attempt's number, and must not send the
    /// request again.
    #[serde(skip)]
    pub attempt: u64,
}

impl Command for NoteAsked {
    type Output = u64;
    const VERB: &'static str = "runner.asked";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<u64, StoreError> {
        tx.audit(self.verb, &self.subject, AuditScope::Project(self.project), self.detail.clone());
        Ok(self.attempt)
    }
}

impl Store {
    /// The sessions that the caller may see.
    pub async fn sessions(&self, caller: &Caller, filter: ExecutionFilter) -> Result<Vec<Session>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        check_filter(&mut c, caller, filter).await?;
        let facts = projects::all_facts(&mut c).await?;
        let mut found = of(&mut c, filter, None).await?;
        found.retain(|session| sees(caller, facts.get(&session.project), session.owner.id));
        Ok(found)
    }

    /// One session, if the caller may do this to it.
    pub async fn session(&self, caller: &Caller, id: SessionId, action: Action) -> Result<Session, StoreError> {
        Ok(find(&mut self.readers.snapshot().await?.borrow(), caller, id, action).await?.0)
    }

    /// One session with its parameters.
    pub async fn session_detail(&self, caller: &Caller, id: SessionId) -> Result<SessionDetail, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let (session, row) = find(&mut c, caller, id, Action::SeeExecution).await?;
        let workspace = workspaces::get(&mut c, session.workspace).await?;
        let workspace = workspace.ok_or_else(|| StoreError::Corrupt(format!("{id} has no workspace")))?;
        Ok(SessionDetail { session, workspace, prompt: row.text("prompt")?, argv: row.json("argv")? })
    }

    /// The number of live sessions of each runner.
    pub async fn live_sessions(&self) -> Result<Vec<(RunnerId, u32)>, StoreError> {
        let sql = "SELECT runner, COUNT(*) AS total FROM sessions WHERE ended_at IS NULL GROUP BY runner";
        let mut reader = self.readers.get().await?;
        let rows = reader.borrow().all(sql, args![]).await?;
        rows.iter().map(|row| Ok((row.parsed("runner")?, row.count("total")?))).collect()
    }
}
