//! Moves of work from one runner to another: the new session waits until the work arrives or the move fails.
//!
//! The state of a move is a column of the new workspace, so that any hub can continue it after a restart.

use domain::trust::brought;
use domain::{RunnerId, SessionId, TaskId, UserId, WorkspaceId, WorkspaceStatus};
use engine::workers::decision::Decision;
use protocol::link::StartFrom;
use protocol::{Session, Workspace};
use serde::Serialize;

use super::builds_on::{self, Beginning};
use super::log::decided;
use super::stop;
use crate::sql::{Connection, Row, args, text, to_json};
use crate::tx::Tx;
use crate::verbs::handoff::taken;
use crate::verbs::sessions::{contain_waiting, sandbox_of};
use crate::verbs::work::tasks::brief_of;
use crate::verbs::work::tasks::row::{TaskRow, id_or_none};
use crate::verbs::workspaces;
use crate::{Command, Store, StoreError};

/// A move in progress.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moving {
    /// The destination workspace.
    pub workspace: WorkspaceId,
    /// The destination runner.
    pub to: RunnerId,
    /// The source workspace.
    pub from: WorkspaceId,
    /// The source runner.
    pub at: RunnerId,
    /// Live sessions of the task in the source workspace, which may still write.
    pub live: Vec<SessionId>,
    /// Whether a session still waits for the work.
    pub wanted: bool,
}

const COLUMNS: &str = "SELECT w.id, w.runner, w.moves_from, o.runner AS at, (SELECT COUNT(*) FROM sessions s WHERE \
    s.workspace = w.id AND s.ended_at IS NULL AND s.stop IS NULL) AS waiting FROM workspaces w \
    JOIN workspaces o ON o.id = w.moves_from";

async fn moving(c: &mut Connection<'_>, row: &Row) -> Result<Moving, StoreError> {
    let from: WorkspaceId = row.parsed("moves_from")?;
    let sessions = live(c, from).await?;
    Ok(Moving {
        workspace: row.parsed("id")?,
        to: row.parsed("runner")?,
        from,
        at: row.parsed("at")?,
        live: sessions,
        wanted: row.count("waiting")? > 0,
    })
}

async fn live(c: &mut Connection<'_>, workspace: WorkspaceId) -> Result<Vec<SessionId>, StoreError> {
    let sql = "SELECT id FROM sessions WHERE workspace = $1 AND ended_at IS NULL AND task IS NOT NULL ORDER BY id";
    c.all(sql, vec![text(workspace)]).await?.iter().map(|row| row.parsed("id")).collect()
}

impl Store {
    /// All moves in progress.
    pub async fn moving(&self) -> Result<Vec<Moving>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let rows = c.all(&format!("{COLUMNS} WHERE w.moves_from IS NOT NULL ORDER BY w.id"), args![]).await?;
        let mut all = Vec::with_capacity(rows.len());
        for row in &rows {
            all.push(moving(&mut c, row).await?);
        }
        Ok(all)
    }

    /// The move into a workspace, if there is one.
    pub async fn moving_to(&self, workspace: WorkspaceId) -> Result<Option<Moving>, StoreError> {
        let mut reader = self.readers.snapshot().await?;
        let mut c = reader.borrow();
        let sql = format!("{COLUMNS} WHERE w.id = $1 AND w.moves_from IS NOT NULL");
        match c.first(&sql, vec![text(workspace)]).await? {
            Some(row) => moving(&mut c, &row).await.map(Some),
            None => Ok(None),
        }
    }
}

/// Where a task's work is, relative to the runner that continues it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Work {
    /// On that runner, or nowhere.
    Here,
    /// In a workspace on another runner.
    At(WorkspaceId),
    /// On a runner that is offline.
    Away,
}

/// Where a task's work is, relative to the runner that continues it.
pub(super) async fn work_of(
    tx: &mut Tx<'_>,
    row: &TaskRow,
    runner: RunnerId,
    connected: &[RunnerId],
) -> Result<Work, StoreError> {
    let place = last_place(tx, row).await?.filter(|place| place.runner != runner);
    Ok(match place {
        Some(place) if connected.contains(&place.runner) => Work::At(place.id),
        Some(_) => Work::Away,
        None => Work::Here,
    })
}

/// The workspace of the task's last session, if it is ready. A person's session does not count: its workspace is
/// theirs.
pub(super) async fn last_place(tx: &mut Tx<'_>, row: &TaskRow) -> Result<Option<Workspace>, StoreError> {
    if row.workspace.is_none() {
        return Ok(None);
    }
    let sql = "SELECT w.id FROM sessions s JOIN workspaces w ON w.id = s.workspace \
               WHERE s.task = $1 AND w.status = 'ready' ORDER BY s.created_at DESC, s.id DESC LIMIT 1";
    let Some(found) = tx.read().first(sql, vec![text(row.id)]).await? else { return Ok(None) };
    workspaces::get(tx.read(), found.parsed("id")?).await
}

/// Makes a new session wait for the work of another workspace, which stays the task's workspace until the work arrives.
pub(super) async fn begin(
    tx: &mut Tx<'_>,
    task: TaskId,
    session: &Session,
    from: WorkspaceId,
) -> Result<(), StoreError> {
    let sql = "UPDATE workspaces SET moves_from = $1 WHERE id = $2";
    tx.run(sql, args![from.to_string(), session.workspace.to_string()]).await?;
    let mut row = tx.known_task(task).await?;
    row.workspace = Some(from);
    let (project, worker) = (row.project, row.worker());
    tx.put_task(row);
    decided(tx, project, worker, Some(task), Decision::WorkMoves).await
}

/// Stops sessions by force that still run in the source workspace of a move.
#[derive(Debug, Serialize)]
pub struct HurryMove {
    /// The destination workspace.
    pub workspace: WorkspaceId,
}

impl Command for HurryMove {
    type Output = ();
    const VERB: &'static str = "work.hurry";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(from) = source(tx, self.workspace).await? else { return Ok(()) };
        let waits = "SELECT 1 FROM sessions WHERE workspace = $1 AND ended_at IS NULL AND stop IS NULL";
        if tx.read().first(waits, vec![text(self.workspace)]).await?.is_none() {
            return Ok(());
        }
        for session in live(tx.read(), from).await? {
            if taken::is_writing(tx, session).await? {
                continue;
            }
            stop::session(tx, session, true).await?;
        }
        Ok(())
    }
}

/// Ends a move, whether the work arrived or not: the waiting session starts.
#[derive(Debug, Serialize)]
pub struct EndMove {
    /// The destination workspace.
    pub workspace: WorkspaceId,
    /// The bundle with the work; absent if the session starts without it.
    pub bundle: Option<String>,
    /// A note for the next worker.
    pub note: Option<String>,
}

impl Command for EndMove {
    type Output = ();
    const VERB: &'static str = "work.moved";

    async fn run(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let Some(source) = source(tx, self.workspace).await? else { return Ok(()) };
        let Some(bundle) = &self.bundle else { return self.start_over(tx).await };
        let whose = whose_work(tx, source, self.workspace).await?.map(|by| by.to_string());
        let contained = sandbox_of(tx.read(), source).await?;
        if let Some(sandbox) = contained.as_ref() {
            contain_waiting(tx, self.workspace, sandbox).await?;
        }
        let from = to_json(&StartFrom::Bundle { bundle: bundle.clone(), contained });
        let sql = "UPDATE workspaces SET moves_from = NULL, start_from = $1, code_by = $2 WHERE id = $3";
        tx.run(sql, args![from, whose, self.workspace.to_string()]).await?;
        self.begin(tx).await
    }
}

impl EndMove {
    /// The work cannot be brought: the workspace starts as that of any other task does.
    async fn start_over(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        tx.run("UPDATE workspaces SET moves_from = NULL WHERE id = $1", vec![text(self.workspace)]).await?;
        let sql = "SELECT s.task, w.runner, w.owner FROM workspaces w JOIN sessions s ON s.workspace = w.id \
                   WHERE w.id = $1 AND w.repository IS NOT NULL AND s.ended_at IS NULL AND s.task IS NOT NULL";
        if let Some(found) = tx.read().first(sql, vec![text(self.workspace)]).await? {
            let row = tx.known_task(found.parsed("task")?).await?;
            let begins = builds_on::beginning(tx, &row, found.parsed("runner")?, found.parsed("owner")?).await?;
            if let Some(Beginning { from, code_by, waits }) = begins {
                let sql = "UPDATE workspaces SET start_from = $1, code_by = $2, awaits_works = $3 WHERE id = $4";
                let by = code_by.map(|by| by.to_string());
                tx.run(sql, args![to_json(&from), by, waits, self.workspace.to_string()]).await?;
            }
        }
        self.begin(tx).await
    }

    /// Starts the waiting session.
    async fn begin(&self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let sql = "SELECT id, task, fence, runner FROM sessions WHERE workspace = $1 AND ended_at IS NULL AND \
                   stop IS NULL AND task IS NOT NULL";
        let Some(waits) = tx.read().first(sql, vec![text(self.workspace)]).await? else {
            return nobody_wants(tx, self.workspace).await;
        };
        let (session, task): (SessionId, TaskId) = (waits.parsed("id")?, waits.parsed("task")?);
        let mut row = tx.known_task(task).await?;
        if row.session() == Some(session) && row.fence == waits.integer("fence")?.cast_unsigned() {
            row.workspace = Some(self.workspace);
            let (project, worker, attempt) = (row.project, row.worker(), row.attempt);
            tx.put_task(row);
            if let Some(note) = &self.note {
                say(tx, task, attempt, note).await?;
                decided(tx, project, worker, Some(task), Decision::WorkMoved { note: note.clone() }).await?;
            }
            let brief = brief_of(tx, task, self.workspace).await?;
            tx.run("UPDATE sessions SET prompt = $1 WHERE id = $2", args![brief, session.to_string()]).await?;
        }
        tx.desire(waits.parsed("runner")?).await
    }
}

/// The person responsible for moved work: it runs on no other person's machine without approval.
async fn whose_work(tx: &mut Tx<'_>, from: WorkspaceId, to: WorkspaceId) -> Result<Option<UserId>, StoreError> {
    let sql = "SELECT s.owner AS source, s.code_by, t.owner AS target FROM workspaces s, workspaces t \
               WHERE s.id = $1 AND t.id = $2";
    let row = tx.read().first(sql, vec![text(from), text(to)]).await?.ok_or(StoreError::NotFound("workspace"))?;
    Ok(brought(row.parsed("source")?, id_or_none(&row, "code_by")?, row.parsed("target")?))
}

/// The source workspace of a move into this one.
async fn source(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<Option<WorkspaceId>, StoreError> {
    let sql = "SELECT moves_from FROM workspaces WHERE id = $1 AND moves_from IS NOT NULL";
    tx.read().first(sql, vec![text(workspace)]).await?.map(|row| row.parsed("moves_from")).transpose()
}

/// Abandons a workspace that was never made, because its session was stopped first.
async fn nobody_wants(tx: &mut Tx<'_>, workspace: WorkspaceId) -> Result<(), StoreError> {
    match workspaces::get(tx.read(), workspace).await? {
        Some(before) => workspaces::update(tx, Workspace { status: WorkspaceStatus::Cleaned, ..before }).await,
        None => Ok(()),
    }
}

/// Adds a note to the earlier work of the previous attempt.
async fn say(tx: &mut Tx<'_>, task: TaskId, attempt: u32, note: &str) -> Result<(), StoreError> {
    let sql = "SELECT number, reason FROM attempts WHERE task = $1 AND number < $2 ORDER BY number DESC LIMIT 1";
    let Some(row) = tx.read().first(sql, args![task.to_string(), attempt]).await? else { return Ok(()) };
    let reason = row.text_or_none("reason")?.map_or(note.to_owned(), |reason| match reason.split_once('\n') {
        // Everybody can read the first line and the note.
        Some((open, detail)) => format!("{open}; {note}\n{detail}"),
        None => format!("{reason}; {note}"),
    });
    let sql = "UPDATE attempts SET reason = $1 WHERE task = $2 AND number = $3";
    tx.run(sql, args![reason, task.to_string(), row.count("number")?]).await.map(|_| ())
}
